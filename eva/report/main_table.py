"""The table of before, after and difference, how to read it, and in what the two runs are unlike."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, Literal

from eva.metrics.results import VERDICT_MEANINGS, Difference
from eva.report import numbers, words
from eva.report.blocks import Column, IntervalRow, Line, Paragraph, Quoted, Run, Strong, Table, line
from eva.report.headline import is_labelled, noun_of, ordered
from eva.report.inputs import Arm, Pair

FIRST_SCREEN_JUDGES: Final = 3
"""So many judges stand in the first table; all of them stand in a table of their own further down."""
FIRST_SCREEN_WARNINGS: Final = 4
COLUMNS_LABELLED: Final = ("accuracy", "macro_f1")
COLUMNS_UNLABELLED: Final = ("mean_score",)
DIFFERENCE_LEGEND: Final = (
    "Brackets hold the 95% interval of the difference, paired by item. “Visible from” is the smallest change that this "
    "dataset can show (80% power)."
)
UNREADABLE_LEGEND: Final = "Accuracy and macro-F1 count a verdict that could not be read as wrong."


def main_tables(pairs: Sequence[Pair], *, limit: int | None = None) -> tuple[Table, ...]:
    """One table for judges with human labels, one for those without; three rows a judge."""
    told = ordered(pairs)
    shown = told if limit is None else told[:limit]
    tables = []
    for statistics, labelled in ((COLUMNS_LABELLED, True), (COLUMNS_UNLABELLED, False)):
        group = [pair for pair in shown if is_labelled(pair) == labelled]
        if group:
            rows = [row for pair in group for row in _rows(pair, pairs, statistics=statistics)]
            tables.append(_table(tuple(rows), statistics))
    return tuple(tables)


def interval_rows(pairs: Sequence[Pair]) -> tuple[IntervalRow, ...]:
    """The deciding difference of every judge, for a picture; judges without one are left out."""
    rows = []
    for pair in ordered(pairs):
        first = words.headline(pair)
        if first is not None:
            unit: Literal["points", "plain"] = "points" if words.points(first.statistic) else "plain"
            name = f"{words.name_of(pair, pairs)}, {words.noun(first.statistic)}"
            value = first.difference
            rows.append(IntervalRow(name, value.value, value.low, value.high, first.verdict, unit))
    return tuple(rows)


def legend(pairs: Sequence[Pair]) -> Paragraph:
    """How to read the table, in a few sentences."""
    left = len(pairs) - FIRST_SCREEN_JUDGES
    told = [f"{noun_of(pairs, left, prefix='more ')} below."] if left > 0 else []
    told += [noise_legend(pairs), DIFFERENCE_LEGEND]
    if any(is_labelled(pair) and _unreadable(pair) for pair in pairs):
        told.append(UNREADABLE_LEGEND)
    if any(one.verdict == "moved" for pair in pairs for one in pair.comparison.differences):
        told.append(f"“moved”: {VERDICT_MEANINGS['moved']}.")
    return Paragraph(line(" ".join(told)))


def noise_legend(pairs: Sequence[Pair]) -> str:
    """What ± is, with the number of repeats; with one repeat everywhere, that no ± is there."""
    repeats = sorted({len(arm.summary.repeats) for pair in pairs for arm in (pair.before, pair.after)})
    if repeats and repeats[-1] == 1:
        return "There was one repeat, so that nothing is known of how noisy the judge is."
    return f"± is the run-to-run std over {_range(repeats)}. It says how noisy the judge is, not how sure we are."


def warnings(pairs: Sequence[Pair]) -> Paragraph | None:
    """Ways in which the arms are unlike, all in one line; None where there is none."""
    told = [(words.name_of(pair, pairs), text) for pair in ordered(pairs) for text in words.unlike(pair)]
    pieces: list[Run] = []
    for name, text in told[:FIRST_SCREEN_WARNINGS]:
        pieces.append("; " if pieces else " ")
        pieces.extend([Quoted(name), ": "] if len(pairs) > 1 else [])
        pieces.append(Quoted(text, limit=400))
    if len(told) > FIRST_SCREEN_WARNINGS:
        pieces.append(f"; and {len(told) - FIRST_SCREEN_WARNINGS} more, under Runs")
    return Paragraph(line(Strong("Not alike:"), *pieces)) if pieces else None


def _rows(pair: Pair, pairs: Sequence[Pair], *, statistics: Sequence[str]) -> list[tuple[Line, ...]]:
    found = {difference.statistic: difference for difference in pair.comparison.differences}
    before = (_level(pair.before, found.get(name), name, "before") for name in statistics)
    after = (_level(pair.after, found.get(name), name, "after") for name in statistics)
    judged = [*_judged_on(pair), "", "", ""]
    empty: Line = line("")
    return [
        (line(Quoted(words.name_of(pair, pairs))), line(judged[0]), line("before"), *before),
        (line(Quoted(words.model_of(pair.after.meta))), line(judged[1]), line("after"), *after),
        (empty, line(judged[2]), line("difference"), *(_difference(found.get(name)) for name in statistics)),
    ]


def _level(arm: Arm, difference: Difference | None, statistic: str, side: str) -> Line:
    """Mean ± run-to-run std on the common items; of the arm's own items where nothing was compared."""
    unit = numbers.unit_of(statistic)
    if difference is None:
        return line("not compared")
    spread = difference.before_spread if side == "before" else difference.after_spread
    own = getattr(arm.summary, statistic, None) if spread is None else spread
    if own is not None and hasattr(own, "std"):
        return line(numbers.spread(own.mean, own.std, unit))
    return line(numbers.level(difference.before if side == "before" else difference.after, unit))


def _difference(difference: Difference | None) -> Line:
    if difference is None:
        return line("not compared")
    visible = difference.smallest_visible
    reach = "" if visible is None else f", visible from {words.size(visible, difference.statistic)}"
    if visible is None and difference.visible_note:
        reach = f", no smallest visible change ({difference.visible_note})"
    return line(f"{words.delta(difference)}{reach}: ", Strong(difference.verdict))


def _table(rows: tuple[tuple[Line, ...], ...], statistics: Sequence[str]) -> Table:
    columns = (Column("Judge, model"), Column("Records"), Column(""))
    return Table((*columns, *(Column(words.statistic(name)) for name in statistics)), rows)


def _judged_on(pair: Pair) -> list[str]:
    """`100 records`, `479 items`, `470 labelled`: what each n counts; common items where the arms have unlike ones."""
    dataset = pair.after.meta.get("dataset")
    records = dataset.get("records") if isinstance(dataset, Mapping) else None
    comparison = pair.comparison
    items = comparison.n_items
    if comparison.only_before or comparison.only_after:
        told = [numbers.counted(items, "common item")]
    elif records is None or records == items:
        told = [numbers.counted(items, "item" if records is None else "record")]
    else:
        told = [numbers.counted(records, "record"), numbers.counted(items, "item")]
    first = words.headline(pair)
    if first is not None and is_labelled(pair):
        labelled = first.difference.n_items
        told.append("all labelled" if labelled == items else f"{numbers.count(labelled)} labelled")
    return told


def _unreadable(pair: Pair) -> bool:
    return any(sum(arm.summary.failures.values()) for arm in (pair.before, pair.after))


def _range(repeats: Sequence[int]) -> str:
    if len(repeats) == 1:
        return numbers.counted(repeats[0], "repeat")
    return f"{repeats[0]} to {repeats[-1]} repeats" if repeats else "the repeats"
