"""Did the distribution of labels shift? Stuart–Maxwell, by cluster."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy.special import chdtrc

from eva.metrics.matrix import VerdictMatrix
from eva.metrics.measures import TINY
from eva.metrics.pairing import Pair
from eva.metrics.results import LabelShift
from eva.metrics.votes import Floats, by_cluster, share, votes

FEW: Final = 10
"""With fewer clusters that moved the chi-square law is not to be trusted."""


def label_shift(before: Floats, after: Floats, *, clusters: NDArray[np.int64], labels: Sequence[str]) -> LabelShift:
    """Test that two label distributions over the same items are equal, from (n, C) shares of each item's verdicts.

    χ² = dᵀ V⁻ d with d = Σ_g d_g the difference of the label totals and V = Σ_g d_g d_gᵀ over clusters; degrees of
    freedom are the rank of V. With single verdicts and items of their own this is the Stuart–Maxwell test (Stuart 1955,
    Maxwell 1970; `statsmodels` `SquareTable.homogeneity`); clusters and repeats are taken as wholes. No p where nothing
    moved, or fewer than 10 clusters did.
    """
    gaps = by_cluster(after - before, clusters)
    moved = int((np.abs(gaps) > TINY).any(axis=1).sum())
    n = len(before)
    shares = [tuple(float(number) for number in arm.sum(axis=0) / max(n, 1)) for arm in (before, after)]
    spread = gaps.T @ gaps
    freedom = int(np.linalg.matrix_rank(spread, hermitian=True)) if moved else 0
    total = gaps.sum(axis=0)
    statistic = float(total @ np.linalg.pinv(spread, hermitian=True) @ total) if freedom else None
    told = statistic is not None and moved >= FEW
    return LabelShift(
        labels=tuple(labels),
        before=shares[0] if n else (),
        after=shares[1] if n else (),
        statistic=statistic,
        degrees=freedom,
        p_value=float(chdtrc(freedom, statistic)) if told else None,
        n_items=n,
        note="" if told else "no items" if not n else f"{moved} clusters moved: too few for a test",
    )


def arms_shift(pair: Pair) -> LabelShift:
    """Before against after, over items with a readable verdict in both arms."""
    one, two = votes(pair.before), votes(pair.after)
    kept = (one.readable > 0) & (two.readable > 0)
    shares = [share(arm.counts[:, :-2], arm.readable)[kept] for arm in (one, two)]
    return label_shift(shares[0], shares[1], clusters=_anew(pair.before.clusters[kept]), labels=pair.before.labels)


def judge_shift(matrix: VerdictMatrix) -> LabelShift:
    """People against judge: is the judge more lenient or harsher? Over labelled items with a readable verdict."""
    counted = votes(matrix)
    kept = (counted.readable > 0) & (matrix.gold >= 0)
    gold = np.eye(len(matrix.labels))[matrix.gold[kept]]
    judge = share(counted.counts[:, :-2], counted.readable)[kept]
    return label_shift(gold, judge, clusters=_anew(matrix.clusters[kept]), labels=matrix.labels)


def _anew(clusters: NDArray[np.int64]) -> NDArray[np.int64]:
    return np.unique(clusters, return_inverse=True)[1].astype(np.int64)
