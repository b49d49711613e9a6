"""Items + verdicts + replies → the verdict table: one row per item and repeat, nothing averaged."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping

import pandas as pd

from eva.judges.plan import Plan
from eva.replies import fields
from eva.types import Annotation, Item, Reply, Usage, Verdict

COLUMNS = (
    "item_id", "record_id", "cluster", "turn_id", "dimension", "language", "domain", "split", "gold", "gold_flags", "rules",
    "annotations", "repeat", "label", "failure", "flags", "reason", "model_label", "broken_rules", "dimensions", "repaired",
    "input_tokens", "output_tokens", "latency_s", "cost_usd", "cached", "request_digest", "model_answered", "asks",
)  # fmt: skip


def verdict_rows(
    plan: Plan,
    verdicts: Iterable[Verdict],
    replies: Iterable[Reply],
    *,
    asks: Mapping[tuple[str, int], int] | None = None,
) -> pd.DataFrame:
    """The table in dataset order, repeats inside items. Tokens, cost and time are a record's, shared over its items.

    `asks`: (record id, repeat) → how often an unreadable reply was asked again; 0 where it was not.
    """
    by_key = {(verdict.item_id, verdict.repeat): verdict for verdict in verdicts}
    by_record: dict[str, list[Reply]] = {}
    for reply in replies:
        by_record.setdefault(reply.record_id, []).append(reply)
    rows = [
        _row(
            item,
            by_key[(item.item_id, reply.repeat)],
            reply,
            shared_by=len(items),
            asks=(asks or {}).get((record, reply.repeat), 0),
        )
        for record, items in plan.items.items()
        for item in items
        for reply in sorted(by_record.get(record, ()), key=lambda reply: reply.repeat)
        if (item.item_id, reply.repeat) in by_key
    ]
    table = pd.DataFrame(rows, columns=list(COLUMNS))
    whole = {
        "turn_id": "Int64",
        "input_tokens": "Float64",
        "output_tokens": "Float64",
        "latency_s": "Float64",
        "cost_usd": "Float64",
    }
    return table.astype(whole)


def _row(item: Item, verdict: Verdict, reply: Reply, *, shared_by: int, asks: int) -> dict[str, object]:
    gold = item.gold
    usage = reply.usage
    return {
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
        "annotations": _annotations_json(item.annotations),
        "repeat": verdict.repeat,
        "label": verdict.label,
        "failure": verdict.failure.value if verdict.failure else None,
        "flags": list(verdict.flags),
        "reason": verdict.reason,
        "model_label": verdict.model_label,
        "broken_rules": list(verdict.broken_rules),
        "dimensions": json.dumps(dict(verdict.dimensions)),
        "repaired": verdict.repaired,
        **_shares(usage, reply, shared_by),
        "cached": reply.cached,
        "request_digest": reply.digest,
        "model_answered": fields.text(reply.model) or None,
        "asks": asks,
    }


def _shares(usage: Usage, reply: Reply, shared_by: int) -> dict[str, float | None]:
    whole = {
        "input_tokens": usage.input_tokens,
        "output_tokens": usage.output_tokens,
        "latency_s": reply.latency_s,
        "cost_usd": reply.cost_usd,
    }
    return {name: None if value is None else value / shared_by for name, value in whole.items()}


def _annotations_json(annotations: tuple[Annotation, ...]) -> str:
    return json.dumps(
        [
            {"label": a.label, "annotator": a.annotator, "flags": list(a.flags), "details": dict(a.details)}
            for a in annotations
        ],
        ensure_ascii=False,
        sort_keys=True,
    )
