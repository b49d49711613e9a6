"""The first screen of a comparison: the outcome in plain words, and the table of before, after and difference."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, Literal

from eva.metrics.results import Difference, VerdictWord
from eva.report import numbers, words
from eva.report.blocks import Column, IntervalRow, Line, Paragraph, Quoted, Run, Strong, Table, line
from eva.report.inputs import Arm, Pair

FIRST_SCREEN_JUDGES: Final = 3
FIRST_SCREEN_WARNINGS: Final = 4
"""So many judges stand in the first table; all of them stand in a table of their own further down."""
COLUMNS_LABELLED: Final = ("accuracy", "macro_f1")
COLUMNS_UNLABELLED: Final = ("mean_score",)
DIFFERENCE_LEGEND: Final = (
    "Brackets hold the 95% interval of the difference, paired by item. “Visible from” is the smallest change that this "
    "dataset can show (80% power)."
)

_SINGLE: Final[dict[VerdictWord, tuple[str, str]]] = {
    "better": ("", " got better"),
    "worse": ("", " got worse"),
    "same": ("", " stayed the same within the margin"),
    "moved": ("", " gives other verdicts than before"),
    "cannot tell": ("It cannot be told whether ", " changed"),
    "not measured": ("", " could not be measured on both sides"),
}
_MANY: Final[dict[VerdictWord, str]] = {
    "worse": "{} got worse",
    "not measured": "{} could not be measured on both sides",
    "cannot tell": "for {} it cannot be told whether anything changed",
    "moved": "{} moved",
    "better": "{} got better",
    "same": "{} stayed the same within the margin",
}


def ordered(pairs: Sequence[Pair]) -> list[Pair]:
    """Worst verdict first, then by name: the order in which every part of a report tells several judges."""
    return sorted(pairs, key=lambda pair: (words.ORDER.index(words.verdict(pair)), words.name_of(pair, pairs)))


def outcome(pairs: Sequence[Pair]) -> tuple[Line, ...]:
    """The first sentence in plain words; with several judges, who got worse, who better, who cannot be told."""
    if not pairs:
        return (line("Nothing was compared."),)
    if len(pairs) == 1:
        return (sentence(pairs[0], pairs),)
    groups: list[Run] = []
    for word in words.ORDER:
        names = [words.name_of(pair, pairs) for pair in pairs if words.verdict(pair) == word]
        if names:
            groups.append(f"{'; ' if groups else ''}{_MANY[word].format(len(names))} (")
            groups.extend(_listed(names))
            groups.append(")")
    return (line(f"Of {len(pairs)} judges, ", *groups, "."),)


def sentence(pair: Pair, pairs: Sequence[Pair]) -> Line:
    """One judge's outcome: the word, the numbers with their interval, and what this set could have shown."""
    start, end = _SINGLE[words.verdict(pair)]
    judge = Quoted(words.name_of(pair, pairs))
    found = words.deciding(pair)
    if not found:
        return line(start, judge, end, ": the runs share no statistic.")
    first, told = found[0], {difference.verdict for difference in found}
    if not _labelled(pair):
        return line(_unmoved(pair), judge, f": {_share_changed(pair)}", *_unlabelled(found), ".")
    if _unmoved(pair):
        start = f"{_unmoved(pair)}{start[:1].lower()}{start[1:]}"
    if len(told) > 1:
        each = ", ".join(f"{words.noun(one.statistic)} {one.verdict}" for one in found)
        mixed = ": mixed" if told == {"better", "worse"} else ""
        figures = "; ".join(_figures(one) + _reach(one) for one in found)
        return line(_unmoved(pair), judge, f": {each}{mixed}: {figures}{_baselines(pair)}.")
    if first.verdict == "same" and first.margin is not None:
        end = f"{end} of {words.size(first.margin, first.statistic)}{words.points(first.statistic)}"
    return line(start, judge, f"{end}: {_figures(first)}{_reach(first)}{_baselines(pair)}.")


def _unmoved(pair: Pair) -> str:
    """That not one verdict differs, where that is known; it says more than any statistic."""
    floor, counts = pair.comparison.floor, pair.comparison.counts
    moved = counts.fixed + counts.broken + counts.moved + counts.undecided + counts.up + counts.down
    return "No verdict differs; " if floor.between.value == 0 and not moved else ""


def _share_changed(pair: Pair) -> str:
    """How many items changed and by how much more than when nothing changes: a mean hides moves that cancel."""
    floor = pair.comparison.floor
    if floor.between.value is None:
        return ""
    told = f"{numbers.percent(floor.between.value, 1)} of the items changed"
    if floor.excess.value is None:
        return f"{told} (the A/A floor is not known); "
    return f"{told}, {words.shift(floor.excess)} points over the A/A floor; "


def _unlabelled(found: Sequence[Difference]) -> list[Run]:
    """Every statistic that stands for verdicts without labels, named with what it did."""
    told: list[Run] = []
    for one in found:
        start, end = _SINGLE[one.verdict]
        margin = f" of {words.size(one.margin, one.statistic)}{words.points(one.statistic)}" if one.margin else ""
        end = {"moved": " moved"}.get(one.verdict, end) + (margin if one.verdict == "same" else "")
        name = f"the {words.noun(one.statistic)}" if one.statistic in words.STATISTICS else one.statistic
        start = start.replace("It", "it")
        told += ["; " if told else "", start, Quoted(name), f"{end}: {_numbers(one)}{_reach(one)}"]
    return told


