"""What a judge must beat: always the same label."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from eva.metrics import measures
from eva.metrics.matrix import VerdictMatrix
from eva.metrics.measures import to_optional
from eva.metrics.results import Baseline

MAJORITY = "majority"


def majority_baseline(matrix: VerdictMatrix) -> Baseline:
    """Always the most frequent gold label (the worse one where two are equally frequent)."""
    n_labels = len(matrix.labels)
    gold = matrix.gold[matrix.gold >= 0]
    if not gold.size:
        return Baseline(MAJORITY, None, None, "no gold labels")
    most = int(np.bincount(gold, minlength=n_labels).argmax())
    always = np.full_like(gold, most)
    return scored_baseline(MAJORITY, gold, predicted=always, n_labels=n_labels, note=f"always {matrix.labels[most]}")


def not_beaten(
    baseline: Baseline, *, accuracy: float | None, macro_f1: float | None, margin: float = 0.0
) -> str | None:
    """A sentence where the judge does not beat the baseline by more than the margin; None where it does."""
    pairs = (("accuracy", accuracy, baseline.accuracy), ("macro-F1", macro_f1, baseline.macro_f1))
    lost = [
        f"{name} {mine:.3f} against {theirs:.3f}"
        for name, mine, theirs in pairs
        if mine is not None and theirs is not None and mine <= theirs + margin
    ]
    if not lost:
        return None
    by = f" by more than {margin:g}" if margin else ""
    return f"the judge does not beat the {baseline.name} baseline ({baseline.note}){by}: {', '.join(lost)}"


def scored_baseline(
    name: str, gold: NDArray[np.int64], *, predicted: NDArray[np.int64], n_labels: int, note: str
) -> Baseline:
    """Accuracy and macro-F1 of predictions; gold and predicted are (n,) label codes."""
    table = np.zeros((n_labels, n_labels + 1))
    np.add.at(table, (gold, predicted), 1.0)
    return Baseline(name, to_optional(measures.accuracy(table)), to_optional(measures.macro_f1(table)), note)
