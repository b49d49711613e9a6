"""ServiceNow/eva's label files with a `trace` (faithfulness, conversation_progression): its events as ours."""

from __future__ import annotations

from typing import Any

from eva.edges.datasets.chat_messages import parsed
from eva.edges.datasets.fields import Fields
from eva.edges.datasets.places import Notes, Place
from eva.types import Event

SPEAKERS = {"user_utterance": "user", "agent_utterance": "assistant"}
CALLS = ("tool_call", "tool_response")


def trace_events(fields: Fields, notes: Notes) -> tuple[Event, ...]:
    """The events of a row's `trace`, with turn ids: what comes before the caller speaks is turn 0, each user utterance
    starts the next turn. Raises DataError with line and field."""
    turn = 0
    events: list[Event] = []
    for row in fields.objects("trace", required=True):
        kind = row.choice("event_type", (*SPEAKERS, *CALLS))
        turn += kind == "user_utterance"
        events.append(_event(row, kind, turn, notes))
    if not events:
        raise fields.place.error("is empty", "trace")
    return tuple(events)


def opening(events: tuple[Event, ...]) -> str:
    """What the caller says first: rows that share it are variants of one conversation."""
    return next((event.text or "" for event in events if event.type == "user"), "")


def _event(row: Fields, kind: str, turn: int, notes: Notes) -> Event:
    if kind == "user_utterance":
        return Event(turn_id=turn, type="user", text=row.text("utterance"))
    if kind == "agent_utterance":
        return Event(turn_id=turn, type="assistant", text=row.text("utterance"))
    name = row.text("tool_name")
    if kind == "tool_call":
        return Event(turn_id=turn, type="tool_call", name=name, arguments=_arguments(row, notes))
    status = row.optional_text("status")
    if status is None:
        notes.count("tool responses have no status")
    response = _decoded(row.data.get("response"), row.place, notes, "tool responses were JSON in a string")
    return Event(turn_id=turn, type="tool_response", name=name, response=response, status=status)


def _arguments(row: Fields, notes: Notes) -> dict[str, Any]:
    value = _decoded(row.data.get("params"), row.place, notes, "calls had their arguments as JSON in a string")
    if value is None or isinstance(value, dict):
        return value or {}
    notes.count("calls have arguments that are no object; they stand under `value`", row.place)
    return {"value": value}


def _decoded(value: Any, place: Place, notes: Notes, sentence: str) -> Any:
    decoded = parsed(value)
    if decoded is not value:
        notes.count(sentence, place)
    return decoded
