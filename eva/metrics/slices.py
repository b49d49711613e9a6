"""The same numbers on parts of the data, without false stars: points hidden where items are few, p-values adjusted."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Final

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from eva.metrics.frame import as_names
from eva.metrics.matrix import VerdictMatrix
from eva.metrics.results import Estimate
from eva.types import NOT_APPLICABLE

MIN_ITEMS: Final = 10
SLICE_RESAMPLES: Final = 2_000
"""The most resamples that a slice gets."""
FAMILIES: Final = ("language", "domain", "class", "dimension", "rule", "split", "cluster size")
GATING: Final = frozenset({"language", "class"})
"""Families whose slices a gate reads: Holm. The others explore: Benjamini–Hochberg."""
_SIZES: Final = ((1, "1"), (4, "2–4"), (9, "5–9"))


def slice_masks(items: pd.DataFrame, matrix: VerdictMatrix, *, by: str) -> Iterator[tuple[str, NDArray[np.bool_]]]:
    """(value, which items) of one family, in sorted order; a family with one value is the whole and gives nothing.

    `items` has a row per item in the matrix's order. `class` is the gold label, `rule` may put an item in several
    slices, `cluster size` is the number of the cluster's items. Raises ValueError on an unknown family.
    """
    if by not in FAMILIES:
        raise ValueError(f"slices by {by!r} do not exist; there are {', '.join(FAMILIES)}")
    names = _names(items, matrix, by=by)
    values = sorted({name for cell in names for name in cell}, key=_order(by, matrix))
    if len(values) < 2:
        return
    sets = [frozenset(cell) for cell in names]
    for value in values:
        yield value, np.array([value in cell for cell in sets], dtype=np.bool_)


def hide_small(estimate: Estimate) -> Estimate:
    """Under 10 items the point is hidden; the interval never is."""
    if estimate.n_items >= MIN_ITEMS or estimate.value is None:
        return estimate
    note = f"{estimate.n_items} items: under {MIN_ITEMS}, the point is not shown"
    return replace(estimate, value=None, note="; ".join(part for part in (note, estimate.note) if part))


def holm(p_values: Sequence[float | None]) -> tuple[float | None, ...]:
    """Holm's step-down adjustment: p_(i) × (m − i + 1), made monotone, at most 1. None stays None and is not counted.

    Keeps the chance of any false star in the family below 5%. Source: Holm 1979; equals statsmodels `multipletests`.
    """
    order = sorted((p, place) for place, p in enumerate(p_values) if p is not None)
    adjusted: list[float | None] = [None] * len(p_values)
    highest = 0.0
    for rank, (p, place) in enumerate(order):
        highest = max(highest, min(1.0, p * (len(order) - rank)))
        adjusted[place] = highest
    return tuple(adjusted)


def benjamini_hochberg(p_values: Sequence[float | None]) -> tuple[float | None, ...]:
    """Benjamini & Hochberg 1995: keeps the expected share of false stars among the stars below 5%. None stays None."""
    order = sorted(((p, place) for place, p in enumerate(p_values) if p is not None), reverse=True)
    adjusted: list[float | None] = [None] * len(p_values)
    lowest = 1.0
    for passed, (p, place) in enumerate(order):
        lowest = min(lowest, p * len(order) / (len(order) - passed))
        adjusted[place] = lowest
    return tuple(adjusted)


def benjamini_yekutieli(p_values: Sequence[float]) -> tuple[float, ...]:
    """Benjamini & Yekutieli 2001: Benjamini–Hochberg × Σ 1/i, for tests that depend on one another in any way."""
    often = sum(1 / rank for rank in range(1, len(p_values) + 1))
    return tuple(min(1.0, p * often) for p in benjamini_hochberg(p_values) if p is not None)


def adjust(p_values: Sequence[float | None], *, by: str) -> tuple[tuple[float | None, ...], str]:
    """Adjusted p-values of one family of slices, and how they were made, in words."""
    size = sum(p is not None for p in p_values)
    if by in GATING:
        return holm(p_values), f"Holm over {size}"
    return benjamini_hochberg(p_values), f"Benjamini–Hochberg over {size}"


def _names(items: pd.DataFrame, matrix: VerdictMatrix, *, by: str) -> list[tuple[str, ...]]:
    if by == "rule":
        return [as_names(cell) for cell in items["rules"]]
    if by == "class":
        return [(matrix.labels[code],) if code >= 0 else () for code in matrix.gold]
    if by == "cluster size":
        sizes = np.bincount(matrix.clusters)[matrix.clusters] if matrix.n_items else matrix.clusters
        return [(_size(int(size)),) for size in sizes]
    return [() if pd.isna(cell) or cell in ("", NOT_APPLICABLE) else (str(cell),) for cell in items[by]]


def _size(n: int) -> str:
    return next((name for most, name in _SIZES if n <= most), "10 or more")


def _order(by: str, matrix: VerdictMatrix) -> Callable[[str], tuple[int, str]]:
    sizes = [name for _, name in _SIZES]
    known = list(matrix.labels) if by == "class" else sizes if by == "cluster size" else []
    return lambda value: (known.index(value) if value in known else len(known), value)
