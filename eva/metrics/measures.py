"""The statistics, each a function of sums: it takes any stack of sums and gives one number for each.

Confusions have the shape (…, C, C + 1): rows gold labels, columns the judge's labels and last `no verdict`; cells are
counts or weights. Undefined numbers are NaN in here and become None (`to_optional`) before anyone sees them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, Literal

import numpy as np

from eva.metrics.votes import Floats

TINY: Final = 1e-9
"""Sums below this are empty: differences of sums leave rounding dust."""
DUST: Final = 1e-12

ONE_LABEL: Final = "undefined: judge and people use one label only, or nothing is readable"
UNREADABLE: Final = "undefined: no readable verdict"

Compute = Callable[[Floats], Floats]


@dataclass(frozen=True)
class Measure:
    """A statistic as comparison and intervals need it."""

    name: str
    compute: Compute
    """One repeat's sums (…, width) → (…); of an arm the mean over its repeats (`over_repeats`)."""
    higher_is_better: bool | None
    unit: Literal["share", "score"] = "share"
    """`score`: in steps of the scale; a margin is multiplied by the scale's range."""
    undefined: str = "no items"
    """Why there is no value where there is none."""
    readable_only: bool = False
    """Verdicts that cannot be read are left out: an item without any readable one is not in the denominator."""


def to_optional(value: Any) -> float | None:
    """A float, or None for NaN and infinity; rounding dust around 0 is 0."""
    number = float(value)
    if not np.isfinite(number):
        return None
    return 0.0 if abs(number) < DUST else number


def divide(top: Floats, bottom: Floats) -> Floats:
    """top / bottom, NaN where the bottom is empty."""
    result: Floats = np.full(np.broadcast(top, bottom).shape, np.nan)
    np.divide(top, bottom, out=result, where=np.abs(bottom) > TINY)
    return result


def ratio(sums: Floats) -> Floats:
    """Mean from (…, 2) sums: total of the item values, number of items. NaN without items."""
    return divide(sums[..., 0], sums[..., 1])


def mean_defined(values: Floats) -> Floats:
    """Mean over the last axis of what is defined; NaN where nothing is."""
    there = np.isfinite(values)
    return divide(np.where(there, values, 0.0).sum(axis=-1), there.sum(axis=-1).astype(np.float64))


