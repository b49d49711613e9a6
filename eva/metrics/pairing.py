"""Two arms on their common items, in one order, with one gold label and one cluster each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from eva.metrics.frame import items_from_rows, matrix_from_rows
from eva.metrics.matrix import ABSENT, ABSTAINED, VerdictMatrix
from eva.metrics.votes import take


@dataclass(frozen=True)
class Pair:
    """Both arms over the same items: `before` and `after` differ in verdicts (and repeats) only."""

    before: VerdictMatrix
    after: VerdictMatrix
    items: pd.DataFrame
    """A row per common item, in the matrices' order."""
    only_before: int
    only_after: int
    warnings: tuple[str, ...]


def pair_arms(
    before: pd.DataFrame, after: pd.DataFrame, *, labels: Sequence[str], values: Sequence[float] | None
) -> Pair:
    """Match the arms' items by item id; an item counts where both arms asked it at least once.

    Where gold labels or clusters differ between the arms those of `after` hold for both, and a warning says how many.
    """
    first, second = (matrix_from_rows(rows, labels, values) for rows in (before, after))
    asked = [_asked(matrix) for matrix in (first, second)]
    common = sorted(set(asked[0]) & set(asked[1]))
    one = take(first, np.array([asked[0][item] for item in common], dtype=np.int64))
    two = take(second, np.array([asked[1][item] for item in common], dtype=np.int64))
    warnings = _warnings(first, second, one=one, two=two)
    return Pair(
        before=replace(one, gold=two.gold, clusters=two.clusters),
        after=two,
        items=items_from_rows(after).iloc[[asked[1][item] for item in common]].reset_index(drop=True),
        only_before=len(asked[0]) - len(common),
        only_after=len(asked[1]) - len(common),
        warnings=warnings,
    )


def take_pair(pair: Pair, mask: NDArray[np.bool_]) -> Pair:
    """The pair on some of its items."""
    return replace(
        pair,
        before=take(pair.before, mask),
        after=take(pair.after, mask),
        items=pair.items[mask].reset_index(drop=True),
    )


def align(matrix: VerdictMatrix, like: VerdictMatrix) -> VerdictMatrix:
    """A matrix's verdicts on the items of another one, in its order; ABSENT for items that it does not have."""
    place = {item: row for row, item in enumerate(matrix.item_ids)}
    verdicts = np.full((like.n_items, matrix.n_repeats), ABSENT, dtype=np.int64)
    for row, item in enumerate(like.item_ids):
        if item in place:
            verdicts[row] = matrix.verdicts[place[item]]
    return replace(like, verdicts=verdicts)


def _asked(matrix: VerdictMatrix) -> dict[str, int]:
    asked = (matrix.verdicts != ABSENT).any(axis=1)
    return {item: place for place, item in enumerate(matrix.item_ids) if asked[place]}


def _warnings(
    first: VerdictMatrix, second: VerdictMatrix, *, one: VerdictMatrix, two: VerdictMatrix
) -> tuple[str, ...]:
    found = [] if one.n_items else ["no common items: nothing can be compared"]
    lost = (first.n_items - one.n_items, second.n_items - two.n_items)
    if one.n_items and any(lost):
        found.append(
            f"only the {one.n_items} common items are compared: {lost[0]} before and {lost[1]} after are left out"
        )
    gold = int((one.gold != two.gold).sum())
    if gold:
        found.append(f"gold labels differ for {gold} items: those of the after run hold for both")
    if not _same_partition(one, two):
        found.append("clusters differ between the runs: those of the after run hold for both")
    if first.n_repeats != second.n_repeats:
        found.append(f"repeats differ: {first.n_repeats} before, {second.n_repeats} after")
    unfinished = [int((matrix.verdicts == ABSENT).sum()) for matrix in (one, two)]
    if any(unfinished):
        found.append(f"unfinished: {unfinished[0]} verdicts before and {unfinished[1]} after were never asked for")
    return (*found, *_unlike_scores(replace(one, gold=two.gold), two))


def _same_partition(one: VerdictMatrix, two: VerdictMatrix) -> bool:
    pairs = np.unique(np.stack([one.clusters, two.clusters]), axis=1).shape[1] if one.n_items else 0
    return pairs == one.n_clusters == two.n_clusters


def _unlike_scores(one: VerdictMatrix, two: VerdictMatrix) -> list[str]:
    """Coverage that differs, and verdicts of a class that macro-F1 leaves out, where they differ."""
    found = []
    read = [_coverage(matrix) for matrix in (one, two)]
    if read[0] is not None and read[1] is not None and f"{read[0]:.1%}" != f"{read[1]:.1%}":
        found.append(f"coverage differs: {read[0]:.1%} readable before, {read[1]:.1%} after")
    for place, label in enumerate(one.labels if (one.gold >= 0).any() else ()):
        said = [_said(matrix, place) for matrix in (one, two)]
        if not (two.gold == place).any() and said[0] != said[1]:
            found.append(
                f"class {label} has no gold items and is left out of macro-F1: {said[0]} verdicts say it before, "
                f"{said[1]} after"
            )
    return found


def _said(matrix: VerdictMatrix, place: int) -> str:
    """`1 of 60` verdicts on labelled items."""
    rated = matrix.verdicts[matrix.gold >= 0]
    return f"{int((rated == place).sum())} of {int((rated != ABSENT).sum())}"


def _coverage(matrix: VerdictMatrix) -> float | None:
    """Share of verdicts that are an answer: a label, or `not applicable` where people rated nothing."""
    asked = int((matrix.verdicts != ABSENT).sum())
    answers = (matrix.verdicts >= 0) | ((matrix.verdicts == ABSTAINED) & (matrix.gold < 0)[:, None])
    return float(answers.sum()) / asked if asked else None
