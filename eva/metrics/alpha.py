"""Krippendorff's alpha: agreement of any number of raters, some of them missing, set against chance."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from eva.metrics.measures import TINY
from eva.metrics.votes import Floats


def krippendorff_alpha(counts: NDArray[Any], *, level: Literal["nominal", "ordinal"]) -> float | None:
    """α = 1 − D_o / D_e from (units, C) counts: how many raters gave each label to each unit.

    Units with fewer than two ratings do not count. None where no unit has two, or where all ratings are one label
    (D_e = 0: no disagreement was possible). Coincidences o_ck = Σ_u n_uc·(n_uk − [c = k]) / (n_u − 1); ordinal distance
    δ_ck = (Σ_{c ≤ g ≤ k} n_g − (n_c + n_k) / 2)². Source: Krippendorff (2011), "Computing Krippendorff's
    Alpha-Reliability"; equals `krippendorff.alpha`.
    """
    rated = counts.sum(axis=1)
    table = counts[rated >= 2].astype(np.float64)
    if not table.shape[0]:
        return None
    weighted = table / (table.sum(axis=1, keepdims=True) - 1)
    coincidences = weighted.T @ table - np.diag(weighted.sum(axis=0))
    totals = coincidences.sum(axis=1)
    distance = _distance(totals, level)
    n = totals.sum()
    expected = (np.outer(totals, totals) * distance).sum() / (n - 1)
    if expected < TINY:
        return None
    return float(1 - (coincidences * distance).sum() / expected)


def _distance(totals: Floats, level: Literal["nominal", "ordinal"]) -> Floats:
    if level == "nominal":
        return 1.0 - np.eye(totals.size)
    upto = np.cumsum(totals)
    places = np.arange(totals.size)
    low, high = np.minimum.outer(places, places), np.maximum.outer(places, places)
    between = upto[high] - upto[low] + totals[low]
    return np.asarray((between - (totals[low] + totals[high]) / 2) ** 2, dtype=np.float64)
