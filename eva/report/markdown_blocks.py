"""Blocks of a report as Markdown. Quoted text stands in code spans or fences, where GitHub interprets nothing."""

from __future__ import annotations

import html
import textwrap
from dataclasses import dataclass
from functools import singledispatch
from typing import Final

from eva.report import numbers, untrusted
from eva.report.blocks import (
    Block,
    Bullets,
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
    RuleChange,
    Run,
    Strong,
    Table,
    Turn,
)
from eva.report.text_diff import pieces


@dataclass(frozen=True)
class Room:
    """How much of each kind of detail is shown."""

    flips: int
    reason: int
    """Characters of a reason, and of a judged turn."""
    rows: int
    """Of tables whose end may be left out."""
    rule: int
    """Characters of the diff of one rule."""
    rules: int
    without: frozenset[str] = frozenset()
    """Keys of sections that are left out."""


ROOMS: Final = (
    Room(flips=300, reason=1500, rows=200, rule=6000, rules=200),
    Room(flips=150, reason=900, rows=100, rule=3000, rules=100),
    Room(flips=75, reason=600, rows=60, rule=2000, rules=60),
    Room(flips=40, reason=400, rows=40, rule=1200, rules=40),
    Room(flips=20, reason=300, rows=25, rule=800, rules=30),
    Room(flips=8, reason=250, rows=12, rule=500, rules=20),
    Room(flips=3, reason=160, rows=6, rule=300, rules=10),
)
CODE_WIDTH: Final = 100
LEAST_ROOM: Final = ROOMS[-1]


@singledispatch
def block(value: Block, room: Room) -> str:
    """One block as Markdown; "" for what a comment does not show."""
    raise TypeError(f"no Markdown for {type(value).__name__}")


@block.register
def _(value: Heading, room: Room) -> str:
    return f"#### {cell_free(value.line)}"


@block.register
def _(value: Paragraph, room: Room) -> str:
    return cell_free(value.line)


@block.register
def _(value: Bullets, room: Room) -> str:
    return "\n".join(f"- {cell_free(each)}" for each in value.lines)


@block.register
def _(value: Table, room: Room) -> str:
    rows = value.rows[: room.rows] if value.optional else value.rows
    head = "| " + " | ".join(untrusted.markdown_prose(column.name) or " " for column in value.columns) + " |"
    rule = "|" + "|".join("--:" if column.align == "right" else "---" for column in value.columns) + "|"
    body = ["| " + " | ".join(_cell(each) for each in row) + " |" for row in rows]
    left = len(value.rows) - len(rows)
    notes = [f"and {numbers.counted(left, 'more row')}"] if left else []
    notes += [untrusted.markdown_prose(value.note)] if value.note else []
    return "\n".join([head, rule, *body]) + ("\n\n" + " · ".join(notes) if notes else "")


@block.register
def _(value: Command, room: Room) -> str:
    return untrusted.markdown_block("\n".join(untrusted.one_line(each) for each in value.lines), language="sh")


@block.register
def _(value: PromptDiff, room: Room) -> str:
    told = [_rule(change, room) for change in value.changes[: room.rules]]
    left = len(value.changes) - len(told)
    return "\n\n".join([*told, *([f"and {numbers.counted(left, 'more part')}"] if left else [])])


@block.register
def _(value: Flips, room: Room) -> str:
    told = [_flip(n, row, value, room) for n, row in enumerate(value.rows[: room.flips], start=1)]
    left = len(value.rows) - len(told)
    return "\n\n".join([*told, *([f"and {numbers.counted(left, 'more flip')}"] if left else [])])


@block.register
def _(value: ConfusionPair, room: Room) -> str:
    arms = [arm for arm in (value.before, value.after) if arm is not None]
    return "\n\n".join(_confusion(arm) for arm in arms)


@block.register
def _(value: IntervalPlot, room: Room) -> str:
    return ""  # the table of statistics beside it says the same in figures