def over_repeats(compute: Compute, repeats: int) -> Compute:
    """The mean over repeats of each repeat's value, from (…, K·F) sums of the repeats side by side.

    A repeat in which the statistic is undefined is left out. This is the one estimand: of the printed point, of every
    bootstrap resample and of every permutation.
    """
    if repeats == 1:
        return compute
    return lambda sums: mean_defined(compute(sums.reshape(*sums.shape[:-1], repeats, sums.shape[-1] // repeats)))


def accuracy(confusion: Floats) -> Floats:
    """Right over all; `no verdict` is wrong. NaN without items."""
    return divide(_right(confusion).sum(axis=-1), confusion.sum(axis=(-2, -1)))


def coverage(confusion: Floats) -> Floats:
    """Share with a label of the scale. NaN without items."""
    return divide(_readable(confusion).sum(axis=(-2, -1)), confusion.sum(axis=(-2, -1)))


def accuracy_readable(confusion: Floats) -> Floats:
    """Right among those with a label. NaN where no reply was readable."""
    return divide(_right(confusion).sum(axis=-1), _readable(confusion).sum(axis=(-2, -1)))


def class_scores(confusion: Floats) -> tuple[Floats, Floats, Floats]:
    """Precision, recall, F1 per class: (…, C) each.

    precision = right / predicted, recall = right / gold, F1 = 2·right / (gold + predicted); NaN where the bottom is 0.
    A class that has gold but is never predicted has precision NaN (scikit-learn: 0 by `zero_division`) and F1 0; a class
    without gold has no recall and so no F1 (NaN), whether or not it is predicted.
    """
    right, gold, predicted = _right(confusion), confusion.sum(axis=-1), _readable(confusion).sum(axis=-2)
    f1 = np.where(gold > TINY, divide(2 * right, gold + predicted), np.nan)
    return divide(right, predicted), divide(right, gold), f1


def macro_f1(confusion: Floats) -> Floats:
    """Mean F1 over the classes of the scale that have gold items; NaN where there is none.

    A class without gold items is left out, predicted or not: it would drag a perfect judge below 1, and a single stray
    verdict would add a class with F1 0 (a third of the scale's range with two classes). Such a verdict still costs: the
    class that it should have been loses recall. `no verdict` is never a class. Equals
    `sklearn.metrics.f1_score(labels=<classes with gold>, average="macro", zero_division=0)`.
    """
    _, _, f1 = class_scores(confusion)
    there = ~np.isnan(f1)
    return divide(np.where(there, f1, 0.0).sum(axis=-1), there.sum(axis=-1).astype(np.float64))


def kappa(confusion: Floats) -> Floats:
    """Cohen's κ = (p_o − p_e) / (1 − p_e). `no verdict` is a verdict that gold never has: a disagreement.

    NaN without items and where both sides used one and the same label only (p_e = 1).
    """
    total = confusion.sum(axis=(-2, -1))
    observed = divide(_right(confusion).sum(axis=-1), total)
    chance = (confusion.sum(axis=-1) * _readable(confusion).sum(axis=-2)).sum(axis=-1)
    expected = divide(chance, total * total)
    return divide(observed - expected, 1.0 - expected)


def weighted_kappa(confusion: Floats) -> Floats:
    """Quadratic weighted κ = 1 − Σ w·o / Σ w·e with w = (i − j)² on places of the scale; readable verdicts only.

    A missing verdict has no distance: read this beside coverage. NaN where no disagreement is possible.
    """
    table = _readable(confusion)
    places = np.arange(table.shape[-1], dtype=np.float64)
    weights = (places[:, None] - places[None, :]) ** 2
    observed = (table * weights).sum(axis=(-2, -1))
    expected = np.einsum("...i,...j,ij->...", table.sum(axis=-1), table.sum(axis=-2), weights)
    return 1.0 - divide(observed * table.sum(axis=(-2, -1)), expected)


def mean_error(values: tuple[float, ...], *, signed: bool) -> Compute:
    """Mean of judge − gold (signed: bias) or of its size (MAE), in steps of the scale; readable verdicts only."""
    scale = np.asarray(values, dtype=np.float64)
    steps = scale[None, :] - scale[:, None]
    distance = steps if signed else np.abs(steps)

    def compute(confusion: Floats) -> Floats:
        table = _readable(confusion)
        return divide((table * distance).sum(axis=(-2, -1)), table.sum(axis=(-2, -1)))

    return compute


def flat(compute: Compute, n_labels: int) -> Compute:
    """The same function on flattened confusions (…, C·(C + 1))."""

    def on_rows(sums: Floats) -> Floats:
        return compute(sums.reshape(*sums.shape[:-1], n_labels, n_labels + 1))

    return on_rows


def gold_measures(n_labels: int, values: tuple[float, ...] | None) -> tuple[Measure, ...]:
    """The statistics against gold, headline first, on flattened confusions."""
    found = [
        Measure("accuracy", flat(accuracy, n_labels), True),
        Measure("macro_f1", flat(macro_f1, n_labels), True),
        Measure("kappa", flat(kappa, n_labels), True, undefined=ONE_LABEL),
    ]
    if values is not None:
        found += [
            Measure("weighted_kappa", flat(weighted_kappa, n_labels), True, undefined=ONE_LABEL, readable_only=True),
            *(
                Measure(name, flat(mean_error(values, signed=signed), n_labels), better, "score", UNREADABLE, True)
                for name, signed, better in (("mae", False, False), ("bias", True, None))
            ),
        ]
    return (*found, Measure("coverage", flat(coverage, n_labels), True))


def _right(confusion: Floats) -> Floats:
    return np.diagonal(confusion, axis1=-2, axis2=-1)


def _readable(confusion: Floats) -> Floats:
    return confusion[..., :-1]
