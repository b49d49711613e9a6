"""Record ids: one spelling, unique, safe in a file name, and silent about the label."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from typing import Any

from eva.edges.datasets.fields import shown, whole_number
from eva.edges.datasets.places import Place

ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}")


def read_id(value: object, place: Place, *, name: str = "record_id") -> str:
    """An id as a string: 7, "7" and 7.0 are the same id. Raises DataError for anything that is not a plain name."""
    number = whole_number(value)
    text = str(number) if number is not None else value
    if not isinstance(text, str) or not ID.fullmatch(text):
        wanted = "1 to 128 of letters A–Z, digits, `.`, `_`, `-`, a letter or digit first"
        raise place.error(f"is {shown(value)}, not {wanted}", name)
    return text


def opaque_id(prefix: str, *parts: str) -> str:
    """An id that tells nothing about its parts, the same on every machine: a file's own numbers follow its making,
    and its making follows the labels."""
    digest = hashlib.sha256("\x1f".join((prefix, *parts)).encode()).hexdigest()
    return f"{prefix}-{digest[:10]}"


def plain_id(*parts: str) -> str:
    """Names of folders and files as one readable id; with a hash where that had to change them."""
    given = ".".join(part for part in parts if part)
    plain = re.sub(r"[^A-Za-z0-9._-]+", "-", given).lstrip("._-")[:100]
    return given if ID.fullmatch(given) else f"{plain or 'x'}-{hashlib.sha256(given.encode()).hexdigest()[:8]}"


def content_id(content: Mapping[str, Any]) -> str:
    """The id of a row without one: from its content, so that sorting the file changes nothing."""
    return "r-" + hashlib.sha256(canonical(content).encode()).hexdigest()[:12]


def canonical(value: object) -> str:
    """JSON in one spelling: sorted keys, no spaces, text as it is."""
    return json.dumps(value, ensure_ascii=False, allow_nan=False, sort_keys=True, separators=(",", ":"))


class UniqueIds:
    """Refuses a second record with the same id, naming both places."""

    def __init__(self) -> None:
        self._seen: dict[str, Place] = {}

    def add(self, record_id: str, place: Place) -> None:
        """Remember an id. Raises DataError where it was there before."""
        first = self._seen.setdefault(record_id, place)
        if first is not place:
            raise place.error(f"{record_id!r} stands there already ({first}); ids are unique", "record_id")
