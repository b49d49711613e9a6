"""Conversations that an MLflow experiment holds as traces, from an export:

    mlflow traces search --experiment-id 1 --max-results 500 --output json > traces.json

A trace counts where its root span's inputs hold chat `messages`. Traces of one session (`mlflow.trace.session`) are
steps of one conversation: the last one holds it whole. A file with one trace a line is read as well.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from eva.edges.datasets.chat_messages import chat_events, parsed, system_text
from eva.edges.datasets.fields import Fields
from eva.edges.datasets.ids import plain_id
from eva.edges.datasets.jsonl import read_json_lines
from eva.edges.datasets.places import Notes, Place, Sourced
from eva.edges.datasets.run_manifest import read_json
from eva.edges.datasets.spec import DatasetSpec
from eva.types import Record

SESSION = "mlflow.trace.session"


def read_mlflow_traces(path: Path, spec: DatasetSpec, notes: Notes) -> Iterator[Sourced]:
    """One record a session, or a trace without one. Tags `language`, `domain` and `scenario` are read where set."""
    last: dict[str, tuple[str, Sourced]] = {}
    for place, trace in _traces(path):
        info = trace.mapping("info")
        name = str((info.get("trace_metadata") or {}).get(SESSION) or info.get("trace_id") or "")
        record = _record(name, trace, info, notes)
        if record is None:
            continue
        when = str(info.get("request_time") or "")
        if name in last:
            notes.count("traces are earlier steps of a session and are left out", name)
        if name not in last or when >= last[name][0]:
            last[name] = (when, Sourced(record, place))
    yield from (sourced for _, sourced in last.values())


def _traces(path: Path) -> Iterator[tuple[Place, Fields]]:
    with path.open("rb") as file:
        whole = not file.readline().strip().endswith(b"}")
    if whole:
        place = Place(path.name)
        yield from ((place, trace) for trace in Fields(read_json(path), place).objects("traces", required=True))
    else:
        yield from ((place, Fields(data, place)) for place, data in read_json_lines(path))


def _record(name: str, trace: Fields, info: Mapping[str, Any], notes: Notes) -> Record | None:
    spans = Fields(trace.mapping("data"), trace.place, within="data").objects("spans")
    root = next((span for span in spans if span.data.get("parent_span_id") is None), None)
    inputs = _attribute(root, "mlflow.spanInputs") if root else None
    messages = inputs.get("messages") if isinstance(inputs, dict) else None
    if root is None or not isinstance(messages, list):
        notes.count("traces hold no chat messages and are left out", name)
        return None
    events = chat_events([*messages, *_answer(_attribute(root, "mlflow.spanOutputs"))])
    if not events:
        notes.count("traces hold nothing that was said and are left out", name)
        return None
    tags = info.get("tags") or {}
    instructions = system_text(messages)
    tools = inputs.get("tools") if isinstance(inputs, dict) else None
    context = {"agent_instructions": instructions, "tools": tools, "scenario": tags.get("scenario")}
    return Record(
        record_id=plain_id(name),
        cluster=plain_id(name),
        events=events,
        language=str(tags.get("language") or "en"),
        domain=str(tags.get("domain") or ""),
        context={key: value for key, value in context.items() if value},
    )


def _attribute(span: Fields, name: str) -> Any:
    """A span's attribute: MLflow stores JSON in strings."""
    return parsed(span.mapping("attributes").get(name))


def _answer(outputs: Any) -> list[dict[str, Any]]:
    """The message that the traced call gave back, whatever program wrapped it."""
    if isinstance(outputs, str):
        return [{"role": "assistant", "content": outputs}]
    if not isinstance(outputs, dict):
        return []
    choices = outputs.get("choices")
    if isinstance(choices, list) and choices and isinstance(choices[0], dict):
        message = choices[0].get("message")
        return [message] if isinstance(message, dict) else []
    if isinstance(outputs.get("messages"), list):
        return [message for message in outputs["messages"] if isinstance(message, dict)]
    return [{"role": "assistant", **outputs}] if "content" in outputs else []
