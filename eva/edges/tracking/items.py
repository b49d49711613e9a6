"""What each item's trace says: one consensus trace an item, with people's labels and the judge's over its repeats.

The compare page of MLflow pairs the rows of two runs by identical request text, shows one value per assessment name
(the first three names of the alphabet without being asked: agreement, correct, judge_label), and sorts by request time,
newest first.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from eva.edges.tracking.folder import RunFolder
from eva.edges.tracking.spec import Traces
from eva.metrics.votes import NO_MAJORITY, NO_VERDICT, modal_of, said_by

PREVIEW_CHARS = 1000
"""MLflow's limit of a trace's previews."""
UNDECIDED = "no verdict"
"""The modal verdict where repeats tie, or most of them failed: never a label."""
HUMAN, JUDGE, CODE = "HUMAN", "LLM_JUDGE", "CODE"


@dataclass(frozen=True)
class Opinion:
    """One assessment of one item."""

    name: str
    kind: Literal["expectation", "feedback"]
    value: str | float | bool
    source_type: str
    source_id: str
    rationale: str = ""


@dataclass(frozen=True)
class ItemTrace:
    """One item as MLflow will show it."""

    item_id: str
    request: str
    response: str
    """The modal label, or `no verdict`."""
    said: Mapping[str, str]
    """Repeat (`repeat 0`) -> label or failure, with the reason."""
    ok: bool
    """False where most repeats have no verdict."""
    seconds: float | None
    """Mean latency of a repeat that was really asked."""
    tokens: tuple[int, int] | None
    """Input and output tokens of all repeats; None where nobody counted them."""
    cost_usd: float | None
    tags: Mapping[str, str]
    opinions: tuple[Opinion, ...]
    moved: bool
    wrong: bool
    """Not the gold label, or some repeat without a verdict."""


def item_traces(folder: RunFolder, rows: Iterable[Mapping[str, Any]]) -> list[ItemTrace]:
    """One trace an item, in dataset order (items.jsonl; items that only the verdicts know come last)."""
    by_item: dict[str, list[Mapping[str, Any]]] = {str(item["item_id"]): [] for item in folder.items}
    for row in rows:
        by_item.setdefault(str(row["item_id"]), []).append(row)
    texts = {str(item["item_id"]): str(item.get("request") or "") for item in folder.items}
    moved = {str(flip["item_id"]) for flip in (folder.comparison or {}).get("flips") or ()}
    model = str((folder.run.get("model") or {}).get("name") or "model")
    return [
        _trace(item_id, texts.get(item_id) or item_id, found, moved=item_id in moved, model=model)
        for item_id, found in by_item.items()
        if found
    ]


def chosen(traces: Sequence[ItemTrace], which: Traces, limit: int | None) -> list[ItemTrace]:
    """Those that are to be written, in order."""
    if which == "none":
        return []
    found = [
        trace
        for trace in traces
        if which == "all" or (which == "moved" and trace.moved) or (which == "failures" and trace.wrong)
    ]
    return found if limit is None else found[:limit]


def trace_id(mlflow_run_id: str, item_id: str) -> str:
    """The same for the same run and item, so that logging twice cannot make two."""
    return "tr-" + hashlib.sha256(f"{mlflow_run_id}/{item_id}".encode()).hexdigest()[:32]


def preview(text: str) -> str:
    return text if len(text) <= PREVIEW_CHARS else text[: PREVIEW_CHARS - 1] + "…"


def consensus(rows: Sequence[Mapping[str, Any]]) -> tuple[str | None, float, Counter[str]]:
    """(modal label, share of repeats with the most frequent verdict, votes by label or kind of failure).

    No label at a tie or where failures lead: the rule of `eva.metrics.votes.modal`.
    """
    votes = Counter(str(row.get("label") or row.get("failure") or UNDECIDED) for row in rows)
    name, agreement = modal_of(said_by(row.get("label"), row.get("failure")) for row in rows)
    return (None if name in (NO_MAJORITY, NO_VERDICT) else name), agreement, votes


def _trace(item_id: str, request: str, rows: Sequence[Mapping[str, Any]], *, moved: bool, model: str) -> ItemTrace:
    rows = sorted(rows, key=lambda row: int(row["repeat"]))
    first = rows[0]
    label, agreement, votes = consensus(rows)
    gold = first.get("gold")
    said = {f"repeat {row['repeat']}": _said(row) for row in rows}
    reasons = "\n".join(f"{repeat}: {words}" for repeat, words in said.items())
    opinions = [
        *_human(first),
        Opinion("judge_label", "feedback", label or UNDECIDED, JUDGE, model, _reason(rows, label) or reasons),
        *([Opinion("correct", "feedback", label == gold, CODE, "eva")] if gold is not None else []),
        Opinion("agreement", "feedback", round(agreement, 4), CODE, "eva"),
        Opinion("votes", "feedback", _ballot(votes), CODE, "eva", reasons),
    ]
    flags = sorted({str(flag) for row in rows for flag in row.get("flags") or ()})
    if flags:
        opinions.append(Opinion("raised_flags", "feedback", ", ".join(flags), JUDGE, model))
    return ItemTrace(
        item_id=item_id,
        request=request,
        response=label or UNDECIDED,
        said=said,
        ok=label is not None,
        seconds=_mean(row.get("latency_s") for row in rows if not row.get("cached")),
        tokens=_tokens(rows),
        cost_usd=_total(row.get("cost_usd") for row in rows),
        tags=_tags(first),
        opinions=tuple(opinions),
        moved=moved,
        wrong=(gold is not None and label != gold) or any(row.get("failure") for row in rows),
    )


def _human(row: Mapping[str, Any]) -> list[Opinion]:
    """`human_label` is the gold label; further people are `human_label.2`, … (the page shows one value a name)."""
    people = json.loads(row.get("annotations") or "[]")
    if not people and row.get("gold") is not None:
        people = [{"label": row["gold"], "annotator": "gold"}]
    return [
        Opinion(
            "human_label" if place == 1 else f"human_label.{place}",
            "expectation",
            str(person["label"]),
            HUMAN,
            str(person.get("annotator") or "unknown"),
        )
        for place, person in enumerate(people, start=1)
    ]


def _tags(row: Mapping[str, Any]) -> dict[str, str]:
    keys = ("item_id", "record_id", "cluster", "turn_id", "dimension", "language", "domain", "split")
    found = {f"eva.{key}": str(row[key]) for key in keys if row.get(key) not in (None, "")}
    rules = ", ".join(map(str, row.get("rules") or ()))
    return found | ({"eva.rules": rules} if rules else {})


def _said(row: Mapping[str, Any]) -> str:
    head = str(row["label"]) if row.get("label") is not None else f"no verdict ({row.get('failure')})"
    return f"{head}: {row['reason']}" if row.get("reason") else head


def _reason(rows: Sequence[Mapping[str, Any]], label: str | None) -> str:
    return next((str(row["reason"]) for row in rows if row.get("label") == label and row.get("reason")), "")


def _ballot(votes: Counter[str]) -> str:
    return " · ".join(f"{count}× {name}" for name, count in sorted(votes.items(), key=lambda vote: (-vote[1], vote[0])))


def _tokens(rows: Sequence[Mapping[str, Any]]) -> tuple[int, int] | None:
    counted = [row for row in rows if row.get("input_tokens") is not None]
    if not counted:
        return None
    return (
        sum(int(row["input_tokens"]) for row in counted),
        sum(int(row.get("output_tokens") or 0) for row in counted),
    )


def _mean(values: Iterable[Any]) -> float | None:
    known = [float(value) for value in values if value is not None]
    return sum(known) / len(known) if known else None


def _total(values: Iterable[Any]) -> float | None:
    known = [float(value) for value in values if value is not None]
    return sum(known) if known else None
