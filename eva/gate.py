"""The gate: a comparison and thresholds → pass, fail or cannot tell, with the rule that decided. Pure.

    0 pass         every rule passes
    1 fail         at least one rule fails
    2 cannot tell  none fails, and at least one cannot be decided: too little data, an unfinished run, rows missing,
                   calls that got no reply
    3              the check itself broke; the caller's to give, never a `GateResult`

What is missing, double or unreadable never counts as a pass. A drop is judged on its interval: it passes when the whole
interval is within what is allowed, fails when the whole interval is beyond, and cannot be told in between. One item
that flips decides nothing unless it is named under `must_not_break`; there the majority of its repeats counts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from eva.errors import ConfigError, UnknownChoice
from eva.metrics.results import Comparison, Difference, Estimate, Spread, Summary
from eva.metrics.votes import modal_of, said_by
from eva.report import numbers, words
from eva.report.blocks import Line, Quoted, line

Outcome = Literal["pass", "fail", "cannot tell"]
EXIT_CODES: Final[Mapping[Outcome, int]] = {"pass": 0, "fail": 1, "cannot tell": 2}
_GRAVEST_FIRST: Final[tuple[Outcome, ...]] = ("fail", "cannot tell", "pass")


@dataclass(frozen=True)
class MustStay:
    """An item, or all items of a record, that must be right after the change."""

    id: str
    label: str | None = None
    """What it must be; without it the human label counts, and without that what it was before."""
    at_least: int | None = None
    """In how many repeats; without it in more than half."""


@dataclass(frozen=True)
class Thresholds:
    """What a gate asks for (`conf/gate/*.yaml`). Shares are in [0, 1]: 0.05 is five points."""

    floor: Mapping[str, float] = field(default_factory=dict)
    """Statistic → its lowest value after the change (the point; failures count as wrong in it)."""
    largest_drop: Mapping[str, float] = field(default_factory=dict)
    """Statistic → how much worse it may become, judged on the interval of the difference."""
    must_not_break: tuple[str | MustStay, ...] = ()
    coverage_at_least: float | None = None
    """Share of labelled items with a readable verdict."""
    unreadable_at_most: float | None = None
    """Share of all verdicts, labelled or not, that could not be read."""


@dataclass(frozen=True)
class Rule:
    """One rule's finding."""

    name: str
    outcome: Outcome
    told: Line
    """Why, with the figures."""


@dataclass(frozen=True)
class GateResult:
    outcome: Outcome
    exit_code: int
    rules: tuple[Rule, ...]
    """All rules, the ones that decided first."""

    @property
    def decided_by(self) -> tuple[Rule, ...]:
        return tuple(rule for rule in self.rules if rule.outcome == self.outcome)


def decide(
    comparison: Comparison,
    summary_after: Summary,
    thresholds: Thresholds,
    *,
    after_rows: Iterable[Mapping[str, Any]] | None = None,
    status: str = "finished",
    lost: Mapping[str, int] | None = None,
    verdicts: int | None = None,
) -> GateResult:
    """Judge one comparison. `after_rows`: rows of the after run's verdicts.parquet; `status`: that of its run.json.
    `lost`: calls without any reply, by side (`before`, `after`). `verdicts`: how many the after run has, where its rows
    are not at hand.

    Without rows, double and missing rows go unseen, so `must_not_break` then raises ConfigError. So do a statistic that
    does not exist (UnknownChoice) and one that has no better direction.
    """
    _check_sizes(thresholds)
    rows = None if after_rows is None else list(after_rows)
    if rows is None and thresholds.must_not_break:
        raise ConfigError("gate.must_not_break needs the verdicts of the after run")
    found = [_floor(name, lowest, summary_after) for name, lowest in thresholds.floor.items()]
    found += [_drop(name, allowed, comparison) for name, allowed in thresholds.largest_drop.items()]
    found += [_must_stay(entry, rows or [], comparison, summary_after) for entry in thresholds.must_not_break]
    if thresholds.coverage_at_least is not None:
        found.append(_coverage(thresholds.coverage_at_least, summary_after))
    if thresholds.unreadable_at_most is not None:
        found.append(_unreadable(thresholds.unreadable_at_most, summary_after))
    if not found:
        found.append(Rule("rules", "cannot tell", line("no rule is set, so nothing was checked")))
    calls = lost or {}
    if calls.get("after"):
        found = [_not_the_judge_s(rule) for rule in found]
    whole = _complete(comparison, summary_after, rows=rows, status=status, verdicts=verdicts)
    return combine([whole, *_lost(calls), *found])


