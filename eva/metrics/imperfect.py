"""What an imperfect judge's rate on unlabelled conversations means, given how it does on labelled ones."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import ndtri

from eva.metrics.frame import matrix_from_rows
from eva.metrics.intervals import clustered_se, clustered_t
from eva.metrics.matrix import VerdictMatrix
from eva.metrics.results import Estimate
from eva.metrics.votes import Floats, mean_by_cluster, share, votes

CHANCE = "the judge is no better than chance on the labelled items: no correction is possible"


@dataclass(frozen=True)
class ImperfectRate:
    """The share of items with the target labels: as the judge says, and corrected in two ways."""

    raw: Estimate
    """What the judge says on unlabelled items, clustered t."""
    sensitivity: Estimate
    """Share of target items that the judge gives a target label, on labelled items."""
    specificity: Estimate
    rogan_gladen: Estimate
    """Needs a judge that errs on unlabelled items as it does on labelled ones."""
    prediction_powered: Estimate
    """Needs labelled items that are a random sample of the same conversations."""


@dataclass(frozen=True)
class Shares:
    """Item values with their clusters."""

    values: Floats
    clusters: NDArray[np.int64]

    def estimate(self) -> Estimate:
        """Mean with its clustered t interval."""
        return clustered_t(self._sums(), repeats=1)

    def se(self) -> float | None:
        """Clustered standard error of the mean; None under 2 clusters."""
        return clustered_se(self._sums())

    def _sums(self) -> Floats:
        return mean_by_cluster(self.values, np.ones(len(self.values), dtype=np.bool_), clusters=self.clusters)


def imperfect_rate(
    labelled: pd.DataFrame,
    unlabelled: pd.DataFrame,
    *,
    labels: Sequence[str],
    target: Sequence[str],
    level: float = 0.95,
) -> ImperfectRate:
    """Corrected rate of the `target` labels on unlabelled items, from verdict rows of a labelled and an unlabelled run.

    Item first: an item's share of readable repeats with a target label; items without a readable verdict are left out
    of all numbers. Clusters widen every interval. Numbers that cannot be had are None, with the reason in their note.
    """
    known, unknown = (matrix_from_rows(rows, labels, None) for rows in (labelled, unlabelled))
    places = [list(labels).index(label) for label in target]
    rate, _ = _judged(unknown, places)
    judged, kept = _judged(known, places)
    rated = known.gold[kept] >= 0
    said = Shares(judged.values[rated], judged.clusters[rated])
    truth = np.isin(known.gold[kept][rated], places)
    sensitivity = Shares(said.values[truth], said.clusters[truth])
    specificity = Shares(1 - said.values[~truth], said.clusters[~truth])
    ppi = ppi_mean(
        truth.astype(np.float64),
        said.values,
        unlabelled=rate.values,
        level=level,
        clusters=(said.clusters, rate.clusters),
    )
    return ImperfectRate(
        raw=rate.estimate(),
        sensitivity=sensitivity.estimate(),
        specificity=specificity.estimate(),
        rogan_gladen=_corrected(rate, sensitivity, specificity=specificity, level=level),
        prediction_powered=ppi,
    )


def rogan_gladen(
    rate: float,
    sensitivity: float,
    *,
    specificity: float,
    errors: tuple[float, float, float],
    n: int,
    level: float = 0.95,
) -> Estimate:
    """θ = (p + Sp − 1) / (Se + Sp − 1), kept in [0, 1]; `errors` are the standard errors of p, Se, Sp.

    Var θ = (se_p² + θ²·se_Se² + (1 − θ)²·se_Sp²) / (Se + Sp − 1)². Refused (None, with a note) where Se + Sp − 1 is not
    above 0 by the same level: then the rate says nothing. Source: Rogan & Gladen 1978; Lang & Reiczigel 2014. Example:
    p .30 of 1,000, Se .92, Sp .85 of 100 each: .19 [.11, .28].
    """
    z = float(ndtri((1 + level) / 2))
    informed = sensitivity + specificity - 1
    if informed - z * math.hypot(errors[1], errors[2]) <= 0:
        return Estimate(None, n_items=n, level=level, note=CHANCE)
    value = min(1.0, max(0.0, (rate + specificity - 1) / informed))
    error = math.hypot(errors[0], value * errors[1], (1 - value) * errors[2]) / informed
    low, high = max(0.0, value - z * error), min(1.0, value + z * error)
    return Estimate(value, low, high, n_items=n, method="Rogan–Gladen", level=level)


def ppi_mean(
    gold: Floats,
    judged: Floats,
    *,
    unlabelled: Floats,
    level: float = 0.95,
    clusters: tuple[NDArray[np.int64], NDArray[np.int64]] | None = None,
) -> Estimate:
    """PPI++ mean: θ = λ·mean(f on N unlabelled) + mean(y − λ·f on n labelled), λ tuned, in [0, 1].

    λ = cov(y, f) / ((1 + n/N)·var f); Var θ = λ²·Var(f)/N + Var(y − λf)/n, normal interval. A judge that knows nothing
    gets λ = 0 and the labelled mean remains, so that no refusal is needed. `clusters` (of labelled, of unlabelled items)
    make both variances clustered. None under 2 labelled or unlabelled items. Source: Angelopoulos, Duchi & Zrnic 2023
    (arXiv 2311.01453); equals `ppi_py.ppi_mean_ci`.
    """
    n, size = len(gold), len(unlabelled)
    if n < 2 or size < 2:
        return Estimate(None, n_items=n, level=level, note="needs two labelled and two unlabelled items")
    spread = float(np.var(np.concatenate([judged, unlabelled]), ddof=1))
    together = float(((gold - gold.mean()) * (judged - judged.mean())).mean())
    tuned = float(np.clip(together / ((1 + n / size) * spread), 0, 1)) if spread > 0 else 0.0
    rest = gold - tuned * judged
    value = tuned * float(unlabelled.mean()) + float(rest.mean())
    if clusters is None:
        errors = [float(rest.std()) / math.sqrt(n), tuned * float(unlabelled.std()) / math.sqrt(size)]
    else:
        found = [Shares(rest, clusters[0]).se(), Shares(unlabelled, clusters[1]).se()]
        if found[0] is None or found[1] is None:
            return Estimate(value, n_items=n, level=level, note="1 cluster: no interval")
        errors = [found[0], tuned * found[1]]
    half = float(ndtri((1 + level) / 2)) * math.hypot(*errors)
    note = f"lambda {tuned:.2f}; {size} unlabelled items"
    return Estimate(value, value - half, value + half, n_items=n, method="PPI++", level=level, note=note)


def _judged(matrix: VerdictMatrix, places: Sequence[int]) -> tuple[Shares, NDArray[np.bool_]]:
    """Share of readable repeats with a target label, and which items have a readable repeat."""
    counted = votes(matrix)
    kept = counted.readable > 0
    hits = counted.counts[:, list(places)].sum(axis=1, keepdims=True)
    return Shares(share(hits, counted.readable)[kept, 0], _anew(matrix.clusters[kept])), kept


def _corrected(rate: Shares, sensitivity: Shares, *, specificity: Shares, level: float) -> Estimate:
    errors = [part.se() for part in (rate, sensitivity, specificity)]
    if any(error is None for error in errors):
        return Estimate(None, n_items=len(rate.values), level=level, note="needs two clusters of items of each kind")
    found = rogan_gladen(
        float(rate.values.mean()),
        float(sensitivity.values.mean()),
        specificity=float(specificity.values.mean()),
        errors=(errors[0] or 0.0, errors[1] or 0.0, errors[2] or 0.0),
        n=len(rate.values),
        level=level,
    )
    return replace(found, n_clusters=int(np.unique(rate.clusters).size))


def _anew(clusters: NDArray[np.int64]) -> NDArray[np.int64]:
    return np.unique(clusters, return_inverse=True)[1].astype(np.int64)
