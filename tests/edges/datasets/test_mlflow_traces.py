"""Conversations from an export of MLflow traces."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from eva.edges.datasets import DatasetSpec, load_dataset
from eva.errors import DataError
from eva.types import Dataset, Event
from tests.edges.datasets.dataset_builders import write

MESSAGES: list[dict[str, Any]] = [
    {"role": "system", "content": "Ask for the code."},
    {"role": "assistant", "content": "Hello."},
    {"role": "user", "content": [{"type": "text", "text": "K7, please."}]},
    {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": "c1", "function": {"name": "find", "arguments": '{"code": "K7"}'}}],
    },
    {"role": "tool", "tool_call_id": "c1", "content": '{"found": true}'},
]


def trace(
    name: str, messages: list[dict[str, Any]], *, session: str = "", when: str = "2026-01-01", **tags: str
) -> dict[str, Any]:
    metadata = {"mlflow.trace.session": session} if session else {}
    answer = {"choices": [{"message": {"role": "assistant", "content": "Found it."}}]}
    attributes = {
        "mlflow.spanInputs": json.dumps({"messages": messages, "tools": [{"name": "find"}]}),
        "mlflow.spanOutputs": json.dumps(answer),
    }
    spans = [{"parent_span_id": "x", "attributes": {}}, {"parent_span_id": None, "attributes": attributes}]
    info = {"trace_id": name, "request_time": when, "trace_metadata": metadata, "tags": tags}
    return {"info": info, "data": {"spans": spans}}


def load(path: Path) -> Dataset:
    return load_dataset(DatasetSpec(path=str(path), reader="mlflow_traces"))


def test_messages_become_events(tmp_path: Path) -> None:
    """What comes before the caller is turn 0; calls and results have names; the traced answer comes last."""
    loaded = load(write(tmp_path, trace("tr-1", MESSAGES, language="de", domain="rail")))
    record = loaded.records[0]
    assert record.events == (
        Event(0, "assistant", text="Hello."),
        Event(1, "user", text="K7, please."),
        Event(1, "tool_call", name="find", arguments={"code": "K7"}),
        Event(1, "tool_response", name="find", response={"found": True}),
        Event(1, "assistant", text="Found it."),
    )
    assert (record.record_id, record.language, record.domain) == ("tr-1", "de", "rail")
    assert record.context == {"agent_instructions": "Ask for the code.", "tools": [{"name": "find"}]}


def test_the_last_trace_of_a_session_holds_it_whole(tmp_path: Path) -> None:
    """Earlier steps are left out and counted, in whatever order they are exported."""
    steps = [
        trace("tr-2", MESSAGES, session="s/1", when="2026-01-02"),
        trace("tr-1", MESSAGES[:3], session="s/1", when="2026-01-01"),
    ]
    file = tmp_path / "traces.json"
    file.write_text(json.dumps({"traces": steps}, indent=2), encoding="utf-8")
    loaded = load(file)
    assert len(loaded.records) == 1
    assert len(loaded.records[0].events) == 5
    assert loaded.records[0].record_id.startswith("s-1-")
    assert any("earlier steps of a session" in note for note in loaded.notes)


def test_other_traces_are_counted(tmp_path: Path) -> None:
    """A trace without chat messages is no conversation; a file of nothing else is refused."""
    other = {"info": {"trace_id": "tr-9"}, "data": {"spans": []}}
    loaded = load(write(tmp_path, other, trace("tr-1", MESSAGES)))
    assert any(note.startswith("1 traces hold no chat messages") for note in loaded.notes)
    with pytest.raises(DataError, match="holds no record"):
        load(write(tmp_path, other))
