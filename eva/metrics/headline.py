"""The differences of two arms, statistic by statistic: against gold first, then what needs no gold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from eva.metrics.agreement import repeat_scores
from eva.metrics.arm import accuracy_sums, coverage_sums, error_sums
from eva.metrics.differences import difference, pair_up
from eva.metrics.matrix import ABSENT, ABSTAINED, VerdictMatrix
from eva.metrics.measures import Measure, gold_measures
from eva.metrics.pairing import Pair
from eva.metrics.repeats import spread
from eva.metrics.results import Difference, RepeatScores, Spread
from eva.metrics.tallies import Means, means_by_cluster
from eva.metrics.votes import Floats, confusion_by_cluster, mean_values, scored, share, votes

_PER_REPEAT = ("accuracy", "macro_f1", "kappa", "weighted_kappa", "mae", "bias", "coverage", "mean_score")


def all_differences(
    pair: Pair, *, margin: float, rng: np.random.Generator, resamples: int, only: Sequence[str] | None = None
) -> tuple[Difference, ...]:
    """Every statistic's difference: against gold accuracy, macro-F1, kappa, …, then mean score; else mean score first.

    On scales without an order the shares of the labels (`label=x/rate`) stand in for the mean score. `only` names the
    statistics that are wanted.
    """
    spreads = _spreads(pair)
    against = _against_gold(pair, margin=margin, rng=rng, resamples=resamples, only=only, spreads=spreads)
    without = _without_gold(pair, margin=margin, rng=rng, resamples=resamples, only=only, spreads=spreads)
    return (*against, *without)


def _wanted(name: str, only: Sequence[str] | None) -> bool:
    return only is None or name in only


def _steps(matrix: VerdictMatrix) -> float:
    return float(np.ptp(matrix.values)) if matrix.values else 1.0


def _spreads(pair: Pair) -> Mapping[str, tuple[Spread, Spread]]:
    scores = [repeat_scores(matrix) for matrix in (pair.before, pair.after)]
    return {name: (_spread(scores[0], name), _spread(scores[1], name)) for name in _PER_REPEAT}


def _spread(scores: Sequence[RepeatScores], name: str) -> Spread:
    return spread([getattr(score, name) for score in scores])


def _against_gold(
    pair: Pair,
    *,
    margin: float,
    rng: np.random.Generator,
    resamples: int,
    only: Sequence[str] | None,
    spreads: Mapping[str, tuple[Spread, Spread]],
) -> list[Difference]:
    before, after = scored(pair.before), scored(pair.after)
    measures = [m for m in gold_measures(len(before.labels), before.values) if _wanted(m.name, only)]
    if not before.n_items or not measures:
        return []
    sums = confusion_by_cluster(before), confusion_by_cluster(after)
    repeats = min(before.n_repeats, after.n_repeats)
    paired = pair_up(*sums, n_items=before.n_items, repeats=repeats, resamples=resamples, rng=rng)
    arms = _mean_sums(*sums, matrix=before)
    return [
        difference(
            paired,
            measure,
            margin=margin,
            steps=_steps(before),
            arms=arms.get(measure.name),
            spreads=spreads[measure.name],
        )
        for measure in measures
    ]


def _mean_sums(before: Floats, after: Floats, *, matrix: VerdictMatrix) -> Mapping[str, tuple[Floats, Floats]]:
    """Cluster sums of the statistics that are means over the same items in both arms.

    The ordinal errors are means over readable verdicts: the same ones only where none is unreadable in one arm alone.
    """
    n_labels, values = len(matrix.labels), matrix.values
    found = {
        "accuracy": (accuracy_sums(before, n_labels), accuracy_sums(after, n_labels)),
        "coverage": (coverage_sums(before, n_labels), coverage_sums(after, n_labels)),
    }
    if values:
        found["mae"] = (error_sums(before, values, signed=False), error_sums(after, values, signed=False))
        found["bias"] = (error_sums(before, values, signed=True), error_sums(after, values, signed=True))
    return {name: arms for name, arms in found.items() if np.allclose(arms[0][:, 1], arms[1][:, 1])}


def _without_gold(
    pair: Pair,
    *,
    margin: float,
    rng: np.random.Generator,
    resamples: int,
    only: Sequence[str] | None,
    spreads: Mapping[str, tuple[Spread, Spread]],
) -> list[Difference]:
    has_gold = bool((pair.before.gold >= 0).any())
    names = [name for name in _names(pair.before, has_gold=has_gold) if _wanted(name, only)]
    if not names:
        return []
    before, after = (item_means(matrix, other, names=names) for matrix, other in _both_ways(pair))
    repeats = min(pair.before.n_repeats, pair.after.n_repeats)
    paired = pair_up(
        before.sums, after.sums, n_items=pair.before.n_items, repeats=repeats, resamples=resamples, rng=rng
    )
    return [
        difference(
            paired,
            Measure(
                name,
                before.compute(name),
                True if name == "coverage" else None,
                unit="score" if name == "mean_score" else "share",
                undefined="no item has a readable verdict in both arms",
            ),
            margin=margin,
            steps=_steps(pair.before),
            arms=(before.of(name), after.of(name)),
            spreads=spreads.get(name),
        )
        for name in names
    ]


def _both_ways(pair: Pair) -> tuple[tuple[VerdictMatrix, VerdictMatrix], tuple[VerdictMatrix, VerdictMatrix]]:
    return (pair.before, pair.after), (pair.after, pair.before)


def _names(matrix: VerdictMatrix, *, has_gold: bool) -> list[str]:
    scores = ["mean_score"] if matrix.values else [f"label={label}/rate" for label in matrix.labels]
    return scores if has_gold else [*scores, "coverage"]


def item_means(matrix: VerdictMatrix, other: VerdictMatrix, *, names: Sequence[str]) -> Means:
    """One arm's `mean_score`, `label=x/rate` and `coverage` per cluster, over items that count in both arms.

    Scores and shares are over an item's readable repeats; coverage over those that are not `not applicable`.
    """
    counted, opposite = votes(matrix), votes(other)
    readable = (counted.readable > 0) & (opposite.readable > 0)
    answerable, answerable_too = _answerable(matrix), _answerable(other)
    columns = []
    for name in names:
        if name == "mean_score":
            columns.append((name, mean_values(counted, matrix.values or ()), readable))
        elif name == "coverage":
            shares = share(counted.readable[:, None], answerable)[:, 0]
            columns.append((name, shares, (answerable > 0) & (answerable_too > 0)))
        else:
            place = matrix.labels.index(name.removeprefix("label=").removesuffix("/rate"))
            columns.append((name, share(counted.counts[:, place : place + 1], counted.readable)[:, 0], readable))
    return means_by_cluster(columns, matrix.clusters)


def _answerable(matrix: VerdictMatrix) -> NDArray[np.int64]:
    answers = (matrix.verdicts != ABSENT) & (matrix.verdicts != ABSTAINED)
    return np.asarray(answers.sum(axis=1), dtype=np.int64)
