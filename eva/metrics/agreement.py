"""Judge against people, repeat by repeat: the numbers as scikit-learn defines them, over the judge's scale."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from eva.metrics import measures
from eva.metrics.matrix import ABSENT, VerdictMatrix
from eva.metrics.measures import Compute, to_optional
from eva.metrics.results import ClassScores, RepeatScores
from eva.metrics.votes import Floats


def confusion(matrix: VerdictMatrix, repeat: int) -> Floats:
    """(C, C + 1) counts of one repeat over items with a gold label that were asked; last column `no verdict`."""
    n_labels = len(matrix.labels)
    verdicts = matrix.verdicts[:, repeat]
    counted = (matrix.gold >= 0) & (verdicts != ABSENT)
    said = np.where(verdicts >= 0, verdicts, n_labels)[counted]
    flat = matrix.gold[counted] * (n_labels + 1) + said
    return np.bincount(flat, minlength=n_labels * (n_labels + 1)).reshape(n_labels, n_labels + 1).astype(np.float64)


def repeat_scores(matrix: VerdictMatrix) -> tuple[RepeatScores, ...]:
    """The numbers of every repeat. A failure or abstention on a labelled item is wrong for its class, never a class."""
    return tuple(_one_repeat(matrix, repeat) for repeat in range(matrix.n_repeats))


def class_rows(table: Floats, labels: Sequence[str]) -> tuple[ClassScores, ...]:
    """Per class precision, recall, F1, support from one (C, C + 1) confusion; None where the bottom is 0."""
    precision, recall, f1 = measures.class_scores(table)
    support, predicted = table.sum(axis=1), table[:, :-1].sum(axis=0)
    return tuple(
        ClassScores(
            label=label,
            support=round(float(support[place])),
            predicted=round(float(predicted[place])),
            precision=to_optional(precision[place]),
            recall=to_optional(recall[place]),
            f1=to_optional(f1[place]),
        )
        for place, label in enumerate(labels)
    )


def mean_class_rows(scores: Sequence[RepeatScores], labels: Sequence[str]) -> tuple[ClassScores, ...]:
    """Per class means over the repeats in which the number is defined; counts rounded to whole items."""
    return tuple(_mean_class([score.per_class[place] for score in scores], label) for place, label in enumerate(labels))


def _mean_class(rows: Sequence[ClassScores], label: str) -> ClassScores:
    return ClassScores(
        label=label,
        support=round(mean_or_none([row.support for row in rows]) or 0),
        predicted=round(mean_or_none([row.predicted for row in rows]) or 0),
        precision=mean_or_none([row.precision for row in rows]),
        recall=mean_or_none([row.recall for row in rows]),
        f1=mean_or_none([row.f1 for row in rows]),
    )


def mean_or_none(numbers: Sequence[float | None]) -> float | None:
    """Mean of those that are defined; None where none is."""
    defined = [number for number in numbers if number is not None]
    return sum(defined) / len(defined) if defined else None


def _one_repeat(matrix: VerdictMatrix, repeat: int) -> RepeatScores:
    table = confusion(matrix, repeat)
    per_class = class_rows(table, matrix.labels)
    ordinal = matrix.values
    return RepeatScores(
        repeat=repeat,
        n=int(table.sum()),
        n_correct=int(np.diagonal(table).sum()),
        accuracy=_of(measures.accuracy, table),
        macro_f1=_of(measures.macro_f1, table),
        macro_classes=sum(row.support > 0 for row in per_class),
        coverage=_of(measures.coverage, table),
        accuracy_readable=_of(measures.accuracy_readable, table),
        per_class=per_class,
        confusion=tuple(tuple(int(cell) for cell in row) for row in table),
        kappa=_of(measures.kappa, table),
        weighted_kappa=_of(measures.weighted_kappa, table) if ordinal else None,
        mae=_of(measures.mean_error(ordinal, signed=False), table) if ordinal else None,
        bias=_of(measures.mean_error(ordinal, signed=True), table) if ordinal else None,
        mean_score=_mean_score(matrix, repeat),
    )


def _of(compute: Compute, table: Floats) -> float | None:
    return to_optional(compute(table))


def _mean_score(matrix: VerdictMatrix, repeat: int) -> float | None:
    said = matrix.verdicts[:, repeat]
    readable = said[said >= 0]
    if matrix.values is None or not readable.size:
        return None
    return float(np.asarray(matrix.values)[readable].mean())
