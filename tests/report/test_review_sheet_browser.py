"""The review page in headless Chromium: what a reviewer answers comes out as the table that the reader understands."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from eva.edges.datasets.review_sheet import read_sheets
from eva.report.review_sheet import html_sheet
from eva.types import Scale
from tests.report.test_html_browser import FLAGS
from tests.report.test_review_sheet import ITEM

pytestmark = pytest.mark.browser
CAPTURE = """
const done = arguments[arguments.length - 1];
URL.createObjectURL = (blob) => { blob.arrayBuffer().then((raw) => done([...new Uint8Array(raw)])); return "#"; };
document.getElementById("save").click();
"""


@pytest.fixture
def browser(tmp_path: Path) -> Iterator[Any]:
    """Debian's chromium through selenium; skipped, with the reason, where either is absent."""
    webdriver = pytest.importorskip("selenium.webdriver", reason="selenium is not installed")
    chromium, chromedriver = shutil.which("chromium"), shutil.which("chromedriver")
    if not chromium or not chromedriver:
        pytest.skip("chromium and chromium-driver are not installed")
    options = webdriver.ChromeOptions()
    options.binary_location = chromium
    for flag in [*FLAGS.split(), f"--user-data-dir={tmp_path / 'profile'}"]:
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(chromedriver))
    yield driver
    driver.quit()


def test_answers_come_out_as_labels(browser: Any, tmp_path: Path) -> None:
    """Name, agreement and a comment that begins like a formula; answers survive a reload; the console stays empty."""
    page = tmp_path / "review.html"
    page.write_text(
        html_sheet([ITEM], title="Review", labels=("1", "2", "3"), file_name="review.csv"), encoding="utf-8"
    )
    browser.get(page.as_uri())
    browser.find_element("id", "annotator").send_keys("Jo")
    browser.find_element("css selector", '[data-side="b"] input[value="yes"]').click()
    browser.find_element("css selector", ".comment").send_keys('=so "lang"')
    assert browser.find_element("id", "progress").text == "1 of 1 answered"

    browser.refresh()
    assert browser.find_element("id", "annotator").get_attribute("value") == "Jo"
    raw = bytes(browser.execute_async_script(CAPTURE))
    sheet = tmp_path / "review.csv"
    sheet.write_bytes(raw)
    found = read_sheets([sheet], Scale(("1", "2", "3"), ordinal=True)).annotations["rec#2"][0]

    assert (found.label, found.annotator, found.note) == ("2", "Jo", '=so "lang"')
    assert browser.get_log("browser") == []
