"""Labels never reach the judge: each reader's label-side fields are poisoned, what requests may show is searched."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from eva.edges.datasets import READERS, DatasetSpec, label_free, load_dataset
from tests.edges.datasets.dataset_builders import ANSWER, QUESTION, write
from tests.edges.datasets.run_builders import write_conversation, write_manifest

CANARY = "canary"
P = CANARY
TRACE = [{"event_type": "user_utterance", "utterance": "Hello."}, {"event_type": "agent_utterance", "utterance": "Hi."}]


def native() -> list[dict[str, Any]]:
    """Labels, split, synthesis plan and the sound's name are label-side."""
    label = {"item": "turn:1", "label": P, "flags": [P], "rules": [P], "annotator": P, "provenance": P, "note": P,
             "label_strict": P, "label_lenient": P, "details": {P: P}}  # fmt: skip
    events = [{**QUESTION, "spoken": P}, {**ANSWER, "spoken": P}]
    return [{"record_id": "a", "split": "dev", "audio": f"{P}.wav", "events": events, "labels": [label]}]


def faithfulness() -> list[dict[str, Any]]:
    return [{"id": f"{P}-1", "trace": TRACE, "expected_rating": P, "failure_mode": [P], "validated": P, "invalid": P,
             "description": P, "agent_instructions_version": P, "available_tools_version": P}]  # fmt: skip


def conciseness() -> list[dict[str, Any]]:
    turns = [{"position": 1, "role": "user", "content": "Hello."},
             {"position": 2, "role": "agent", "content": "Hi.", "expected_rating": P,
              "failure_modes": [P]}]  # fmt: skip
    return [{"id": P, "conversation_id": "b", "conv_turns": turns}]


def progression() -> list[dict[str, Any]]:
    return [{"id": f"{P}-1", "trace": TRACE, "expected_rating": P, "failure_mode": P, "validated": P, "invalid": P,
             "description": P, "modified_at": P, "source": P, "has_interruption_tags": P}]  # fmt: skip


def speech() -> list[dict[str, Any]]:
    turns = [{"turn_index": 0, "role": "assistant", "text": "Hello.", "tts_critical_entities": [P]}]
    return [{"id": P, "transcript_id": P, "evaluation_mode": P, "sample_type": P, "intended_turns": turns,
             "expected_rating": P, "audio_id": P, "perturbation_metadata": {P: P}}]  # fmt: skip


POISONED: dict[str, Callable[[], list[dict[str, Any]]]] = {
    "native": native,
    "eva_faithfulness": faithfulness,
    "eva_conciseness": conciseness,
    "eva_conversation_progression": progression,
    "eva_agent_speech_fidelity": speech,
}


@pytest.mark.parametrize("reader", POISONED)
def test_no_label_side_field_is_in_what_requests_may_show(tmp_path: Path, reader: str) -> None:
    """The canary arrives in the labels and nowhere else."""
    options = {"audio_folder": P} if reader == "eva_agent_speech_fidelity" else {}
    spec = DatasetSpec(path=str(write(tmp_path, *POISONED[reader]())), reader=reader, options=options)
    record = load_dataset(spec).records[0]
    assert CANARY in repr(record.labels)
    view = json.dumps(label_free(record), ensure_ascii=False)
    assert "Hello." in view or QUESTION["text"] in view
    assert CANARY not in view


def eva_runs(folder: Path) -> Path:
    """Earlier verdicts, expected end states, and what the simulation knew."""
    verdicts = {"faithfulness": {"score": 1.0, "details": {"rating": 1, "explanation": P, "judge_raw_response": P}}}
    hidden = {"expected_scenario_db": {P: P}, "user_persona": P, "conversation_ended_reason": P, "tool_called": [P]}
    write_conversation(folder / "run", "1", metrics=verdicts, **hidden)
    write_manifest(folder / "run", ["1"])
    return folder


def turn_benchmark(folder: Path) -> Path:
    """A judge's scores and reasons beside the transcript."""
    turn = {"turn": 0, "user_text": "Hello.", "assistant_text": "Hi.", "tool_calls": [], "tool_results": []}
    write(folder, turn, name="transcript.jsonl")
    judged = {"turn": 0, "scores": {"turn_taking": True, P: False}, "claude_reasoning": P}
    write(folder, judged, name="claude_judged.jsonl")
    write(folder, {"turn": 0, "golden_text": "Hi.", "expected_calls": [], "family": P}, name="golden_turns.jsonl")
    return folder


def mlflow_traces(folder: Path) -> Path:
    """Assessments of a trace, by people or judges."""
    inputs = json.dumps({"messages": [{"role": "user", "content": "Hello."}]})
    info = {"trace_id": "tr-1", "assessments": [{P: P}], "tags": {P: P}, "response_preview": P}
    spans = [{"parent_span_id": None, "attributes": {"mlflow.spanInputs": inputs, P: P}}]
    return write(folder, {"info": info, "data": {"spans": spans}})


WITHOUT_LABELS: dict[str, Callable[[Path], Path]] = {
    "eva_runs": eva_runs,
    "turn_benchmark": turn_benchmark,
    "mlflow_traces": mlflow_traces,
}


@pytest.mark.parametrize("reader", WITHOUT_LABELS)
def test_readers_without_labels_leave_verdicts_behind(tmp_path: Path, reader: str) -> None:
    """Other judges' verdicts and expected ends are nowhere in the record."""
    spec = DatasetSpec(path=str(WITHOUT_LABELS[reader](tmp_path)), reader=reader)
    record = load_dataset(spec).records[0]
    assert record.labels == {}
    assert CANARY not in repr(record)


def test_every_reader_is_poisoned() -> None:
    """A new reader must come with its poisoned row."""
    assert set(POISONED) | set(WITHOUT_LABELS) == set(READERS)
