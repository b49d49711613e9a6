"""The folded parts of a comparison: every statistic, slices, flags, classes, people."""

from __future__ import annotations

from eva.metrics.results import Ceiling, Difference, FlagDifference, SliceDifference
from eva.report import numbers, words
from eva.report.blocks import (
    Block,
    Bullets,
    Column,
    Confusion,
    ConfusionPair,
    IntervalPlot,
    IntervalRow,
    Line,
    Quoted,
    Strong,
    Table,
    line,
)
from eva.report.inputs import Pair


def statistics_blocks(pair: Pair) -> tuple[Block, ...]:
    """Every statistic with interval, p, smallest visible change, items needed, and the criterion of old."""
    names = ("Before", "After", "Difference", "p", "Visible from", "Items needed")
    rows = tuple(_statistic_row(difference) for difference in pair.comparison.differences)
    table = Table(
        (Column("Statistic"), *(Column(name, "right") for name in names), Column("Verdict"), Column("Within one std")),
        rows,
        note="“Visible from” is the smallest change that this dataset can show (80% power). “Items needed” would show the "
        "difference that was seen. “Within one std”: the difference is no larger than the larger run-to-run std. That is "
        "the older criterion; it ignores which items were drawn, and decides nothing here.",
    )
    return (
        table,
        *_why_not(pair),
        IntervalPlot(tuple(_interval_row(difference) for difference in pair.comparison.differences)),
    )


def _why_not(pair: Pair) -> tuple[Block, ...]:
    """Why a statistic shows no smallest visible change, or no number of items: one line a reason."""
    reasons: dict[str, list[str]] = {}
    for one in pair.comparison.differences:
        for what, value, why in (
            ("smallest visible change", one.smallest_visible, one.visible_note),
            ("number of items needed", one.items_needed, one.needed_note),
        ):
            if value is None and why:
                reasons.setdefault(f"{what}: {why}", []).append(words.noun(one.statistic))
    told = tuple(line(f"no {reason} (", Quoted(", ".join(names)), ")") for reason, names in reasons.items())
    return (Bullets(told),) if told else ()


def flags_blocks(pair: Pair) -> tuple[Block, ...]:
    """Flags (failure modes, dimensions): items, clusters and rate before and after; precision, recall."""
    flags = pair.comparison.flags
    if not flags:
        return ()
    names = ("Flag", "Items", "Clusters", "Rate, points", "p, adjusted", "Verdict")
    columns = tuple(Column(name, "left" if name in {"Flag", "Verdict"} else "right") for name in names)
    note = (
        "Before → after. Adjusted: Benjamini–Hochberg over all flags. The rate is the share of items that are flagged."
    )
    moved = Table(columns, tuple(_flag_row(flag) for flag in flags), note=note, optional=True)
    rows = tuple(
        (
            line(Quoted(flag.flag, limit=60)),
            line(_arrow(flag.before_precision, flag.after_precision)),
            line(_arrow(flag.before_recall, flag.after_recall)),
        )
        for flag in flags
        if flag.before_recall is not None or flag.after_recall is not None
    )
    against = (Column("Against labelled flags"), Column("Precision", "right"), Column("Recall", "right"))
    return (moved, Table(against, rows, optional=True)) if rows else (moved,)


def slices_blocks(pair: Pair) -> tuple[Block, ...]:
    """Differences on parts, a table a statistic; those that show something first, then the large ones.

    Under ten items the point estimates are not printed, the interval always is.
    """
    ranks = list(words.ORDER_OF_PARTS)
    tables = []
    for name in dict.fromkeys(part.difference.statistic for part in pair.comparison.slices):
        slices = sorted(
            (part for part in pair.comparison.slices if part.difference.statistic == name),
            key=lambda part: (ranks.index(part.difference.verdict), -part.n_items, part.by, part.value),
        )
        columns = (
            Column(f"{words.statistic(name)} by"),
            *(
                Column(title, "right")
                for title in ("Items", "Clusters", "Before", "After", "Difference", "p, adjusted")
            ),
            Column("Verdict"),
        )
        families = {part.by: part.difference.family for part in slices if part.difference.family}
        note = f"“few”: under {words.FEW_ITEMS} items, so that only the interval is printed."
        note += f" Adjusted p: {', '.join(f'{by} by {how}' for by, how in families.items())}." if families else ""
        tables.append(Table(columns, tuple(_slice_row(part) for part in slices), note=note, optional=True))
    return tuple(tables)