def cell_free(told: Line) -> str:
    """A line of text outside a table."""
    return "".join(_run(run) for run in told)


def summary(told: Line) -> str:
    """A line inside `<summary>`: raw HTML, where Markdown does not work and mentions would."""
    return "".join(_html_run(run) for run in told)


def _cell(told: Line) -> str:
    return "".join(
        untrusted.markdown_cell(run.text, run.limit) if isinstance(run, Quoted) else _run(run) for run in told
    )


def _run(run: Run) -> str:
    if isinstance(run, Quoted):
        return untrusted.markdown(run.text, run.limit)
    if isinstance(run, Strong):
        return f"**{untrusted.markdown_prose(run.text)}**"
    return untrusted.markdown_prose(run)


def _html_run(run: Run) -> str:
    if isinstance(run, Quoted):
        return untrusted.markdown_html(run.text, run.limit)
    if isinstance(run, Strong):
        return f"<b>{html.escape(run.text)}</b>"
    return html.escape(run)


def _rule(change: RuleChange, room: Room) -> str:
    word = "new" if change.before is None else "gone" if change.after is None else "changed"
    where = f" ({', '.join(untrusted.markdown(name) for name in change.where)})" if change.where else ""
    lines = [text for each in pieces(change.before, change.after) for text in _wrapped(f"{each.sign} ", each.text)]
    body = untrusted.markdown_block(untrusted.cut("\n".join(lines), room.rule), language="diff")
    return f"{untrusted.markdown(change.path, 120)} {word}{where}\n\n{body}"


def _flip(n: int, row: FlipDetail, flips: Flips, room: Room) -> str:
    title = (
        f"{n}. {row.kind} · ",
        Quoted(row.facts.item_id, limit=120),
        *((" · human ", Quoted(row.facts.gold, limit=40)) if row.facts.gold is not None else ()),
        *(f" · {row.facts.language}" for _ in [0] if row.facts.language),
        " · ",
        Quoted(f"{row.before_votes} → {row.after_votes}", limit=200),
    )
    parts = [
        f"Before, {untrusted.markdown(row.before, 60)}: {_reason(row.before_reason, room)}",
        f"After, {untrusted.markdown(row.after, 60)}: {_reason(row.after_reason, room)}",
    ]
    turn = _judged_turn(row, flips.conversations.get(row.facts.record_id, ()))
    if turn is not None:
        lines = [text for speaker, said in turn.lines for text in _wrapped("", f"{speaker}: {said}")]
        parts.append(untrusted.markdown_block(untrusted.cut("\n".join(lines), room.reason)))
    inside = "\n\n".join(parts)
    return f"<details><summary>{summary(title)}</summary>\n\n{inside}\n\n</details>"


def _wrapped(sign: str, text: str) -> list[str]:
    """A text in lines of a code block, which GitHub does not wrap; further lines repeat the sign of the diff."""
    shown = untrusted.one_line(text)
    wide = textwrap.wrap(shown, CODE_WIDTH, break_long_words=False, break_on_hyphens=False)
    return [f"{sign}{'' if n == 0 else '  '}{each}" for n, each in enumerate(wide)]


def _reason(reason: str, room: Room) -> str:
    return untrusted.markdown(reason, room.reason) if reason.strip() else "no reason given"


def _judged_turn(row: FlipDetail, turns: tuple[Turn, ...]) -> Turn | None:
    return next((turn for turn in turns if turn.turn_id == row.facts.turn_id), None)


def _confusion(arm: Confusion) -> str:
    names = [untrusted.markdown_cell(label, 40) for label in arm.labels] + ["no verdict"]
    head = f"| {arm.arm + ': ' if arm.arm else ''}human ↓ judge → | " + " | ".join(names) + " |"
    rule = "|---|" + "--:|" * len(names)
    body = [
        f"| {name} | " + " | ".join(numbers.count(n) for n in counts) + " |"
        for name, counts in zip(names, arm.counts, strict=False)
    ]
    return "\n".join([head, rule, *body])
