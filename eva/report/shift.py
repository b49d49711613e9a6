"""Did the distribution of labels shift: shares of each label on both sides, and Stuart–Maxwell's test."""

from __future__ import annotations

from typing import Final

from eva.metrics.results import LabelShift
from eva.report import numbers
from eva.report.blocks import Block, Column, Paragraph, Quoted, Table, line

_NOTE: Final = (
    "Stuart–Maxwell, clusters as wholes: do both sides give every label equally often? It does not say which is right."
)


def shift_blocks(shift: LabelShift | None, *, sides: tuple[str, str] = ("Before", "After")) -> tuple[Block, ...]:
    """The shares, worst label first, and the test; nothing without items."""
    if shift is None or not shift.before:
        return ()
    rows = tuple(
        (line(Quoted(label, limit=60)), line(numbers.percent(before, 1)), line(numbers.percent(after, 1)))
        for label, before, after in zip(shift.labels, shift.before, shift.after, strict=True)
    )
    columns = (Column("Label"), *(Column(side, "right") for side in sides))
    return Table(columns, rows, note=_NOTE), Paragraph(line(_told(shift)))


def _told(shift: LabelShift) -> str:
    items = numbers.counted(shift.n_items, "item")
    if shift.p_value is None:
        return f"No test over {items}: {shift.note}."
    told = f"χ² = {numbers.number(shift.statistic, 2)}, {numbers.counted(shift.degrees, 'degree')} of freedom"
    return f"Over {items}: {told}, {numbers.p_value(shift.p_value)}."
