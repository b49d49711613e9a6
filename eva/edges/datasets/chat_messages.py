"""Chat messages in the shape that most models' programs use (`role`, `content`, `tool_calls`), as our events."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

from eva.types import Event


def chat_events(messages: Sequence[Any]) -> tuple[Event, ...]:
    """Events of a conversation: what comes before the caller speaks is turn 0, each user message starts the next turn.

    System messages and messages without anything said or called give no event.
    """
    events: list[Event] = []
    names: dict[str, str] = {}
    turn = 0
    for message in messages:
        role = message.get("role") if isinstance(message, dict) else None
        if role == "user":
            turn += 1
        if role in ("user", "assistant"):
            text = content_text(message.get("content"))
            if text.strip():
                events.append(Event(turn_id=turn, type="user" if role == "user" else "assistant", text=text))
            events += _calls(message, turn, names)
        elif role == "tool":
            name = str(message.get("name") or names.get(str(message.get("tool_call_id")), "tool"))
            response = parsed(message.get("content"))
            events.append(Event(turn_id=turn, type="tool_response", name=name, response=response))
    return tuple(events)


def system_text(messages: Sequence[Any]) -> str:
    """The instructions: all system or developer messages."""
    found = [one for one in messages if isinstance(one, dict) and one.get("role") in ("system", "developer")]
    return "\n\n".join(content_text(message.get("content")) for message in found)


def content_text(content: Any) -> str:
    """What a message says: a string, or the text parts of a list."""
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    return "\n".join(
        str(part["text"]) for part in parts if isinstance(part, dict) and isinstance(part.get("text"), str)
    )


def parsed(value: Any) -> Any:
    """A string that holds a JSON object or list as that; everything else as it is."""
    if not isinstance(value, str):
        return value
    try:
        decoded = json.loads(value)
    except ValueError:
        return value
    return decoded if isinstance(decoded, dict | list) else value


def _calls(message: dict[str, Any], turn: int, names: dict[str, str]) -> Iterator[Event]:
    for call in message.get("tool_calls") or ():
        function = call.get("function") if isinstance(call, dict) else None
        if isinstance(function, dict):
            name = str(function.get("name") or "tool")
            names[str(call.get("id"))] = name
            arguments = parsed(function.get("arguments"))
            given = arguments if isinstance(arguments, dict) else ({} if not arguments else {"value": arguments})
            yield Event(turn_id=turn, type="tool_call", name=name, arguments=given)
