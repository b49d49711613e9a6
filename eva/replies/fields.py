"""Looking things up in a reply's objects: keys by their name in any case, ids and texts by strict rules."""

from __future__ import annotations

import json
import re
from typing import Any

from eva.replies.json_values import RepeatedKeys, same

MISSING: Any = object()
"""Not there, as opposed to null."""
CONFLICT: Any = object()
"""There twice, with different values."""
LONGEST_TEXT = 20_000
"""Characters of a reason that are kept."""
MOST_NAMES = 200
"""Names of a list that are looked at: a reply that repeats itself for ever fills no table."""
_DIGITS = re.compile(r"[0-9]{1,6}")


def get(value: Any, key: str) -> Any:
    """The value under `key`, ignoring case and blanks around it; MISSING or CONFLICT where there is no one value."""
    if not isinstance(value, dict):
        return MISSING
    if isinstance(value, RepeatedKeys) and any(_same(name, key) for name in value.conflicts):
        return CONFLICT
    found = [inner for name, inner in value.items() if _same(name, key)]
    if not found:
        return MISSING
    return found[0] if all(same(other, found[0]) for other in found) else CONFLICT


def has(value: Any, key: str) -> bool:
    return get(value, key) is not MISSING


def turn_id(value: Any) -> int | None:
    """A turn id: a whole number, or its digits as text. Anything else is None: ids are never guessed from position."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return value
    if isinstance(value, float) and abs(value) < 1e6 and value == int(value):
        return int(value)
    if isinstance(value, str) and _DIGITS.fullmatch(value.strip()) and value.strip().isascii():
        return int(value.strip())
    return None


def text(value: Any) -> str:
    """A reason: text as it is, nothing where there is none; control characters and lone surrogates made visible."""
    if value is MISSING or value is CONFLICT or value is None:
        return ""
    return "".join(_visible(char) for char in _plain(value)[:LONGEST_TEXT].replace("\r\n", "\n"))


def _plain(value: Any) -> str:
    """A list of texts is their lines; other structures stay JSON."""
    if isinstance(value, str):
        return value
    if isinstance(value, list) and all(isinstance(entry, str) for entry in value):
        return "\n".join(value)
    return json.dumps(value, ensure_ascii=False)


def texts(value: Any) -> tuple[str, ...]:
    """A list of names: blanks, empties and repeats dropped; one name alone counts as a list of one."""
    if isinstance(value, str):
        value = re.split(r"[,;]", value)
    if not isinstance(value, list):
        return ()
    names = [text(name.strip()) for name in value[:MOST_NAMES] if isinstance(name, str) and name.strip()]
    return tuple(dict.fromkeys(names))


def boolean(value: Any) -> bool | None:
    """true, false, or their names as text; else None."""
    if isinstance(value, bool):
        return value
    if isinstance(value, str) and value.strip().casefold() in ("true", "false"):
        return value.strip().casefold() == "true"
    return None


def one_line(text: str) -> str:
    """Foreign text for a terminal or a log: what would be obeyed there, or not be seen, is spelled out (`\\x1b`)."""
    joiners = "\u200c\u200d"  # several scripts are written with them
    return "".join(char if char.isprintable() or char in joiners else ascii(char)[1:-1] for char in text)


def _same(name: str, key: str) -> bool:
    return name.strip().casefold() == key.casefold()


def _visible(char: str) -> str:
    code = ord(char)
    if 0xD800 <= code <= 0xDFFF or (code < 32 and char not in "\n\t") or 127 <= code < 160:
        return f"\\u{code:04x}"
    return char
