"""Every JSON value that stands on its own in a text, in order. Never raises, whatever the text."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

MAX_FAILED_CHARS = 4_000_000
"""Characters in values that begin and then are none. A reply with more is not searched further (`Values.searched` says so):
keeps the time bounded."""
DEEP_CHARS = 1_000
"""What a start costs that runs out of stack, in characters."""
START_CHARS = 100
"""What any failed start costs at least, in characters."""
MAX_DEPTH = 100
"""A value nested deeper is no verdict; it is kept as TOO_DEEP, so that nothing that walks it runs out of stack."""
TOO_DEEP = "(nested too deep)"
_START = re.compile(r"[\[{]")


class RepeatedKeys(dict[str, Any]):
    """An object in which a key came twice with different values; `conflicts` names such keys."""

    conflicts: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Found:
    """One JSON value in a text."""

    value: Any
    start: int
    end: int
    in_broken: bool = False
    """It stands inside an object that is no JSON: a part of that, or something that it quotes."""


@dataclass(frozen=True)
class Values:
    """What a text holds."""

    found: tuple[Found, ...]
    whole: bool
    """The whole text is this one value."""
    unterminated_at: int | None = None
    """Where a value begins that the text's end cuts off."""
    searched: bool = True
    """The text was searched to its end."""

    @property
    def unterminated(self) -> bool:
        return self.unterminated_at is not None


def json_values(text: str) -> Values:
    """All outermost JSON objects and arrays of a text; the whole text first, if it is one JSON value."""
    try:
        return Values(found=(Found(_shallow(_loads(text)), 0, len(text)),), whole=True)
    except _NOT_JSON:
        pass  # then the value stands among other text, or there is none
    return _scan(text)


def _scan(text: str) -> Values:
    found: list[Found] = []
    end_of_text = len(text.rstrip().removesuffix("```").rstrip())
    position = failed = broken_to = 0
    while (match := _START.search(text, position)) is not None:
        start = match.start()
        position = match.end()
        if failed > MAX_FAILED_CHARS:
            return Values(tuple(found), whole=False, searched=False)
        try:
            value, position = _DECODER.raw_decode(text, start)
        except json.JSONDecodeError as error:
            if error.pos >= end_of_text or error.msg.startswith("Unterminated string"):
                return Values(tuple(found), whole=False, unterminated_at=start)
            failed += max(START_CHARS, error.pos - start)
            broken_to = max(broken_to, error.pos) if match[0] == "{" else broken_to
        except (RecursionError, ValueError):
            failed += DEEP_CHARS
        else:
            found.append(Found(_shallow(value), start, position, in_broken=start < broken_to))
    return Values(tuple(found), whole=False)


def same(one: Any, other: Any) -> bool:
    """Equal as JSON: `true` is not 1 (Python says that it is), 2 is 2.0, the order of keys does not count."""
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(same, one, other))
    return isinstance(one, bool) is isinstance(other, bool) and bool(one == other)


def _shallow(value: Any) -> Any:
    level, depth = [value], 0
    while level:
        depth += 1
        if depth > MAX_DEPTH:
            return TOO_DEEP
        level = [inner for outer in level for inner in _inner(outer) if isinstance(inner, dict | list)]
    return value


def _inner(value: Any) -> Iterable[Any]:
    return value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result = RepeatedKeys(pairs)
    if len(result) != len(pairs):
        by_key: dict[str, list[Any]] = {}
        for key, value in pairs:
            by_key.setdefault(key, []).append(value)
        result.conflicts = frozenset(key for key, values in by_key.items() if _differ(values))
    return result


def _differ(values: list[Any]) -> bool:
    if len(values) > 1 and any(_shallow(value) is TOO_DEEP for value in values):
        return True  # too deep to be compared; whichever of them is meant, it is no verdict
    return not all(same(value, values[0]) for value in values[1:])


def _integer(digits: str) -> int | str:
    # A number of thousands of digits is no label; as text it stays readable and costs nothing.
    return int(digits) if len(digits) < 20 else digits


# NaN and Infinity stay text, so that they are off every scale instead of comparing false with everything.
_DECODER = json.JSONDecoder(strict=False, object_pairs_hook=_object, parse_constant=str, parse_int=_integer)
_NOT_JSON = (json.JSONDecodeError, RecursionError, ValueError)


def _loads(text: str) -> Any:
    stripped = text.strip().removeprefix("\ufeff").strip()
    value, end = _DECODER.raw_decode(stripped)
    if stripped[end:].strip():
        raise ValueError("more than one value")
    if not isinstance(value, dict | list):
        raise ValueError("not an object or array")
    return value
