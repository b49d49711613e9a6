"""The HTML page: self-contained, strict about scripts, everything escaped, bounded in size."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from dataclasses import replace
from html.parser import HTMLParser
from typing import Any

import pytest

from eva.report import html, html_flips, sections
from eva.report.blocks import IntervalRow, Turn
from eva.report.html_plot import interval_plot
from eva.report.inputs import Pair
from tests.report import made

VOID = {"meta", "br", "circle", "line"}


class Page(HTMLParser):
    """Tags in order, attributes, and the text of script and style elements."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.raw: list[tuple[str, str]] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] in {"script", "style"}:
            self.raw.append((self.open[-1], data))


def render(*pairs: Pair) -> str:
    return html.render(sections.comparison_report(pairs))


def data_of(text: str) -> Any:
    found = re.search(r'<script id="data" type="application/json">(.*?)</script>', text, re.DOTALL)
    assert found
    return json.loads(found.group(1))


@pytest.mark.parametrize("text", ["", made.HOSTILE])
def test_the_page_is_well_formed_and_loads_nothing(text: str) -> None:
    """Every element is closed; no address is fetched; no inline handler or style."""
    page = Page(render(made.pair(text or "judge", text=text), made.pair("other", text=text)))

    assert page.open == []
    attributes = {name for _, attrs in page.tags for name in attrs}
    assert not {name for name in attributes if name.startswith("on")}
    assert not attributes & {"src", "style", "srcset", "action", "formaction", "background", "poster", "data"}
    targets = {attrs["href"] for _, attrs in page.tags if "href" in attrs}
    assert all(target and target.startswith("#") for target in targets)


def test_hostile_text_adds_no_element() -> None:
    """The same report with hostile text has the same elements as with calm text."""
    calm, attacked = (
        Page(render(made.pair("judge", text=text, compared=made.comparison(warnings=(text or "calm",)))))
        for text in ("", made.HOSTILE)
    )

    assert {tag for tag, _ in attacked.tags} <= {tag for tag, _ in calm.tags}
    assert sum(tag == "script" for tag, _ in attacked.tags) == 2


def test_the_policy_allows_the_page_s_own_script_and_style_only() -> None:
    """By hash; the hash is that of the very text in the page."""
    page = Page(render(made.pair(text=made.HOSTILE)))
    policy = next(attrs["content"] for tag, attrs in page.tags if attrs.get("http-equiv") == "Content-Security-Policy")

    def digest(text: str) -> str:
        return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()

    script = page.raw[-1][1]
    style = page.raw[0][1]
    assert policy == (
        f"default-src 'none'; script-src 'sha256-{digest(script)}'; style-src 'sha256-{digest(style)}'; "
        "base-uri 'none'; form-action 'none'"
    )


def test_the_script_never_makes_html_of_text() -> None:
    """Text nodes only."""
    script = html._asset("report.js")

    assert not re.search(
        r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval|Function\(|setTimeout|fetch|http", script
    )


def test_same_report_same_bytes() -> None:
    """No clock, no random id."""
    assert render(made.pair()) == render(made.pair())


def test_the_data_holds_both_reasons_and_the_conversation_of_every_flip() -> None:
    """What the script opens a flip from; hidden characters are spelled out in it."""
    data = data_of(render(made.pair(text=made.HOSTILE)))["flips"][0]

    assert [row["item"] for row in data["rows"]] == ["rec_07", "rec_11", "rec_09"]
    first = data["rows"][0]
    assert [vote["word"] for vote in first["after_all"]] == ["1", "1", "3"]
    assert "⟨U+202E⟩" in first["before_all"][0]["reason"]
    assert [turn[0] for turn in data["conversations"]["rec_07"]] == [0, 1, 2]


def test_filters_offer_every_value_that_occurs() -> None:
    """Kinds, human labels, languages, rules; an empty value is not `all`."""
    page = Page(render(made.pair()))
    options = [attrs["value"] for tag, attrs in page.tags if tag == "option"]

    assert options == ["", "=broken", "=fixed", "=undecided", "", "=3", "", "=en", "", "=glosses"]


def test_two_judges_with_equal_flips_keep_their_own_block() -> None:
    """Blocks are told apart by place, not by content."""
    page = Page(render(made.pair("a"), made.pair("b")))

    assert [attrs["data-block"] for _, attrs in page.tags if "data-block" in attrs] == ["0", "1"]


def test_a_page_stays_under_its_size(monkeypatch: pytest.MonkeyPatch) -> None:
    """Flips beyond the bound are counted, conversations beyond it are left out, long texts are cut."""
    monkeypatch.setattr(html_flips, "MAX_FLIPS", 20)
    monkeypatch.setattr(html_flips, "MAX_CHARACTERS", 10_000)
    monkeypatch.setattr(html_flips, "MAX_TEXT", 500)
    flips = tuple(made.flip(f"rec_{n:03d}", severity=float(-n)) for n in range(50))
    turns = (Turn(0, (("user", "x" * 3000),)),)
    pair = made.pair(
        compared=made.comparison(flips=flips),
        items={},
        conversations={f"rec_{n:03d}": turns for n in range(50)},
        after=replace(made.pair().after, votes={"rec_000": made.votes(("1", "y" * 9000))}),
    )
    text = render(pair)
    data = data_of(text)["flips"][0]

    assert len(data["rows"]) == 20
    assert "and 30 more flips" in text
    assert len(data["conversations"]) == 3
    assert data["conversations"]["rec_000"][0][1][0][1].startswith("x" * 500 + " … (+2,500")
    assert len(data["rows"][0]["after_all"][0]["reason"]) < 600


@pytest.mark.parametrize(
    ("low", "high"), [(-0.04, 0.026), (0.0, 0.0), (-1e-9, 2e-9), (0.2, 0.9), (-1.0, -0.5), (-3.0, 4.0)]
)
def test_an_interval_plot_shows_zero_and_all_of_the_bar(low: float, high: float) -> None:
    """Zero is on the axis; ticks are round; nothing leaves the picture."""
    picture = interval_plot([IntervalRow("Accuracy", (low + high) / 2, low, high, "cannot tell", "points")])

    assert 'class="zero"' in picture
    assert 2 <= picture.count('class="soft" x=') <= 12
    places = [float(x) for x in re.findall(r'x[12]="([\d.-]+)"', picture)]
    assert all(190 <= x <= 696.1 for x in places)


def test_no_interval_no_plot() -> None:
    """A difference without an interval is in the table only."""
    assert interval_plot([IntervalRow("Kappa", 0.1, None, None, "cannot tell", "plain")]) == ""
