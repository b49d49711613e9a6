"""Several means over items, side by side as columns of cluster sums, so that one resampling serves them all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from eva.metrics.measures import Compute, ratio
from eva.metrics.votes import Floats, mean_by_cluster


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
        place = 2 * self.names.index(name)
        return lambda sums: ratio(sums[..., place : place + 2])


def means_by_cluster(columns: Sequence[tuple[str, Floats, NDArray[np.bool_]]], clusters: NDArray[np.int64]) -> Means:
    """Sum (name, item values, which items count) triples per cluster."""
    n_clusters = int(clusters.max()) + 1 if clusters.size else 0
    blocks = [mean_by_cluster(values, counted, clusters=clusters) for _, values, counted in columns]
    return Means(
        names=tuple(name for name, _, _ in columns),
        sums=np.concatenate(blocks, axis=1) if blocks else np.zeros((n_clusters, 0)),
    )
