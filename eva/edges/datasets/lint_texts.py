"""Checks of what conversations say: duplicates, near-duplicates, shared splits, contradictions, odd characters."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from eva.edges.datasets.findings import Finding, LabelledItem, listed, said
from eva.edges.datasets.ids import canonical
from eva.edges.datasets.native_json import label_free
from eva.types import Dataset, Event, Record

BLOCK = 256
"""Records compared with all others at a time."""
SHORT = 5
"""Turns of fewer words ("Thanks, goodbye.") may be alike and rated by what stands around them."""
INVISIBLE = "\u00ad\u200b\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2060\ufeff\ufffd"
JOINERS = "\u200c\u200d"
WIDE_SPACES = "\u00a0\u202f"
GARBLED = re.compile("[ÃÂ][\u0080-\u00bf]|â€|Ð[\u0080-\u00bf]")


@dataclass(frozen=True)
class Pair:
    """Two conversations and how alike they are."""

    first: Record
    second: Record
    similarity: float

    def __str__(self) -> str:
        return f"{self.first.record_id} and {self.second.record_id} ({self.similarity:.2f})"


def duplicates(dataset: Dataset, pairs: Sequence[Pair]) -> Iterator[Finding]:
    """Conversations that are equal, and those that are nearly so without sharing a cluster."""
    for alike in _groups(dataset.records):
        ids = tuple(record.record_id for record in alike)
        yield Finding("error", "duplicate", f"the same conversation: {listed(ids)}", ids)
    for pair in pairs:
        if pair.first.cluster == pair.second.cluster:
            continue
        ids = (pair.first.record_id, pair.second.record_id)
        message = f"nearly the same conversation in two clusters: {pair}"
        yield Finding("warning", "near_duplicate", message, ids, {"similarity": pair.similarity})


def split_leaks(dataset: Dataset, pairs: Sequence[Pair]) -> Iterator[Finding]:
    """Clusters, or nearly equal conversations, on both sides of the split; records on no side."""
    splits: dict[str, set[str]] = {}
    for record in dataset.records:
        splits.setdefault(record.cluster, set()).add(record.split)
    both = sorted(cluster for cluster, names in splits.items() if {"dev", "test"} <= names)
    if both:
        yield Finding("error", "split_leak", f"{len(both)} clusters are in dev and in test: {listed(both)}")
    for pair in pairs:
        if {pair.first.split, pair.second.split} == {"dev", "test"} and pair.first.cluster != pair.second.cluster:
            ids = (pair.first.record_id, pair.second.record_id)
            yield Finding("error", "split_leak", f"nearly the same conversation in dev and in test: {pair}", ids)
    without = [record.record_id for record in dataset.records if not record.split]
    if without and len(without) < len(dataset.records):
        yield Finding(
            "warning", "split_leak", f"{len(without)} records are in no split: {listed(without)}", tuple(without)
        )


def contradictions(dataset: Dataset, items: Sequence[LabelledItem]) -> Iterator[Finding]:
    """Items that say the same and are labelled differently."""
    by_text: dict[tuple[str, str, str], list[LabelledItem]] = {}
    for item in items:
        text = _plain(item.text) if item.turn is not None else canonical(_content(item.record))
        if item.turn is None or len(text.split()) >= SHORT:
            by_text.setdefault((item.kind, item.record.language, text), []).append(item)
    for alike in by_text.values():
        labels = sorted({item.label for item in alike})
        if len(labels) > 1:
            names = listed(item.name for item in alike)
            ids = tuple(sorted({item.record.record_id for item in alike}))
            yield Finding("error", "contradiction", f"the same text is labelled {' and '.join(labels)}: {names}", ids)


def odd_characters(dataset: Dataset) -> Iterator[Finding]:
    """Text that is not NFC, characters that nobody sees, and marks of a wrong encoding; by kind."""
    found: dict[str, list[str]] = {}
    for record in dataset.records:
        for event in record.events:
            for kind in _oddities(event, record.language):
                found.setdefault(kind, []).append(f"{record.record_id}#{event.turn_id}")
    for kind, places in sorted(found.items()):
        unique = list(dict.fromkeys(places))
        yield Finding("warning", "characters", f"{kind} in {len(unique)} turns: {listed(unique)}")


def similar_pairs(records: Sequence[Record], *, near: float) -> list[Pair]:
    """Pairs whose character 5-grams have a Jaccard similarity of `near` or more, most alike first.

    Jaccard: |common| / |either| of the sets of 5-grams in the lower-cased words; in [0, 1]. Equal texts have 1.
    """
    from sklearn.feature_extraction.text import CountVectorizer  # slow to import, and only checks need it

    texts = [_plain(said(record)) for record in records]
    if len(texts) < 2 or not any(len(text) >= 5 for text in texts):
        return []
    grams = CountVectorizer(analyzer="char", ngram_range=(5, 5), binary=True, lowercase=False).fit_transform(texts)
    sizes = np.asarray(grams.sum(axis=1)).ravel()
    pairs = []
    for start in range(0, len(texts), BLOCK):
        common = (grams[start : start + BLOCK] @ grams.T).tocoo()
        for row, column, shared in zip(common.row, common.col, common.data, strict=True):
            one, other = start + int(row), int(column)
            similarity = shared / (sizes[one] + sizes[other] - shared)
            if one < other and similarity >= near:
                pairs.append(Pair(records[one], records[other], round(float(similarity), 4)))
    return sorted(pairs, key=lambda pair: (-pair.similarity, pair.first.record_id, pair.second.record_id))


def _groups(records: Sequence[Record]) -> list[list[Record]]:
    groups: dict[str, list[Record]] = {}
    for record in records:
        groups.setdefault(canonical(_content(record)), []).append(record)
    return [group for group in groups.values() if len(group) > 1]


def _content(record: Record) -> object:
    view = label_free(record)
    return [
        record.audio,
        record.language,
        view.get("context"),
        view["events"],
        [event.spoken for event in record.events],
    ]


def _plain(text: str) -> str:
    return " ".join(unicodedata.normalize("NFC", text).casefold().split())


def _oddities(event: Event, language: str) -> Iterator[str]:
    text = f"{event.text or ''}{canonical(event.arguments or {})}{canonical(event.response)}"
    if unicodedata.normalize("NFC", text) != text:
        yield "text that is not NFC"
    hidden = INVISIBLE + ("" if language == "hi" else JOINERS) + ("" if language.startswith("fr") else WIDE_SPACES)
    for char in sorted(set(text) & set(hidden)):
        yield f"U+{ord(char):04X} ({unicodedata.name(char, 'no name').lower()})"
    if GARBLED.search(text):
        yield "signs of a wrong encoding (Ã©, â€™)"
