"""Where something stands in the data, and what a reader has to say about it: for messages and notes."""

from __future__ import annotations

from dataclasses import dataclass, field

from eva.errors import DataError
from eva.types import Record

SHOWN = 5
"""How many examples a note or a message names."""


@dataclass(frozen=True)
class Place:
    """A row of a file (or a file of its own, then without a line)."""

    file: str
    line: int | None = None

    def error(self, message: str, name: str = "") -> DataError:
        """An error that names file, line and field."""
        return DataError(message, file=self.file, line=self.line, field=name)

    def __str__(self) -> str:
        return self.file if self.line is None else f"line {self.line}"


@dataclass(frozen=True)
class Sourced:
    """A record and where it was read."""

    record: Record
    place: Place
    unlabelled: int = 0
    """Labels of this row that are stated and empty (`null`)."""


@dataclass
class Notes:
    """What a reader left out or filled in: sentences with counts, gathered while it reads."""

    _counts: dict[str, int] = field(default_factory=dict)
    _examples: dict[str, list[str]] = field(default_factory=dict)

    def count(self, sentence: str, example: object = "") -> None:
        """Count one more case of a sentence that reads well after a number (`rows marked invalid are kept`)."""
        self._counts[sentence] = self._counts.get(sentence, 0) + 1
        shown = self._examples.setdefault(sentence, [])
        if str(example) and len(shown) < SHOWN:
            shown.append(str(example))

    def say(self, sentence: str) -> None:
        """State something that is not counted."""
        self._counts.setdefault(sentence, 0)

    def lines(self) -> tuple[str, ...]:
        """The sentences in the order in which they first came up."""
        return tuple(self._line(sentence, count) for sentence, count in self._counts.items())

    def _line(self, sentence: str, count: int) -> str:
        if not count:
            return sentence
        examples = self._examples.get(sentence, [])
        if not examples:
            return f"{count} {sentence}"
        more = ", …" if count > len(examples) else ""
        return f"{count} {sentence} ({', '.join(examples)}{more})"
