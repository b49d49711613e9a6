"""A report for a terminal of 100 columns: plain text, or with colours where the caller says that it is a terminal."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import singledispatch
from io import StringIO
from typing import Final, Literal

from rich import box
from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.table import Table as RichTable
from rich.text import Text

from eva.report import numbers, untrusted
from eva.report.blocks import (
    Block,
    Bullets,
    Column,
    Command,
    Confusion,
    ConfusionPair,
    FlipDetail,
    Flips,
    Heading,
    IntervalPlot,
    Line,
    Paragraph,
    PromptDiff,
    Quoted,
    Report,
    Strong,
    Table,
)
from eva.report.text_diff import pieces

WIDTH: Final = 100
SHORT: Final = frozenset(
    {
        "headline",
        "baseline",
        "prompt",
        "flips",
        "flags",
        "noise",
        "failures",
        "rules",
        "classes",
        "baselines",
        "runs",
        "spend",
    }
)
"""Sections that a short report shows."""
ROWS: Final = 10
"""Flips, rules and rows of long tables shown on a terminal; the number left out is said."""
NEVER_FOLDED: Final = 14
"""Text up to this width is broken over lines last."""
_COLOURS: Final = {
    "better": "bold green", "fixed": "green", "worse": "bold red", "broken": "red", "cannot tell": "bold yellow",
    "undecided": "yellow", "same": "bold cyan", "moved": "bold magenta", "Not alike:": "bold yellow",
}  # fmt: skip


@dataclass(frozen=True)
class Layout:
    """How a table's columns stand."""

    headers: tuple[str, ...]
    least: tuple[int, ...]
    """Least widths."""
    whole: tuple[bool, ...]
    """Columns whose cells are never folded."""
    gap: int


def render(
    report: Report, *, width: int = WIDTH, styled: bool = False, detail: Literal["short", "full"] = "short"
) -> str:
    """The report as text of at most `width` columns, ending in a newline. `styled` adds ANSI colours and bold.

    Reads no environment: the caller knows whether its output is a terminal, and passes that.
    """
    out = StringIO()
    console = Console(
        file=out, width=width, force_terminal=styled, color_system="standard" if styled else None, no_color=not styled,
        highlight=False, markup=False, emoji=False, legacy_windows=False, soft_wrap=False, _environ={},
    )  # fmt: skip
    console.print(_text(report.title, "bold"))
    for told in report.outcome:
        console.print(_text(told))
    for section in report.sections:
        if detail == "short" and section.key not in SHORT:
            continue
        console.print()
        if section.key != "headline":
            console.print(_text(section.title, "bold underline" if styled else "bold"))
        for each in section.blocks:
            console.print(_block(each, width))
    return "\n".join(line.rstrip() for line in out.getvalue().splitlines()) + "\n"


@singledispatch
def _block(value: Block, width: int) -> RenderableType:
    raise TypeError(f"no terminal form for {type(value).__name__}")


@_block.register
def _(value: Heading, width: int) -> RenderableType:
    return _text(value.line, "bold")


@_block.register
def _(value: Paragraph, width: int) -> RenderableType:
    return _text(value.line)


@_block.register
def _(value: Bullets, width: int) -> RenderableType:
    return Group(*(_hanging("•", _text(each)) for each in value.lines))


@_block.register
def _(value: Table, width: int) -> RenderableType:
    rows = value.rows[:ROWS] if value.optional else value.rows
    cells = [[_text(each) for each in row] for row in rows]
    widest = [max((row[n].cell_len for row in cells), default=0) for n in range(len(value.columns))]
    layout = _layout(value.columns, widest, width)
    table = _table(layout.gap)
    for n, column in enumerate(value.columns):
        table.add_column(
            layout.headers[n], justify=column.align, overflow="fold", no_wrap=layout.whole[n], min_width=layout.least[n]
        )
    for row in cells:
        table.add_row(*row)
    left = len(value.rows) - len(rows)
    notes = [f"and {numbers.counted(left, 'more row')}"] * bool(left) + [value.note] * bool(value.note)
    return Group(table, *(Text(note, style="dim") for note in notes))


@_block.register
def _(value: Command, width: int) -> RenderableType:
    return Group(*(Padding(Text(untrusted.one_line(each), overflow="fold"), (0, 0, 0, 2)) for each in value.lines))


