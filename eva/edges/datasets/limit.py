"""Fewer records, so that the classes of their items stay as even as can be."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from eva.edges.datasets.native_json import content_sha256, record_sha256
from eva.errors import ConfigError
from eva.types import NOT_APPLICABLE, Dataset, Record


def limit_records(dataset: Dataset, n: int, *, balanced: bool = True, prefer_short: bool = False) -> Dataset:
    """The dataset with at most `n` records, in their order, with the sha256 of what is left and a note.

    balanced: records are taken one by one, each time the one that makes the counts of gold labels (over the items of
    all taken records) most even; among equals the one whose cluster was taken least, then (prefer_short) the shortest,
    then the one whose language and domain were taken least, then by a hash of its id. So conversation labels come out
    equal per class, the choice does not depend on the file's order, and a larger `n` only adds records.
    not balanced: the first `n`.
    Raises ConfigError for n < 1.
    """
    if n < 1:
        raise ConfigError(f"limit is {n}: it is a number of records, 1 or more")
    if n >= len(dataset.records):
        return dataset
    chosen = _balanced(dataset.records, n, prefer_short=prefer_short) if balanced else set(range(n))
    records = tuple(record for place, record in enumerate(dataset.records) if place in chosen)
    how = "chosen so that classes are even" if balanced else "the first ones"
    note = f"limit {n}: {n} of {len(dataset.records)} records, {how}{_classes_note(records)}"
    digest = content_sha256(record_sha256(record) for record in records)
    return replace(dataset, records=records, sha256=digest, notes=(*dataset.notes, note))


def class_counts(record: Record) -> Counter[str]:
    """Gold labels of a record's items, `not_applicable` left out (it is no class)."""
    golds = (annotations[0].label for annotations in record.labels.values() if annotations)
    return Counter(label for label in golds if label != NOT_APPLICABLE)


@dataclass(frozen=True)
class _Candidate:
    place: int
    record: Record
    classes: Counter[str]
    length: int
    order: str


def _balanced(records: Sequence[Record], n: int, *, prefer_short: bool) -> set[int]:
    left = [
        _Candidate(place, record, class_counts(record), _length(record) if prefer_short else 0, _order(record))
        for place, record in enumerate(records)
    ]
    labels = sorted({label for candidate in left for label in candidate.classes})
    taken = _Taken(labels)
    chosen: set[int] = set()
    for _ in range(n):
        best = min(left, key=taken.rank)
        left.remove(best)
        taken.add(best)
        chosen.add(best.place)
    return chosen


class _Taken:
    """What has been taken so far, and how well a further record fits."""

    def __init__(self, labels: Sequence[str]) -> None:
        self.labels = labels
        self.classes: Counter[str] = Counter()
        self.clusters: Counter[str] = Counter()
        self.languages: Counter[str] = Counter()
        self.domains: Counter[str] = Counter()

    def add(self, candidate: _Candidate) -> None:
        self.classes.update(candidate.classes)
        self.clusters[candidate.record.cluster] += 1
        self.languages[candidate.record.language] += 1
        self.domains[candidate.record.domain] += 1

    def rank(self, candidate: _Candidate) -> tuple[float, int, int, int, str]:
        record = candidate.record
        spread = self.languages[record.language] + self.domains[record.domain]
        evenness = self._concentration(candidate.classes)
        return evenness, self.clusters[record.cluster], candidate.length, spread, candidate.order

    def _concentration(self, more: Counter[str]) -> float:
        """Chance that two random items share a class: smallest where classes are even; 2 for a record without one."""
        counts = [self.classes[label] + more[label] for label in self.labels]
        total = sum(counts)
        return round(sum(count * count for count in counts) / (total * total), 12) if more else 2.0


def _length(record: Record) -> int:
    """Characters of the conversation; agent's texts are the same for many records and are left out."""
    return sum(len(f"{event.text or ''}{event.arguments or ''}{event.response or ''}") for event in record.events)


def _order(record: Record) -> str:
    return hashlib.sha256(record.record_id.encode()).hexdigest()


def _classes_note(records: Sequence[Record]) -> str:
    counts = sum((class_counts(record) for record in records), Counter[str]())
    return "; items by class: " + ", ".join(f"{label}: {counts[label]}" for label in sorted(counts)) if counts else ""
