"""The label shift in a report: shares and the test, or why there is none."""

from __future__ import annotations

from dataclasses import replace

from eva.metrics.results import LabelShift
from eva.report import markdown
from eva.report.blocks import Report, Section, line
from eva.report.shift import shift_blocks

FOUND = LabelShift(("0", "1"), (0.022, 0.978), (0.058, 0.942), 56.3, 1, 0.0000001, 1810)


def text(found: LabelShift) -> str:
    return markdown.render(
        Report(line("t"), (line("o"),), (Section("shift", line("s"), shift_blocks(found), "first"),))
    )


def test_shares_and_test() -> None:
    shown = text(FOUND)
    assert "| `0` | 2.2% | 5.8% |" in shown
    assert "Over 1,810 items: χ² = 56.30, 1 degree of freedom, p < 0.001." in shown.replace("\\", "")


def test_no_test_says_why() -> None:
    none = replace(FOUND, p_value=None, note="3 clusters moved: too few for a test")
    assert "No test over 1,810 items: 3 clusters moved: too few for a test." in text(none)
    assert shift_blocks(replace(FOUND, before=(), after=())) == ()
    assert shift_blocks(None) == ()