@_block.register
def _(value: PromptDiff, width: int) -> RenderableType:
    shown: list[RenderableType] = []
    for change in value.changes[:ROWS]:
        word = "new" if change.before is None else "gone" if change.after is None else "changed"
        shown.append(_text((Quoted(change.path), f" {word}")))
        for piece in pieces(change.before, change.after):
            style = {"-": "red", "+": "green"}.get(piece.sign, "dim")
            text = Text(untrusted.one_line(piece.text, 600), style=style)
            shown.append(Padding(_hanging(piece.sign, text), (0, 0, 0, 2)))
    return Group(*shown, *_more(len(value.changes) - ROWS, "part"))


@_block.register
def _(value: Flips, width: int) -> RenderableType:
    return Group(*(_flip(row) for row in value.rows[:ROWS]), *_more(len(value.rows) - ROWS, "flip"))


@_block.register
def _(value: ConfusionPair, width: int) -> RenderableType:
    return Group(*(_confusion(arm) for arm in (value.before, value.after) if arm is not None))


@_block.register
def _(value: IntervalPlot, width: int) -> RenderableType:
    return Group()  # the table of statistics beside it says the same in figures


def _flip(row: FlipDetail) -> RenderableType:
    gold = (" · human ", Quoted(row.facts.gold, limit=40)) if row.facts.gold is not None else ()
    votes = Quoted(f"{row.before_votes} → {row.after_votes}")
    title = _text((Strong(row.kind), " ", Quoted(row.facts.item_id, limit=60), *gold, " · ", votes))
    reasons = [
        _hanging(f"{side}:", Text(untrusted.one_line(reason, 240), style="dim"))
        for side, reason in (("before", row.before_reason), ("after", row.after_reason))
        if reason.strip()
    ]
    return Group(title, *(Padding(reason, (0, 0, 0, 2)) for reason in reasons))


def _confusion(arm: Confusion) -> RenderableType:
    table = _table()
    table.add_column(f"{arm.arm + ': ' if arm.arm else ''}human ↓ judge →")
    names = [*(untrusted.one_line(label, 40) for label in arm.labels), "no verdict"]
    for name in names:
        table.add_column(Text(name), justify="right")
    for name, counts in zip(names, arm.counts, strict=False):
        table.add_row(Text(name), *(Text(numbers.count(n)) for n in counts))
    return table


def _text(told: Line, style: str = "") -> Text:
    """A line without markup: brackets, emoji names and escape sequences in quoted text stay what they are."""
    text = Text(style=style, overflow="fold")
    for run in told:
        if isinstance(run, Quoted):
            text.append(untrusted.one_line(run.text, run.limit), style="cyan")
        elif isinstance(run, Strong):
            text.append(untrusted.one_line(run.text), style=_COLOURS.get(run.text, "bold"))
        else:
            text.append(untrusted.visible(run))
    return text


def _layout(columns: Sequence[Column], widest: Sequence[int], width: int) -> Layout:
    """The roomiest layout in which the table fits and no cell is cropped.

    First everything on one line; then headers broken between words; then columns closer; then text columns folded; then
    all columns.
    """
    names = tuple(column.name for column in columns)
    stacked = tuple(
        "\n".join(textwrap.wrap(name, max(cell, 8))) or name for name, cell in zip(names, widest, strict=True)
    )
    for headers, gap in ((names, 2), (stacked, 2), (stacked, 1)):
        whole = [max(cell, *map(len, name.split("\n"))) for name, cell in zip(headers, widest, strict=True)]
        if sum(whole) + gap * (len(columns) - 1) <= width:
            return Layout(headers, tuple(whole), (True,) * len(columns), gap)
    right = tuple(column.align == "right" for column in columns)
    least = tuple(cell if fixed else min(cell, NEVER_FOLDED) for cell, fixed in zip(whole, right, strict=True))
    for gap in (2, 1):
        if sum(least) + gap * (len(columns) - 1) <= width:
            return Layout(stacked, least, right, gap)
    return Layout(stacked, (0,) * len(columns), (False,) * len(columns), 1)


def _table(gap: int = 2) -> RichTable:
    return RichTable(
        box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False, padding=(0, gap - 1, 0, 0), header_style="bold"
    )


def _hanging(mark: str, text: Text) -> RichTable:
    """A mark and a text that wraps beside it, not under it."""
    grid = RichTable.grid(padding=(0, 1, 0, 0))
    grid.add_column(no_wrap=True)
    grid.add_column(overflow="fold")
    grid.add_row(mark, text)
    return grid


def _more(left: int, noun: str) -> Iterable[Text]:
    return (Text(f"and {numbers.counted(left, f'more {noun}')}", style="dim"),) if left > 0 else ()
