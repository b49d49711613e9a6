"""Runs for tests: native data and recorded replies in, a run folder out; state in the test's own folder, MLflow off."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import pytest

from eva.edges.compose import compose
from eva.edges.runs import RunFolder
from eva.edges.settings import settings_from
from eva.flow import validate

Run = Callable[..., RunFolder]


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "state"


@pytest.fixture
def run(home: Path, tmp_path: Path) -> Run:
    """`run("judge=…", replies=…, data=…)`: one run; replies are rows or a file, data a path or rows."""
    made = iter(range(1000))

    def run_with(*overrides: str, replies: Iterable[Mapping[str, Any]], data: Path) -> RunFolder:
        file = write_lines(tmp_path / f"replies{next(made)}.jsonl", replies)
        own = (
            *overrides,
            "model=recorded",
            f"model.path={file}",
            *(() if any(one.startswith("dataset=") for one in overrides) else ("dataset=file",)),
            f"dataset.path={data}",
            f"home={home}",
            "tracking=none",
        )
        finished = validate(settings_from(compose(own)), overrides=own, say=lambda text: None)
        assert finished is not None
        return RunFolder(finished.folder.path)

    return run_with


def write_lines(path: Path, rows: Iterable[Mapping[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
    return path


def turn_reply(
    record: str, ratings: Mapping[int, tuple[int, str, list[str]]], *, flags: str, repeat: int = 0
) -> dict[str, Any]:
    """A turn judge's recorded reply: turn → rating, explanation, flags (in the field `flags`)."""
    entries = [
        {"turn_id": turn, "explanation": reason, flags: names, "rating": rating}
        for turn, (rating, reason, names) in ratings.items()
    ]
    return {"record": record, "repeat": repeat, "text": json.dumps(entries, ensure_ascii=False)}


def call(record_id: str, turns: Iterable[str], **more: Any) -> dict[str, Any]:
    """A native row: in each turn the user asks and the assistant says the text."""
    events = []
    for turn, text in enumerate(turns, start=1):
        events.append({"turn_id": turn, "type": "user", "text": f"question {turn}"})
        events.append({"turn_id": turn, "type": "assistant", "text": text})
    return {"record_id": record_id, "events": events, **more}
