"""The first sentences of a comparison: the outcome in plain words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from eva.metrics.results import Difference, VerdictWord
from eva.report import numbers, words
from eva.report.blocks import Line, Quoted, Run, line
from eva.report.inputs import Pair

_DID: Final[dict[VerdictWord, str]] = {
    "better": " got better",
    "worse": " got worse",
    "same": " stayed the same within the margin",
    "moved": " changed",
    "cannot tell": "",
    "not measured": " could not be measured on both sides",
}
_UNKNOWN: Final = ("It cannot be told whether ", " changed")
_MANY: Final[dict[VerdictWord, str]] = {
    "worse": "{} got worse",
    "not measured": "{} could not be measured on both sides",
    "cannot tell": "for {} it cannot be told whether anything changed",
    "moved": "{} changed, neither to the better nor to the worse",
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
    return (line(f"Of {noun_of(pairs, len(pairs))}, ", *groups, "."),)


def noun_of(pairs: Sequence[Pair], n: int, *, prefix: str = "") -> str:
    """`3 judges` where every pair is another judge, else `3 comparisons`: several edits are still one judge."""
    several = len({words.judge_of(pair.after.meta) for pair in pairs}) < len(pairs)
    return numbers.counted(n, f"{prefix}{'comparison' if several else 'judge'}")


def sentence(pair: Pair, pairs: Sequence[Pair]) -> Line:
    """One judge's outcome, the outcome itself first: the word and the numbers, then what this set could have shown."""
    judge = Quoted(words.name_of(pair, pairs))
    found = words.deciding(pair)
    told = {difference.verdict for difference in found}
    if not found:
        return line(judge, ": the runs share no statistic.")
    if not is_labelled(pair):
        return line(_unmoved(pair), judge, _share_changed(pair), *(run for one in found for run in _unlabelled(one)))
    if len(told) > 1:
        each = ", ".join(_did(one) for one in found)
        mixed = ": a mixed outcome" if told == {"better", "worse"} else ""
        figures = "".join(f" {words.statistic(one.statistic)} {_numbers(one)}.{_reach(one)}" for one in found)
        return line(_unmoved(pair), judge, f": {each}{mixed}.", figures, _baselines(pair))
    first = found[0]
    figures = f": {words.noun(first.statistic)} {_numbers(first)}.{_reach(first)}{_baselines(pair)}"
    if first.verdict == "cannot tell":
        start = _unmoved(pair, ", but this dataset cannot tell whether ") or _UNKNOWN[0]
        return line(start, judge, _UNKNOWN[1], figures)
    return line(_unmoved(pair), judge, _DID[first.verdict], _margin(first), figures)


def _unmoved(pair: Pair, end: str = ". ") -> str:
    """That not one verdict differs, where that is known; it says more than any statistic."""
    floor, counts = pair.comparison.floor, pair.comparison.counts
    moved = counts.fixed + counts.broken + counts.moved + counts.undecided + counts.up + counts.down
    return f"Every verdict is the same before and after{end}" if floor.between.value == 0 and not moved else ""


def _share_changed(pair: Pair) -> str:
    """How many items changed and by how much more than when nothing changes: a mean hides moves that cancel."""
    floor = pair.comparison.floor
    if floor.between.value is None:
        return ":"
    told = f": {numbers.percent(floor.between.value, 1)} of the verdicts differ"
    if floor.excess.value is None:
        return f"{told}. How many differ when nothing changed (the A/A floor) is not known."
    return f"{told}: {words.shift(floor.excess)} points against the A/A floor (what differs when nothing changed)."


def _unlabelled(one: Difference) -> list[Run]:
    """A statistic that stands for verdicts without labels, as a sentence."""
    name, figures = Quoted(words.noun(one.statistic)), f": {_numbers(one)}.{_reach(one)}"
    if one.verdict == "cannot tell":
        return [f" {_UNKNOWN[0]}the ", name, _UNKNOWN[1], figures]
    return [" The ", name, _DID[one.verdict], _margin(one), figures]


def _did(one: Difference) -> str:
    """`accuracy got better`, `whether macro-F1 changed cannot be told`."""
    if one.verdict == "cannot tell":
        return f"whether {words.noun(one.statistic)} changed cannot be told"
    return f"{words.noun(one.statistic)}{_DID[one.verdict]}{_margin(one)}"


def _margin(one: Difference) -> str:
    if one.verdict != "same" or one.margin is None:
        return ""
    return f" of {words.size(one.margin, one.statistic)}{words.points(one.statistic)}"


def _numbers(difference: Difference) -> str:
    """Before, after, difference and its interval; why there is none where there is none."""
    shown = words.change_of(difference)
    told = f"{shown.before} → {shown.after}"
    if difference.difference.value is None:
        return told
    told += f", {shown.difference}{words.points(difference.statistic)}"
    if shown.interval:
        return f"{told} (95% interval {shown.interval})"
    note = difference.difference.note
    if "no interval" in note:
        return f"{told} ({note})"
    return f"{told} (no interval: {note})" if note else told


def _baselines(pair: Pair) -> str:
    """That the after run does not beat a baseline, where labels were compared; "" where it beats them all."""
    told = words.not_beaten(pair.after.summary) if is_labelled(pair) else ""
    return f" After the change it does not beat {told}." if told else ""


def is_labelled(pair: Pair) -> bool:
    """Whether the outcome rests on human labels."""
    first = words.headline(pair)
    return first is not None and first.statistic in words.AGAINST_LABELS


def _reach(difference: Difference) -> str:
    """What stands behind "cannot tell": the test that disagrees with the interval, and what this dataset can show."""
    if difference.verdict != "cannot tell":
        return ""
    low, high = difference.difference.low, difference.difference.high
    told = ""
    if low is not None and high is not None and (low > 0 or high < 0):
        told = f" The interval leaves out 0, but the permutation test does not agree ({numbers.p_value(difference.p_value)})."
    if difference.smallest_visible is None:
        why = difference.visible_note
        return f"{told} What change this dataset can show is not known: {why}." if why else told
    shown = words.size(difference.smallest_visible, difference.statistic)
    return f"{told} This dataset can show changes of {shown}{words.points(difference.statistic)} or more."


def _listed(names: Sequence[str]) -> list[Run]:
    shown: list[Run] = []
    for name in names[:6]:
        shown.extend([", "] if shown else [])
        shown.append(Quoted(name, limit=60))
    if len(names) > 6:
        shown.append(f" and {len(names) - 6} more")
    return shown
