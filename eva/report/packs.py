"""Packs in a report: which named items moved, or stayed, as they should."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from eva.metrics.results_moved import PackFinding, PackOutcome
from eva.report import numbers
from eva.report.blocks import Block, Column, Line, Paragraph, Quoted, Strong, Table, line

ORDER: Final[tuple[PackOutcome, ...]] = ("fail", "cannot tell", "pass")


def packs_title(found: Sequence[PackFinding]) -> Line:
    """How many items of all packs did what they must."""
    passed = sum(one.outcome == "pass" for one in found)
    return line(f"Items that must change or must not: {passed} of {numbers.count(len(found))} as they should be")


def packs_blocks(found: Sequence[PackFinding]) -> tuple[Block, ...]:
    """A line a pack, then every item, the failed ones first."""
    if not found:
        return ()
    names = list(dict.fromkeys(one.pack for one in found))
    told = sorted(found, key=lambda one: (ORDER.index(one.outcome), names.index(one.pack)))
    columns = (Column("Pack"), Column("Item"), Column("Must"), Column("Outcome"), Column("Found"), Column("Note"))
    return (*(_summary(name, found) for name in names), Table(columns, tuple(_row(one) for one in told), optional=True))


def _summary(name: str, found: Sequence[PackFinding]) -> Paragraph:
    mine = [one for one in found if one.pack == name]
    counts = ", ".join(f"{sum(one.outcome == word for one in mine)} {word}" for word in ORDER)
    return Paragraph(line(Quoted(name, limit=80), f": {numbers.counted(len(mine), 'item')}, {counts}"))


def _row(one: PackFinding) -> tuple[Line, ...]:
    return (
        line(Quoted(one.pack, limit=60)),
        line(Quoted(one.item_id, limit=80)),
        line(f"{one.must} ", Quoted(one.expected, limit=40)),
        line(Strong(one.outcome)),
        line(Quoted(one.told)),
        line(Quoted(one.note) if one.note else ""),
    )
