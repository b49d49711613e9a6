"""The parts of a report on one run: headline, classes, what it must beat, noise, failures, flags, slices."""

from __future__ import annotations

from collections.abc import Callable

from eva.metrics.results import Slice, Summary
from eva.report import details, noise, numbers, titles, unread, words
from eva.report.blocks import Block, Bullets, Column, Confusion, ConfusionPair, Line, Quoted, Strong, Table, line
from eva.report.inputs import Arm


def outcome(arm: Arm) -> tuple[Line, ...]:
    """The first sentence: how often the judge agrees with people, on what, and whether it beats a constant answer."""
    summary = arm.summary
    judge = Quoted(words.judge_of(arm.meta))
    if not summary.n_labelled:
        score = words.estimate(summary.mean_score, "mean_score")
        items = numbers.counted(summary.n_items, "item")
        return (
            *titles.state(arm),
            line(judge, f": mean score {score} over {items}{_rests(summary)}. No human labels."),
        )
    told = words.estimate(summary.accuracy_interval, "accuracy")
    items = titles.labelled_of(summary.n_labelled, summary.n_items)
    first = line(judge, f" agrees with the human labels on {told} of {items}{_rests(summary)}.")
    beaten = words.not_beaten(summary)
    last = (line(Strong("It does not beat"), f" {beaten}."),) if beaten else ()
    return (*titles.state(arm), first, *last)


def headline_blocks(arm: Arm) -> tuple[Block, ...]:
    """Mean ± run-to-run std and, apart from it, the interval. The two accuracies stand together, each with its name."""
    summary = arm.summary
    rows: list[tuple[Line, ...]] = []
    if summary.n_labelled:
        for name, title, spread, interval in (
            ("accuracy", words.ACCURACY, summary.accuracy, summary.accuracy_interval),
            ("macro_f1", words.statistic("macro_f1"), summary.macro_f1, summary.macro_f1_interval),
        ):
            unit = numbers.unit_of(name)
            ends = numbers.interval(interval.low, interval.high, unit)
            rows.append((line(title), line(numbers.spread(spread.mean, spread.std, unit)), line(ends)))
        if sum(summary.failures.values()):
            readable = numbers.percent(summary.accuracy_readable)
            rows.insert(1, (line(words.statistic("accuracy_readable")), line(readable), line("")))
    for name in ("weighted_kappa", "kappa", "mae", "bias", "mean_score", "coverage"):
        value = getattr(summary, name)
        if value.value is not None:
            unit = numbers.unit_of(name)
            ends = numbers.interval(value.low, value.high, unit)
            rows.append((line(words.statistic(name)), line(numbers.level(value.value, unit)), line(ends)))
    repeats = numbers.counted(len(summary.repeats), "repeat")
    noisy = [f"± is the run-to-run std over {repeats}."] if len(summary.repeats) > 1 else []
    told = [*noisy, "The interval comes from the items, by cluster."]
    if summary.coverage.value is not None:
        told.append("Coverage is the share of labelled items with a readable verdict.")
    columns = (Column("Statistic"), Column("Value", "right"), Column("95% interval", "right"))
    return (Table(columns, tuple(rows), note=" ".join(told)),)


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
    note = f"“few”: under {words.FEW_ITEMS} items, so that only the interval is printed."
    return (Table(columns, rows, note=note, optional=True),) if rows else ()


def notes_blocks(arm: Arm) -> tuple[Block, ...]:
    """What else there is to know; that the run is unfinished stands in its first line already."""
    told = (note for note in arm.summary.notes if not note.startswith("unfinished ("))
    notes = tuple(line(Quoted(note, limit=400)) for note in told)
    return (Bullets(notes),) if notes else ()


def _slice_row(part: Slice, statistic: str) -> tuple[Line, ...]:
    value = part.accuracy if statistic == "accuracy" else part.mean_score
    unit = numbers.unit_of(statistic)
    shown = "few" if value.n_items < words.FEW_ITEMS else numbers.level(value.value, unit)
    ends = numbers.interval(value.low, value.high, unit) or numbers.UNDEFINED
    counts = (line(numbers.count(part.n_items)), line(numbers.count(part.n_clusters)))
    return (line(f"{part.by} ", Quoted(part.value, limit=60)), *counts, line(shown), line(ends))


def _rests(summary: Summary) -> str:
    """` in 112 clusters, 3 repeats, run-to-run std 1.7 points`."""
    std = summary.accuracy.std
    noise = "" if std is None else f", run-to-run std {numbers.number(std * 100, 1)} points"
    clusters, repeats = (
        numbers.counted(summary.n_clusters, "cluster"),
        numbers.counted(len(summary.repeats), "repeat"),
    )
    return f" in {clusters}, {repeats}{noise}"


PARTS: tuple[tuple[str, str, Callable[[Arm], tuple[Block, ...]]], ...] = (
    ("classes", "Classes", classes_blocks),
    ("baselines", "What it must beat", baselines_blocks),
    ("noise", "Noise", noise.noise_blocks),
    ("failures", "Verdicts that could not be read", unread.failures_blocks),
    ("rules", "Replies that break a rule of the judge", unread.rules_blocks),
    ("flags", "Flags", flags_blocks),
    ("slices", "Slices", slices_blocks),
    ("notes", "Notes", notes_blocks),
)
