"""Every JSON value that stands on its own in a text, in order. Never raises, whatever the text."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

MAX_CHARS = 2_000_000
"""Longer replies are read from their end, where answers stand."""
MAX_FAILED_STARTS = 2_000
"""A reply with more brackets that open nothing is not searched further: keeps the search linear."""
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
    unterminated: bool
    """A value begins that the text's end cuts off."""


def json_values(text: str) -> Values:
    """All outermost JSON objects and arrays of a text; the whole text first, if it is one JSON value."""
    text = text[-MAX_CHARS:]
    try:
        return Values(found=(Found(_loads(text), 0, len(text)),), whole=True, unterminated=False)
    except _NOT_JSON:
        pass  # then the value stands among other text, or there is none
    found, unterminated = _scan(text)
    return Values(found=tuple(found), whole=False, unterminated=unterminated)


def _scan(text: str) -> tuple[list[Found], bool]:
    found: list[Found] = []
    end_of_text = len(text.rstrip().removesuffix("```").rstrip())
    for start in _starts(text, found):
        try:
            value, end = _DECODER.raw_decode(text, start)
        except json.JSONDecodeError as error:
            if error.pos >= end_of_text or error.msg.startswith("Unterminated string"):
                return found, True
            continue
        except (RecursionError, ValueError):
            continue
        found.append(Found(value, start, end))
    return found, False


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
        result.conflicts = frozenset(key for key in result if _differs(pairs, key))
    return result


def _differs(pairs: list[tuple[str, Any]], key: str) -> bool:
    values = [value for name, value in pairs if name == key]
    return any(type(value) is not type(values[0]) or value != values[0] for value in values)


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
