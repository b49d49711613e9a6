"""One arm's estimates: item first, interval by cluster bootstrap."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from eva.metrics.intervals import clustered_t, estimate, rate_estimate
from eva.metrics.matrix import ABSENT, ABSTAINED, VerdictMatrix
from eva.metrics.measures import gold_measures
from eva.metrics.resample import resample_clusters
from eva.metrics.results import Estimate
from eva.metrics.tallies import means_by_cluster
from eva.metrics.votes import Floats, confusion_by_cluster, mean_values, scored, share, votes

NO_GOLD = "no gold labels"
NO_ORDER = "the scale has no order"


def accuracy_sums(confusions: Floats, n_labels: int) -> Floats:
    """(G, 2) right and all from (G, C·(C + 1)) confusions."""
    table = confusions.reshape(-1, n_labels, n_labels + 1)
    return np.column_stack([np.diagonal(table, axis1=1, axis2=2).sum(axis=1), table.sum(axis=(1, 2))])


def coverage_sums(confusions: Floats, n_labels: int) -> Floats:
    """(G, 2) readable and all from (G, C·(C + 1)) confusions."""
    table = confusions.reshape(-1, n_labels, n_labels + 1)
    return np.column_stack([table[:, :, :-1].sum(axis=(1, 2)), table.sum(axis=(1, 2))])


def error_sums(confusions: Floats, values: tuple[float, ...], *, signed: bool) -> Floats:
    """(G, 2) sum of judge − gold (or of its size) and readable verdicts, from (G, C·(C + 1)) confusions."""
    n_labels = len(values)
    scale = np.asarray(values)
    steps = scale[None, :] - scale[:, None]
    readable = confusions.reshape(-1, n_labels, n_labels + 1)[:, :, :-1]
    total = (readable * (steps if signed else np.abs(steps))).sum(axis=(1, 2))
    return np.column_stack([total, readable.sum(axis=(1, 2))])


def gold_estimates(matrix: VerdictMatrix, *, rng: np.random.Generator, resamples: int) -> Mapping[str, Estimate]:
    """Every statistic against gold, by name, and `accuracy_t` (clustered t); empty values without gold labels.

    Each item weighs 1, each of its repeats 1 / repeats; macro-F1 and kappa are those of the confusion so pooled. The
    value of accuracy is the mean over items of their mean over repeats.
    """
    labelled = scored(matrix)
    repeats = matrix.n_repeats
    measures = gold_measures(len(matrix.labels), matrix.values)
    if not labelled.n_items:
        nothing = Estimate(None, repeats=repeats, note=NO_GOLD)
        return dict.fromkeys((*(measure.name for measure in measures), "accuracy_t"), nothing)
    n_labels = len(matrix.labels)
    sums = confusion_by_cluster(labelled)
    resampled = resample_clusters(sums, resamples=resamples, rng=rng)
    rates = {"accuracy": accuracy_sums(sums, n_labels), "coverage": coverage_sums(sums, n_labels)}
    found: dict[str, Estimate] = {}
    for measure in measures:
        found[measure.name] = (
            rate_estimate(resampled, measure.compute, sums=rates[measure.name], repeats=repeats)
            if measure.name in rates
            else estimate(
                resampled,
                measure.compute,
                n_items=labelled.n_items,
                repeats=repeats,
                undefined=measure.undefined,
            )
        )
    if repeats > 1:
        for name in ("macro_f1", "kappa", "weighted_kappa"):
            if name in found and found[name].method:
                found[name] = replace(found[name], method=f"repeats pooled, {found[name].method}")
    return {**found, "accuracy_t": clustered_t(rates["accuracy"], repeats=repeats)}


def score_estimate(matrix: VerdictMatrix, *, rng: np.random.Generator, resamples: int) -> Estimate:
    """Mean numeric label over all items with a readable verdict, gold or not; undefined off ordinal scales."""
    if matrix.values is None:
        return Estimate(None, repeats=matrix.n_repeats, note=NO_ORDER)
    counted = votes(matrix)
    readable = counted.readable > 0
    means = means_by_cluster([("score", mean_values(counted, matrix.values), readable)], matrix.clusters)
    resampled = resample_clusters(means.sums, resamples=resamples, rng=rng)
    return estimate(
        resampled,
        means.compute("score"),
        n_items=int(readable.sum()),
        repeats=matrix.n_repeats,
        undefined="no readable verdict" if matrix.n_items else "no items",
    )


def coverage_estimate(matrix: VerdictMatrix, *, rng: np.random.Generator, resamples: int) -> Estimate:
    """Share of verdicts with a label among all items, where nobody labelled any; `not applicable` does not count."""
    counted = votes(matrix)
    answerable = (matrix.verdicts != ABSENT).sum(axis=1) - (matrix.verdicts == ABSTAINED).sum(axis=1)
    shares = share(counted.readable[:, None], answerable)[:, 0]
    means = means_by_cluster([("coverage", shares, answerable > 0)], matrix.clusters)
    resampled = resample_clusters(means.sums, resamples=resamples, rng=rng)
    return rate_estimate(resampled, means.compute("coverage"), sums=means.sums, repeats=matrix.n_repeats)
