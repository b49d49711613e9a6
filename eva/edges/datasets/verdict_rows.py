"""Verdicts that somebody else's judge gave, as rows of our verdict table."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import pandas as pd

from eva.judges.table import COLUMNS
from eva.replies.labels import read_label
from eva.types import Failure, Item, JudgeSpec

WHOLE = {
    "turn_id": "Int64",
    "input_tokens": "Float64",
    "output_tokens": "Float64",
    "latency_s": "Float64",
    "cost_usd": "Float64",
}


@dataclass(frozen=True)
class RecordedVerdicts:
    """A judge's stored output in the shape of a run."""

    table: pd.DataFrame
    """The columns of verdicts.parquet: one row an item and repeat; tokens, time and cost are unknown."""
    items: tuple[Mapping[str, str], ...]
    """Rows of items.jsonl: item_id, record_id, title, request (what was judged, where it is known)."""
    models: tuple[str, ...]
    """The models that answered, as the record names them."""
    versions: tuple[str, ...]
    """The judge's versions, as the record names them."""
    notes: tuple[str, ...]


def verdict_row(
    item: Item,
    judge: JudgeSpec,
    *,
    value: object,
    failure: Failure | None = None,
    repeat: int = 0,
    flags: Iterable[str] = (),
    reason: str = "",
    dimensions: Mapping[str, str] | None = None,
    model: str | None = None,
) -> dict[str, Any]:
    """One row: `value` is read as a reply's label would be, unless `failure` says why there is none."""
    read = failure if failure is not None else read_label(value, judge.scale)
    gold = item.gold
    row: dict[str, Any] = {
        "item_id": item.item_id,
        "record_id": item.record_id,
        "cluster": item.cluster,
        "turn_id": item.turn_id,
        "dimension": item.dimension,
        "language": item.language,
        "domain": item.domain,
        "split": item.split,
        "gold": gold.label if gold else None,
        "gold_flags": list(gold.flags) if gold else [],
        "rules": list(gold.rules) if gold else [],
        "annotations": "[]",
        "repeat": repeat,
        "label": None if isinstance(read, Failure) else read,
        "failure": read.value if isinstance(read, Failure) else None,
        "flags": list(flags),
        "reason": reason,
        "broken_rules": [],
        "dimensions": json.dumps(dict(dimensions or {})),
        "repaired": False,
        "cached": False,
        "request_digest": "",
        "model_answered": model,
        "asks": 0,
    }
    return {name: row.get(name) for name in COLUMNS}


def verdict_frame(rows: Iterable[Mapping[str, Any]]) -> pd.DataFrame:
    """Rows as the table that verdicts.parquet holds, unknown numbers as missing ones."""
    return pd.DataFrame(list(rows), columns=list(COLUMNS)).astype(WHOLE)
