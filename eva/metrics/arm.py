"""One arm's estimates: each the mean over repeats of the repeat's own value, its interval by cluster bootstrap."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from eva.metrics.cells import free_cells, gold_cells
from eva.metrics.intervals import clustered_t, estimate, rate_estimate
from eva.metrics.matrix import VerdictMatrix
from eva.metrics.measures import Measure, gold_measures, over_repeats, ratio
from eva.metrics.resample import resample_clusters
from eva.metrics.results import Estimate
from eva.metrics.tallies import Tally, confusion_tally, mean_tally
from eva.metrics.votes import scored

NO_GOLD = "no gold labels"
NO_ORDER = "the scale has no order"


def gold_estimates(matrix: VerdictMatrix, *, rng: np.random.Generator, resamples: int) -> Mapping[str, Estimate]:
    """Every statistic against gold, by name, and `accuracy_t` (clustered t); empty values without gold labels.

    Each is the mean over repeats of the repeat's own value, and so is what the intervals are made of. `n_items` and
    `n_clusters` are the statistic's own: of those with a readable verdict where it leaves unreadable ones out.
    """
    labelled = scored(matrix)
    repeats = matrix.n_repeats
    measures = gold_measures(len(matrix.labels), matrix.values)
    if not labelled.n_items:
        nothing = Estimate(None, repeats=repeats, note=NO_GOLD)
        return dict.fromkeys((*(measure.name for measure in measures), "accuracy_t"), nothing)
    tally = confusion_tally(labelled)
    resampled = resample_clusters(tally.sums, resamples=resamples, rng=rng)
    cells = gold_cells(labelled)
    rates = {name: cells[name].linear_sums(labelled.clusters) for name in ("accuracy", "coverage")}
    found: dict[str, Estimate] = {}
    for measure in measures:
        compute = over_repeats(measure.compute, tally.repeats)
        if measure.name in rates:
            found[measure.name] = rate_estimate(resampled, compute, sums=rates[measure.name], repeats=repeats)
            continue
        items, clusters = _sizes(labelled, measure)
        found[measure.name] = estimate(
            resampled,
            compute,
            n_items=items,
            n_clusters=clusters,
            repeats=repeats,
            undefined=measure.undefined,
            note=left_out(tally, measure),
        )
    return {**found, "accuracy_t": clustered_t(rates["accuracy"], repeats=repeats)}


def counting_items(matrix: VerdictMatrix, measure: Measure) -> NDArray[np.bool_]:
    """(n,) scored items that are in the statistic's denominator."""
    if measure.readable_only:
        return np.asarray((matrix.verdicts >= 0).any(axis=1), dtype=np.bool_)
    return np.ones(matrix.n_items, dtype=np.bool_)


def left_out(tally: Tally, measure: Measure) -> str:
    """That some repeats have no value, which the mean leaves out; "" where all or none have one."""
    values = tally.values(measure.compute)
    lost = sum(value is None for value in values)
    return f"undefined in {lost} of {len(values)} repeats, which are left out" if 0 < lost < len(values) else ""


def _sizes(labelled: VerdictMatrix, measure: Measure) -> tuple[int, int]:
    counted = counting_items(labelled, measure)
    return int(counted.sum()), int(np.unique(labelled.clusters[counted]).size)


def score_estimate(matrix: VerdictMatrix, *, rng: np.random.Generator, resamples: int) -> Estimate:
    """Mean numeric label over all items with a readable verdict, gold or not; undefined off ordinal scales."""
    if matrix.values is None:
        return Estimate(None, repeats=matrix.n_repeats, note=NO_ORDER)
    cells = free_cells(matrix, "mean_score")
    tally = mean_tally([cells], matrix.clusters)
    return estimate(
        resample_clusters(tally.sums, resamples=resamples, rng=rng),
        over_repeats(ratio, tally.repeats),
        n_items=int(cells.items.sum()),
        n_clusters=int(np.unique(matrix.clusters[cells.items]).size),
        repeats=matrix.n_repeats,
        undefined="no readable verdict" if matrix.n_items else "no items",
    )


def coverage_estimate(matrix: VerdictMatrix, *, rng: np.random.Generator, resamples: int) -> Estimate:
    """Share of verdicts with a label among all items, where nobody labelled any; `not applicable` does not count."""
    cells = free_cells(matrix, "coverage")
    tally = mean_tally([cells], matrix.clusters)
    resampled = resample_clusters(tally.sums, resamples=resamples, rng=rng)
    sums = cells.linear_sums(matrix.clusters)
    return rate_estimate(resampled, over_repeats(ratio, tally.repeats), sums=sums, repeats=matrix.n_repeats)
