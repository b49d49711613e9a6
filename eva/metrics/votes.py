"""Item first: what an item's repeats say, as whole numbers and shares, and their sums per cluster."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from eva.metrics.matrix import ABSENT, ABSTAINED, FAILED, VerdictMatrix
from eva.types import NOT_APPLICABLE, Failure

Floats = NDArray[np.float64]

TIE: Final = -4
"""Modal verdict: two or more verdicts share the first place."""
NO_MAJORITY: Final = "no majority"
"""TIE by name."""
NO_VERDICT: Final = "no verdict"
"""FAILED by name, and where nothing was asked."""


@dataclass(frozen=True)
class Votes:
    """How often each verdict was given. Columns: the C labels worst first, then `failed`, then `abstained`."""

    counts: NDArray[np.int64]
    """(n, C + 2)"""
    asked: NDArray[np.int64]
    """(n,) repeats that were asked for the item: the row sums of counts."""

    @property
    def shares(self) -> Floats:
        """(n, C + 2) share of the item's repeats with each verdict; a row of 0 where nothing was asked."""
        return share(self.counts, self.asked)

    @property
    def readable(self) -> NDArray[np.int64]:
        """(n,) repeats with a label of the scale."""
        return np.asarray(self.counts[:, :-2].sum(axis=1), dtype=np.int64)


def share(counts: NDArray[Any], totals: NDArray[Any]) -> Floats:
    """counts / totals by row, 0 where the total is 0. One division of whole numbers: 2 of 6 is exactly 1 of 3."""
    result: Floats = np.zeros(counts.shape)
    np.divide(counts, totals[:, None], out=result, where=totals[:, None] > 0)
    return result


def votes(matrix: VerdictMatrix) -> Votes:
    """Count the verdicts of every item over its repeats."""
    n_labels = len(matrix.labels)
    width = n_labels + 2
    # FAILED (−1) is counted in column C, ABSTAINED (−2) in column C + 1
    codes = np.where(matrix.verdicts >= 0, matrix.verdicts, n_labels - 1 - matrix.verdicts)
    present = matrix.verdicts != ABSENT
    flat = (np.arange(matrix.n_items)[:, None] * width + codes)[present]
    counts = np.bincount(flat, minlength=matrix.n_items * width).reshape(matrix.n_items, width)
    return Votes(counts=counts, asked=present.sum(axis=1))


def modal(counted: Votes) -> NDArray[np.int64]:
    """(n,) the most frequent verdict of each item: a label's code, FAILED, ABSTAINED or TIE. The one rule for all rooms.

    Every repeat is one vote, for a label, for `not applicable` (also where the scale does not allow it: the failure
    `abstained`) or for `no verdict`: all other kinds of failure count together, so that three replies that failed in
    three ways are no verdict, not a tie. The most frequent one wins, majority or not. Ties: where two or more share the
    first place there is no modal verdict (TIE), never the better, the worse or the earlier one; a label that only ties
    with `no verdict` does not win either. No verdict: FAILED where failures lead; ABSENT where nothing was asked.
    `modal_of` is the same rule by name.
    """
    counts = counted.counts
    n_labels = counts.shape[1] - 2
    names = np.array([*range(n_labels), FAILED, ABSTAINED], dtype=np.int64)
    if not counts.shape[0]:
        return np.zeros(0, dtype=np.int64)
    tied = (counts == counts.max(axis=1, keepdims=True)).sum(axis=1) > 1
    return np.where(counted.asked == 0, ABSENT, np.where(tied, TIE, names[counts.argmax(axis=1)]))


def said_by(label: Any, failure: Any) -> str | None:
    """What one verdict row votes for: its label, `not_applicable` for the failure `abstained`, None for other failures."""
    if isinstance(label, str):
        return label
    return NOT_APPLICABLE if isinstance(failure, str) and failure == Failure.ABSTAINED.value else None


def modal_of(said: Iterable[str | None]) -> tuple[str, float]:
    """`modal` of one item by name, and the share of its repeats with the most frequent verdict.

    `said` holds a vote a repeat (`said_by`). The name is a label, `not_applicable`, NO_VERDICT or NO_MAJORITY.
    """
    given = list(said)
    labels = sorted({vote for vote in given if vote is not None and vote != NOT_APPLICABLE})
    names = [*labels, None, NOT_APPLICABLE]
    counts = np.array([[given.count(name) for name in names]], dtype=np.int64)
    asked = np.array([len(given)], dtype=np.int64)
    code = int(modal(Votes(counts=counts, asked=asked))[0])
    name = {TIE: NO_MAJORITY, ABSTAINED: NOT_APPLICABLE}.get(code, labels[code] if code >= 0 else NO_VERDICT)
    return name, float(share(counts, asked).max())


def take(matrix: VerdictMatrix, rows: NDArray[Any]) -> VerdictMatrix:
    """The matrix of some of its items (boolean mask or places), clusters numbered anew."""
    places = np.flatnonzero(rows) if rows.dtype == np.bool_ else rows
    _, clusters = np.unique(matrix.clusters[places], return_inverse=True)
    return replace(
        matrix,
        item_ids=tuple(matrix.item_ids[place] for place in places),
        clusters=clusters.astype(np.int64),
        gold=matrix.gold[places],
        verdicts=matrix.verdicts[places],
    )


def scored(matrix: VerdictMatrix) -> VerdictMatrix:
    """Only the items that have a gold label and were asked at least once."""
    return take(matrix, (matrix.gold >= 0) & (matrix.verdicts != ABSENT).any(axis=1))


def by_cluster(columns: Floats, clusters: NDArray[np.int64]) -> Floats:
    """Sums of (n, F) columns per cluster: (G, F)."""
    n_clusters = int(clusters.max()) + 1 if clusters.size else 0
    sums: Floats = np.empty((n_clusters, columns.shape[1]))
    for place, column in enumerate(columns.T):
        sums[:, place] = np.bincount(clusters, weights=column, minlength=n_clusters)
    return sums


def mean_by_cluster(values: Floats, counted: NDArray[np.bool_], *, clusters: NDArray[np.int64]) -> Floats:
    """(G, 2): sum of the item values and number of items, over the counted items."""
    columns = np.column_stack([np.where(counted, values, 0.0), counted.astype(np.float64)])
    return by_cluster(columns, clusters)
