"""What people reach among themselves, and whether a judge could stand in for one of them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from itertools import combinations
from typing import Any, Final

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import stdtr

from eva.errors import DataError
from eva.metrics.intervals import rate_estimate
from eva.metrics.matrix import VerdictMatrix
from eva.metrics.measures import kappa, to_optional
from eva.metrics.resample import resample_clusters
from eva.metrics.results import Ceiling
from eva.metrics.slices import benjamini_yekutieli
from eva.metrics.tallies import means_by_cluster
from eva.metrics.votes import Floats, votes

MIN_ITEMS: Final = 30
EPSILON: Final = 0.1
"""What sparing a person's work is worth in agreement (0.2 for experts, 0.1 for trained people; Calderon et al.)."""
_NOBODY: Final = -1


def ceiling(items: pd.DataFrame, matrix: VerdictMatrix, *, rng: np.random.Generator, resamples: int) -> Ceiling | None:
    """Human–human agreement beside judge–human agreement on the items with two labels or more; None without any.

    `items` has a row per item of the matrix with `annotations` (JSON or objects with `label`, `annotator`).
    Human–human: mean over items of the share of pairs of people who agree. Judge–human: mean over the same items,
    repeats and people of right or wrong; a failure agrees with nobody. Kappa: mean of Cohen's κ over pairs of people.
    """
    people, given = annotator_codes(items, matrix.labels)
    several = (given >= 0).sum(axis=1) >= 2
    if not several.any():
        return None
    human, judge = _human_human(given), judge_shares(given, matrix)
    means = means_by_cluster([("human", human, several), ("judge", judge, several)], matrix.clusters)
    resampled = resample_clusters(means.sums, resamples=resamples, rng=rng)
    found = {
        name: rate_estimate(resampled, means.compute(name), sums=means.of(name), repeats=matrix.n_repeats)
        for name in means.names
    }
    return Ceiling(
        items=int(several.sum()),
        human_human=found["human"],
        judge_human=found["judge"],
        kappa_human_human=_pairwise_kappa(given, len(matrix.labels)),
        alt_test=alt_test(given, matrix) if len(people) >= 2 else None,
    )


def annotator_codes(items: pd.DataFrame, labels: tuple[str, ...]) -> tuple[tuple[str, ...], NDArray[np.int64]]:
    """Names of the people, and (n, people) label codes; −1 where a person gave no label of the scale."""
    place = {label: code for code, label in enumerate(labels)}
    cells = [_annotations(cell) for cell in items["annotations"]]
    people = tuple(sorted({str(one.get("annotator", "")) for cell in cells for one in cell}))
    column = {name: code for code, name in enumerate(people)}
    given = np.full((len(cells), len(people)), _NOBODY, dtype=np.int64)
    for row, cell in enumerate(cells):
        for one in cell:
            given[row, column[str(one.get("annotator", ""))]] = place.get(str(one.get("label")), _NOBODY)
    return people, given


def judge_shares(given: NDArray[np.int64], matrix: VerdictMatrix) -> Floats:
    """(n,) mean over an item's people of the share of repeats that give their label."""
    shares = votes(matrix).shares
    agree = np.take_along_axis(shares, np.maximum(given, 0), axis=1) * (given >= 0)
    return np.asarray(agree.sum(axis=1) / np.maximum((given >= 0).sum(axis=1), 1), dtype=np.float64)


def alt_test(
    given: NDArray[np.int64], matrix: VerdictMatrix, *, epsilon: float = EPSILON
) -> Mapping[str, float] | None:
    """The alternative annotator test: could the judge replace one of these people?

    Person j is left out; on j's items that others labelled too the judge (share of its repeats) and j are each scored
    by agreement with the others (exact label). H0: judge's mean advantage ≤ −epsilon; one-sided paired t per person,
    then Benjamini–Yekutieli. `winning_rate` is the share of people beaten (≥ 0.5 passes), `advantage_probability` the
    mean share of items on which the judge is at least as close. None with fewer than two people of 30 items. Items
    count as independent. Source: Calderon, Reichart & Dror 2025 (arXiv 2501.10970).
    """
    shares = votes(matrix).shares
    p_values, advantages = [], []
    for person in range(given.shape[1]):
        others = np.delete(given, person, axis=1)
        counted = (given[:, person] >= 0) & (others >= 0).any(axis=1)
        if counted.sum() < MIN_ITEMS:
            continue
        theirs, size = others[counted], (others[counted] >= 0).sum(axis=1)
        mine = ((theirs == given[counted, person][:, None]) & (theirs >= 0)).sum(axis=1) / size
        judge = (np.take_along_axis(shares[counted], np.maximum(theirs, 0), axis=1) * (theirs >= 0)).sum(axis=1) / size
        gap = (judge >= mine).astype(np.float64) - (mine >= judge).astype(np.float64)
        p_values.append(_one_sided(gap + epsilon))
        advantages.append(float((judge >= mine).mean()))
    if len(p_values) < 2:
        return None
    beaten = np.array(benjamini_yekutieli(p_values)) <= 0.05
    return {
        "winning_rate": float(np.mean(beaten)),
        "advantage_probability": float(np.mean(advantages)),
        "annotators": float(len(p_values)),
        "epsilon": epsilon,
    }


def _one_sided(gaps: Floats) -> float:
    """p of mean ≤ 0 by one-sample t; without spread 0 or 1 by sign. Equals `scipy.stats.ttest_1samp`."""
    if np.ptp(gaps) == 0:
        return 0.0 if gaps[0] > 0 else 1.0
    return float(stdtr(gaps.size - 1, -gaps.mean() / (gaps.std(ddof=1) / np.sqrt(gaps.size))))


def _human_human(given: NDArray[np.int64]) -> Floats:
    agree = np.zeros(given.shape[0])
    pairs = np.zeros(given.shape[0])
    for a, b in combinations(range(given.shape[1]), 2):
        both = (given[:, a] >= 0) & (given[:, b] >= 0)
        pairs += both
        agree += both & (given[:, a] == given[:, b])
    return np.asarray(agree / np.maximum(pairs, 1), dtype=np.float64)


def _pairwise_kappa(given: NDArray[np.int64], n_labels: int) -> float | None:
    found = []
    for a, b in combinations(range(given.shape[1]), 2):
        both = (given[:, a] >= 0) & (given[:, b] >= 0)
        table = np.zeros((n_labels, n_labels + 1))
        np.add.at(table, (given[both, a], given[both, b]), 1.0)
        found.append(to_optional(kappa(table)) if both.any() else None)
    defined = [value for value in found if value is not None]
    return float(np.mean(defined)) if defined else None


def _annotations(cell: Any) -> list[Mapping[str, Any]]:
    if cell is None or isinstance(cell, float):
        return []
    if isinstance(cell, str):
        try:
            cell = json.loads(cell) if cell else []
        except json.JSONDecodeError as error:
            raise DataError(f"not JSON: {error}", field="annotations") from error
    return [one for one in cell if isinstance(one, Mapping)] if isinstance(cell, Iterable) else []