def combine(rules: Iterable[Rule]) -> GateResult:
    """Fail before cannot tell before pass; also over the rules of several comparisons."""
    told = sorted(rules, key=lambda rule: _GRAVEST_FIRST.index(rule.outcome))
    outcome: Outcome = told[0].outcome if told else "cannot tell"
    return GateResult(outcome, EXIT_CODES[outcome], tuple(told))


def _check_sizes(thresholds: Thresholds) -> None:
    """Shares lie in [0, 1]: a drop of `5` would allow everything where five points were meant. Raises ConfigError."""
    asked = {f"floor.{name}": value for name, value in thresholds.floor.items() if _is_share(name)}
    asked |= {f"largest_drop.{name}": value for name, value in thresholds.largest_drop.items() if _is_share(name)}
    asked |= {name: getattr(thresholds, name) for name in ("coverage_at_least", "unreadable_at_most")}
    for name, value in asked.items():
        if value is not None and not 0 <= value <= 1:
            raise ConfigError(f"gate.{name}: {value!r} is not a share between 0 and 1; five points are 0.05")


def _is_share(name: str) -> bool:
    return numbers.unit_of(name) is numbers.PERCENT


def _complete(
    comparison: Comparison,
    summary: Summary,
    *,
    rows: Sequence[Mapping[str, Any]] | None,
    status: str,
    verdicts: int | None,
) -> Rule:
    """The after run is finished and has every item of the before run once per repeat."""
    problems: list[str] = []
    if status != "finished":
        problems.append(f"the after run is not finished: {status}")
    if comparison.only_before:
        problems.append(f"{numbers.counted(comparison.only_before, 'item')} of the before run missing after")
    if rows is not None:
        seen = Counter((str(row["item_id"]), int(row["repeat"])) for row in rows)
        double = sum(n > 1 for n in seen.values())
        problems += [f"{numbers.counted(double, 'verdict')} there more than once"] if double else []
        verdicts = len(seen)
    if verdicts is not None:
        missing = summary.n_items * len(summary.repeats) - verdicts
        problems += [f"{numbers.counted(missing, 'verdict')} missing"] if missing > 0 else []
    if problems:
        return Rule("complete", "cannot tell", line("; ".join(problems)))
    uncounted = "; its verdicts are not here to be counted" if verdicts is None else ""
    return Rule("complete", "pass", line(f"the after run is finished and has every item{uncounted}"))


def _lost(calls: Mapping[str, int]) -> list[Rule]:
    """A call without a reply says nothing about the judge, yet its verdicts count as wrong."""
    told = [f"{numbers.counted(n, 'call')} of the {side} run got no reply" for side, n in calls.items() if n]
    again = "; the same command asks for them again"
    return [Rule("lost calls", "cannot tell", line("; ".join(told) + again))] if told else []


def _not_the_judge_s(rule: Rule) -> Rule:
    """With calls of the after run lost, a failed rule may have failed by them alone."""
    if rule.outcome != "fail":
        return rule
    return Rule(rule.name, "cannot tell", (*rule.told, "; the lost calls count as wrong here"))


def _floor(name: str, lowest: float, summary: Summary) -> Rule:
    unit = numbers.unit_of(name)
    found = getattr(summary, name, None)
    if not isinstance(found, Spread | Estimate):
        raise UnknownChoice("gate.floor", name, [key for key in words.STATISTICS if key != "accuracy_readable"])
    value = found.mean if isinstance(found, Spread) else found.value
    title = f"floor of {words.noun(name)}"
    if value is None:
        return Rule(title, "cannot tell", line("it is undefined in the after run"))
    told = f"{numbers.level(value, unit)}, at least {numbers.level(lowest, unit)} is asked for"
    return Rule(title, "pass" if value >= lowest else "fail", line(told))


