"""The HTML page in headless Chromium: filter, open a flip by keyboard, no console error, hostile text inert."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from eva.report import html, sections
from eva.report.blocks import ItemFacts
from tests.report import made

pytestmark = pytest.mark.browser
FLAGS = (
    "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync --window-size=1200,1000"
)


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """Debian's chromium through selenium; skipped, with the reason, where either is absent."""
    webdriver = pytest.importorskip("selenium.webdriver", reason="selenium is not installed")
    chromium, chromedriver = shutil.which("chromium"), shutil.which("chromedriver")
    if not chromium or not chromedriver:
        pytest.skip("chromium and chromium-driver are not installed")
    options = webdriver.ChromeOptions()
    options.binary_location = chromium
    for flag in [*FLAGS.split(), f"--user-data-dir={tmp_path_factory.mktemp('profile')}"]:
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(chromedriver))
    yield driver
    driver.quit()


@pytest.fixture
def page(browser: Any, tmp_path: Path) -> Any:
    """A report of two judges, one of them hostile, opened; afterwards the console must be empty."""
    facts = {
        "rec_07": ItemFacts("rec_07", "rec_07", 2, None, "en", "airline", "3", (), ("glosses", "codes")),
        "rec_09": ItemFacts("rec_09", "rec_09", None, None, "fr", "airline", "3", (), ("codes",)),
        "rec_11": ItemFacts("rec_11", "rec_11", 1, None, "fr", "it", "1", ("x",), ()),
    }
    pairs = [made.pair("a", items=facts), made.pair("b", text=made.HOSTILE, items=facts)]
    pairs[1] = replace(pairs[1], comparison=made.comparison(warnings=(made.HOSTILE,)))
    path = tmp_path / "report.html"
    path.write_text(html.render(sections.comparison_report(pairs)), encoding="utf-8")
    browser.get_log("browser")
    browser.get(path.as_uri())
    yield browser
    assert browser.get_log("browser") == []


def visible_items(page: Any, block: int) -> list[str]:
    rows = page.find_elements("css selector", f'[data-block="{block}"] tbody tr')
    return [row.find_element("css selector", "button").text for row in rows if row.is_displayed()]


def choose(page: Any, field: str, value: str) -> None:
    option = f'[data-block="0"] select[data-field="{field}"] option[value="{value}"]'
    page.find_element("css selector", option).click()


def test_filters_narrow_the_table_and_combine(page: Any) -> None:
    """By language, kind, class and rule; the count is said; the other judge's table stays."""
    assert visible_items(page, 0) == ["rec_07", "rec_11", "rec_09"]

    choose(page, "language", "=fr")
    assert visible_items(page, 0) == ["rec_11", "rec_09"]
    choose(page, "rules", "=codes")
    assert visible_items(page, 0) == ["rec_09"]
    assert page.find_element("css selector", '[data-block="0"] output').text == "1 of 3 shown"
    choose(page, "language", "")
    assert visible_items(page, 0) == ["rec_07", "rec_09"]
    choose(page, "kind", "=broken")
    assert visible_items(page, 0) == ["rec_07"]
    choose(page, "gold", "=1")
    assert visible_items(page, 0) == []
    assert visible_items(page, 1) == ["rec_07", "rec_11", "rec_09"]


def test_a_flip_opens_by_keyboard_with_the_judged_turn_and_both_reasons(page: Any) -> None:
    """Enter opens, arrows go on among the visible rows, Escape closes and gives the focus back."""
    first = page.find_element("css selector", '[data-block="0"] button.open')
    page.execute_script("arguments[0].focus()", first)
    page.switch_to.active_element.send_keys("\ue007")
    dialog = page.find_element("id", "flip")

    assert dialog.is_displayed()
    assert dialog.find_element("css selector", "h2").text == "broken: rec_07"
    before, after = dialog.find_elements("css selector", ".arms > section")
    assert "Every value that the agent states stands in the tool's response." in before.text
    assert "The agent promised a refund that no policy allows." in after.text
    assert len(after.find_elements("css selector", ".vote.majority")) == 2
    judged = dialog.find_elements("css selector", '[aria-current="true"]')
    assert [turn.text.split("\n")[0] for turn in judged] == ["turn 2 — judged"]
    assert judged[0].value_of_css_property("background-color") != "rgba(0, 0, 0, 0)"

    page.switch_to.active_element.send_keys("\ue014")
    assert dialog.find_element("css selector", "h2").text == "undecided: rec_11"
    page.switch_to.active_element.send_keys("\ue00c")
    assert not dialog.is_displayed()
    assert page.switch_to.active_element == first


def test_hostile_text_does_nothing(page: Any) -> None:
    """No alert, no image, no link out, no title change; the text is there to be read."""
    page.find_element("css selector", '[data-block="1"] button.open').click()

    dialog = page.find_element("id", "flip")
    assert "<script>alert(1)</script> <img src=x onerror=alert(2)>" in dialog.text
    assert "⟨U+202E⟩txt.exe" in dialog.text
    assert page.find_elements("css selector", "img, iframe, object, embed, form, a:not([href^='#'])") == []
    assert page.execute_script("return document.scripts.length") == 2


def test_the_policy_stops_an_inline_script(page: Any) -> None:
    """Even markup that got into the page could not run."""
    page.execute_script(
        "const s = document.createElement('script'); s.textContent = 'window.ran = 1'; document.body.append(s);"
    )
    log = page.get_log("browser")

    assert page.execute_script("return window.ran") is None
    assert any("Content Security Policy" in entry["message"] for entry in log)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_is_readable_in_light_and_dark(page: Any, scheme: str) -> None:
    """At least 4.5 to 1 between text and paper, for body text, notes and verdict words."""
    page.execute_cdp_cmd(
        "Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": scheme}]}
    )

    def luminance(colour: str) -> float:
        parts = [float(part) / 255 for part in colour[colour.index("(") + 1 : -1].split(",")[:3]]
        linear = [part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    def colour(selector: str, name: str) -> str:
        return str(page.find_element("css selector", selector).value_of_css_property(name))

    paper = luminance(colour("body", "background-color"))
    assert (paper > 0.5) == (scheme == "light")
    for selector in ("body", ".note", ".v-cannot-tell", ".v-broken", ".v-fixed", "nav a", "button.open"):
        ink = luminance(colour(selector, "color"))
        assert (max(ink, paper) + 0.05) / (min(ink, paper) + 0.05) >= 4.5, selector
