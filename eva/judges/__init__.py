"""Units: the code that knows what carries a label, what the reply looks like and how it is read.

A judge is config (`conf/judge/<name>.yaml`); its `unit:` names one of these.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from eva.errors import UnknownChoice
from eva.judges import conversation, turn, turn_dimensions
from eva.types import Item, JudgeSpec, Record, Reply, Verdict


class Unit(Protocol):
    """What a file in this folder provides."""

    def items(self, judge: JudgeSpec, record: Record) -> tuple[Item, ...]:
        """What carries a label in this record, in order."""
        ...

    def schema(self, judge: JudgeSpec, record: Record, *, max_chars: int | None) -> dict[str, Any]:
        """The reply contract as a JSON schema; `max_chars` bounds every string for small models."""
        ...

    def read(self, judge: JudgeSpec, record: Record, *, reply: Reply) -> tuple[Verdict, ...]:
        """One verdict an item. Never raises."""
        ...


UNITS: Mapping[str, Unit] = {
    "conversation": conversation,
    "turn": turn,
    "turn_dimensions": turn_dimensions,
}


def unit_of(judge: JudgeSpec) -> Unit:
    """The code of a judge's unit; raises UnknownChoice."""
    if judge.unit not in UNITS:
        raise UnknownChoice("unit", judge.unit, UNITS, hint=f"It is set in conf/judge/{judge.name}.yaml.")
    return UNITS[judge.unit]
