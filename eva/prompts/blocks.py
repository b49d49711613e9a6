"""Record text in a request: delimited so that nothing in it can close its block or imitate structure, byte for byte as it is.

A block is `<name>` … `</name>`; where the text itself holds that closing tag, the tag gets a number that the text does not hold.
In a conversation, structure stands at the start of a line, and every further line of an utterance starts with a mark of ours, so
that reading the block back gives exactly the events again.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from eva.types import Event

CONTINUED = "    | "
"""Starts every line of an utterance but its first."""


def block(name: str, text: str) -> str:
    """The text between tags that it cannot close."""
    tag, number = name, 1
    while f"</{tag}>".casefold() in text.casefold() or f"<{tag}>".casefold() in text.casefold():
        number += 1
        tag = f"{name}-{number}"
    return f"<{tag}>\n{text}\n</{tag}>"


def conversation_text(events: Iterable[Event]) -> str:
    """A conversation, one `Turn N` block a turn, with calls and responses as one line of JSON each."""
    lines: list[str] = []
    turn: int | None = None
    for event in events:
        if event.turn_id != turn:
            turn = event.turn_id
            lines.append(f"Turn {turn}")
        lines.append(f"  {event_line(event)}")
    return "\n".join(lines)


def event_line(event: Event) -> str:
    """One event as its line(s), without indent."""
    if event.type == "tool_call":
        return f"tool_call {_name(event)}: {compact_json(event.arguments or {})}"
    if event.type == "tool_response":
        status = f" ({event.status})" if event.status else ""
        return f"tool_response {_name(event)}{status}: {compact_json(event.response)}"
    return f"{event.type}: {indented(event.text or '')}"


def indented(text: str) -> str:
    """Text whose further lines are marked as belonging to the first."""
    return text.replace("\n", "\n" + CONTINUED)


def compact_json(value: Any) -> str:
    """JSON on one line, in the record's own script and key order; lone surrogates escaped since UTF-8 has none."""
    text = json.dumps(value, ensure_ascii=False)
    return text if text.isascii() or _encodable(text) else json.dumps(value, ensure_ascii=True)


def _name(event: Event) -> str:
    return (event.name or "").replace("\n", " ")


def _encodable(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
