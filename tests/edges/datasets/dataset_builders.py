"""Small rows for the tests of readers: each test states only what it is about."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from eva.edges.datasets import DatasetSpec, load_dataset
from eva.types import Annotation, Dataset, Event, Record

GREETING = {"turn_id": 0, "type": "assistant", "text": "Good morning, how can I help?"}
QUESTION = {"turn_id": 1, "type": "user", "text": "When does my train leave?"}
ANSWER = {"turn_id": 1, "type": "assistant", "text": "At ten past nine."}


def row(record_id: object = "a", **more: Any) -> dict[str, Any]:
    """A native row with three events and one label."""
    made = {
        "record_id": record_id,
        "events": [GREETING, QUESTION, ANSWER],
        "labels": [{"item": "record", "label": "3", "annotator": "author"}],
        **more,
    }
    return {key: value for key, value in made.items() if value is not ...}


def write(path: Path, *rows: object, name: str = "data.jsonl") -> Path:
    """Write rows as JSON lines; a string is written as it is."""
    text = "\n".join(one if isinstance(one, str) else json.dumps(one, ensure_ascii=False) for one in rows) + "\n"
    file = path / name
    file.write_text(text, encoding="utf-8", newline="")
    return file


def load(path: Path, *rows: object, **spec: Any) -> Dataset:
    """Write rows and load them."""
    return load_dataset(DatasetSpec(path=str(write(path, *rows)), **spec))


def record(record_id: str, *labels: str, text: str = "Hello.", **more: Any) -> Record:
    """A record whose turn n carries the n-th label; with one label, the record carries it."""
    events = tuple(
        Event(turn, kind, text=text) for turn in range(1, max(2, len(labels) + 1)) for kind in ("user", "assistant")
    )
    keys = ["record"] if len(labels) == 1 else [f"turn:{turn}" for turn in range(1, len(labels) + 1)]
    gold = {key: (Annotation(label, "author"),) for key, label in zip(keys, labels, strict=True)}
    return Record(record_id, more.pop("cluster", record_id), events, labels=gold, **more)


def dataset(*records: Record) -> Dataset:
    """Records as a dataset whose digest does not matter."""
    return Dataset("made", records, "0" * 64, "made/1")
