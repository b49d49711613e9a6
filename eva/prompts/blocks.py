"""Record text in a request: delimited so that nothing in it can close its block or imitate structure, byte for byte as it is.

A block is `<name>` … `</name>`; where the text itself holds that closing tag, the tag gets a number that the text does not hold.
In a conversation, structure stands at the start of a line, and every further line of an utterance starts with a mark of ours, so
that reading the block back gives exactly the events again.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterable
from typing import Any

from eva.types import Event

CONTINUED = "    | "
"""Starts every line of an utterance but its first."""
LINE_ENDS = re.compile("\r\n|[\n\r\x0b\x0c\x1c-\x1e\x85\u2028\u2029]")
"""Everything that a reader may see as the end of a line."""
_UNSEEN = re.compile("[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufeff]")


def block(name: str, text: str) -> str:
    """The text between tags that it cannot close, nor seem to close: whatever case, blanks, full-width or unseen characters it
    writes them with, the tags are then numbered."""
    seen = _UNSEEN.sub("", unicodedata.normalize("NFKC", text)).casefold()
    number = 1
    while re.search(rf"<\s*/?\s*{re.escape(_tag(name, number).casefold())}(?![\w-])", seen):
        number += 1
    tag = _tag(name, number)
    return f"<{tag}>\n{text}\n</{tag}>"


def _tag(name: str, number: int) -> str:
    return name if number == 1 else f"{name}-{number}"


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
        return f"tool_call {one_line(event.name)}: {compact_json(event.arguments or {})}"
    if event.type == "tool_response":
        status = f" ({one_line(event.status)})" if event.status else ""
        return f"tool_response {one_line(event.name)}{status}: {compact_json(event.response)}"
    return f"{event.type}: {indented(event.text or '')}"


def indented(text: str) -> str:
    """Text whose further lines are marked as belonging to the first; nothing of it is changed or left out."""
    return LINE_ENDS.sub(lambda match: match.group() + CONTINUED, text)


def compact_json(value: Any) -> str:
    """JSON on one line, in the record's own script and key order; line ends and lone surrogates as JSON escapes."""
    text = json.dumps(value, ensure_ascii=False)
    if text.isascii():
        return text
    if not _encodable(text):
        return json.dumps(value, ensure_ascii=True)
    return LINE_ENDS.sub(lambda match: f"\\u{ord(match.group()):04x}", text)


def one_line(text: str | None) -> str:
    """A name or status, which has no business with lines."""
    return LINE_ENDS.sub(" ", text or "")


def _encodable(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
