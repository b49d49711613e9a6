"""Resampling whole clusters: counts per cluster as arrays, and every resample as a row of one matrix product.

A statistic is a function of column sums, so that a resample of the clusters is `counts @ sums`. Clusters with equal
sums are interchangeable: what is drawn is how often each *kind* of cluster comes, multinomial with the kinds' numbers,
which is the same distribution and much less work. Source of the scheme: Efron & Tibshirani (1993), chapters 6 and 15.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from eva.metrics.measures import Compute, mean_defined
from eva.metrics.tallies import Tally
from eva.metrics.votes import Floats

DECIMALS: Final = 9
"""Sums that agree to so many decimals are one kind of cluster: rounding dust must not change what is drawn."""
CHUNK_BYTES: Final = 32 * 2**20
"""Counts of this many bytes are multiplied at a time, always in the same memory: fresh pages cost more than drawing."""
MOST_ROWS: Final = 2**14
FREQUENT: Final = 32
"""Kinds with so many clusters are drawn as a whole (one multinomial or binomial number), others cluster by cluster."""
SMALL: Final = 1000
"""Up to so many clusters all kinds are drawn as a whole."""
MOST_WAYS: Final = 36
"""So many ways of putting repeats of two arms together are enough; six repeats an arm have no more."""
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
    """Column sums that change arms when the arms' labels are swapped in random clusters."""

    before: Floats
    """(K, F) totals of the before arm, a row a repeat."""
    after: Floats
    """(K', F)"""
    from_before: Floats
    """(R, K·F) sums over the swapped clusters of the before arm, repeats side by side in `before`'s order."""
    from_after: Floats
    """(R, K'·F)"""
    exact: bool
    """All sign patterns, each once; else R random ones."""

    def gaps(self, compute: Compute) -> Floats:
        """(R,) the difference of the two arms' means over repeats under each pattern.

        Repeats have no partners in the other arm, and the arms may have unlike many: a swapped cluster takes its
        verdicts from each repeat of the other arm in turn, and the statistic is the mean over all K·K' ways (over 36 of
        them: over some in which every repeat comes equally often). Without swaps that is the mean over repeats; which
        repeat is called the first does not matter; duplicated repeats change nothing.
        """
        ways = _ways(len(self.before), len(self.after))
        step = max(1, CHUNK_BYTES // (8 * max(ways[0].size * self.before.shape[1], 1)))
        starts = range(0, len(self.from_before), step)
        return np.concatenate([self._gaps(compute, slice(start, start + step), ways=ways) for start in starts])

    def _gaps(self, compute: Compute, rows: slice, *, ways: tuple[NDArray[np.int64], NDArray[np.int64]]) -> Floats:
        gone = self.from_before[rows].reshape(-1, *self.before.shape)[:, ways[0]]
        come = self.from_after[rows].reshape(-1, *self.after.shape)[:, ways[1]]
        swapped = come - gone
        first = mean_defined(compute(self.before[ways[0]] + swapped))
        second = mean_defined(compute(self.after[ways[1]] - swapped))
        return second - first


def _ways(first: int, second: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Pairs (repeat of the before arm, of the after arm); in each arm every repeat comes equally often."""
    if first * second <= MOST_WAYS:
        return np.repeat(np.arange(first), second), np.tile(np.arange(second), first)
    cycle = np.arange(math.lcm(first, second))
    turns = max(1, MOST_WAYS // cycle.size)
    return np.tile(cycle % first, turns), np.concatenate([(cycle + turn) % second for turn in range(turns)])


def resample_clusters(sums: Floats, *, resamples: int, rng: np.random.Generator) -> Resampled:
    """Draw G of the G clusters with replacement, R times.

    `sums` is (G, F), one row of sums a cluster; beside sums and draws some 32 MB are used. G = 0 gives sums of 0.
    """
    kinds, times = _kinds(sums)
    frequent = _frequent(times)
    whole, parts = kinds[frequent], np.repeat(kinds[~frequent], times[~frequent], axis=0)
    shares = np.append(times[frequent], len(parts)) / max(int(times.sum()), 1)
    draws = np.zeros((resamples, sums.shape[1]))
    for start, stop, buffer in _chunks(resamples if len(sums) else 0, len(parts)):
        counts = rng.multinomial(len(sums), shares, size=stop - start)
        _draw(counts[:, -1], rng, out=buffer)
        draws[start:stop] = counts[:, :-1].astype(np.float64) @ whole + buffer @ parts
    return Resampled(total=sums.sum(axis=0), draws=draws, kinds=kinds, times=times)


def flip_signs(before: Tally, after: Tally, *, resamples: int, rng: np.random.Generator) -> SignFlips:
    """Swap the two arms in each cluster with chance ½: how the sums look when the prompts are exchangeable.

    Clusters in which the arms agree, their repeats taken together, are left as they are. With at most 13 clusters that
    differ every pattern is taken once (`exact`), else `resamples` are drawn.
    """
    differ = (np.abs(after.pooled() - before.pooled()) > 10.0**-DECIMALS).any(axis=1)
    width = before.sums.shape[1]
    kinds, times = _kinds(np.concatenate([before.sums[differ], after.sums[differ]], axis=1))
    exact = int(times.sum()) <= EXACT_CLUSTERS
    frequent = np.zeros(len(times), dtype=np.bool_) if exact else _frequent(times)
    whole, parts = kinds[frequent], np.repeat(kinds[~frequent], times[~frequent], axis=0)
    size = 2 ** len(parts) if exact else resamples
    moved = np.zeros((size, kinds.shape[1]))
    for start, stop, buffer in _chunks(size, len(parts)):
        if exact:
            buffer[:] = (np.arange(start, stop)[:, None] >> np.arange(len(parts))[None, :]) & 1
        else:
            _toss(rng, out=buffer)
        swapped = rng.binomial(times[frequent], 0.5, size=(stop - start, len(whole))).astype(np.float64)
        moved[start:stop] = swapped @ whole + buffer @ parts
    return SignFlips(
        before=before.ordered_totals(),
        after=after.ordered_totals(),
        from_before=moved[:, :width],
        from_after=moved[:, width:],
        exact=exact,
    )


def _kinds(sums: Floats) -> tuple[Floats, NDArray[np.int64]]:
    """Distinct rows (to DECIMALS, in sorted order) and how often each comes; + 0.0 turns -0.0 into 0.0."""
    if not sums.shape[0] or not sums.shape[1]:
        return np.zeros((min(sums.shape[0], 1), sums.shape[1])), np.full(min(sums.shape[0], 1), sums.shape[0])
    rounded = np.round(sums, DECIMALS) + 0.0
    order = np.lexsort(rounded.T[::-1])  # as np.unique(axis=0) sorts, several times faster
    new = np.ones(len(order), dtype=np.bool_)
    new[1:] = (rounded[order[1:]] != rounded[order[:-1]]).any(axis=1)
    starts = np.flatnonzero(new)
    return sums[order[starts]], np.diff(np.append(starts, len(order))).astype(np.int64)


def _frequent(times: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Which kinds to draw as a whole: a multinomial number costs about as much as 32 single draws."""
    return (times >= FREQUENT) | (int(times.sum()) <= SMALL)


def _chunks(rows: int, n_parts: int) -> Iterator[tuple[int, int, Floats]]:
    """Rows start..stop−1 at a time, with a (stop − start, n_parts) buffer that the next chunk uses again."""
    step = min(max(1, rows), max(1, CHUNK_BYTES // (8 * max(n_parts, 1))), MOST_ROWS)
    buffer = np.empty((step, n_parts))
    for start in range(0, rows, step):
        stop = min(start + step, rows)
        yield start, stop, buffer[: stop - start]


def _draw(sizes: NDArray[np.int64], rng: np.random.Generator, *, out: Floats) -> None:
    """Fill each row with how often each cluster comes in as many draws as `sizes` says."""
    n_parts = out.shape[1]
    if n_parts:
        for row, size in enumerate(sizes):
            out[row] = np.bincount(rng.integers(0, n_parts, size=size), minlength=n_parts)


def _toss(rng: np.random.Generator, *, out: Floats) -> None:
    """Fill each row with 0 and 1 at chance ½, one random bit each."""
    n_parts = out.shape[1]
    for row in range(out.shape[0]):
        bits = np.frombuffer(rng.bytes((n_parts + 7) // 8), dtype=np.uint8)
        out[row] = np.unpackbits(bits, count=n_parts)
