"""What the checks of a dataset hand out and look at."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal

from eva.edges.datasets.places import SHOWN
from eva.types import Annotation, Dataset, Record

Level = Literal["error", "warning", "info"]


@dataclass(frozen=True)
class Finding:
    """One thing that a check found."""

    level: Level
    rule: str
    """Which check: label, classes, class_balance, duplicate, leak, …"""
    message: str
    records: tuple[str, ...] = ()
    figures: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class LabelledItem:
    """A gold label with what it is about."""

    record: Record
    key: str
    """`record`, `turn:3`, `turn:3/kb_grounding`."""
    gold: Annotation
    place: int
    """Of the record in its file, from 0."""

    @property
    def kind(self) -> str:
        """`record`, `turn` or the dimension: items of one kind are compared with one another."""
        head, _, dimension = self.key.partition("/")
        return dimension or head.split(":")[0]

    @property
    def turn(self) -> int | None:
        head = self.key.partition("/")[0]
        return int(head.removeprefix("turn:")) if head.startswith("turn:") else None

    @property
    def label(self) -> str:
        return self.gold.label

    @property
    def name(self) -> str:
        return f"{self.record.record_id}, {self.key}"

    @property
    def ids(self) -> tuple[str, ...]:
        return (self.record.record_id,)

    @property
    def text(self) -> str:
        """What is said in the turn, or in the whole conversation."""
        return said(self.record, self.turn)


def labelled_items(dataset: Dataset) -> Iterator[LabelledItem]:
    """All items with a gold label, in the dataset's order."""
    for place, record in enumerate(dataset.records):
        for key, found in record.labels.items():
            if found:
                yield LabelledItem(record, key, found[0], place)


def said(record: Record, turn: int | None = None) -> str:
    """The words of a conversation, or of one turn, a line an utterance."""
    return "\n".join(event.text for event in record.events if event.text and turn in (None, event.turn_id))


def listed(names: Iterable[str], *, most: int = SHOWN) -> str:
    """Names for a message, not all of them where they are many."""
    all_names = list(names)
    return ", ".join(all_names[:most]) + (f" and {len(all_names) - most} more" if len(all_names) > most else "")
