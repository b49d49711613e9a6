"""Recorded replies made from a dataset's own labels: right where asked to be, wrong elsewhere. What a test needs, not a judge."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from eva.edges.datasets import DatasetSpec, load_dataset
from eva.types import Record

LABELS = ("1", "2", "3")


def record_labels(path: Path) -> dict[str, dict[str, str]]:
    """Record id → item key → gold label."""
    dataset = load_dataset(DatasetSpec(reader="native", path=str(path), name="test"))
    return {record.record_id: _gold(record) for record in dataset.records}


def _gold(record: Record) -> dict[str, str]:
    return {key: annotations[0].label for key, annotations in record.labels.items()}


def other(label: str) -> str:
    """Another label of the 1–3 scale."""
    return LABELS[(LABELS.index(label) + 1) % 3]


def write(path: Path, rows: Iterable[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def conversation_replies(
    gold: dict[str, dict[str, str]], *, repeats: int, right: Callable[[int, int], bool]
) -> Iterable[dict[str, Any]]:
    """One `{"rating": …}` per record and repeat; `right(place, repeat)` says whether it is the gold label."""
    for place, (record, labels) in enumerate(gold.items()):
        for repeat in range(repeats):
            label = labels["record"] if right(place, repeat) else other(labels["record"])
            yield {"record": record, "repeat": repeat, "text": json.dumps({"rating": int(label)})}


def turn_replies(
    gold: dict[str, dict[str, str]], *, repeats: int, right: Callable[[int, int], bool]
) -> Iterable[dict[str, Any]]:
    """One list of turns per record and repeat; places count turns over the whole dataset."""
    place = 0
    for record, labels in gold.items():
        turns = [(int(key.removeprefix("turn:")), label) for key, label in labels.items()]
        for repeat in range(repeats):
            entries = [
                {
                    "turn_id": turn,
                    "explanation": "why",
                    "failure_modes": [],
                    "rating": _rating(label, right(place + offset, repeat)),
                }
                for offset, (turn, label) in enumerate(turns)
            ]
            yield {"record": record, "repeat": repeat, "text": json.dumps(entries)}
        place += len(turns)


def _rating(label: str, is_right: bool) -> int | None:  # the two are one thought
    if label == "not_applicable":
        return None
    return int(label if is_right else other(label))
