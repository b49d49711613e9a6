"""Reading one JSON object's fields with their types checked, so that each error names file, line, field and value."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Mapping
from typing import Any

from eva.edges.datasets.places import Place


class Fields:
    """The fields of one object; `null` counts as absent."""

    def __init__(self, data: Mapping[str, Any], place: Place, *, within: str = "") -> None:
        self.data = data
        self.place = place
        self.within = within

    def path(self, name: str) -> str:
        """The field's full name, as messages state it (`events[3].text`)."""
        return f"{self.within}.{name}" if self.within else name

    def refuse_unknown(self, known: Iterable[str]) -> None:
        """A field that nobody reads is an error: most are misspelt, and some are labels in the wrong place."""
        names = sorted(known)
        for name in self.data:
            if name not in names:
                near = difflib.get_close_matches(name, names, n=1)
                meant = f"did you mean `{near[0]}`? " if near else ""
                raise self.place.error(f"is unknown; {meant}there are: {', '.join(names)}", self.path(name))

    def text(self, name: str, *, default: str | None = None) -> str:
        """A string; required unless there is a default."""
        value = self.data.get(name)
        if value is None:
            if default is None:
                raise self.place.error("is missing", self.path(name))
            return default
        if not isinstance(value, str):
            raise self._wrong(name, value, "a string")
        return value

    def optional_text(self, name: str) -> str | None:
        """A string or None."""
        return None if self.data.get(name) is None else self.text(name)

    def choice(self, name: str, choices: Iterable[str], *, default: str | None = None) -> str:
        """One of a few strings."""
        value = self.text(name, default=default)
        allowed = list(choices)
        if value not in allowed and value != default:
            raise self._wrong(name, value, "one of " + ", ".join(allowed))
        return value

    def pattern(self, name: str, pattern: str, wanted: str, *, default: str) -> str:
        """A string that matches a pattern as a whole."""
        value = self.text(name, default=default)
        if not re.fullmatch(pattern, value):
            raise self._wrong(name, value, wanted)
        return value

    def whole(self, name: str) -> int:
        """A whole number, 0 or more (`3.0`, as tables write it, counts as 3); required."""
        value = self.data.get(name)
        if value is None:
            raise self.place.error("is missing", self.path(name))
        number = whole_number(value)
        if number is None or number < 0:
            raise self._wrong(name, value, "a whole number, 0 or more")
        return number

    def mapping(self, name: str) -> dict[str, Any]:
        """An object; absent is empty."""
        value = self.data.get(name)
        if value is None:
            return {}
        if not isinstance(value, dict):
            raise self._wrong(name, value, "an object {…}")
        return value

    def items(self, name: str, *, required: bool = False) -> list[Any]:
        """A list; absent is empty unless required."""
        value = self.data.get(name)
        if value is None:
            if required:
                raise self.place.error("is missing", self.path(name))
            return []
        if not isinstance(value, list):
            raise self._wrong(name, value, "a list […]")
        return value

    def texts(self, name: str) -> tuple[str, ...]:
        """A list of strings without empty ones; absent is empty."""
        values = self.items(name)
        for value in values:
            if not isinstance(value, str) or not value.strip():
                raise self._wrong(name, value, "a list of strings that are not empty")
        return tuple(values)

    def objects(self, name: str, *, required: bool = False) -> list[Fields]:
        """A list of objects, each ready to be read."""
        values = self.items(name, required=required)
        for place, value in enumerate(values):
            if not isinstance(value, dict):
                raise self._wrong(f"{name}[{place}]", value, "an object {…}")
        return [Fields(v, self.place, within=self.path(f"{name}[{i}]")) for i, v in enumerate(values)]

    def _wrong(self, name: str, value: object, wanted: str) -> Exception:
        return self.place.error(f"is {shown(value)}, not {wanted}", self.path(name))


def whole_number(value: object) -> int | None:
    """The value as an int where it is a whole JSON number, else None; booleans are not numbers."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return value
    return int(value) if isinstance(value, float) and value.is_integer() else None


def shown(value: object, *, longest: int = 60) -> str:
    """A value as a message quotes it."""
    text = repr(value)
    return text if len(text) <= longest else text[: longest - 1] + "…"
