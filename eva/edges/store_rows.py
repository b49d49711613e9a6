"""A reply ↔ its row: ASCII JSON and a checksum."""

from __future__ import annotations

import hashlib
import json

from eva.types import Reply, Usage

PASSING = ("cached", "error", "error_text")
"""What holds for one serving of a reply only."""


def encode(reply: Reply) -> str:
    """A reply as ASCII JSON."""
    # vars, not asdict: a deep copy of every reply would be a fifth of a call's CPU.
    body = {name: value for name, value in vars(reply).items() if name not in PASSING}
    body["usage"] = vars(reply.usage)
    return json.dumps(body, sort_keys=True, separators=(",", ":"))


def decode(body: object, stored_checksum: object) -> Reply | None:
    """The reply in a row; None where the checksum does not fit or the body cannot be read."""
    if not isinstance(body, str) or checksum(body) != stored_checksum:
        return None
    try:
        values = json.loads(body)
        return Reply(**{**values, "usage": Usage(**values["usage"])})
    except (ValueError, TypeError, KeyError):
        return None


def checksum(body: str) -> str:
    """The first 16 hex digits of the body's sha256: against damage, not against forgery."""
    return hashlib.sha256(body.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def ascii_text(text: str) -> str:
    """Text that SQLite can hold whatever it is: lone surrogates become escapes."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")
