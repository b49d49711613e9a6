"""What an imperfect judge's rate means, as a report: as it says, how it errs, and corrected in two ways."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from eva.metrics.results import Estimate
from eva.report import numbers, words
from eva.report.blocks import Bullets, Column, Line, Quoted, Report, Section, Strong, Table, line

ASSUMES: Final = {
    "rogan_gladen": "the judge errs on these conversations as it does on the labelled ones",
    "prediction_powered": "the labelled items are a random sample of these conversations",
}


@dataclass(frozen=True)
class CorrectedRate:
    """Numbers of `eva.metrics.imperfect`, with what they are about."""

    judge: str
    target: Sequence[str]
    raw: Estimate
    sensitivity: Estimate
    specificity: Estimate
    rogan_gladen: Estimate
    prediction_powered: Estimate
    notes: Sequence[str] = ()


def rate_report(found: CorrectedRate) -> Report:
    """The corrected rates first; where the judge is no better than chance, that there is none."""
    target = Quoted(", ".join(found.target), limit=80)
    rows = (
        _row("as the judge says", found.raw, told="nothing: its errors are in it"),
        _row("corrected (Rogan–Gladen)", found.rogan_gladen, told=ASSUMES["rogan_gladen"]),
        _row("corrected (PPI++)", found.prediction_powered, told=ASSUMES["prediction_powered"]),
    )
    errs = (
        _row("sensitivity", found.sensitivity, told="of the items that people give it"),
        _row("specificity", found.specificity, told="of the items that people do not"),
    )
    columns = (Column("Rate"), Column("Share, 95% interval", "right"), Column("Items", "right"), Column("Assumes"))
    judged = Table((*columns[:3], Column("Of")), errs, note="On the labelled items; clusters widen every interval.")
    parts = [
        Section("headline", line("Rate of ", target), (Table(columns, rows),), rank="first"),
        Section("errors", line("How the judge errs"), (judged,), rank="first"),
    ]
    notes = [*found.notes, *(rate.note for rate in (found.rogan_gladen, found.prediction_powered) if rate.note)]
    if notes:
        parts.append(
            Section(
                "notes", line("Notes"), (Bullets(tuple(line(Quoted(note, limit=400)) for note in notes)),), rank="first"
            )
        )
    return Report(line("Rate of ", target, " by ", Quoted(found.judge)), (_outcome(found),), tuple(parts))


def _outcome(found: CorrectedRate) -> Line:
    raw = words.estimate(found.raw, "rate")
    if found.rogan_gladen.value is None:
        return line(
            f"The judge says {raw}. ", Strong("No correction"), " by its errors: ", Quoted(found.rogan_gladen.note), "."
        )
    return line(f"The judge says {raw}; corrected for its errors {words.estimate(found.rogan_gladen, 'rate')}.")


def _row(name: str, rate: Estimate, *, told: str) -> tuple[Line, ...]:
    return (line(name), line(words.estimate(rate, "rate")), line(numbers.count(rate.n_items)), line(told))
