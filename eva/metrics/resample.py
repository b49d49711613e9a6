"""Resampling whole clusters: counts per cluster as arrays, and every resample as a row of one matrix product.

A statistic is a function of column sums, so that a resample of the clusters is `counts @ sums`. Clusters with equal
sums are interchangeable: what is drawn is how often each *kind* of cluster comes, multinomial with the kinds' numbers,
which is the same distribution and much less work. Source of the scheme: Efron & Tibshirani (1993), chapters 6 and 15.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from eva.metrics.votes import Floats

DECIMALS: Final = 9
"""Sums that agree to so many decimals are one kind of cluster: rounding dust must not change what is drawn."""
CHUNK_BYTES: Final = 64 * 2**20
EXACT_CLUSTERS: Final = 13
"""Up to so many clusters that differ, all 2^m sign flips are enumerated (8,192) instead of drawn."""


def rng_for(text: str) -> np.random.Generator:
    """A generator seeded by the SHA-256 of a text (a run's identity): the same text gives the same numbers."""
    return np.random.default_rng(int.from_bytes(hashlib.sha256(text.encode("utf-8")).digest(), "big"))


@dataclass(frozen=True)
class Resampled:
    """Column sums of the data and of R resamples of its clusters."""

    total: Floats
    """(F,)"""
    draws: Floats
    """(R, F)"""
    kinds: Floats
    """(U, F) the distinct clusters."""
    times: NDArray[np.int64]
    """(U,) how many clusters are of each kind."""

    @property
    def n_clusters(self) -> int:
        return int(self.times.sum())

    def jackknife(self) -> Floats:
        """(U, F) sums with one cluster of each kind left out."""
        return self.total[None, :] - self.kinds


@dataclass(frozen=True)
class SignFlips:
    """Column sums of both arms after their labels were swapped in random clusters."""

    before: Floats
    """(R, F)"""
    after: Floats
    """(R, F)"""
    exact: bool
    """All sign patterns, each once; else R random ones."""


def resample_clusters(sums: Floats, *, resamples: int, rng: np.random.Generator) -> Resampled:
    """Draw G of the G clusters with replacement, R times.

    `sums` is (G, F), one row of sums a cluster; memory stays near 64 MB whatever G and R are. G = 0 gives sums of 0.
    """
    kinds, times = _kinds(sums)
    n_clusters = int(times.sum())
    draws = np.zeros((resamples, sums.shape[1]))
    for start, stop in _chunks(resamples, len(kinds)):
        draws[start:stop] = _cluster_counts(times, n_clusters, stop - start, rng) @ kinds
    return Resampled(total=sums.sum(axis=0), draws=draws, kinds=kinds, times=times)


def flip_signs(before: Floats, after: Floats, *, resamples: int, rng: np.random.Generator) -> SignFlips:
    """Swap the two arms in each cluster with chance ½: how the sums look when the prompts are exchangeable.

    `before` and `after` are (G, F). Clusters in which the arms agree cannot matter. With at most 13 clusters that
    differ every pattern is taken once (`exact`), else `resamples` are drawn.
    """
    kinds, times = _kinds(after - before)
    differ = np.abs(kinds).max(axis=1, initial=0.0) > 10.0**-DECIMALS
    kinds, times = kinds[differ], times[differ]
    total_before, total_after = before.sum(axis=0), after.sum(axis=0)
    exact = int(times.sum()) <= EXACT_CLUSTERS
    size = 2 ** int(times.sum()) if exact else resamples
    moved = np.zeros((size, before.shape[1]))
    for start, stop in _chunks(size, len(kinds)):
        moved[start:stop] = _swaps(times, start, stop, rng=None if exact else rng) @ kinds
    return SignFlips(before=total_before + moved, after=total_after - moved, exact=exact)


def _kinds(sums: Floats) -> tuple[Floats, NDArray[np.int64]]:
    """Distinct rows (to DECIMALS, in sorted order) and how often each comes; + 0.0 turns -0.0 into 0.0."""
    if not sums.shape[0] or not sums.shape[1]:
        return np.zeros((min(sums.shape[0], 1), sums.shape[1])), np.full(min(sums.shape[0], 1), sums.shape[0])
    _, first, times = np.unique(np.round(sums, DECIMALS) + 0.0, axis=0, return_index=True, return_counts=True)
    return sums[first], times.astype(np.int64)


def _chunks(rows: int, width: int) -> Iterator[tuple[int, int]]:
    step = max(1, CHUNK_BYTES // (8 * max(width, 1)))
    return ((start, min(start + step, rows)) for start in range(0, rows, step))


def _cluster_counts(times: NDArray[np.int64], n_clusters: int, size: int, rng: np.random.Generator) -> Floats:
    """(size, U) how often each kind comes among n_clusters draws.

    A multinomial draw costs some 30 times a plain one, hence it is used where kinds are few; both are exact.
    """
    if not n_clusters:
        return np.zeros((size, len(times)))
    if len(times) * 16 <= n_clusters or n_clusters <= 1000:
        return rng.multinomial(n_clusters, times / n_clusters, size=size).astype(np.float64)
    kind_of = np.repeat(np.arange(len(times)), times)
    counts = np.empty((size, len(times)))
    for row in range(size):
        drawn = rng.integers(0, n_clusters, size=n_clusters, dtype=np.int64)
        counts[row] = np.bincount(kind_of[drawn], minlength=len(times))
    return counts


def _swaps(times: NDArray[np.int64], start: int, stop: int, *, rng: np.random.Generator | None) -> Floats:
    """(stop − start, U) how many clusters of each kind are swapped; without rng, patterns start..stop−1 of all 2^m."""
    if rng is not None:
        return _random_swaps(times, stop - start, rng)
    kind_of = np.repeat(np.arange(len(times)), times)
    bits = (np.arange(start, stop)[:, None] >> np.arange(kind_of.size)[None, :]) & 1
    counts = np.zeros((stop - start, len(times)))
    for column, kind in enumerate(kind_of):
        counts[:, kind] += bits[:, column]
    return counts


def _random_swaps(times: NDArray[np.int64], size: int, rng: np.random.Generator) -> Floats:
    counts = np.empty((size, len(times)))
    single = times == 1
    n_single = int(single.sum())
    n_bytes = (n_single + 7) // 8
    coins = np.frombuffer(rng.bytes(size * n_bytes), dtype=np.uint8).reshape(size, n_bytes)
    counts[:, single] = np.unpackbits(coins, axis=1)[:, :n_single]
    counts[:, ~single] = rng.binomial(times[~single][None, :], 0.5, size=(size, int((~single).sum())))
    return counts