def _figures(difference: Difference) -> str:
    """The statistic's name with its numbers."""
    return f"{words.noun(difference.statistic)} {_numbers(difference)}"


def _numbers(difference: Difference) -> str:
    """Before, after, difference and its interval; why there is none where there is none."""
    shown = words.change_of(difference)
    told = f"{shown.before} → {shown.after}, {shown.difference}{words.points(difference.statistic)}"
    if shown.interval:
        return f"{told} (95% interval {shown.interval})"
    note = difference.difference.note
    return f"{told} (no interval: {note})" if note else told


def _baselines(pair: Pair) -> str:
    """That the after run does not beat a baseline, where labels were compared; "" where it beats them all."""
    told = words.not_beaten(pair.after.summary) if _labelled(pair) else ""
    return f"; after the change it does not beat {told}" if told else ""


def main_tables(pairs: Sequence[Pair], *, limit: int | None = None) -> tuple[Table, ...]:
    """One table for judges with human labels, one for those without; three rows a judge."""
    told = ordered(pairs)
    shown = told if limit is None else told[:limit]
    tables = []
    for statistics, labelled in ((COLUMNS_LABELLED, True), (COLUMNS_UNLABELLED, False)):
        group = [pair for pair in shown if _labelled(pair) == labelled]
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
    """How to read the table, in one line."""
    left = len(pairs) - FIRST_SCREEN_JUDGES
    more = f"{numbers.counted(left, 'more judge')} below. " if left > 0 else ""
    return Paragraph(line(f"{more}{noise_legend(pairs)} ", DIFFERENCE_LEGEND))


def noise_legend(pairs: Sequence[Pair]) -> str:
    """What ± is, with the number of repeats; with one repeat everywhere, that no ± is there."""
    repeats = sorted({len(arm.summary.repeats) for pair in pairs for arm in (pair.before, pair.after)})
    if repeats and repeats[-1] == 1:
        return "With one repeat nothing is known of how noisy the judge is."
    return f"± is the run-to-run std over {_range(repeats)}; it says how noisy the judge is, not how sure we are."


def warnings(pairs: Sequence[Pair]) -> Paragraph | None:
    """Ways in which the arms are unlike, all in one line; None where there is none."""
    told = [(words.name_of(pair, pairs), text) for pair in ordered(pairs) for text in pair.comparison.warnings]
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
    empty: Line = line("")
    return [
        (line(Quoted(words.name_of(pair, pairs))), line(_records(pair)), line("before"), *before),
        (line(Quoted(words.model_of(pair.after.meta))), empty, line("after"), *after),
        (empty, empty, line("difference"), *(_difference(found.get(name)) for name in statistics)),
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
    return line(f"{words.delta(difference)}{reach}: ", Strong(difference.verdict))


def _table(rows: tuple[tuple[Line, ...], ...], statistics: Sequence[str]) -> Table:
    columns = (Column("Judge, model"), Column("Records"), Column(""))
    return Table((*columns, *(Column(words.statistic(name)) for name in statistics)), rows)


def _records(pair: Pair) -> str:
    """Records of the dataset, with the items where they differ, with the common items where the arms do."""
    dataset = pair.after.meta.get("dataset")
    records = dataset.get("records") if isinstance(dataset, Mapping) else None
    comparison = pair.comparison
    if comparison.only_before or comparison.only_after:
        return numbers.counted(comparison.n_items, "common item")
    if records is None or records == comparison.n_items:
        return numbers.count(comparison.n_items)
    return f"{numbers.count(records)} ({numbers.counted(comparison.n_items, 'item')})"


def _labelled(pair: Pair) -> bool:
    first = words.headline(pair)
    return first is not None and first.statistic in words.AGAINST_LABELS


def _reach(difference: Difference) -> str:
    """What stands behind "cannot tell": the test that disagrees with the interval, and what this dataset can show."""
    if difference.verdict != "cannot tell":
        return ""
    low, high = difference.difference.low, difference.difference.high
    one_sided = low is not None and high is not None and (low > 0 or high < 0)
    against = f"; the permutation test does not agree ({numbers.p_value(difference.p_value)})" if one_sided else ""
    if difference.smallest_visible is None:
        return against
    shown = words.size(difference.smallest_visible, difference.statistic)
    return f"{against}; this dataset shows changes of {shown}{words.points(difference.statistic)} or more"


def _listed(names: Sequence[str]) -> list[Run]:
    shown: list[Run] = []
    for name in names[:6]:
        shown.extend([", "] if shown else [])
        shown.append(Quoted(name, limit=60))
    if len(names) > 6:
        shown.append(f" and {len(names) - 6} more")
    return shown


def _range(repeats: Sequence[int]) -> str:
    if len(repeats) == 1:
        return numbers.counted(repeats[0], "repeat")
    return f"{repeats[0]} to {repeats[-1]} repeats" if repeats else "the repeats"
