"""Words that reports print: names of statistics, kinds of flips, names of judges. Metrics explain the verdict words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from eva.metrics.results import Difference, Estimate, FlipKind, Summary, VerdictWord
from eva.report import numbers
from eva.report.inputs import Pair

STATISTICS: Final[Mapping[str, str]] = {
    "accuracy": "Accuracy",
    "macro_f1": "Macro-F1",
    "kappa": "Kappa",
    "weighted_kappa": "Weighted kappa",
    "mae": "Mean absolute error",
    "bias": "Signed bias",
    "mean_score": "Mean score",
    "coverage": "Coverage",
    "accuracy_readable": "Accuracy among readable",
}
ACCURACY: Final = "Accuracy, unreadable counts as wrong"
"""The headline's name where the accuracy among readable verdicts stands beside it."""
AGAINST_LABELS: Final = frozenset({"accuracy", "macro_f1", "kappa", "weighted_kappa", "mae", "bias"})
"""Statistics that human labels are needed for."""
FLIP_KINDS: Final[Mapping[FlipKind, str]] = {
    "broken": "right before, wrong after",
    "undecided": "on one side no verdict is the most frequent, or there is none at all",
    "moved": "both verdicts wrong, but different; or different, where no human label and no order of labels says more",
    "fixed": "wrong before, right after",
    "down": "a lower label after; no human label says which is right",
    "up": "a higher label after; no human label says which is right",
}
"""Every kind with its meaning, the ones to look at first first."""
FEW_ITEMS: Final = 10
"""Below this many items a point estimate is not printed; its interval always is."""
ORDER: Final[tuple[VerdictWord, ...]] = ("worse", "not measured", "cannot tell", "moved", "better", "same")
"""In which order several judges are told."""


CAUTIOUS: Final[tuple[VerdictWord, ...]] = ("worse", "not measured", "moved", "cannot tell", "same", "better")
"""Which word of two statistics stands for the judge: the first of these."""
ORDER_OF_PARTS: Final[tuple[VerdictWord, ...]] = ("worse", "better", "moved", "same", "cannot tell", "not measured")
"""In which order slices are told: those that show something first."""


def statistic(name: str) -> str:
    """The name of a statistic in print: `Accuracy`, `Share of Yes` for `label=Yes/rate`; an unknown one as it is."""
    label = name.removeprefix("label=").removesuffix("/rate")
    return f"Share of {label}" if name == f"label={label}/rate" else STATISTICS.get(name, name)


def noun(name: str) -> str:
    """The name of a statistic inside a sentence: `accuracy`, `macro-F1`; an unknown one, such as a label, as it is."""
    told = statistic(name)
    return told if told == name else told[:1].lower() + told[1:]


def change_of(difference: Difference) -> numbers.Change:
    """Before, after, difference and interval of a `Difference`, in words that agree."""
    estimate = difference.difference
    return numbers.change(
        difference.before,
        difference.after,
        difference=estimate.value,
        low=estimate.low,
        high=estimate.high,
        unit=numbers.unit_of(difference.statistic),
    )


def delta(difference: Difference) -> str:
    """`−0.7 [−3.2, +1.8]`."""
    shown = change_of(difference)
    return f"{shown.difference} {shown.interval}".rstrip()


def shift(estimate: Estimate) -> str:
    """A difference of shares in points with its interval: `+0.3 [−0.1, +0.8]`."""
    shown = numbers.change(
        None, None, difference=estimate.value, low=estimate.low, high=estimate.high, unit=numbers.PERCENT
    )
    return f"{shown.difference} {shown.interval}".rstrip()


def size(value: float | None, name: str) -> str:
    """A size without a sign in the unit of a statistic's difference: `3.6`."""
    unit = numbers.unit_of(name)
    return numbers.number(None if value is None else value * unit.factor, unit.change_digits)


def points(name: str) -> str:
    """The noun behind a difference: ` points` for shares, nothing else."""
    return " points" if numbers.unit_of(name) is numbers.PERCENT else ""


