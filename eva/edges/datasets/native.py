"""The native format (`eva/data/README.md`): JSON lines, one conversation each, checked field by field."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from eva.edges.datasets.agents import Agents, inside
from eva.edges.datasets.fields import Fields, shown
from eva.edges.datasets.ids import UniqueIds, content_id, read_id
from eva.edges.datasets.jsonl import read_json_lines
from eva.edges.datasets.labels import read_labels
from eva.edges.datasets.places import Notes, Place, Sourced
from eva.edges.datasets.spec import DatasetSpec
from eva.types import Event, Record

FIELDS = ("record_id", "cluster", "language", "domain", "split", "context", "events", "labels", "audio")
EVENT_FIELDS = {
    "user": ("turn_id", "type", "text", "spoken"),
    "assistant": ("turn_id", "type", "text", "spoken"),
    "tool_call": ("turn_id", "type", "name", "arguments"),
    "tool_response": ("turn_id", "type", "name", "status", "response"),
}
PIPELINES = ("cascade", "audio_llm", "s2s")
LANGUAGE = r"[a-z]{2,3}(-[A-Z]{2})?"


def read_native(path: Path, spec: DatasetSpec, notes: Notes) -> Iterator[Sourced]:
    """The records of a native file, in its order. Raises DataError with file, line and field."""
    agents = Agents(path.parent)
    ids = UniqueIds()
    for place, data in read_json_lines(path):
        sourced = record_from_json(data, place, folder=path.parent, agents=agents)
        ids.add(sourced.record.record_id, place)
        if data.get("record_id") is None:
            notes.count("records without `record_id` got one from their content", sourced.record.record_id)
        if sourced.record.audio and not (path.parent / sourced.record.audio).is_file():
            notes.count("records name a sound that is not there", sourced.record.record_id)
        yield sourced


def record_from_json(data: dict[str, Any], place: Place, *, folder: Path, agents: Agents) -> Sourced:
    """One row as a record, its agent's configuration filled in. Raises DataError with line and field."""
    fields = Fields(data, place)
    fields.refuse_unknown(FIELDS)
    given = data.get("record_id")
    content = {key: value for key, value in data.items() if key not in ("record_id", "labels")}
    record_id = read_id(given, place) if given is not None else content_id(content)
    events = read_events(fields)
    context = _context(fields, agents)
    scripted = {turn["turn_id"] for turn in context.get("golden_turns") or ()}
    labels, unlabelled = read_labels(fields.objects("labels"), {event.turn_id for event in events} | scripted)
    cluster = data.get("cluster")
    record = Record(
        record_id=record_id,
        cluster=record_id if cluster is None else read_id(cluster, place, name="cluster"),
        events=events,
        language=fields.pattern("language", LANGUAGE, "a code such as en, de or fr-CA", default="en"),
        domain=fields.text("domain", default=""),
        split=fields.choice("split", ("dev", "test"), default=""),
        context=context,
        labels=labels,
        audio=_audio(fields, folder),
    )
    return Sourced(record, place, unlabelled)


def read_events(fields: Fields) -> tuple[Event, ...]:
    """The events of a row: at least one, known fields only, turn ids that never fall."""
    rows = fields.objects("events", required=True)
    if not rows:
        raise fields.place.error("is empty: a conversation has at least one event", "events")
    events: list[Event] = []
    for row in rows:
        event = _event(row)
        if events and event.turn_id < events[-1].turn_id:
            before = events[-1].turn_id
            raise row.place.error(f"falls from {before} to {event.turn_id}; turns stand in order", row.path("turn_id"))
        events.append(event)
    return tuple(events)


def _event(row: Fields) -> Event:
    kind = row.choice("type", EVENT_FIELDS)
    row.refuse_unknown(EVENT_FIELDS[kind])
    turn = row.whole("turn_id")
    if kind == "user":
        return Event(turn_id=turn, type="user", text=row.text("text"), spoken=row.optional_text("spoken"))
    if kind == "assistant":
        return Event(turn_id=turn, type="assistant", text=row.text("text"), spoken=row.optional_text("spoken"))
    if kind == "tool_call":
        return Event(turn_id=turn, type="tool_call", name=row.text("name"), arguments=row.mapping("arguments"))
    return Event(
        turn_id=turn,
        type="tool_response",
        name=row.text("name"),
        response=row.data.get("response"),
        status=row.optional_text("status"),
    )


def _context(fields: Fields, agents: Agents) -> dict[str, Any]:
    """The record's context over its agent's configuration; `agent` itself is used up."""
    own = {key: value for key, value in fields.mapping("context").items() if value is not None}
    checked = Fields(own, fields.place, within="context")
    for name in ("agent_role", "agent_instructions", "current_date_time"):
        checked.optional_text(name)
    for name in ("tools", "required_calls"):
        checked.items(name)
    for turn in checked.objects("golden_turns"):
        turn.whole("turn_id")
    checked.choice("pipeline", PIPELINES, default="")
    agent = own.pop("agent", None)
    return own if agent is None else {**agents.get(agent, fields.place), **own}


def _audio(fields: Fields, folder: Path) -> str | None:
    audio = fields.optional_text("audio")
    if audio is None:
        return None
    if not audio.strip():
        raise fields.place.error(f"is {shown(audio)}, not a path", "audio")
    inside(folder, audio, fields.place, name="audio")
    return audio
