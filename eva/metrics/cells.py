"""What each verdict adds to a statistic that is a mean, and whether it counts: accuracy, errors, scores, rates."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from eva.metrics.matrix import ABSENT, ABSTAINED, VerdictMatrix
from eva.metrics.votes import Floats, by_cluster, mean_by_cluster


@dataclass(frozen=True)
class Cells:
    """A mean's verdicts. Its value in a repeat is the mean of those that count, of an arm the mean over its repeats."""

    values: Floats
    """(n, K)"""
    counted: NDArray[np.bool_]
    """(n, K)"""

    @property
    def items(self) -> NDArray[np.bool_]:
        """(n,) items that count in at least one repeat: the statistic's own denominator."""
        return np.asarray(self.counted.any(axis=1), dtype=np.bool_)

    def kept(self) -> Floats:
        """(n, K) values, 0 where they do not count."""
        return np.where(self.counted, self.values, 0.0)

    def among(self, items: NDArray[np.bool_]) -> Cells:
        """The same of some items only."""
        return replace(self, counted=self.counted & items[:, None])

    def item_sums(self, clusters: NDArray[np.int64]) -> Floats:
        """(G, 2) item first: sum of the items' means over the repeats in which they count, and their number."""
        means = self.kept().sum(axis=1) / np.maximum(self.counted.sum(axis=1), 1)
        return mean_by_cluster(means, self.items, clusters=clusters)

    def linear_sums(self, clusters: NDArray[np.int64]) -> Floats:
        """(G, 2) sums whose ratio is exactly the mean over repeats, with each cluster's pull on it; number of items.

        n_g·m + N·mean_k((t_gk − n_gk·m_k) / n_k), with m_k the mean of repeat k over its n_k verdicts, m their mean, N
        all items: the linearised (delta method) sum, so that a clustered SE of it is that of the mean over repeats.
        Where every item counts in every repeat this is the item-first sum.
        """
        totals, counts = by_cluster(self.kept(), clusters), by_cluster(self.counted.astype(np.float64), clusters)
        items = by_cluster(self.items[:, None].astype(np.float64), clusters)[:, 0]
        asked = counts.sum(axis=0) > 0
        if not asked.any():
            return np.column_stack([np.zeros_like(items), items])
        totals, counts = totals[:, asked], counts[:, asked]
        sizes = counts.sum(axis=0)
        means = totals.sum(axis=0) / sizes
        pull = ((totals - counts * means) / sizes).mean(axis=1)
        return np.column_stack([items * means.mean() + items.sum() * pull, items])


def gold_cells(matrix: VerdictMatrix) -> Mapping[str, Cells]:
    """Accuracy and coverage over all that was asked; MAE and bias (ordinal scales) over readable verdicts.

    The matrix must hold scored items only.
    """
    said, gold = matrix.verdicts, matrix.gold[:, None]
    asked, readable = said != ABSENT, said >= 0
    found = {"accuracy": Cells((said == gold).astype(np.float64), asked)}
    if matrix.values is not None:
        scale = np.asarray(matrix.values)
        steps = np.where(readable, scale[np.maximum(said, 0)] - scale[gold], 0.0)
        found |= {"mae": Cells(np.abs(steps), readable), "bias": Cells(steps, readable)}
    return {**found, "coverage": Cells(readable.astype(np.float64), asked)}


def free_cells(matrix: VerdictMatrix, name: str) -> Cells:
    """`mean_score` and `label=x/rate` over readable verdicts; `coverage` over all but `not applicable`. No gold needed."""
    readable = matrix.verdicts >= 0
    if name == "mean_score":
        return Cells(np.asarray(matrix.values or (0.0,))[np.where(readable, matrix.verdicts, 0)], readable)
    if name == "coverage":
        answerable = (matrix.verdicts != ABSENT) & (matrix.verdicts != ABSTAINED)
        return Cells(readable.astype(np.float64), answerable)
    place = matrix.labels.index(name.removeprefix("label=").removesuffix("/rate"))
    return Cells((matrix.verdicts == place).astype(np.float64), readable)
