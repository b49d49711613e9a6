"""What the units share: the JSON types of labels in a reply contract, and how a failed reply becomes verdicts."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from eva.types import Failure, Item, JudgeSpec, Scale, Verdict

Schema = dict[str, Any]
_HEARD_NOTHING = re.compile(
    r"\b(no audio (was |is )?(provided|attached|received|available|present|included)|(cannot|can't|could not|couldn't|unable to) "
    r"(hear|access|listen to|process) (the |any )?(audio|recording|sound))",
    re.IGNORECASE,
)


def label_schema(scale: Scale, *, nullable: bool = False) -> Schema:
    """The labels as a reply states them: whole numbers, booleans or words."""
    if set(scale.labels) <= {"true", "false"}:
        kind: Schema = {"type": "boolean"}
    elif all(label.isdigit() for label in scale.labels):
        kind = {"type": "integer", "enum": [int(label) for label in scale.labels]}
    else:
        kind = {"type": "string", "enum": list(scale.labels)}
    return {"anyOf": [kind, {"type": "null"}]} if nullable else kind


def text_schema(max_chars: int | None) -> Schema:
    return {"type": "string"} if max_chars is None else {"type": "string", "maxLength": max_chars}


def object_schema(properties: Mapping[str, Schema]) -> Schema:
    """An object with exactly these keys, in this order."""
    return {
        "type": "object",
        "properties": dict(properties),
        "required": list(properties),
        "additionalProperties": False,
    }


def failed(items: Iterable[Item], *, repeat: int, failure: Failure, repaired: bool = False) -> tuple[Verdict, ...]:
    """The whole reply gives nothing: a failure for each item."""
    return tuple(
        Verdict(item_id=item.item_id, record_id=item.record_id, repeat=repeat, failure=failure, repaired=repaired)
        for item in items
    )


def heard_nothing(judge: JudgeSpec, reason: str) -> bool:
    """An audio judge that says it heard nothing has not judged, whatever rating it gives."""
    return judge.modality == "audio" and _HEARD_NOTHING.search(reason) is not None


def known_flags(names: Iterable[str], judge: JudgeSpec) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Flags that the judge has, in its order, and the broken rule for those that it has not."""
    folded = {name.strip().casefold().replace(" ", "_").replace("-", "_") for name in names}
    known = tuple(flag for flag in judge.flags if flag in folded)
    unknown = sorted(folded - set(known) - {""})
    return known, tuple(f"unknown_flag:{name[:60]}" for name in unknown)