def _drop(name: str, allowed: float, comparison: Comparison) -> Rule:
    known = {difference.statistic: difference for difference in comparison.differences}
    if name not in known and name not in words.STATISTICS:
        raise UnknownChoice("gate.largest_drop", name, {*words.STATISTICS, *known})
    title = f"largest drop of {words.noun(name)}"
    if name not in known:
        return Rule(title, "cannot tell", line("it was not compared: the runs have no human labels for it"))
    difference = known[name]
    if difference.higher_is_better is None:
        raise ConfigError(f"gate.largest_drop: {name!r} has no better direction")
    limit = f"{words.size(allowed, name)}{words.points(name)} worse allowed"
    ends = _worst_and_best(difference)
    if ends is None:
        return Rule(title, "cannot tell", line(f"the difference or its interval is undefined; {limit}"))
    worst, best = ends
    low, point, high = difference.difference.low, difference.difference.value, difference.difference.high
    if low is not None and point is not None and high is not None and not low <= point <= high:
        told = f"{words.delta(difference)}: the difference lies outside its own interval; {limit}"
        return Rule(title, "cannot tell", line(told))
    outcome: Outcome = "pass" if worst >= -allowed else "fail" if best < -allowed else "cannot tell"
    return Rule(title, outcome, line(f"{words.delta(difference)}; {limit}"))


def _worst_and_best(difference: Difference) -> tuple[float, float] | None:
    """The interval's ends, turned so that below zero is worse."""
    low, high = difference.difference.low, difference.difference.high
    if difference.difference.value is None or low is None or high is None:
        return None
    return (low, high) if difference.higher_is_better else (-high, -low)


def _must_stay(
    entry: str | MustStay, rows: Sequence[Mapping[str, Any]], comparison: Comparison, summary: Summary
) -> Rule:
    asked = MustStay(entry) if isinstance(entry, str) else entry
    title = "must not break"
    mine = [row for row in rows if asked.id in (row["item_id"], row.get("record_id"))]
    if not mine:
        return Rule(title, "cannot tell", line(Quoted(asked.id), " is not in the after run"))
    moved = {flip.item_id for flip in comparison.flips}
    items = sorted({str(row["item_id"]) for row in mine})
    found = [
        _item_stays(asked, [row for row in mine if row["item_id"] == item], item in moved, len(summary.repeats))
        for item in items
    ]
    outcome = min((outcome for outcome, _ in found), key=_GRAVEST_FIRST.index)
    told = "; ".join(dict.fromkeys(why for one, why in found if one == outcome))
    return Rule(title, outcome, line(Quoted(asked.id), f": {told}"))


def _item_stays(
    asked: MustStay, rows: Sequence[Mapping[str, Any]], has_moved: bool, repeats: int
) -> tuple[Outcome, str]:
    """One item: right in enough repeats; a repeat that is missing or double is neither right nor wrong."""
    by_repeat: dict[int, list[Mapping[str, Any]]] = {}
    for row in rows:
        by_repeat.setdefault(int(row["repeat"]), []).append(row)
    single = [found[0] for found in by_repeat.values() if len(found) == 1]
    unknown = max(repeats, len(by_repeat)) - len(single)
    labels = Counter(_label(row.get("label")) for row in single)
    expected = asked.label if asked.label is not None else _label(rows[0].get("gold"))
    if expected is None:
        if has_moved:
            return "fail", "it moved"
        expected, _ = modal_of(said_by(_label(row.get("label")), _label(row.get("failure"))) for row in single)
        if not labels[expected]:
            return "cannot tell", f"it has no human label, and its repeats give {expected}"
    right = labels[expected]
    needed = asked.at_least if asked.at_least is not None else (max(repeats, len(by_repeat)) // 2 + 1)
    told = f"right in {right} of {numbers.counted(max(repeats, len(by_repeat)), 'repeat')}, {needed} asked for"
    if right >= needed:
        return "pass", told
    return ("cannot tell", f"{told}, {unknown} missing or double") if right + unknown >= needed else ("fail", told)


def _coverage(least: float, summary: Summary) -> Rule:
    value = summary.coverage.value
    if value is None:
        return Rule("coverage", "cannot tell", line("it is undefined in the after run"))
    told = f"{numbers.percent(value)}, at least {numbers.percent(least)} is asked for"
    return Rule("coverage", "pass" if value >= least else "fail", line(told))


def _unreadable(most: float, summary: Summary) -> Rule:
    total = summary.n_items * len(summary.repeats)
    failed = sum(summary.failures.values())
    if not total:
        return Rule("unreadable", "cannot tell", line("the after run has no verdict"))
    told = f"{numbers.count(failed)} of {numbers.count(total)} verdicts, at most {numbers.percent(most)} allowed"
    return Rule("unreadable", "pass" if failed / total <= most else "fail", line(told))


def _label(value: Any) -> str | None:
    """A nullable label; pandas hands NaN for null."""
    return None if value is None or value != value else str(value)
