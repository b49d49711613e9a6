"""All numbers of one arm, from its verdict rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from eva.metrics import agreement, arm, baselines, flags, tables
from eva.metrics import repeats as repeats_
from eva.metrics.ceiling import ceiling
from eva.metrics.frame import items_from_rows, matrix_from_rows
from eva.metrics.matrix import ABSENT, VerdictMatrix
from eva.metrics.results import Baseline, Estimate, RepeatScores, Slice, Summary
from eva.metrics.shift import judge_shift
from eva.metrics.slices import FAMILIES, SLICE_RESAMPLES, hide_small, slice_masks
from eva.metrics.votes import take
from eva.types import NOT_APPLICABLE

RESAMPLES = 10_000


def summarise(
    rows: pd.DataFrame,
    *,
    labels: Sequence[str],
    values: Sequence[float] | None,
    repeats: int | None,
    rng: np.random.Generator,
    margin: float | None = None,
    trivial: Baseline | None = None,
    resamples: int = RESAMPLES,
    slices: Sequence[str] = FAMILIES,
) -> Summary:
    """Measure one arm from its verdict rows (verdicts.parquet of a run; columns in `eva.metrics.frame`).

    Args:
        labels, values: the judge's scale, worst first; values None off ordinal scales.
        repeats: K; None takes those that the rows hold.
        rng: all randomness comes from here (`rng_for(identity)`): same rows, same numbers.
        margin: a judge must beat its baselines by more than this share (0 where None).
        trivial: the trivial model's numbers (`trivial_baseline`), shown beside the majority class.
        resamples, slices: for headline intervals; families of `eva.metrics.slices.FAMILIES`, at most 2,000 resamples each.

    Works without gold labels, rows or readable verdicts: such numbers are None, with the reason in their note. Raises
    DataError where rows contradict the scale or one another.
    """
    matrix = matrix_from_rows(rows, labels, values, repeats=repeats)
    items = items_from_rows(rows)
    scores = agreement.repeat_scores(matrix)
    found = (baselines.majority_baseline(matrix), *((trivial,) if trivial else ()))
    return Summary(
        **_against_gold(scores, matrix, rng=rng, resamples=resamples),
        mean_score=arm.score_estimate(matrix, rng=rng, resamples=resamples),
        **_counts(rows, matrix),
        noise=repeats_.noise(matrix, rng=rng, resamples=resamples),
        baselines=found,
        flags=flags.flag_scores(rows, matrix, items=items, rng=rng, resamples=resamples),
        slices=_slices(items, matrix, families=slices, rng=rng, resamples=resamples),
        notes=_notes(rows, matrix, scores=scores, found=found, margin=margin or 0.0),
        ceiling=ceiling(items, matrix, rng=rng, resamples=resamples),
    )


def _counts(rows: pd.DataFrame, matrix: VerdictMatrix) -> dict[str, Any]:
    return {
        "labels": matrix.labels,
        "n_items": matrix.n_items,
        "n_labelled": int((matrix.gold >= 0).sum()),
        "n_clusters": matrix.n_clusters,
        "failures": tables.failures(rows),
        "failures_by_class": tables.failures_by(rows, "gold"),
        "failures_by_language": tables.failures_by(rows, "language"),
        "over_answered": tables.over_answered(rows),
        "broken_rules": tables.broken_rules(rows),
    }


def _against_gold(
    scores: Sequence[RepeatScores], matrix: VerdictMatrix, *, rng: np.random.Generator, resamples: int
) -> dict[str, Any]:
    gold = arm.gold_estimates(matrix, rng=rng, resamples=resamples)
    labelled = bool((matrix.gold >= 0).any())
    shape = (len(matrix.labels), len(matrix.labels) + 1)
    tables_ = [np.asarray(score.confusion, dtype=np.float64) for score in scores]
    mean = np.mean(tables_, axis=0) if tables_ else np.zeros(shape)
    off = Estimate(None, repeats=matrix.n_repeats, note=arm.NO_ORDER)
    return {
        "repeats": tuple(scores),
        "accuracy": repeats_.spread([score.accuracy for score in scores]),
        "macro_f1": repeats_.spread([score.macro_f1 for score in scores]),
        "accuracy_interval": gold["accuracy"],
        "accuracy_interval_t": gold["accuracy_t"],
        "macro_f1_interval": gold["macro_f1"],
        "per_class": agreement.mean_class_rows(scores, matrix.labels),
        "confusion": tuple(tuple(float(cell) for cell in row) for row in mean),
        "kappa": gold["kappa"],
        "weighted_kappa": gold.get("weighted_kappa", off),
        "mae": gold.get("mae", off),
        "bias": gold.get("bias", off),
        "coverage": gold["coverage"] if labelled else arm.coverage_estimate(matrix, rng=rng, resamples=resamples),
        "drift": judge_shift(matrix) if labelled else None,
        "accuracy_readable": agreement.mean_or_none([score.accuracy_readable for score in scores]),
    }


def _slices(
    items: pd.DataFrame, matrix: VerdictMatrix, *, families: Sequence[str], rng: np.random.Generator, resamples: int
) -> tuple[Slice, ...]:
    few = min(resamples, SLICE_RESAMPLES)
    return tuple(
        _one_slice(take(matrix, mask), by=by, value=value, rng=rng, resamples=few)
        for by in families
        for value, mask in slice_masks(items, matrix, by=by)
    )


def _one_slice(part: VerdictMatrix, *, by: str, value: str, rng: np.random.Generator, resamples: int) -> Slice:
    gold = arm.gold_estimates(part, rng=rng, resamples=resamples)
    macro = gold["macro_f1"]
    if by == "class":
        macro = Estimate(None, n_items=part.n_items, repeats=part.n_repeats, note="one gold class: see its recall")
    return Slice(
        by=by,
        value=value,
        n_items=part.n_items,
        n_clusters=part.n_clusters,
        accuracy=hide_small(gold["accuracy"]),
        macro_f1=hide_small(macro),
        mean_score=hide_small(arm.score_estimate(part, rng=rng, resamples=resamples)),
    )


def _notes(
    rows: pd.DataFrame,
    matrix: VerdictMatrix,
    *,
    scores: Sequence[RepeatScores],
    found: Sequence[Baseline],
    margin: float,
) -> tuple[str, ...]:
    notes = [] if matrix.n_items else ["no items"]
    absent = int((matrix.verdicts == ABSENT).sum())
    if absent:
        notes.append(f"unfinished: {absent} of {matrix.verdicts.size} verdicts were never asked for and count nowhere")
    if matrix.n_repeats == 1:
        notes.append(repeats_.ONE_REPEAT)
    unrated = int((items_from_rows(rows)["gold"] == NOT_APPLICABLE).sum())
    if unrated:
        notes.append(f"{unrated} items are not applicable according to people: never in accuracy")
    if matrix.n_items and not (matrix.gold >= 0).any():
        return (*notes, arm.NO_GOLD)
    sizes = sorted({score.macro_classes for score in scores if score.n})
    if sizes and sizes[0] < len(matrix.labels):
        most = " or ".join(str(size) for size in sizes)
        notes.append(
            f"macro-F1 is over {most} of {len(matrix.labels)} classes: a class without gold items is left out, said or not"
        )
    accuracy = repeats_.spread([score.accuracy for score in scores]).mean
    macro = repeats_.spread([score.macro_f1 for score in scores]).mean
    beaten = (baselines.not_beaten(base, accuracy=accuracy, macro_f1=macro, margin=margin) for base in found)
    return (*notes, *(note for note in beaten if note))
