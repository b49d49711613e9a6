"""Records and items as a person reads them: for the tracking page and the report. No labels."""

from __future__ import annotations

from typing import Any

from eva.judges.plan import Plan
from eva.judges.turn_sheet import golden_turns, turn_ids, turn_taking_failed
from eva.prompts.blocks import event_line
from eva.types import Event, Item, Record

CONTEXT_CHARS = 6_000
"""How much of the conversation before a turn its item shows."""


def record_rows(plan: Plan) -> list[dict[str, Any]]:
    """One a record: language, domain, its turns as lines of speaker and text, and what benchmarks count by."""
    return [
        {
            "record_id": record.record_id,
            "language": record.language,
            "domain": record.domain,
            "turns": _turns(record),
            **_facts(record),
        }
        for record in plan.dataset.records
    ]


def item_rows(plan: Plan) -> list[dict[str, Any]]:
    """One an item: a title, and the text of what is judged, the turn first and the conversation before it folded under it."""
    records = {record.record_id: record for record in plan.dataset.records}
    return [
        {
            "item_id": item.item_id,
            "record_id": item.record_id,
            "title": _title(item, records[item.record_id]),
            "request": _request_text(item, records[item.record_id]),
        }
        for items in plan.items.values()
        for item in items
    ]


def _facts(record: Record) -> dict[str, Any]:
    """Facts of the input, where a record has them: the model under test, the script's turns, turns whose timing failed."""
    found: dict[str, Any] = {}
    if record.context.get("model_under_test"):
        found["model_under_test"] = str(record.context["model_under_test"])
    if record.context.get("golden_turns"):
        found["scripted_turns"] = sorted(golden_turns(record))
        found["turn_taking_failures"] = [turn for turn in turn_ids(record) if turn_taking_failed(record, turn)]
    return found


def _turns(record: Record) -> list[dict[str, Any]]:
    turns: dict[int, list[dict[str, str]]] = {}
    for event in record.events:
        turns.setdefault(event.turn_id, []).append({"speaker": event.type, "text": _text(event)})
    return [{"turn_id": turn, "lines": lines} for turn, lines in turns.items()]


def _text(event: Event) -> str:
    if event.type in ("user", "assistant"):
        return event.text or ""
    return event_line(event).split(" ", 1)[-1]


def _title(item: Item, record: Record) -> str:
    place = "" if item.turn_id is None else f" · turn {item.turn_id}"
    dimension = f" · {item.dimension}" if item.dimension else ""
    return f"{item.record_id}{place}{dimension}"


def _request_text(item: Item, record: Record) -> str:
    if item.turn_id is None:
        return "\n".join([_title(item, record), "", *(event_line(event) for event in record.events)])
    own = [event_line(event) for event in record.events if event.turn_id == item.turn_id]
    before = "\n".join(event_line(event) for event in record.events if event.turn_id < item.turn_id)
    folded = f"… {before[-CONTEXT_CHARS:]}" if len(before) > CONTEXT_CHARS else before
    return "\n".join([_title(item, record), "", *own, "", "--- before ---", folded or "(nothing)"])


def item_text(item: Item, record: Record, *, speaker: str) -> str:
    """What an item's label is about, as plain text: the turn's own words, or the whole conversation's."""
    spoken = [
        event
        for event in record.events
        if item.turn_id is None or (event.turn_id == item.turn_id and event.type == speaker)
    ]
    return "\n".join(_text(event) for event in spoken)
