"""What the explanations of moved items say: a row a group, with examples."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from eva.metrics.results_moved import Attribution, Direction, MovedExample, MovedGroup
from eva.report import numbers
from eva.report.blocks import Block, Column, Line, Paragraph, Quoted, Strong, Table, line

WORDS: Final[Mapping[Direction, str]] = {
    "down": "to a worse label",
    "up": "to a better label",
    "other": "no most frequent verdict on one side, or a scale without an order",
}
EXPLANATION_CHARS: Final = 240
_NOTE: Final = (
    "What explains a move stands on the side with the worse label: flags first, then the words that set explanations "
    "apart"
)


def attribution_blocks(found: Attribution | None) -> tuple[Block, ...]:
    """A row a group, those of one direction together, and examples of each; nothing where nothing moved."""
    if found is None or not found.groups:
        return ()
    columns = (
        Column("Moved"),
        Column("Named by"),
        Column("What explains it"),
        Column("Items", "right"),
        Column("Share", "right"),
    )
    rows = tuple(_row(group) for group in found.groups)
    notes = "; ".join((_NOTE, *found.notes)) + "."
    told = tuple(Paragraph(_moves(direction, steps)) for direction, steps in found.moves.items())
    examples = tuple(_example(group, one) for group in found.groups for one in group.examples)
    table = Table(
        (Column("Example of"), Column("Item"), Column("Before → after"), Column("Explanation")), examples, optional=True
    )
    return (*told, Table(columns, rows, note=notes), *((table,) if examples else ()))


def name_of(group: MovedGroup) -> Line:
    """A group's name: the flag, the terms, or that there is none."""
    if group.named_by == "nothing":
        return line("no flag and no explanation")
    return line(Quoted(group.name or "words that occur nowhere else", limit=80))


def _moves(direction: Direction, steps: Mapping[str, int]) -> Line:
    total = numbers.counted(sum(steps.values()), "item")
    pieces: list[Quoted | str | Strong] = [Strong(direction), f" ({WORDS[direction]}): {total}; "]
    for place, (step, n) in enumerate(steps.items()):
        pieces += [", " if place else "", Quoted(step, limit=60), f": {numbers.count(n)}"]
    return line(*pieces)


def _row(group: MovedGroup) -> tuple[Line, ...]:
    return (
        line(group.direction),
        line(group.named_by),
        name_of(group),
        line(f"{numbers.count(group.items)} of {numbers.count(group.of)}"),
        line(numbers.percent(group.items / group.of, 0)),
    )


def _example(group: MovedGroup, example: MovedExample) -> tuple[Line, ...]:
    move = f"{example.before or 'none'} → {example.after or 'none'}"
    reason = Quoted(example.reason, limit=EXPLANATION_CHARS) if example.reason else "none given"
    return (
        line(group.direction, ": ", *name_of(group)),
        line(Quoted(example.item_id, limit=80)),
        line(Quoted(move, limit=60)),
        line(reason),
    )
