"""The reply of a judge that is right about every item of a labelled record, in the form that its contract asks for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from eva.types import NOT_APPLICABLE, Annotation, JudgeSpec, Record


def gold_reply(judge: JudgeSpec, record: Record) -> Mapping[str, Any]:
    """What the record's first labels say."""
    return _REPLIES[judge.unit](judge, record)


def turn_of(key: str) -> int:
    """`turn:3` or `turn:3/kb_grounding` → 3."""
    return int(key.removeprefix("turn:").partition("/")[0])


def _value(judge: JudgeSpec, label: str) -> Any:
    """A label as a reply states it."""
    if label == NOT_APPLICABLE:
        return None
    return {"true": True, "false": False}.get(label, int(label) if label.isdigit() else label)


def _conversation(judge: JudgeSpec, record: Record) -> Mapping[str, Any]:
    gold = record.labels["record"][0]
    label = {judge.label_field: _value(judge, gold.label)}
    if not judge.dimensions:
        return {judge.reason_field: gold.note, **label}
    rated = {
        dimension: {"evidence": gold.note, "flagged": dimension in gold.flags, "rating": _value(judge, rating)}
        for dimension, rating in gold.details["dimensions"].items()
    }
    return {"dimensions": rated, **label}


def _turns(judge: JudgeSpec, record: Record) -> Mapping[str, Any]:
    return {"turns": [_turn(judge, turn_of(key), found[0]) for key, found in record.labels.items()]}


def _turn(judge: JudgeSpec, turn: int, gold: Annotation) -> Mapping[str, Any]:
    entities = judge.options.get("entities_field")
    return {
        "turn_id": turn,
        **({str(entities): gold.label != NOT_APPLICABLE} if entities else {}),
        judge.reason_field: gold.note,
        **({judge.flags_field: list(gold.flags)} if judge.flags_field else {}),
        judge.label_field: _value(judge, gold.label),
    }


def _dimensions(judge: JudgeSpec, record: Record) -> Mapping[str, Any]:
    turns: dict[int, dict[str, Any]] = {}
    failed = record.context.get("turn_taking_failures") or {}
    for key, found in record.labels.items():
        turn, label = turn_of(key), found[0].label
        entry = turns.setdefault(turn, {"turn": turn, "reasoning": "why", "turn_taking": str(turn) not in failed})
        # Where no call was due and none was made, the judge is asked for `true`, and nothing is scored.
        entry[key.partition("/")[2]] = label != "false"
    return {
        "phase1_analysis": [],
        "realignment_notes": "",
        "function_call_tracking": [],
        "final_judgments": list(turns.values()),
    }


_REPLIES = {"conversation": _conversation, "turn": _turns, "turn_dimensions": _dimensions}
