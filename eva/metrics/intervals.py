"""Intervals: cluster bootstrap (BCa or widened percentile), clustered t, Wilson. One cluster never gives one.

The bootstrap takes ends of the resamples at Hesterberg's widened levels (2015, arXiv 1411.5279): the normal quantile z
is replaced by t(G − 1)·sqrt(G / (G − 1)), without which few clusters give intervals that are too narrow. From 50
clusters on the levels are also corrected for bias and skew (BCa; Efron 1987).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri, stdtrit  # scipy.stats takes half a second to import

from eva.metrics.measures import TINY, Compute, ratio, to_optional
from eva.metrics.resample import Resampled
from eva.metrics.results_base import Estimate
from eva.metrics.votes import Floats

BCA_CLUSTERS: Final = 50
WILSON_CLUSTERS: Final = 20
WILSON_ODD: Final = 5
"""A rate with fewer clusters than this off its one end (5 with any error) is too skewed for a bootstrap."""
UNDEFINED_SHARE: Final = 0.5


@dataclass(frozen=True)
class Ends:
    """An interval before it is attached to a number."""

    low: float | None
    high: float | None
    se: float | None
    method: str
    note: str = ""


def wilson(share: float, n: int, *, level: float = 0.95) -> tuple[float, float] | None:
    """Wilson's score interval of a rate: centre (p + z²/2n) / (1 + z²/n). None for n = 0.

    `share` need not be a whole number of n (item means over repeats). Source: Wilson 1927; equals
    `scipy.stats.binomtest(k, n).proportion_ci(method="wilson")`.
    """
    if n <= 0:
        return None
    z2 = float(ndtri((1 + level) / 2)) ** 2
    centre = (share + z2 / (2 * n)) / (1 + z2 / n)
    half = np.sqrt(z2 * (share * (1 - share) / n + z2 / (4 * n * n))) / (1 + z2 / n)
    low = 0.0 if share <= TINY else max(0.0, float(centre - half))
    return low, 1.0 if share >= 1 - TINY else min(1.0, float(centre + half))


def clustered_se(sums: Floats) -> float | None:
    """Standard error of a mean from (G, 2) cluster sums (total, n).

    sqrt(Σ_g r_g² · G/(G−1)) / n with r_g = total_g − n_g·mean. Clusters without counted items do not count. None under
    2 clusters. Source: Liang & Zeger 1986; as in Miller 2024 (arXiv 2411.00640).
    """
    there = sums[sums[:, 1] > 0]
    if there.shape[0] < 2:
        return None
    total, n = there.sum(axis=0)
    residuals = there[:, 0] - there[:, 1] * total / n
    groups = there.shape[0]
    return float(np.sqrt((residuals**2).sum() * groups / (groups - 1)) / n)


def clustered_t(sums: Floats, *, repeats: int, level: float = 0.95) -> Estimate:
    """Mean ± t(G − 1)·clustered SE from (G, 2) cluster sums (total of item values, number of items).

    No ends under 2 clusters and where clusters do not differ at all (a width of 0 would claim certainty).
    """
    found = _sized(sums, to_optional(ratio(sums.sum(axis=0))), repeats=repeats, level=level)
    se = clustered_se(sums)
    if found.value is None:
        return replace(found, note="no items")
    if se is None:
        return replace(found, note="1 cluster: no interval")
    if se < TINY:
        return replace(found, note="clusters do not differ: t gives no width")
    half = float(stdtrit(found.n_clusters - 1, (1 + level) / 2)) * se
    return replace(found, low=found.value - half, high=found.value + half, method="clustered t")


def bootstrap(resampled: Resampled, compute: Compute, *, level: float = 0.95, groups: int | None = None) -> Ends:
    """Interval of a statistic of column sums from its cluster resamples.

    BCa from 50 clusters on, else percentile, both at widened levels; `groups` is the number of clusters that count in
    the statistic, where that is not all. No ends (with the reason in `note`) under 2
    clusters, where all resamples agree, and where the statistic is undefined in half of them or more; resamples in
    which it is undefined are left out and said in `note`.
    """
    point = float(compute(resampled.total))
    groups = resampled.n_clusters if groups is None else groups
    if groups < 2 or not np.isfinite(point):
        return Ends(None, None, None, "", "1 cluster: no interval" if groups == 1 else "")
    values = compute(resampled.draws)
    defined = values[np.isfinite(values)]
    lost = 1 - defined.size / max(values.size, 1)
    if lost >= UNDEFINED_SHARE:
        return Ends(None, None, None, "", f"undefined in {lost:.0%} of the resamples: no interval")
    if np.ptp(defined) < TINY:
        return Ends(None, None, None, "", "all resamples agree: no interval")
    note = f"undefined in {lost:.1%} of the resamples, which are left out" if lost > 0 else ""
    bca = groups >= BCA_CLUSTERS
    levels = _levels(groups, level)
    if bca:
        levels = _corrected(
            levels, defined, point=point, left_out=compute(resampled.jackknife()), times=resampled.times
        )
    low, high = np.quantile(defined, levels)
    name = f"cluster bootstrap ({'BCa' if bca else 'percentile'}, {resampled.draws.shape[0]:,} resamples)"
    return Ends(float(low), float(high), float(np.std(defined, ddof=1)), name, note)


def estimate(
    resampled: Resampled,
    compute: Compute,
    *,
    n_items: int,
    repeats: int,
    n_clusters: int | None = None,
    level: float = 0.95,
    undefined: str = "undefined",
    note: str = "",
) -> Estimate:
    """The statistic with its bootstrap interval; `undefined` is the note where it has no value.

    `n_items`, `n_clusters` (None: all) are those that are in its denominator; `note` is said beside the interval's own.
    """
    clusters = resampled.n_clusters if n_clusters is None else n_clusters
    value = to_optional(compute(resampled.total))
    ends = bootstrap(resampled, compute, level=level, groups=clusters)
    return Estimate(
        value,
        ends.low,
        ends.high,
        n_items=n_items,
        n_clusters=clusters,
        repeats=repeats,
        method=ends.method,
        level=level,
        note=undefined if value is None else "; ".join(part for part in (ends.note, note) if part),
    )


def rate_estimate(
    resampled: Resampled, compute: Compute, *, sums: Floats, repeats: int, level: float = 0.95
) -> Estimate:
    """A share in [0, 1] with its interval; `sums` are its (G, 2) cluster sums (total of item shares, items).

    Bootstrap; Wilson with n = clusters (on the careful side where clusters are large) under 20 clusters, or where fewer
    than 5 clusters are off 0, or off 1: there resampling knows next to nothing about the other side.
    """
    found = _sized(sums, to_optional(compute(resampled.total)), repeats=repeats, level=level)
    if found.value is None:
        return replace(found, note="no items")
    if found.n_clusters < 2:
        return replace(found, note="1 cluster: no interval")
    there = sums[sums[:, 1] > 0]
    means = there[:, 0] / there[:, 1]
    odd = min(int((means > TINY).sum()), int((means < 1 - TINY).sum()))
    if found.n_clusters >= WILSON_CLUSTERS and odd >= WILSON_ODD:
        ends = bootstrap(resampled, compute, level=level, groups=found.n_clusters)
        return replace(found, low=ends.low, high=ends.high, method=ends.method, note=ends.note)
    low, high = wilson(found.value, found.n_clusters, level=level) or (None, None)
    return replace(found, low=low, high=high, method="Wilson, n = clusters")


def _sized(sums: Floats, value: float | None, *, repeats: int, level: float) -> Estimate:
    """An estimate without ends; clusters without counted items do not count."""
    there = sums[sums[:, 1] > 0]
    items = round(float(there[:, 1].sum()))
    return Estimate(value, n_items=items, n_clusters=int(there.shape[0]), repeats=repeats, level=level)


def _levels(groups: int, level: float) -> Floats:
    """Lower and upper level of the widened percentile interval."""
    tail = (1 - level) / 2
    z = float(stdtrit(groups - 1, 1 - tail)) * np.sqrt(groups / (groups - 1))
    return np.asarray(ndtr([-z, z]), dtype=np.float64)


def _corrected(levels: Floats, values: Floats, *, point: float, left_out: Floats, times: NDArray[np.int64]) -> Floats:
    """BCa: levels moved for median bias z0 and acceleration a = Σ d³ / 6 (Σ d²)^1.5 over the jackknife."""
    below = ((values < point - TINY).sum() + 0.5 * (np.abs(values - point) <= TINY).sum()) / values.size
    kept = np.isfinite(left_out)
    weights = times[kept] / times[kept].sum()
    gaps = (weights * left_out[kept]).sum() - left_out[kept]
    squares = (times[kept] * gaps**2).sum()
    if not 0 < below < 1 or squares <= 0:
        return levels
    bias = float(ndtri(below))
    acceleration = (times[kept] * gaps**3).sum() / (6 * squares**1.5)
    shifted = bias + ndtri(levels)
    bent = 1 - acceleration * shifted
    if (bent <= 0).any():
        return levels
    return np.asarray(ndtr(bias + shifted / bent), dtype=np.float64)
