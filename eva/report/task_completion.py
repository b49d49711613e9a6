"""Task completion of speech-to-speech models as a report: strict and lenient rates, and the counts behind them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from eva.metrics.results_benchmarks import Completion, TaskCompletion
from eva.report import numbers, plots, words
from eva.report.blocks import Block, Bullets, Column, Line, Quoted, Report, Section, Table, line

_RULES: Final = (
    "Strict: success over all scored conversations; unverifiable or unreadable ones count against. Lenient: over "
    "success and failure only. Brackets hold the 95% interval, by scenario."
)


def completion_report(found: TaskCompletion) -> Report:
    """Rates for all, by domain and by model under test; what the two judges said together."""
    overall = found.overall
    told = line(
        f"Task completion {words.estimate(overall.strict, 'rate')} strict, {words.estimate(overall.lenient, 'rate')} lenient: "
        f"{numbers.count(overall.scored)} of {numbers.counted(overall.conversations, 'conversation')} scored."
    )
    notes = [*found.notes] + (["all conversations are scored, eligible or not"] if found.score == "all" else [])
    parts = [
        Section("headline", line("Rates"), _rates(found), rank="first"),
        Section("both", line("Eligibility and status together"), _both(found.both)),
        Section("notes", line("Notes"), (Bullets(tuple(line(note) for note in notes)),) if notes else ()),
    ]
    return Report(line("Task completion"), (told,), tuple(part for part in parts if part.blocks))


def completion_plot(found: TaskCompletion, *, kind: plots.Format = "png") -> bytes:
    """Strict rates for all, by domain and by model under test."""
    rows = [(_title(part), part.strict) for part in (found.overall, *found.parts)]
    return plots.rates(rows, title="Task completion, strict, with 95% interval", kind=kind)


def _rates(found: TaskCompletion) -> tuple[Block, ...]:
    columns = (
        Column("Conversations of"),
        Column("All", "right"),
        Column("Scored", "right"),
        Column("Strict", "right"),
        Column("Lenient", "right"),
        Column("Status of the scored"),
        Column("Eligibility"),
    )
    return (Table(columns, tuple(_row(part) for part in (found.overall, *found.parts)), note=_RULES),)


def _row(part: Completion) -> tuple[Line, ...]:
    name = line(f"{part.by} ", Quoted(part.value, limit=60)) if part.value else line("all")
    return (
        name,
        line(numbers.count(part.conversations)),
        line(numbers.count(part.scored)),
        line(words.estimate(part.strict, "rate")),
        line(words.estimate(part.lenient, "rate")),
        _listed(part.status),
        _listed(part.eligibility),
    )


def _both(table: Mapping[str, Mapping[str, float]]) -> tuple[Block, ...]:
    names = sorted({name for statuses in table.values() for name in statuses})
    rows = tuple(
        (line(Quoted(label, limit=60)), *(line(_count(statuses.get(name, 0.0))) for name in names))
        for label, statuses in table.items()
    )
    columns = (Column("Eligibility ↓ status →"), *(Column(name, "right") for name in names))
    return (Table(columns, rows, note="Mean over the repeats of the status judge, scored or not."),) if rows else ()


def _listed(counts: Mapping[str, float]) -> Line:
    pieces: list[str | Quoted] = []
    for name, n in sorted(counts.items(), key=lambda count: (-count[1], count[0])):
        pieces += [", " if pieces else "", Quoted(name, limit=60), f" {_count(n)}"]
    return line(*pieces)


def _count(n: float) -> str:
    return numbers.count(round(n, 1))


def _title(part: Completion) -> str:
    return f"{part.by} {part.value}".strip()
