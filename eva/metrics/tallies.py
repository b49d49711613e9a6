"""Sums per cluster as columns, so that one resampling serves many statistics: of repeats side by side, or item first.

Every statistic of an arm is the mean over its repeats of the repeat's own value, in the data as in each resample: the
columns of a `Tally` hold each repeat's sums, and `eva.metrics.measures.over_repeats` takes the mean.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from eva.metrics.cells import Cells
from eva.metrics.matrix import ABSENT, VerdictMatrix
from eva.metrics.measures import Compute, ratio, to_optional
from eva.metrics.votes import Floats, by_cluster, mean_by_cluster


@dataclass(frozen=True)
class Tally:
    """One arm's sums per cluster, its K repeats side by side."""

    sums: Floats
    """(G, K·F), repeats ordered by their totals: which repeat is called the first changes no number."""
    totals: Floats
    """(K, F) sums over all clusters, in the order of the repeats."""

    @property
    def repeats(self) -> int:
        return int(self.totals.shape[0])

    def values(self, compute: Compute) -> tuple[float | None, ...]:
        """The statistic of each repeat; None where it is undefined."""
        return tuple(to_optional(value) for value in compute(self.totals))

    def ordered_totals(self) -> Floats:
        """(K, F) sums over all clusters, repeats in the order of the columns."""
        return np.asarray(self.sums.sum(axis=0).reshape(self.totals.shape), dtype=np.float64)

    def pooled(self) -> Floats:
        """(G, F) mean over the repeats."""
        return np.asarray(self.sums.reshape(len(self.sums), *self.totals.shape).mean(axis=1), dtype=np.float64)


def confusion_tally(matrix: VerdictMatrix) -> Tally:
    """Flattened confusions, C·(C + 1) counts a repeat: rows gold labels, columns labels and last `no verdict`.

    The matrix must hold scored items only (`eva.metrics.votes.scored`).
    """
    n_labels, repeats = len(matrix.labels), max(matrix.n_repeats, 1)
    width = n_labels * (n_labels + 1)
    asked = matrix.verdicts != ABSENT
    said = np.where(matrix.verdicts >= 0, matrix.verdicts, n_labels)
    cell = matrix.gold[:, None] * (n_labels + 1) + said
    place = (matrix.clusters[:, None] * repeats + np.arange(matrix.n_repeats)[None, :]) * width + cell
    n_clusters = int(matrix.clusters.max()) + 1 if matrix.n_items else 0
    counts = np.bincount(place[asked], minlength=n_clusters * repeats * width)
    return _side_by_side(counts.reshape(n_clusters, repeats, width).astype(np.float64))


def mean_tally(cells: Sequence[Cells], clusters: NDArray[np.int64]) -> Tally:
    """Total and number of counted verdicts of several means, two columns each; one Cells at least."""
    columns = [by_cluster(column, clusters) for one in cells for column in (one.kept(), one.counted.astype(np.float64))]
    return _side_by_side(np.stack(columns, axis=2))


def item_tally(sums: Floats) -> Tally:
    """Item means' sums (G, F), as if of one repeat: for statistics that have no value of their own in a repeat."""
    return Tally(sums=sums, totals=sums.sum(axis=0)[None, :])


def _side_by_side(blocks: Floats) -> Tally:
    """From (G, K, F); no repeat is one of zeros."""
    if not blocks.shape[1]:
        blocks = np.zeros((blocks.shape[0], 1, blocks.shape[2]))
    totals = blocks.sum(axis=0)
    order = np.lexsort(totals.T[::-1])
    return Tally(sums=blocks[:, order].reshape(len(blocks), totals.size), totals=totals)


@dataclass(frozen=True)
class Means:
    """Named item values and which items count, summed per cluster."""

    names: tuple[str, ...]
    sums: Floats
    """(G, 2·names): total of the item values and number of items, name by name."""

    def of(self, name: str) -> Floats:
        """(G, 2) the sums of one mean."""
        place = 2 * self.names.index(name)
        return self.sums[:, place : place + 2]

    def compute(self, name: str) -> Compute:
        """The mean as a function of all columns' sums."""
        return nth_ratio(self.names.index(name))


def nth_ratio(place: int) -> Compute:
    """The mean in columns 2·place and 2·place + 1."""
    return lambda sums: ratio(sums[..., 2 * place : 2 * place + 2])


def means_by_cluster(columns: Sequence[tuple[str, Floats, NDArray[np.bool_]]], clusters: NDArray[np.int64]) -> Means:
    """Sum (name, item values, which items count) triples per cluster."""
    n_clusters = int(clusters.max()) + 1 if clusters.size else 0
    blocks = [mean_by_cluster(values, counted, clusters=clusters) for _, values, counted in columns]
    return Means(
        names=tuple(name for name, _, _ in columns),
        sums=np.concatenate(blocks, axis=1) if blocks else np.zeros((n_clusters, 0)),
    )
