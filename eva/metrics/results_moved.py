"""What is said about items that moved: what their explanations say, and whether the ones that were named moved as they should."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

Direction = Literal["down", "up", "other"]
NamedBy = Literal["flag", "explanation", "nothing"]
PackOutcome = Literal["pass", "fail", "cannot tell"]


@dataclass(frozen=True)
class MovedExample:
    """One moved item with the explanation that names why."""

    item_id: str
    before: str | None
    after: str | None
    """Modal labels; None where there is none."""
    reason: str


@dataclass(frozen=True)
class MovedGroup:
    """Moved items of one direction that have something in common."""

    direction: Direction
    named_by: NamedBy
    """`nothing`: neither a flag nor an explanation says why."""
    name: str
    """The flag, or the terms that set these explanations apart."""
    items: int
    of: int
    """All moved items of this direction."""
    examples: tuple[MovedExample, ...] = ()
    """The most typical ones first."""


@dataclass(frozen=True)
class Attribution:
    """Moved items grouped by what their explanations say."""

    moved: int
    moves: Mapping[Direction, Mapping[str, int]]
    """Direction → `1 → 0` → items."""
    groups: tuple[MovedGroup, ...]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class PackFinding:
    """Whether one named item moved, or stayed, as it should."""

    pack: str
    item_id: str
    expected: str
    must: Literal["become", "stay"]
    outcome: PackOutcome
    right: int
    """Repeats of the after run with the expected label."""
    needed: int
    repeats: int
    before: str | None
    """Modal label before; None where there is none or it was not asked."""
    after: str | None
    told: str
    """Why, in words."""
    note: str = ""
    """What the pack says about the item."""
