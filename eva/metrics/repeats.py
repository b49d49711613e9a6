"""What repeats say about the judge itself: spread from run to run, stability of an item, agreement with itself."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from eva.metrics.alpha import krippendorff_alpha
from eva.metrics.intervals import rate_estimate
from eva.metrics.matrix import VerdictMatrix
from eva.metrics.resample import resample_clusters
from eva.metrics.results import Estimate, Noise, Spread
from eva.metrics.tallies import means_by_cluster
from eva.metrics.votes import Floats, Votes, share, votes

ONE_REPEAT = "1 repeat: no spread"


def spread(numbers: Sequence[float | None]) -> Spread:
    """Mean and sample std (ddof = 1) of one number over repeats; repeats in which it is undefined are left out.

    The std is None with fewer than two defined repeats and 0.0 where several agree.
    """
    defined = np.array([number for number in numbers if number is not None], dtype=np.float64)
    return Spread(
        mean=float(defined.mean()) if defined.size else None,
        std=_sample_std(defined),
        values=tuple(numbers),
    )


def _sample_std(values: Floats) -> float | None:
    """ddof = 1; exactly 0.0 where all agree, which the mean's rounding would miss; None under two values."""
    if values.size < 2:
        return None
    return 0.0 if (values == values[0]).all() else float(values.std(ddof=1))


def stability(counted: Votes) -> Floats:
    """(n,) share of an item's repeats with its most frequent verdict; failures count as one verdict."""
    return share(counted.counts.max(axis=1, initial=0)[:, None], counted.asked)[:, 0]


def self_agreement(counted: Votes) -> Floats:
    """(n,) chance that two different repeats of the item agree: Σ c·(c − 1) / K·(K − 1); 0 where K < 2."""
    pairs = (counted.counts * (counted.counts - 1)).sum(axis=1)
    return share(pairs[:, None], counted.asked * (counted.asked - 1))[:, 0]


def noise(matrix: VerdictMatrix, *, rng: np.random.Generator, resamples: int) -> Noise:
    """How the judge agrees with itself, over items that were asked twice or more; alpha takes failures as missing."""
    counted = votes(matrix)
    several = counted.asked >= 2
    columns = [("stability", stability(counted), several), ("self_agreement", self_agreement(counted), several)]
    means = means_by_cluster(columns, matrix.clusters)
    if not several.any():
        nothing = Estimate(None, n_items=0, repeats=matrix.n_repeats, note=ONE_REPEAT if matrix.n_items else "no items")
        return Noise(stability=nothing, self_agreement=nothing, alpha=None, unstable_items=0)
    resampled = resample_clusters(means.sums, resamples=resamples, rng=rng)
    found = {
        name: rate_estimate(resampled, means.compute(name), sums=means.of(name), repeats=matrix.n_repeats)
        for name in means.names
    }
    return Noise(
        stability=found["stability"],
        self_agreement=found["self_agreement"],
        alpha=krippendorff_alpha(counted.counts[:, :-2], level="ordinal" if matrix.values else "nominal"),
        unstable_items=int(((counted.counts > 0).sum(axis=1) > 1).sum()),
    )
