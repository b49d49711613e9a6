"""What the units share: the JSON types of labels in a reply contract, and how a failed reply becomes verdicts."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from eva.types import Failure, Item, JudgeSpec, Scale, Verdict

Schema = dict[str, Any]
MOST_PLACES = 5
_SOUND = r"(?:audio|recording|sound)(?: file| clip| recording| data| input)?"
_GIVEN = r"(?:provided|attached|received|available|present|included|accessible|given|supplied)"
_HEARD_NOTHING = re.compile(
    rf"\bno {_SOUND} (?:(?:was|is|were|has been) )?{_GIVEN}\b"
    rf"|\bthere (?:is|was) no {_SOUND}(?= *(?:$|[.,;:!]|to (?:rate|judge|hear|listen)|for this|in this|{_GIVEN}))"
    rf"|\bi (?:do not|don['’]t|did not|didn['’]t) (?:have|receive|get)(?: access to)? (?:the |any |an )?{_SOUND}\b"
    rf"|\b{_SOUND} (?:(?:is|was) not|isn['’]t|wasn['’]t|has not been) {_GIVEN}\b"
    r"|\b(?:cannot|can['’]t|could not|couldn['’]t|(?:am |was )?unable to) (?:hear|access|listen to|process|play) "
    rf"(?:the |any |this )?{_SOUND}\b",
    re.IGNORECASE,
)
_WORDS_HEARD = re.compile(r"\"[^\"]*\"|“[^”]*”|„[^“”]*[“”]|«[^»]*»|(?<!\w)['‘][^'’]*['’](?!\w)")
"""Quotations: what was heard, a caller's "I cannot hear the recording" included."""


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
    return judge.modality == "audio" and _HEARD_NOTHING.search(_WORDS_HEARD.sub("…", reason)) is not None


def flag_names(judge: JudgeSpec) -> tuple[str, ...]:
    """What a label or verdict of this judge may flag: its failure modes, or the dimensions of a conversation."""
    return judge.flags or (judge.dimensions if judge.unit == "conversation" else ())


def known_flags(names: Iterable[str], judge: JudgeSpec) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Flags that the judge has, in its order, and the broken rules for those that it has not (the first few by name)."""
    folded = {_folded(name) for name in names}
    known = tuple(flag for flag in judge.flags if _folded(flag) in folded)
    unknown = sorted(folded - {_folded(flag) for flag in judge.flags} - {""})
    return known, named("unknown_flag", [name[:60] for name in unknown])


def named(rule: str, places: Sequence[object]) -> tuple[str, ...]:
    """A broken rule with the places where it was broken; beyond a few only that there are more: a reply fills no table."""
    shown = tuple(f"{rule}:{place}" for place in places[:MOST_PLACES])
    return (*shown, f"{rule}:more") if len(places) > MOST_PLACES else shown


def _folded(name: str) -> str:
    return name.strip().casefold().replace(" ", "_").replace("-", "_")
