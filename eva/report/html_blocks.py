"""Blocks of a report as HTML. Every piece of text is escaped; quoted text stands apart and keeps its own direction."""

from __future__ import annotations

from functools import singledispatch

from eva.report import numbers, untrusted
from eva.report.blocks import (
    Align,
    Block,
    Bullets,
    Command,
    Confusion,
    ConfusionPair,
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
)
from eva.report.html_flips import flips_table
from eva.report.html_plot import interval_plot
from eva.report.text_diff import Piece, pieces

_DIFF_CLASSES = {"+": "new", "-": "gone", "…": "gap", " ": "kept"}


@singledispatch
def block(value: Block, n: int) -> str:
    """One block as HTML; n is the place of a flips block among its kind."""
    raise TypeError(f"no HTML for {type(value).__name__}")


@block.register
def _(value: Heading, n: int) -> str:
    return f"<h3>{words(value.line)}</h3>"


@block.register
def _(value: Paragraph, n: int) -> str:
    warning = value.line[:1] == (Strong("Not alike:"),)
    attribute = ' class="warning"' if warning else ""
    return f"<p{attribute}>{words(value.line)}</p>"


@block.register
def _(value: Bullets, n: int) -> str:
    return "<ul>" + "".join(f"<li>{words(each)}</li>" for each in value.lines) + "</ul>"


@block.register
def _(value: Table, n: int) -> str:
    head = "".join(f'<th scope="col"{_align(c.align)}>{untrusted.html(c.name)}</th>' for c in value.columns)
    aligns = [column.align for column in value.columns]
    body = "".join(
        "<tr>" + "".join(f"<td{_align(a)}>{words(each)}</td>" for a, each in zip(aligns, row, strict=True)) + "</tr>\n"
        for row in value.rows
    )
    note = f'<p class="note">{untrusted.html(value.note)}</p>' if value.note else ""
    return f'<div class="scroll"><table><thead><tr>{head}</tr></thead><tbody>\n{body}</tbody></table></div>{note}'


@block.register
def _(value: Command, n: int) -> str:
    return "<pre>" + "\n".join(untrusted.html(untrusted.one_line(each)) for each in value.lines) + "</pre>"


@block.register
def _(value: PromptDiff, n: int) -> str:
    return "\n".join(_rule(change) for change in value.changes)


@block.register
def _(value: Flips, n: int) -> str:
    return flips_table(value, n)


@block.register
def _(value: ConfusionPair, n: int) -> str:
    arms = (arm for arm in (value.before, value.after) if arm is not None)
    return f'<div class="side">{"".join(_confusion(arm) for arm in arms)}</div>'


@block.register
def _(value: IntervalPlot, n: int) -> str:
    return interval_plot(value.rows)


def words(told: Line) -> str:
    """A line of text."""
    return "".join(_run(run) for run in told)


def _run(run: Run) -> str:
    if isinstance(run, Quoted):
        return f'<bdi class="q">{untrusted.html(untrusted.one_line(run.text, run.limit))}</bdi>'
    if isinstance(run, Strong):
        return f'<strong class="{verdict_class(run.text)}">{untrusted.html(run.text)}</strong>'
    return untrusted.html(run)


def verdict_class(word: str) -> str:
    """`v-cannot-tell`: the colour of a verdict or of a kind of flip; for other words the style has no rule."""
    return "v-" + "".join(letter if letter.isalnum() and letter.isascii() else "-" for letter in word.lower())


def _align(align: Align) -> str:
    return ' class="n"' if align == "right" else ""


def _rule(change: RuleChange) -> str:
    word = "new" if change.before is None else "gone" if change.after is None else "changed"
    where = f" ({', '.join(change.where)})" if change.where else ""
    title = words((Quoted(change.path), f" {word}")) + (words((Quoted(where),)) if where else "")
    return (
        f'<h4>{title}</h4><ul class="diff">{"".join(_piece(each) for each in pieces(change.before, change.after))}</ul>'
    )


def _piece(piece: Piece) -> str:
    tag = {"+": "ins", "-": "del"}.get(piece.sign, "span")
    text = untrusted.html(untrusted.one_line(piece.text))
    return f'<li class="{_DIFF_CLASSES[piece.sign]}"><{tag} dir="auto">{piece.sign} {text}</{tag}></li>'


def _confusion(arm: Confusion) -> str:
    names = [words((Quoted(label, limit=40),)) for label in arm.labels]
    head = "".join(f'<th scope="col">{name}</th>' for name in [*names, "no verdict"])
    body = "".join(
        f'<tr><th scope="row">{name}</th>'
        + "".join(f'<td class="h{_heat(count, row)}">{numbers.count(count)}</td>' for count in row)
        + "</tr>"
        for name, row in zip(names, arm.counts, strict=False)
    )
    caption = f"{untrusted.html(arm.arm)}: " if arm.arm else ""
    return (
        f'<table class="matrix"><caption>{caption}human ↓ judge →</caption>'
        f"<thead><tr><td></td>{head}</tr></thead><tbody>{body}</tbody></table>"
    )


def _heat(count: float, row: tuple[float, ...]) -> int:
    """0 to 9: the share of the row."""
    return min(9, int(10 * count / sum(row))) if sum(row) else 0
