"""A report is data: these values, in order. Renderers only read them; nothing here knows a target format.

A piece of text is either ours (`str`, `Strong`) or quoted (`Quoted`: it came from a record, a reply or a config).
Renderers make quoted text inert for their target; our own is escaped too, so that a mistake shows as odd text and not
as markup.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class Quoted:
    """Text from a record, a reply, a prompt or a config."""

    text: str
    limit: int | None = 200
    """Longest run of characters shown on one line."""


@dataclass(frozen=True)
class Strong:
    """Our own words, set in bold."""

    text: str


Run = str | Quoted | Strong
Line = tuple[Run, ...]
Align = Literal["left", "right"]


def line(*runs: Run) -> Line:
    """A line of text from its pieces."""
    return runs


@dataclass(frozen=True)
class Heading:
    """Starts one judge's part inside a section."""

    line: Line


@dataclass(frozen=True)
class Paragraph:
    line: Line


@dataclass(frozen=True)
class Bullets:
    lines: tuple[Line, ...]
    warning: bool = False
    """Shown with a warning sign."""


@dataclass(frozen=True)
class Column:
    name: str
    align: Align = "left"


@dataclass(frozen=True)
class Table:
    columns: tuple[Column, ...]
    rows: tuple[tuple[Line, ...], ...]
    note: str = ""
    optional: bool = False
    """Rows from the end may be left out, with their number, where room is short."""


@dataclass(frozen=True)
class Command:
    """Commands to copy, one a line. Arguments are quoted for a shell already."""

    lines: tuple[str, ...]


@dataclass(frozen=True)
class RuleChange:
    """One named part of a compiled prompt that differs."""

    path: str
    """`sections.rules.glosses`, `user`."""
    before: str | None
    """None: the part is new."""
    after: str | None
    """None: the part is gone."""
    where: tuple[str, ...] = ()
    """`<language>.<pipeline>` it applies to; empty where it applies to all."""


@dataclass(frozen=True)
class PromptDiff:
    before: str
    after: str
    """Names of the two versions."""
    changes: tuple[RuleChange, ...]


@dataclass(frozen=True)
class Vote:
    """What one repeat said about one item."""

    repeat: int
    label: str | None
    failure: str | None
    reason: str
    flags: tuple[str, ...] = ()

    @property
    def word(self) -> str:
        """The label, or the kind of failure."""
        return self.label if self.label is not None else self.failure or "no verdict"


@dataclass(frozen=True)
class Turn:
    """One turn of a conversation, as it is shown."""

    turn_id: int
    lines: tuple[tuple[str, str], ...]
    """(speaker or event, text)."""


@dataclass(frozen=True)
class ItemFacts:
    """What a reader wants to know of an item besides its verdicts."""

    item_id: str
    record_id: str
    turn_id: int | None = None
    dimension: str | None = None
    language: str = ""
    domain: str = ""
    gold: str | None = None
    gold_flags: tuple[str, ...] = ()
    rules: tuple[str, ...] = ()


@dataclass(frozen=True)
class FlipDetail:
    """One flip with all that it takes to understand it."""

    facts: ItemFacts
    kind: str
    before: str
    """Modal verdict in words: a label, `no majority`, `no verdict`."""
    after: str
    before_votes: str
    """`3 (2 of 3)`."""
    after_votes: str
    before_all: tuple[Vote, ...] = ()
    after_all: tuple[Vote, ...] = ()
    before_reason: str = ""
    """Of a repeat that voted with the majority."""
    after_reason: str = ""


@dataclass(frozen=True)
class Flips:
    judge: str
    rows: tuple[FlipDetail, ...]
    """Worst first."""
    conversations: Mapping[str, tuple[Turn, ...]]
    """By record id; only records with a flip."""


@dataclass(frozen=True)
class Confusion:
    """Judge against people, mean counts over repeats. Rows: human labels. Columns: judge labels, then `no verdict`."""

    arm: str
    labels: tuple[str, ...]
    counts: tuple[tuple[float, ...], ...]


@dataclass(frozen=True)
class ConfusionPair:
    before: Confusion | None
    after: Confusion


@dataclass(frozen=True)
class IntervalRow:
    name: str
    value: float | None
    low: float | None
    high: float | None
    verdict: str
    unit: Literal["points", "plain"]


@dataclass(frozen=True)
class IntervalPlot:
    """Differences with their intervals around zero."""

    rows: tuple[IntervalRow, ...]


Block = Heading | Paragraph | Bullets | Table | Command | PromptDiff | Flips | ConfusionPair | IntervalPlot
Rank = Literal["first", "folded"]


@dataclass(frozen=True)
class Section:
    key: str
    """Which kind of section: prompt, flips, flags, slices, …"""
    title: Line
    blocks: tuple[Block, ...]
    rank: Rank = "folded"
    """`first`: on the first screen."""


@dataclass(frozen=True)
class Report:
    title: Line
    outcome: tuple[Line, ...]
    """The first sentence first: the outcome in plain words."""
    sections: tuple[Section, ...]
