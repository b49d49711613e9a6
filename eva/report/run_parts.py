"""The parts of a report on one run: headline, classes, what it must beat, noise, failures, flags, slices."""

from __future__ import annotations

from collections.abc import Callable

from eva.metrics.results import Slice, Summary
from eva.report import details, numbers, words
from eva.report.blocks import Block, Bullets, Column, Confusion, ConfusionPair, Line, Quoted, Strong, Table, line
from eva.report.inputs import Arm


def outcome(arm: Arm) -> tuple[Line, ...]:
    """The first sentence: how often the judge agrees with people, on what, and whether it beats a constant answer."""
    summary = arm.summary
    judge = Quoted(str(arm.meta.get("judge", "?")))
    rests = _rests(summary)
    if not summary.n_labelled:
        score = words.estimate(summary.mean_score, "mean_score")
        return (line(judge, f": mean score {score} · {rests}; no human labels."),)
    told = words.estimate(summary.accuracy_interval, "accuracy")
    first = line(judge, f" agrees with the human labels on {told} · {rests}.")
    beaten = words.not_beaten(summary)
    return (first, line(Strong("It does not beat"), f" {beaten}.")) if beaten else (first,)


def headline_blocks(arm: Arm) -> tuple[Block, ...]:
    """Mean ± run-to-run std and, apart from it, the interval."""
    summary = arm.summary
    rows: list[tuple[Line, ...]] = []
    if summary.n_labelled:
        for name, spread, interval in (
            ("accuracy", summary.accuracy, summary.accuracy_interval),
            ("macro_f1", summary.macro_f1, summary.macro_f1_interval),
        ):
            unit = numbers.unit_of(name)
            ends = numbers.interval(interval.low, interval.high, unit)
            rows.append((line(words.statistic(name)), line(numbers.spread(spread.mean, spread.std, unit)), line(ends)))
    for name in ("weighted_kappa", "kappa", "mae", "bias", "mean_score", "coverage"):
        value = getattr(summary, name)
        if value.value is not None:
            unit = numbers.unit_of(name)
            ends = numbers.interval(value.low, value.high, unit)
            rows.append((line(words.statistic(name)), line(numbers.level(value.value, unit)), line(ends)))
    repeats = numbers.counted(len(summary.repeats), "repeat")
    noisy = f"± is the run-to-run std over {repeats}; the" if len(summary.repeats) > 1 else "The"
    note = f"{noisy} interval comes from the items, by cluster."
    columns = (Column("Statistic"), Column("Value", "right"), Column("95% interval", "right"))
    return (Table(columns, tuple(rows), note=note),)


def classes_blocks(arm: Arm) -> tuple[Block, ...]:
    summary = arm.summary
    if not summary.n_labelled:
        return ()
    rows = tuple(
        (
            line(Quoted(scores.label)),
            line(numbers.count(scores.support)),
            *(line(numbers.percent(value, 1)) for value in (scores.precision, scores.recall, scores.f1)),
        )
        for scores in summary.per_class
    )
    columns = (Column("Class"), *(Column(name, "right") for name in ("Human labels", "Precision", "Recall", "F1")))
    return Table(columns, rows), ConfusionPair(None, Confusion("", summary.labels, summary.confusion))


def baselines_blocks(arm: Arm) -> tuple[Block, ...]:
    rows = tuple(
        (
            line(Quoted(baseline.name)),
            line(numbers.percent(baseline.accuracy, 1)),
            line(numbers.percent(baseline.macro_f1, 1)),
            line(Quoted(baseline.note) if baseline.note else ""),
        )
        for baseline in arm.summary.baselines
    )
    columns = (Column("Baseline"), Column("Accuracy", "right"), Column("Macro-F1", "right"), Column("Note"))
    return ((Table(columns, rows),) if rows else ()) + details.people_blocks(arm.summary.ceiling)


def noise_blocks(arm: Arm) -> tuple[Block, ...]:
    noise = arm.summary.noise
    failing = " (failures agreeing with failures count)" if sum(arm.summary.failures.values()) else ""
    told = (
        f"stability (share of repeats with the most frequent verdict): {words.estimate(noise.stability, 'rate')}{failing}",
        f"self-agreement of two repeats: {words.estimate(noise.self_agreement, 'rate')}",
        f"Krippendorff's alpha between repeats: {numbers.number(noise.alpha, 3)}",
        f"items with unlike repeats: {numbers.count(noise.unstable_items)} of {numbers.count(arm.summary.n_items)}",
    )
    return (Bullets(tuple(line(text) for text in told)),)


