"""Moved items as rows of a report: what explains them, how many of how many, and examples."""

from __future__ import annotations

from dataclasses import replace

from eva.metrics.results_moved import Attribution, MovedExample, MovedGroup
from eva.report import html, markdown, terminal
from eva.report.attribution import attribution_blocks
from eva.report.blocks import Report, Section, line
from tests.report.made import HOSTILE

EXAMPLE = MovedExample("rec#3", "1", "0", "“PIN / Geheimzahl” is heard twice.")
FOUND = Attribution(
    moved=75,
    moves={"down": {"1 → 0": 70}, "up": {"0 → 1": 5}},
    groups=(
        MovedGroup("down", "flag", "gloss", 66, 70, (EXAMPLE,)),
        MovedGroup("down", "explanation", "web address, letter", 4, 70),
        MovedGroup("up", "nothing", "", 5, 5),
    ),
    notes=("an item with several flags is counted under each of them",),
)


def page(found: Attribution) -> Report:
    section = Section("attribution", line("Why items moved"), attribution_blocks(found))
    return Report(line("t"), (line("o"),), (section,))


def test_a_group_is_a_row() -> None:
    """66 of 70 are glosses: said in every format."""
    for text in (
        html.render(page(FOUND)),
        markdown.render(page(FOUND)),
        terminal.render(page(FOUND), styled=False, detail="full"),
    ):
        assert "66 of 70" in text
        assert "gloss" in text
        assert "94%" in text
        assert "no flag and no explanation" in text
        assert "“PIN / Geheimzahl” is heard twice." in text


def test_nothing_moved_is_no_part() -> None:
    assert attribution_blocks(replace(FOUND, groups=())) == ()
    assert attribution_blocks(None) == ()


def test_what_models_write_stays_text() -> None:
    """Flags and explanations come from replies."""
    group = MovedGroup("down", "flag", HOSTILE, 1, 1, (MovedExample("x", "1", "0", HOSTILE),))
    shown = html.render(page(replace(FOUND, groups=(group,))))
    assert "<script>alert" not in shown
    assert "<img" not in shown
