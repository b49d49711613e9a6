"""JSON lines, read and written the same on every machine: UTF-8, split at \\n only, a broken line named by number."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from eva.edges.datasets.places import Place
from eva.errors import DataError

MAX_LINE_BYTES = 16 * 1024 * 1024
"""The longest line that is read: a conversation of some hours; more is a file of another kind."""
BOM = b"\xef\xbb\xbf"


def read_json_lines(path: Path) -> Iterator[tuple[Place, dict[str, Any]]]:
    """Each line's object with its place. Byte order mark, blank lines and CRLF are accepted; nothing is skipped.

    Lines end at `\\n` only, so that U+2028 or U+0085 inside a string does not cut it.
    Raises DataError with file and line for text that is not UTF-8, not JSON, not an object, or too long.
    """
    number = 0
    with open_data(path) as lines:
        while raw := lines.readline(MAX_LINE_BYTES + 1):
            number += 1
            place = Place(path.name, number)
            if len(raw) > MAX_LINE_BYTES:
                raise place.error(f"is longer than {MAX_LINE_BYTES // 2**20} MiB, the longest line that is read")
            text = _decoded(raw.removeprefix(BOM) if number == 1 else raw, place)
            if text.strip(" \t\r\n"):
                yield place, parse_object(text, place)


def open_data(path: Path) -> Any:
    """Open a file for reading bytes; a missing or unreadable one is a DataError that says so."""
    try:
        return path.open("rb")
    except FileNotFoundError:
        raise DataError(f"there is no file {path}") from None
    except IsADirectoryError:
        raise DataError(f"{path} is a folder; this reader reads one file") from None
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror}") from None


def parse_object(text: str, place: Place) -> dict[str, Any]:
    """One JSON object. Double keys, NaN, infinities, half surrogates are refused: no two programs read them alike."""
    try:
        value = json.loads(text, object_pairs_hook=_without_double_keys, parse_constant=_no_constant)
        if "\\ud" in text.lower():
            json.dumps(value, ensure_ascii=False).encode()
    except json.JSONDecodeError as error:
        raise place.error(f"is not JSON: {error.msg} at column {error.colno}") from None
    except UnicodeEncodeError:
        raise place.error("holds half of a surrogate pair (\\ud800–\\udfff), which is not a character") from None
    except (ValueError, RecursionError) as error:
        raise place.error(f"is not usable JSON: {error}") from None
    if not isinstance(value, dict):
        raise place.error(f"holds a {type(value).__name__}, not an object {{…}}")
    return value


def write_json_lines(path: Path, rows: Iterable[Mapping[str, Any]]) -> None:
    """One object a line, UTF-8, `\\n`, readable (not escaped) text."""
    with path.open("w", encoding="utf-8", newline="\n") as out:
        for row in rows:
            out.write(json.dumps(row, ensure_ascii=False, allow_nan=False) + "\n")


def _decoded(raw: bytes, place: Place) -> str:
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError as error:
        bad = raw[error.start]
        raise place.error(f"is not UTF-8: byte 0x{bad:02x} at position {error.start}; save the file as UTF-8") from None


def _without_double_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) != len(pairs):
        keys = [key for key, _ in pairs]
        raise ValueError(f"the key {next(key for key in keys if keys.count(key) > 1)!r} stands twice in one object")
    return made


def _no_constant(name: str) -> float:
    raise ValueError(f"{name} is not a JSON number")
