"""One value of a reply → a label of the scale, or the kind of failure. The same rules for all judges.

| value | on a scale of numbers | on a scale of words | true/false |
|---|---|---|---|
| `2`, `2.0`, `"2"`, `"2.0"`, `" 2 "` | 2 | off scale | off scale |
| `2.5`, `"2/3"`, `"+2"`, `"02"`, `"two"`, `"２"`, `NaN`, a list | off scale | off scale | off scale |
| `true`, `false` | off scale (a boolean is not a rating) | off scale | the label |
| `"Success"`, `"success."`, `"model failure"` | off scale | the label, whatever case, blanks or hyphens | – |
| `"TRUE"`, `"false"` | off scale | off scale | the label |
| a declared alias | its label | its label | its label |
| `null` | not applicable where the scale allows it, else abstained | the same | the same |
"""

from __future__ import annotations

import re
import unicodedata
from typing import Any

from eva.types import NOT_APPLICABLE, Failure, Scale

_NUMBER = re.compile(r"-?(0|[1-9][0-9]{0,5})(\.0{1,6})?")
_TRIM = " \t\r\n\"'`*"


def read_label(value: Any, scale: Scale) -> str | Failure:
    """The label that a reply's value stands for; NOT_APPLICABLE where the scale allows it; else a Failure kind."""
    if value is None:
        return NOT_APPLICABLE if scale.allows_not_applicable else Failure.ABSTAINED
    text = _as_text(value)
    if text is None:
        return Failure.OFF_SCALE
    key = fold(text)
    if scale.allows_not_applicable and key == NOT_APPLICABLE:
        return NOT_APPLICABLE
    for label in scale.labels:
        if key == fold(label) and _may_spell(value, label):
            return label
    for alias, label in scale.aliases.items():
        if key == fold(alias) and not isinstance(value, bool):
            return label
    return Failure.OFF_SCALE


def normalise_gold(value: Any, scale: Scale) -> str | None:
    """A label that a person gave, in the scale's spelling; None where it is not on the scale. Booleans and numbers as they read."""
    read = read_label(value, scale)
    return None if isinstance(read, Failure) else read


def fold(text: str) -> str:
    """What two spellings of one label have in common: case, blanks, hyphens, quotes, a full stop and the way in which accents
    are encoded do not count."""
    text = unicodedata.normalize("NFC", text).strip(_TRIM).removesuffix(".").strip(_TRIM).casefold()
    text = re.sub(r"[\s_-]+", "_", text) if not _NUMBER.fullmatch(text) else text
    return _plain_number(text) if _NUMBER.fullmatch(text) else text


def _plain_number(text: str) -> str:
    return str(int(float(text)))


def _as_text(value: Any) -> str | None:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        return str(int(value)) if abs(value) < 1e6 and value == int(value) else None
    return value if isinstance(value, str) and len(value) <= 200 else None


def _may_spell(value: Any, label: str) -> bool:
    """A boolean spells true or false only; a number spells no word."""
    if isinstance(value, bool):
        return label in ("true", "false")
    return not isinstance(value, int | float) or _NUMBER.fullmatch(label) is not None
