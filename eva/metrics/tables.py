"""Counts straight from verdict rows: failures by kind, class and language, broken rules, answers where none was due."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

from eva.metrics.frame import as_names
from eva.types import NOT_APPLICABLE, Failure

UNLABELLED_NAME = "unlabelled"


def failure_kinds(rows: pd.DataFrame) -> pd.Series[Any]:
    """Kind of failure per row, null where there is none.

    A verdict `not_applicable` on an item that people rated is the failure `abstained`; on an item that people call not
    applicable, or did not label, it is an answer. The failure `abstained` on an item that people call not applicable
    is an answer, too.
    """
    rated = rows["gold"].notna() & (rows["gold"] != NOT_APPLICABLE)
    kinds = rows["failure"].astype(object).where(rows["failure"].notna(), None)
    kinds = kinds.mask((rows["label"] == NOT_APPLICABLE) & rated, Failure.ABSTAINED.value)
    return kinds.mask((kinds == Failure.ABSTAINED.value) & (rows["gold"] == NOT_APPLICABLE), None)


def failures(rows: pd.DataFrame) -> Mapping[str, int]:
    """How often each kind occurs, all repeats together, most frequent first."""
    return _counts(failure_kinds(rows).dropna())


def failures_by(rows: pd.DataFrame, column: str) -> Mapping[str, Mapping[str, int]]:
    """Failures per value of a column (`gold`, `language`), only values that have any, in sorted order."""
    if column not in rows.columns:
        return {}
    kinds = failure_kinds(rows)
    there = kinds.notna()
    values = rows.loc[there, column].astype(object)
    values = values.where(values.notna(), UNLABELLED_NAME if column == "gold" else "unknown")
    return {str(value): _counts(group) for value, group in kinds[there].groupby(values, sort=True)}


def over_answered(rows: pd.DataFrame) -> int:
    """Verdicts with a label for items that people call not applicable."""
    labelled = rows["label"].notna() & (rows["label"] != NOT_APPLICABLE)
    return int((labelled & (rows["gold"] == NOT_APPLICABLE)).sum())


def broken_rules(rows: pd.DataFrame) -> Mapping[str, int]:
    """How often each rule of the reply contract was broken, all repeats together."""
    if "broken_rules" not in rows.columns:
        return {}
    names = [name for cell in rows["broken_rules"] for name in as_names(cell)]
    return _counts(pd.Series(names, dtype=object))


def _counts(names: pd.Series[Any]) -> dict[str, int]:
    found = names.value_counts()
    return {
        str(name): int(found[name]) for name in sorted(found.index, key=lambda name: (-int(found[name]), str(name)))
    }
