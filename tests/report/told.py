"""What tests read off a report: its words, its tables, and pairs with one difference changed."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from eva.report import sections
from eva.report.blocks import Line, Report, Table
from eva.report.inputs import Pair
from tests.report import made


def plain(told: Line) -> str:
    """A line's words without what marks them."""
    return "".join(run if isinstance(run, str) else run.text for run in told)


def outcome(*pairs: Pair) -> str:
    return plain(sections.comparison_report(pairs).outcome[0])


def table(report: Report, key: str, n: int = 0) -> list[list[str]]:
    """Cells of the n-th table of a section."""
    blocks = [block for part in report.sections if part.key == key for block in part.blocks if isinstance(block, Table)]
    return [[plain(cell) for cell in row] for row in blocks[n].rows]


def changed(verdict: Any, statistic: str = "accuracy", **fields: Any) -> Pair:
    values: dict[str, Any] = {"before": 0.70, "after": 0.75, "low": 0.01, "high": 0.09} | fields
    before, after = values.pop("before"), values.pop("after")
    told = made.difference(statistic, before, after, verdict=verdict, **values)
    return made.pair(compared=made.comparison(differences=(told,)))


def both(first: Any, second: Any, **changes: Any) -> Pair:
    accuracy = made.difference("accuracy", 0.96, 0.98, low=0.001, high=0.05, verdict=first)
    macro = made.difference("macro_f1", 0.75, 0.505, low=-0.4, high=-0.1, verdict=second)
    return made.pair(compared=made.comparison(differences=(accuracy, macro)), **changes)


def unlabelled(*verdicts: tuple[str, Any], between: float = 1.0, **changes: Any) -> Pair:
    told = tuple(made.difference(name, 0.5, 0.5, low=-0.01, high=0.01, verdict=word) for name, word in verdicts)
    floor = replace(made.comparison().floor, between=made.estimate(between))
    return made.pair(compared=made.comparison(differences=told, floor=floor, **changes))