def classes_blocks(pair: Pair) -> tuple[Block, ...]:
    """Confusion of both arms, and precision, recall and F1 per class; nothing without labels."""
    before, after = pair.before.summary, pair.after.summary
    if not after.n_labelled:
        return ()
    matrices = ConfusionPair(
        Confusion("before", before.labels, before.confusion), Confusion("after", after.labels, after.confusion)
    )
    old = {scores.label: scores for scores in before.per_class}
    rows = []
    for scores in after.per_class:
        was = old.get(scores.label)
        cells = [_arrow(getattr(was, name, None), getattr(scores, name)) for name in ("precision", "recall", "f1")]
        rows.append((line(Quoted(scores.label)), line(numbers.count(scores.support)), *(line(cell) for cell in cells)))
    columns = (Column("Class"), *(Column(name, "right") for name in ("Human labels", "Precision", "Recall", "F1")))
    return matrices, Table(columns, tuple(rows))


def people_blocks(ceiling: Ceiling | None) -> tuple[Block, ...]:
    """What people reach among themselves, where items carry two labels."""
    if ceiling is None:
        return ()
    people = words.estimate(ceiling.human_human, "accuracy")
    kappa = numbers.number(ceiling.kappa_human_human, 3)
    told = [
        f"two people agree on {people} of the {numbers.counted(ceiling.items, 'item')} with two labels (kappa {kappa})",
        f"on the same items the judge agrees with people in {words.estimate(ceiling.judge_human, 'accuracy')}",
    ]
    if ceiling.alt_test is not None:
        parts = ", ".join(f"{key} {numbers.number(value, 2)}" for key, value in sorted(ceiling.alt_test.items()))
        told.append(f"alternative annotator test: {parts}")
    return (Bullets(tuple(line(text) for text in told)),)


def _statistic_row(difference: Difference) -> tuple[Line, ...]:
    shown = words.change_of(difference)
    visible, needed = difference.smallest_visible, difference.items_needed
    within = {True: "yes", False: "no", None: "not known"}[difference.within_one_std]
    return (
        line(words.statistic(difference.statistic)),
        line(shown.before),
        line(shown.after),
        line(words.delta(difference)),
        line(numbers.p_cell(difference.p_value)),
        line("–" if visible is None and difference.visible_note else words.size(visible, difference.statistic)),
        line(numbers.count(needed, missing="–" if difference.needed_note else numbers.UNKNOWN)),
        line(Strong(difference.verdict)),
        line(within),
    )


def _flag_row(flag: FlagDifference) -> tuple[Line, ...]:
    return (
        line(Quoted(flag.flag, limit=60)),
        line(f"{numbers.count(flag.before_items)} → {numbers.count(flag.after_items)}"),
        line(f"{numbers.count(flag.before_clusters)} → {numbers.count(flag.after_clusters)}"),
        line(words.shift(flag.difference)),
        line(numbers.p_cell(flag.p_adjusted if flag.p_adjusted is not None else flag.p_value)),
        line(flag.verdict),
    )


def _slice_row(part: SliceDifference) -> tuple[Line, ...]:
    shown = words.change_of(part.difference)
    few = part.n_items < words.FEW_ITEMS
    p = part.difference.p_adjusted if part.difference.p_adjusted is not None else part.difference.p_value
    return (
        line(f"{part.by} ", Quoted(part.value, limit=60)),
        line(numbers.count(part.n_items)),
        line(numbers.count(part.n_clusters)),
        line("few" if few else shown.before),
        line("few" if few else shown.after),
        line(shown.interval or numbers.UNDEFINED if few else f"{shown.difference} {shown.interval}".rstrip()),
        line(numbers.p_cell(p)),
        line(part.difference.verdict),
    )


def _interval_row(difference: Difference) -> IntervalRow:
    estimate = difference.difference
    share = numbers.unit_of(difference.statistic) is numbers.PERCENT
    return IntervalRow(
        name=words.statistic(difference.statistic),
        value=estimate.value,
        low=estimate.low,
        high=estimate.high,
        verdict=difference.verdict,
        unit="points" if share else "plain",
    )


def _arrow(before: float | None, after: float | None) -> str:
    return f"{numbers.percent(before, 1)} → {numbers.percent(after, 1)}"