def estimate(value: Estimate, name: str) -> str:
    """A level with its interval: `83.94% [76.9, 89.1]`."""
    unit = numbers.unit_of(name)
    return f"{numbers.level(value.value, unit)} {numbers.interval(value.low, value.high, unit)}".rstrip()


def deciding(pair: Pair) -> tuple[Difference, ...]:
    """The differences that decide the outcome: accuracy and macro-F1 where both are measured, every label's share on scales
    without an order, otherwise the first.
    """
    shares = tuple(one for one in pair.comparison.differences if one.statistic.startswith("label="))
    if shares and pair.comparison.differences[0] in shares:
        return shares
    found = pair.comparison.differences[:1]
    if not found or found[0].statistic != "accuracy" or found[0].verdict == "not measured":
        return found
    others = (one for one in pair.comparison.differences if one.statistic == "macro_f1")
    return (*found, *(one for one in others if one.verdict != "not measured"))


def headline(pair: Pair) -> Difference | None:
    """The difference that is drawn and told first: the first one; None where nothing was compared."""
    return pair.comparison.differences[0] if pair.comparison.differences else None


def verdict(pair: Pair) -> VerdictWord:
    """The most cautious word of what decides: worse before cannot tell before same before better."""
    found = [difference.verdict for difference in deciding(pair)]
    return min(found, key=CAUTIOUS.index, default="not measured")


def not_beaten(summary: Summary) -> str:
    """`the baseline majority (41.60%)`: whose accuracy the judge does not exceed; "" where it beats them all."""
    mine = summary.accuracy.mean
    told = [
        f"{baseline.name} ({numbers.percent(baseline.accuracy)})"
        for baseline in summary.baselines
        if mine is not None and baseline.accuracy is not None and mine <= baseline.accuracy
    ]
    return f"the {'baselines' if len(told) > 1 else 'baseline'} {' and '.join(told)}" if told else ""


def unlike(pair: Pair) -> list[str]:
    """The ways in which the arms are unlike, but for unfinished runs and lost calls: the first lines say those, with counts."""
    said = [
        *(
            f"the {side} run is {arm.meta.get('status')}: "
            for side, arm in (("before", pair.before), ("after", pair.after))
        ),
        *(f" of the {side} run got no reply at all" for side in ("before", "after")),
    ]
    return [text for text in pair.comparison.warnings if not any(start in text for start in said)]


def name_of(pair: Pair, pairs: Sequence[Pair]) -> str:
    """The judge, with what tells it from the other pairs of the same judge."""
    meta = pair.after.meta
    twins = [other.after.meta for other in pairs if other.after.meta.get("judge") == meta.get("judge")]
    told = [judge_of(meta)]
    for pick in (language_of, model_of, dataset_of, prompt_of, lambda run: str(run.get("run_id", "?"))):
        if len(twins) > 1 and len({pick(twin) for twin in twins}) > 1:
            told.append(pick(meta))
            twins = [twin for twin in twins if pick(twin) == pick(meta)]
    return " · ".join(told)


def judge_of(meta: Mapping[str, Any]) -> str:
    return str(meta.get("judge") or "?")


def language_of(meta: Mapping[str, Any]) -> str:
    return str(meta.get("language") or "?")


def model_of(meta: Mapping[str, Any]) -> str:
    """The model that was asked, by its id where there is one."""
    model = meta.get("model")
    if isinstance(model, Mapping):
        return str(model.get("id") or model.get("name") or "?")
    return str(model or "?")


def prompt_of(meta: Mapping[str, Any]) -> str:
    """The version, with what was edited in it."""
    return str(meta.get("prompt") or "?")


def dataset_of(meta: Mapping[str, Any]) -> str:
    dataset = meta.get("dataset")
    return str(dataset.get("name") or "?") if isinstance(dataset, Mapping) else str(dataset or "?")