def failures_blocks(arm: Arm) -> tuple[Block, ...]:
    summary = arm.summary
    rows: list[tuple[Line, ...]] = [
        (line(what, Quoted(name, limit=60)), line(numbers.count(n)))
        for what, by in (("", summary.failures), ("broken rule ", summary.broken_rules))
        for name, n in sorted(by.items())
        if n
    ]
    if summary.over_answered:
        rows.append((line("rated though people say not applicable"), line(numbers.count(summary.over_answered))))
    note = (
        f"All repeats together. A verdict that could not be read counts as wrong; "
        f"among the readable the accuracy is {numbers.percent(summary.accuracy_readable)}."
    )
    return (Table((Column("No verdict"), Column("Verdicts", "right")), tuple(rows), note=note),) if rows else ()


def flags_blocks(arm: Arm) -> tuple[Block, ...]:
    rows = tuple(
        (
            line(Quoted(flag.flag, limit=60)),
            line(numbers.count(flag.items)),
            line(numbers.count(flag.clusters)),
            line(words.estimate(flag.rate, "rate")),
            line(numbers.count(flag.labelled, missing="")),
            line(numbers.percent(flag.precision, 1)),
            line(numbers.percent(flag.recall, 1)),
        )
        for flag in arm.summary.flags
    )
    names = ("Items", "Clusters", "Rate", "Labelled", "Precision", "Recall")
    columns = (Column("Flag"), *(Column(name, "right") for name in names))
    return (Table(columns, rows, optional=True),) if rows else ()


def slices_blocks(arm: Arm) -> tuple[Block, ...]:
    labelled = bool(arm.summary.n_labelled)
    rows = tuple(_slice_row(part, "accuracy" if labelled else "mean_score") for part in arm.summary.slices)
    value = "Accuracy" if labelled else "Mean score"
    columns = (Column("Slice"), *(Column(name, "right") for name in ("Items", "Clusters", value, "95% interval")))
    note = f"Point estimates of slices under {words.FEW_ITEMS} items are not printed."
    return (Table(columns, rows, note=note, optional=True),) if rows else ()


def notes_blocks(arm: Arm) -> tuple[Block, ...]:
    notes = tuple(line(Quoted(note, limit=400)) for note in arm.summary.notes)
    return (Bullets(notes),) if notes else ()


def _slice_row(part: Slice, statistic: str) -> tuple[Line, ...]:
    value = part.accuracy if statistic == "accuracy" else part.mean_score
    unit = numbers.unit_of(statistic)
    shown = "few" if part.n_items < words.FEW_ITEMS else numbers.level(value.value, unit)
    ends = numbers.interval(value.low, value.high, unit) or numbers.UNDEFINED
    counts = (line(numbers.count(part.n_items)), line(numbers.count(part.n_clusters)))
    return (line(f"{part.by} ", Quoted(part.value, limit=60)), *counts, line(shown), line(ends))


def _rests(summary: Summary) -> str:
    """`137 items, 112 clusters · 3 repeats, run std 1.7`."""
    items = numbers.counted(summary.n_labelled or summary.n_items, "item")
    clusters = numbers.counted(summary.n_clusters, "cluster")
    std = summary.accuracy.std
    noise = "" if std is None else f", run std {numbers.number(std * 100, 1)}"
    return f"{items}, {clusters} · {numbers.counted(len(summary.repeats), 'repeat')}{noise}"


PARTS: tuple[tuple[str, str, Callable[[Arm], tuple[Block, ...]]], ...] = (
    ("classes", "Classes", classes_blocks),
    ("baselines", "What it must beat", baselines_blocks),
    ("noise", "Noise", noise_blocks),
    ("failures", "Verdicts that could not be read", failures_blocks),
    ("flags", "Flags", flags_blocks),
    ("slices", "Slices", slices_blocks),
    ("notes", "Notes", notes_blocks),
)
