"""Verdict rows (one per item and repeat, as in verdicts.parquet) → the table that all metrics read."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from eva.errors import DataError
from eva.metrics.matrix import ABSENT, ABSTAINED, FAILED, UNLABELLED, VerdictMatrix
from eva.types import NOT_APPLICABLE, Failure

REQUIRED: Final = ("item_id", "cluster", "gold", "repeat", "label", "failure")
OPTIONAL: Final = ("language", "domain", "split", "dimension", "rules", "gold_flags", "annotations")


def matrix_from_rows(
    rows: pd.DataFrame, labels: Sequence[str], values: Sequence[float] | None, *, repeats: int | None = None
) -> VerdictMatrix:
    """Verdict rows as an items × repeats matrix; the order of the rows does not matter.

    Items come sorted by id, clusters are numbered in the order of their names. `repeats` is the number K of repeats
    (0..K−1); None takes the distinct repeats that the rows hold. Gold `not_applicable` or null is UNLABELLED; a label
    `not_applicable` or the failure `abstained` is ABSTAINED; other failures are FAILED; an (item, repeat) without a row
    is ABSENT. Raises DataError on a missing column, a label or gold label off the scale, two rows for one (item,
    repeat), a row with both or neither of label and failure, gold or cluster that changes between an item's rows.
    """
    missing = [name for name in REQUIRED if name not in rows.columns]
    if missing:
        raise DataError(f"verdict rows lack the columns {', '.join(missing)}")
    item, item_ids = _factorise(rows["item_id"])
    repeat, n_repeats = _repeats(rows["repeat"], repeats)
    _refuse_duplicates(item, repeat, n_repeats=n_repeats, item_ids=item_ids)
    gold = _per_item(_gold(rows, labels), item, item_ids=item_ids, what="gold label")
    cluster, _ = _factorise(rows["cluster"])
    verdicts = np.full((len(item_ids), n_repeats), ABSENT, dtype=np.int64)
    verdicts[item, repeat] = _verdicts(rows, labels)
    return VerdictMatrix(
        labels=tuple(labels),
        values=None if values is None else tuple(float(value) for value in values),
        item_ids=tuple(item_ids),
        clusters=_per_item(cluster, item, item_ids=item_ids, what="cluster"),
        gold=gold,
        verdicts=verdicts,
    )


def items_from_rows(rows: pd.DataFrame) -> pd.DataFrame:
    """One row per item in the matrix's order: gold as given, cluster, and what slices and flags need.

    Columns that the rows lack are there, empty.
    """
    names = [name for name in ("item_id", "cluster", "gold", *OPTIONAL) if name in rows.columns]
    items = rows[names].drop_duplicates("item_id").sort_values("item_id", ignore_index=True)
    lacking = {name: None for name in OPTIONAL if name not in rows.columns}
    return items.assign(**lacking) if lacking else items


def as_names(cell: Any) -> tuple[str, ...]:
    """A list cell (list, tuple, array or null, as parquet readers give it) as a tuple of strings."""
    if cell is None or isinstance(cell, float):
        return ()
    if isinstance(cell, str):
        return (cell,) if cell else ()
    return tuple(str(name) for name in cell) if isinstance(cell, Iterable) else ()


def _factorise(column: pd.Series[Any]) -> tuple[NDArray[np.int64], list[str]]:
    if column.isna().any():
        raise DataError("a verdict row has no value here", field=str(column.name))
    codes, names = pd.factorize(column.astype(object), sort=True)
    return codes.astype(np.int64), [str(name) for name in names]


def _repeats(column: pd.Series[Any], repeats: int | None) -> tuple[NDArray[np.int64], int]:
    numbers = column.to_numpy(dtype=np.int64)
    if repeats is None:
        present, codes = np.unique(numbers, return_inverse=True)
        return codes.astype(np.int64), int(present.size)
    outside = numbers[(numbers < 0) | (numbers >= repeats)]
    if outside.size:
        raise DataError(f"repeat {int(outside[0])} is not one of 0..{repeats - 1}", field="repeat")
    return numbers, repeats


def _refuse_duplicates(
    item: NDArray[np.int64], repeat: NDArray[np.int64], *, n_repeats: int, item_ids: Sequence[str]
) -> None:
    times = np.bincount(item * max(n_repeats, 1) + repeat)
    if times.size and times.max() > 1:
        place = int(np.argmax(times > 1))
        raise DataError(
            f"item {item_ids[place // n_repeats]!r} has {int(times[place])} verdicts in repeat {place % n_repeats}; "
            "one is allowed",
            field="item_id",
        )


def _gold(rows: pd.DataFrame, labels: Sequence[str]) -> NDArray[np.int64]:
    gold = rows["gold"]
    codes = _codes(gold, labels)
    unknown = (codes < 0) & gold.notna().to_numpy() & (gold != NOT_APPLICABLE).to_numpy()
    _refuse_off_scale(rows, unknown, labels=labels, field="gold")
    return np.where(codes < 0, UNLABELLED, codes)


def _verdicts(rows: pd.DataFrame, labels: Sequence[str]) -> NDArray[np.int64]:
    has_label, has_failure = rows["label"].notna().to_numpy(), rows["failure"].notna().to_numpy()
    odd = has_label == has_failure
    if odd.any():
        what = "both a label and a failure" if has_label[odd][0] else "neither a label nor a failure"
        raise DataError(f"item {rows['item_id'].to_numpy()[odd][0]!r} has {what}", field="label")
    codes = _codes(rows["label"], labels)
    abstained = (rows["label"] == NOT_APPLICABLE).to_numpy() | (rows["failure"] == Failure.ABSTAINED.value).to_numpy()
    _refuse_off_scale(rows, (codes < 0) & has_label & ~abstained, labels=labels, field="label")
    return np.where(abstained, ABSTAINED, np.where(has_failure, FAILED, codes))


def _codes(column: pd.Series[Any], labels: Sequence[str]) -> NDArray[np.int64]:
    return pd.Index(list(labels), dtype=object).get_indexer(pd.Index(column, dtype=object)).astype(np.int64)


def _refuse_off_scale(rows: pd.DataFrame, bad: NDArray[np.bool_], *, labels: Sequence[str], field: str) -> None:
    if bad.any():
        item, value = rows["item_id"].to_numpy()[bad][0], rows[field].to_numpy()[bad][0]
        raise DataError(f"{value!r} of item {item!r} is not on the scale ({', '.join(labels)})", field=field)


def _per_item(
    codes: NDArray[np.int64], item: NDArray[np.int64], *, item_ids: Sequence[str], what: str
) -> NDArray[np.int64]:
    result = np.zeros(len(item_ids), dtype=np.int64)
    result[item] = codes
    changed = result[item] != codes
    if changed.any():
        raise DataError(f"item {item_ids[int(item[changed][0])]!r} has more than one {what}")
    return result
