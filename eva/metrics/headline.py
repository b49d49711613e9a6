"""The differences of two arms, statistic by statistic: against gold first, then what needs no gold."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from eva.metrics.arm import counting_items
from eva.metrics.cells import Cells, free_cells, gold_cells
from eva.metrics.differences import difference
from eva.metrics.matrix import VerdictMatrix
from eva.metrics.measures import Measure, gold_measures
from eva.metrics.paired import PairedMean, pair_up
from eva.metrics.pairing import Pair
from eva.metrics.results import Difference
from eva.metrics.tallies import confusion_tally, mean_tally, nth_ratio
from eva.metrics.votes import Floats, by_cluster, scored


def all_differences(
    pair: Pair, *, margin: float, rng: np.random.Generator, resamples: int, only: Sequence[str] | None = None
) -> tuple[Difference, ...]:
    """Every statistic's difference: against gold accuracy, macro-F1, kappa, …, then mean score; else mean score first.

    On scales without an order the shares of the labels (`label=x/rate`) stand in for the mean score. `only` names the
    statistics that are wanted.
    """
    against = _against_gold(pair, margin=margin, rng=rng, resamples=resamples, only=only)
    without = _without_gold(pair, margin=margin, rng=rng, resamples=resamples, only=only)
    return (*against, *without)


def _wanted(name: str, only: Sequence[str] | None) -> bool:
    return only is None or name in only


def _steps(matrix: VerdictMatrix) -> float:
    return float(np.ptp(matrix.values)) if matrix.values else 1.0


def _against_gold(
    pair: Pair, *, margin: float, rng: np.random.Generator, resamples: int, only: Sequence[str] | None
) -> list[Difference]:
    before, after = scored(pair.before), scored(pair.after)
    measures = [m for m in gold_measures(len(before.labels), before.values) if _wanted(m.name, only)]
    if not before.n_items or not measures:
        return []
    repeats = min(before.n_repeats, after.n_repeats)
    tallies = confusion_tally(before), confusion_tally(after)
    paired = pair_up(*tallies, repeats=repeats, resamples=resamples, rng=rng)
    first, second = gold_cells(before), gold_cells(after)
    return [
        difference(
            paired,
            measure,
            margin=margin,
            counted=_counted(counting_items(before, measure) & counting_items(after, measure), before.clusters),
            steps=_steps(before),
            mean=_paired_mean(first[measure.name], second[measure.name], before.clusters)
            if measure.name in first
            else None,
        )
        for measure in measures
    ]


def _counted(items: NDArray[np.bool_], clusters: NDArray[np.int64]) -> Floats:
    return by_cluster(items[:, None].astype(np.float64), clusters)[:, 0]


def _paired_mean(before: Cells, after: Cells, clusters: NDArray[np.int64]) -> PairedMean | None:
    """None where an item counts in one arm only: then the two means are over unlike items."""
    if (before.items != after.items).any():
        return None
    return PairedMean(
        by_item=_paired_sums(before.item_sums(clusters), after.item_sums(clusters)),
        linear=_paired_sums(before.linear_sums(clusters), after.linear_sums(clusters)),
    )


def _paired_sums(before: Floats, after: Floats) -> Floats:
    return np.column_stack([after[:, 0] - before[:, 0], before[:, 1]])


def _without_gold(
    pair: Pair, *, margin: float, rng: np.random.Generator, resamples: int, only: Sequence[str] | None
) -> list[Difference]:
    has_gold = bool((pair.before.gold >= 0).any())
    names = [name for name in _names(pair.before, has_gold=has_gold) if _wanted(name, only)]
    if not names:
        return []
    clusters = pair.before.clusters
    cells = [_common(free_cells(pair.before, name), free_cells(pair.after, name)) for name in names]
    tallies = (mean_tally([pair_[side] for pair_ in cells], clusters) for side in (0, 1))
    repeats = min(pair.before.n_repeats, pair.after.n_repeats)
    paired = pair_up(*tallies, repeats=repeats, resamples=resamples, rng=rng)
    return [
        difference(
            paired,
            Measure(
                name,
                nth_ratio(place),
                True if name == "coverage" else None,
                unit="score" if name == "mean_score" else "share",
                undefined="no item has a readable verdict in both arms",
            ),
            margin=margin,
            counted=_counted(before.items, clusters),
            steps=_steps(pair.before),
            mean=_paired_mean(before, after, clusters),
        )
        for place, (name, (before, after)) in enumerate(zip(names, cells, strict=True))
    ]


def _common(before: Cells, after: Cells) -> tuple[Cells, Cells]:
    """Only the items that count in both arms, each with the repeats in which it counts."""
    both = before.items & after.items
    return before.among(both), after.among(both)


def _names(matrix: VerdictMatrix, *, has_gold: bool) -> list[str]:
    scores = ["mean_score"] if matrix.values else [f"label={label}/rate" for label in matrix.labels]
    return scores if has_gold else [*scores, "coverage"]
