"""Record → the text of each variable that a prompt may name. Adding one here is the only Python that a new input needs;
any other name is looked up in the record's context."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from eva.judges.turn_sheet import expected_calls_text, turn_sheet_text
from eva.prompts.blocks import CONTINUED, compact_json, conversation_text, indented, one_line
from eva.types import Event, JudgeSpec, Record


def variable_texts(judge: JudgeSpec, record: Record, *, language_name: str) -> dict[str, str | None]:
    """Text for each of the judge's variables; None where the record has nothing for it.

    `language_name` is the name of the record's own language: what is expected to be spoken.
    """
    found: dict[str, str | None] = {}
    for name in judge.variables:
        if name == "expected_language":
            found[name] = language_name
        elif name in RENDERERS:
            found[name] = RENDERERS[name](judge, record) or None
        else:
            found[name] = context_text(record.context.get(name))
    return found


def context_text(value: Any) -> str | None:
    """A context value as text: lists one entry a line, other structures as JSON."""
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, list):
        return "\n".join(entry if isinstance(entry, str) else compact_json(entry) for entry in value)
    return compact_json(value)


def _conversation(judge: JudgeSpec, record: Record) -> str:
    return conversation_text(record.events)


def _speech(judge: JudgeSpec, record: Record) -> str:
    return conversation_text(event for event in record.events if event.type in ("user", "assistant"))


def _redacted(judge: JudgeSpec, record: Record) -> str:
    """User turns and tool responses as they are; what the assistant said is hidden, since the judge must hear it; no calls."""
    events: list[Event] = []
    hidden: set[int] = set()
    for event in record.events:
        if event.type == "assistant":
            if event.turn_id not in hidden:
                hidden.add(event.turn_id)
                events.append(Event(turn_id=event.turn_id, type="assistant", text="[assistant speaks]"))
        elif event.type != "tool_call":
            events.append(event)
    return conversation_text(events)


def _intended_turns(judge: JudgeSpec, record: Record) -> str:
    """What the rated speaker meant to say, turn by turn; several utterances of one turn are one text."""
    turns: dict[int, list[str]] = {}
    for event in record.events:
        if event.type == judge.speaker and (event.text or "").strip():
            turns.setdefault(event.turn_id, []).append(event.text or "")
    return "\n".join(f"Turn {turn}: {indented(chr(10).join(texts))}" for turn, texts in turns.items())


def _recorded_calls(judge: JudgeSpec, record: Record) -> str:
    """All calls with their results, numbered in the order in which they were made."""
    lines: list[str] = []
    number = 0
    for event in record.events:
        if event.type == "tool_call":
            number += 1
            lines.append(
                f"{number}. turn {event.turn_id}, {one_line(event.name)}: {compact_json(event.arguments or {})}"
            )
        elif event.type == "tool_response":
            status = f" ({one_line(event.status)})" if event.status else ""
            lines.append(f"{CONTINUED}result{status}: {compact_json(event.response)}")
    return "\n".join(lines)


RENDERERS: Mapping[str, Callable[[JudgeSpec, Record], str]] = {
    "conversation": _conversation,
    "conversation_speech": _speech,
    "redacted_conversation": _redacted,
    "intended_turns": _intended_turns,
    "recorded_calls": _recorded_calls,
    "turn_sheet": turn_sheet_text,
    "expected_calls": expected_calls_text,
}
