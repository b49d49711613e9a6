"""The turn benchmark as a report: a row a model under test, fixed denominators, timing apart."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from eva.metrics.results import Estimate
from eva.metrics.results_benchmarks import BenchmarkScores, TurnBenchmark
from eva.report import numbers, plots, words
from eva.report.blocks import Block, Bullets, Column, Line, Quoted, Report, Section, Table, line

NAMES: Final[Mapping[str, str]] = {
    "tool_use_correct": "Tool errors",
    "instruction_following": "Instruction errors",
    "kb_grounding": "Knowledge errors",
}
SHOWN_RUNS: Final = 200
_FIXED: Final = (
    "Every rate is over all scripted turns of all conversations: a turn that was never reached or could not be read fails in "
    "every dimension. Brackets hold the 95% interval; whole conversations are resampled."
)


def benchmark_report(found: TurnBenchmark) -> Report:
    """The rates of all models under test, and of each conversation."""
    overall = found.overall
    told = line(
        f"Strict pass rate {_rate(overall.strict)} over {numbers.counted(overall.conversations, 'conversation')} × "
        f"{numbers.counted(found.scripted, 'scripted turn')}."
    )
    parts = [
        Section("headline", line("Rates"), benchmark_blocks(found), rank="first"),
        Section("runs", line("Conversations"), _runs(found)),
        Section("notes", line("Notes"), (Bullets(tuple(line(note) for note in found.notes)),) if found.notes else ()),
    ]
    return Report(line("Turn benchmark"), (told,), tuple(part for part in parts if part.blocks))


def benchmark_blocks(found: TurnBenchmark) -> tuple[Block, ...]:
    """Rates by model, best strict rate first, all together last; and the counts behind them."""
    names = ["Strict pass", "Any error", *(NAMES.get(name, name) for name in found.dimensions)]
    columns = (Column("Model under test"), *(Column(name, "right") for name in names))
    rows = tuple(_row(part, found) for part in (*found.models, found.overall))
    counts = tuple(_counts(part, found) for part in (*found.models, found.overall))
    told = ("Conversations", "Turns", "Never judged", "Failed turns", "Reached the end", "Timing failed")
    return (
        Table(columns, rows, note=_FIXED),
        Table(
            (Column("Model under test"), *(Column(name, "right") for name in told)),
            counts,
            note="Timing counts in no rate above.",
        ),
    )


def benchmark_plot(found: TurnBenchmark, *, kind: plots.Format = "png") -> bytes:
    """Strict pass rates of the models under test with their intervals."""
    parts = found.models or (found.overall,)
    rows = [(part.model or "all", part.strict) for part in parts]
    return plots.rates(rows, title="Turn benchmark: strict pass rate, with 95% interval", kind=kind)


def _row(part: BenchmarkScores, found: TurnBenchmark) -> tuple[Line, ...]:
    rates = (part.strict, part.any_error, *(part.errors[name] for name in found.dimensions))
    return (_name(part), *(line(_rate(rate)) for rate in rates))


def _counts(part: BenchmarkScores, found: TurnBenchmark) -> tuple[Line, ...]:
    cells = (
        numbers.count(part.conversations),
        numbers.count(part.turns),
        numbers.count(part.missing),
        numbers.count(part.counts["any_error"]),
        _rate(part.reached_end),
        _rate(part.turn_taking) if part.turn_taking.value is not None else "no timing",
    )
    return (_name(part), *(line(cell) for cell in cells))


def _runs(found: TurnBenchmark) -> tuple[Block, ...]:
    """The conversations with the lowest strict pass rate first."""
    order = sorted(found.runs.items(), key=lambda run: (run[1], run[0]))[:SHOWN_RUNS]
    rows = tuple((line(Quoted(name, limit=100)), line(numbers.percent(share, 1))) for name, share in order)
    left = len(found.runs) - len(order)
    note = f"{numbers.counted(left, 'more conversation')} left out" if left else ""
    return (Table((Column("Conversation"), Column("Strict pass", "right")), rows, note=note, optional=True),)


def _name(part: BenchmarkScores) -> Line:
    return line(Quoted(part.model, limit=80)) if part.model else line("all")


def _rate(rate: Estimate) -> str:
    return words.estimate(rate, "rate")
