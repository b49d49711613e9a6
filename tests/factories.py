"""Small, complete values for tests: a judge of each unit, a record, a reply."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from eva.types import Event, JudgeSpec, Record, Reply, Scale

RATING = Scale(labels=("1", "2", "3"), ordinal=True)
RATING_OR_NA = Scale(labels=("1", "2", "3"), ordinal=True, allows_not_applicable=True)
YES_NO = Scale(labels=("false", "true"), ordinal=False)
STATUS = Scale(labels=("model_failure", "success", "unverifiable"), ordinal=False, aliases={"ok": "success"})

FAITHFULNESS = JudgeSpec(
    name="faithfulness",
    unit="conversation",
    title="Faithfulness",
    scale=RATING,
    label_field="rating",
    reason_field="evidence",
    dimensions=("policy", "hallucination"),
    variables=("conversation",),
    options={"overall": "min"},
)
STATUS_JUDGE = replace(
    FAITHFULNESS, name="status", scale=STATUS, label_field="status", reason_field="rationale", dimensions=(), options={}
)
CONCISENESS = JudgeSpec(
    name="conciseness",
    unit="turn",
    title="Conciseness",
    scale=RATING_OR_NA,
    label_field="rating",
    reason_field="explanation",
    flags=("verbosity_or_filler", "excess_information_density"),
    flags_field="failure_modes",
    variables=("conversation",),
    options={"no_flags_at": 3},
)
TURN_JUDGE = JudgeSpec(
    name="turn_judge",
    unit="turn_dimensions",
    title="Turn judge",
    scale=YES_NO,
    label_field="",
    reason_field="reasoning",
    dimensions=("turn_taking", "tool_use_correct", "instruction_following"),
    variables=("turn_sheet",),
    options={"passthrough": ["turn_taking"], "calls_dimension": "tool_use_correct"},
)


def conversation(turns: int = 3, *, record_id: str = "r1", **fields: Any) -> Record:
    """A greeting-less record: in each turn the user says something and the assistant answers."""
    events = []
    for turn in range(1, turns + 1):
        events.append(Event(turn_id=turn, type="user", text=f"question {turn}"))
        events.append(Event(turn_id=turn, type="assistant", text=f"answer {turn}"))
    return Record(record_id=record_id, cluster=record_id, events=tuple(events), **fields)


def reply(text: str | None, **fields: Any) -> Reply:
    return Reply(
        record_id=fields.pop("record_id", "r1"), repeat=fields.pop("repeat", 0), digest="d", text=text, **fields
    )


def reply_json(value: Any, **fields: Any) -> Reply:
    return reply(json.dumps(value), **fields)
