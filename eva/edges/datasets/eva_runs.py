"""Outputs of ServiceNow/eva: `<output>/<run>/records/<id>[/trial_k]/metrics.json`, with all that judges need.

One folder at a time: memory stays flat whatever their number. The verdicts that metrics.json also holds are not labels;
`recorded_verdicts` reads them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from eva.edges.datasets.fields import Fields
from eva.edges.datasets.ids import plain_id
from eva.edges.datasets.native import PIPELINES
from eva.edges.datasets.places import Notes, Place, Sourced
from eva.edges.datasets.run_manifest import Conversation, conversations, find_runs, read_json
from eva.edges.datasets.spec import DatasetSpec
from eva.errors import DataError, UnknownChoice
from eva.types import Event, Record

SOUNDS = {
    "assistant": ("audio_assistant.wav",),
    "user": ("audio_user_clean.wav", "audio_user.wav"),
}
"""Speaker -> names of its sound, newest first."""


def read_eva_runs(path: Path, spec: DatasetSpec, notes: Notes) -> Iterator[Sourced]:
    """The conversations that the runs' manifests call completed. Domain and scenario are the cluster, over all runs."""
    sound = spec.options.get("audio")
    if sound is not None and sound not in SOUNDS:
        raise UnknownChoice("dataset.options.audio", sound, SOUNDS)
    for run in find_runs(path, tuple(spec.options.get("runs") or ())):
        config = read_json(run / "config.json") if (run / "config.json").is_file() else {}
        for conversation in conversations(run, notes):
            file = conversation.folder / "metrics.json"
            if not file.is_file():
                notes.count(
                    "completed conversations have no metrics.json and are left out", conversation_id(conversation)
                )
                continue
            try:
                record = _record(conversation, read_json(file), config, notes)
            except DataError as error:
                if not spec.options.get("skip_broken"):
                    raise DataError(
                        f"{error} (dataset.options.skip_broken=true leaves such conversations out)"
                    ) from None
                notes.count("conversations cannot be read and are left out", conversation_id(conversation))
                continue
            yield Sourced(_with_sound(record, conversation, path, sound), conversation.place)


def conversation_id(conversation: Conversation) -> str:
    """`<run>.<id>[.trial_k]`, the same for records and for recorded verdicts."""
    return plain_id(conversation.run.name, conversation.scenario, conversation.trial)


def run_domain(config: Mapping[str, Any]) -> str:
    """The domain that a run's config names by its dataset (`data/airline.jsonl`), or its agent."""
    for key, ending in (("dataset_path", "_dataset"), ("agent_config_path", "_agent")):
        if isinstance(config.get(key), str):
            return Path(str(config[key])).stem.removesuffix(ending)
    return ""


def _record(conversation: Conversation, data: Mapping[str, Any], config: Mapping[str, Any], notes: Notes) -> Record:
    place = Place(f"{conversation.run.name}/records/{conversation.scenario}/{conversation.trial}".rstrip("/"))
    fields = Fields(Fields(data, place).mapping("context"), place, within="context")
    domain = run_domain(config)
    events = trace_turns(fields, conversation_id(conversation), notes)
    language = fields.data.get("language") or config.get("language") or "en"
    return Record(
        record_id=conversation_id(conversation),
        cluster=plain_id(domain, conversation.scenario),
        events=events,
        language=str(language),
        domain=domain,
        context=_context(fields, notes),
    )


def _context(fields: Fields, notes: Notes) -> dict[str, Any]:
    given = {
        "agent_role": fields.optional_text("agent_role"),
        "agent_instructions": fields.optional_text("agent_instructions"),
        "tools": fields.items("agent_tools") or None,
        "current_date_time": fields.optional_text("current_date_time"),
        "scenario": fields.data.get("user_goal"),
        "pipeline": _pipeline(fields, notes),
    }
    for name in ("agent_instructions", "tools", "current_date_time"):
        if not given[name]:
            notes.count(f"conversations have no `{name}`", fields.place)
    return {name: value for name, value in given.items() if value}


def _pipeline(fields: Fields, notes: Notes) -> str:
    """The pipeline; runs from before it was stored only say whether the model hears sound."""
    stated = str(fields.data.get("pipeline_type") or "").lower()
    if stated in PIPELINES:
        return stated
    if stated:
        raise fields.place.error(f"is {stated!r}, not one of {', '.join(PIPELINES)}", "context.pipeline_type")
    native = fields.data.get("is_audio_native") is True
    taken = "s2s" if native else "cascade"
    notes.count(f"conversations do not state their pipeline; taken as {taken} by `is_audio_native`", fields.place)
    return taken


def trace_turns(fields: Fields, name: str, notes: Notes) -> tuple[Event, ...]:
    """The events of `conversation_trace`, in the order of their turns. Raises DataError with place and field."""
    events = [_event(row) for row in fields.objects("conversation_trace", required=True)]
    if not events:
        raise fields.place.error("is empty", fields.path("conversation_trace"))
    ordered = sorted(events, key=lambda event: event.turn_id)
    if ordered != events:
        notes.count("conversations had turn ids that fall; their events are put in the order of turns", name)
    return tuple(ordered)


def _event(row: Fields) -> Event:
    turn = row.whole("turn_id")
    kind = row.text("type", default="")
    if kind == "tool_call":
        return Event(turn_id=turn, type="tool_call", name=row.text("tool_name"), arguments=row.mapping("parameters"))
    if kind == "tool_response":
        response = row.data.get("tool_response")
        status = response.get("status") if isinstance(response, dict) else None
        return Event(
            turn_id=turn,
            type="tool_response",
            name=row.text("tool_name"),
            response=response,
            status=status if status in ("success", "error") else None,
        )
    speaker = row.choice("role", ("user", "assistant"))
    return Event(turn_id=turn, type="user" if speaker == "user" else "assistant", text=row.text("content"))


def _with_sound(record: Record, conversation: Conversation, root: Path, speaker: str | None) -> Record:
    names = SOUNDS[speaker] if speaker else ()
    file = next((conversation.folder / name for name in names if (conversation.folder / name).is_file()), None)
    if file is None:
        return record
    return replace(record, audio=file.relative_to(root).as_posix())
