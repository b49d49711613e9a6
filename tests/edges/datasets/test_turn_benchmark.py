"""The turn benchmark's conversations: scripted turns with golden answers, and what was said to them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from eva.edges.datasets import DatasetSpec, load_dataset
from eva.edges.settings import load_judge
from eva.errors import DataError
from eva.judges import unit_of
from eva.types import Dataset, Event
from tests.edges.datasets.dataset_builders import write

GOLDEN = [
    {"turn": 0, "user_text": "When?", "golden_text": "At nine.", "expected_calls": []},
    {
        "turn": 1,
        "user_text": "Book it.",
        "golden_text": "Done.",
        "expected_calls": [{"name": "book", "args": {"at": 9}}],
    },
    {"turn": 2, "user_text": "Thanks.", "golden_text": "Goodbye.", "expected_calls": []},
]


def turn(number: int | None, assistant: str | None = "Yes.", **more: Any) -> dict[str, Any]:
    return {"turn": number, "model_name": "model-x", "user_text": f"User {number}.", "assistant_text": assistant,
            "tool_calls": [], "tool_results": [], **more}  # fmt: skip


def load(path: Path, **options: Any) -> Dataset:
    return load_dataset(DatasetSpec(path=str(path), reader="turn_benchmark", options=options))


def run_folder(tmp_path: Path, *turns: dict[str, Any], judged: list[dict[str, Any]] | None = None) -> Path:
    folder = tmp_path / "runs" / "bench" / "20260101T000000_model-x_ab12"
    folder.mkdir(parents=True)
    write(folder, *turns, name="transcript.jsonl")
    if judged:
        write(folder, *judged, name="claude_judged.jsonl")
    write(tmp_path / "runs", *GOLDEN, name="golden_turns.jsonl")
    return tmp_path / "runs"


def test_a_run_folder_becomes_a_record(tmp_path: Path) -> None:
    """User, calls each with its result, assistant; the script in the context; the model under test as the domain."""
    call = {"tool_calls": [{"name": "book", "args": {"at": 9}}], "tool_results": ['{"ok": true}']}
    record = load(run_folder(tmp_path, turn(0), turn(1, "", **call))).records[0]
    assert record.record_id == "20260101T000000_model-x_ab12"
    assert record.domain == "model-x"
    assert record.events[2:] == (
        Event(1, "user", text="User 1."),
        Event(1, "tool_call", name="book", arguments={"at": 9}),
        Event(1, "tool_response", name="book", response={"ok": True}),
        Event(1, "assistant", text=""),
    )
    assert record.context["golden_turns"][1] == {
        "turn_id": 1, "golden": "Done.", "expected_calls": [{"name": "book", "arguments": {"at": 9}}],
    }  # fmt: skip


def test_denominators_are_fixed(tmp_path: Path) -> None:
    """A conversation that stops early has items for every scripted turn, and the notes say so."""
    loaded = load(run_folder(tmp_path, turn(0), turn(1, None)))
    judge = load_judge("turn_judge")
    items = unit_of(judge).items(judge, loaded.records[0])
    assert {item.turn_id for item in items} == {0, 1, 2}
    assert any("stop before the script's end" in note for note in loaded.notes)


def test_recovery_turns_are_no_scripted_turns(tmp_path: Path) -> None:
    """The harness's nudge after a missed call is left out and counted."""
    nudge = turn(None, recovery_turn=True, recovery_for_turn=0)
    loaded = load(run_folder(tmp_path, turn(0), nudge, turn(1), turn(2)))
    assert all("None" not in (event.text or "") for event in loaded.records[0].events)
    assert any(note.startswith("1 recovery turns are left out") for note in loaded.notes)


def test_turn_taking_comes_from_the_sound(tmp_path: Path) -> None:
    """Its failures were computed before any judge and are an input; the judge's own verdicts are not read."""
    judged = [
        {"turn": 0, "scores": {"turn_taking": True, "kb_grounding": False}},
        {"turn": 1, "scores": {"turn_taking": False}, "turn_taking_issues": ["overlap"]},
    ]
    record = load(run_folder(tmp_path, turn(0), turn(1), judged=judged)).records[0]
    assert record.context["turn_taking_failures"] == {"1": ["overlap"]}
    assert record.labels == {}


def test_the_script_is_needed(tmp_path: Path) -> None:
    """Beside the data, or named; without it the message names the setting."""
    folder = run_folder(tmp_path, turn(0))
    (folder / "golden_turns.jsonl").rename(tmp_path / "script.jsonl")
    with pytest.raises(DataError, match=r"dataset\.options\.golden"):
        load(folder)
    assert len(load(folder, golden=str(tmp_path / "script.jsonl")).records) == 1
    (tmp_path / "empty").mkdir()
    with pytest.raises(DataError, match=r"holds no transcript\.jsonl"):
        load(tmp_path / "empty", golden=str(tmp_path / "script.jsonl"))


def test_the_real_partial_conversations(shared_data: Path) -> None:
    """Four real ones with 26, 18, 14 and 3 user turns, one recovery nudge, 30 scripted turns each."""
    loaded = load(shared_data / "turn_judge" / "conversations_partial_nemotron_omni.jsonl")
    assert [sum(event.type == "user" for event in record.events) for record in loaded.records] == [26, 18, 14, 3]
    assert all(len(record.context["golden_turns"]) == 30 for record in loaded.records)
    vague, right = (
        event
        for event in loaded.records[0].events
        if event.type == "tool_call" and event.name == "request_tech_support"
    )
    assert (vague.turn_id, right.turn_id) == (16, 17)
    assert (
        json.dumps(loaded.records[0].context["golden_turns"][29]["expected_calls"])
        == '[{"name": "end_session", "arguments": {}}]'
    )
