"""Every JSON value that stands on its own in a text, in order. Never raises, whatever the text."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

MAX_CHARS = 2_000_000
"""Longer replies are read from their end, where answers stand."""
MAX_FAILED_STARTS = 2_000
"""A reply with more brackets that open nothing is not searched further: keeps the search linear."""
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


@dataclass(frozen=True)
class Values:
    """What a text holds."""

    found: tuple[Found, ...]
    whole: bool
    """The whole text is this one value."""
    unterminated_at: int | None = None
    """Where a value begins that the text's end cuts off."""

    @property
    def unterminated(self) -> bool:
        return self.unterminated_at is not None


def json_values(text: str) -> Values:
    """All outermost JSON objects and arrays of a text; the whole text first, if it is one JSON value."""
    text = text[-MAX_CHARS:]
    try:
        return Values(found=(Found(_shallow(_loads(text)), 0, len(text)),), whole=True)
    except _NOT_JSON:
        pass  # then the value stands among other text, or there is none
    found, unterminated_at = _scan(text)
    return Values(found=tuple(found), whole=False, unterminated_at=unterminated_at)


def _scan(text: str) -> tuple[list[Found], int | None]:
    found: list[Found] = []
    end_of_text = len(text.rstrip().removesuffix("```").rstrip())
    for start in _starts(text, found):
        try:
            value, end = _DECODER.raw_decode(text, start)
        except json.JSONDecodeError as error:
            if error.pos >= end_of_text or error.msg.startswith("Unterminated string"):
                return found, start
            continue
        except (RecursionError, ValueError):
            continue
        found.append(Found(_shallow(value), start, end))
    return found, None


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


def _starts(text: str, found: list[Found]) -> Iterator[int]:
    """Places where a value may begin, past the end of the last one found."""
    position, failed = 0, 0
    while failed < MAX_FAILED_STARTS:
        match = _START.search(text, position)
        if match is None:
            return
        before = len(found)
        yield match.start()
        if len(found) > before:
            position = found[-1].end
        else:
            position, failed = match.end(), failed + 1


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
