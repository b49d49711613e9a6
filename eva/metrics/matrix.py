"""The table that all metrics read: items × repeats, as small integers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

UNLABELLED: Final = -1
"""Gold: nobody labelled this item, or a person says that there is nothing to rate."""
FAILED: Final = -1
"""Verdict: a failure of any kind. Wrong for its gold class, never a class."""
ABSTAINED: Final = -2
"""Verdict: the judge says not applicable. Wrong where there is a gold label, uncounted where there is none."""
ABSENT: Final = -3
"""Verdict: this repeat was never asked for this item (an unfinished run)."""


@dataclass(frozen=True)
class VerdictMatrix:
    """One arm: what a judge said about n items in K repeats, and what people say."""

    labels: tuple[str, ...]
    """The judge's scale, worst first; codes index it."""
    values: tuple[float, ...] | None
    """A number per label on ordinal scales."""
    item_ids: tuple[str, ...]
    clusters: NDArray[np.int64]
    """(n,) codes 0..G-1; items of one cluster are not independent."""
    gold: NDArray[np.int64]
    """(n,) code or UNLABELLED."""
    verdicts: NDArray[np.int64]
    """(n, K) code, FAILED, ABSTAINED or ABSENT."""

    @property
    def n_items(self) -> int:
        return len(self.item_ids)

    @property
    def n_repeats(self) -> int:
        return int(self.verdicts.shape[1])

    @property
    def n_clusters(self) -> int:
        return int(np.unique(self.clusters).size)
