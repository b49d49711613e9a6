"""ServiceNow/eva's `agent_speech_fidelity.jsonl`: 147 recordings of an airline agent, one rating each.

The label is of the whole recording (item `record`), the judges of speech rate turns: a recording is 1 where no turn is
0. The set was made for a judge that compares text and sound (today's `tts_fidelity`), and the sound is not published:
`options.audio_folder` names a folder below the file's own that holds `<audio_id>.wav`.

Field by field: `id`, `sample_type`, `audio_id` and `perturbation_metadata` give the label away, and so may the listed
entities, a quarter of which do not occur in their turn: all of them are label-side.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from eva.edges.datasets.agents import inside
from eva.edges.datasets.fields import Fields
from eva.edges.datasets.ids import UniqueIds, opaque_id, read_id
from eva.edges.datasets.jsonl import read_json_lines
from eva.edges.datasets.labels import label_text
from eva.edges.datasets.places import Notes, Place, Sourced
from eva.edges.datasets.spec import DatasetSpec
from eva.types import Annotation, Event, Record

FIELDS = (
    "id", "transcript_id", "evaluation_mode", "sample_type", "intended_turns", "expected_rating", "audio_id",
    "perturbation_metadata",
)  # fmt: skip
TURN_FIELDS = ("turn_index", "role", "text", "tts_critical_entities")
LABEL_SIDE = ("sample_type", "audio_id", "perturbation_metadata")


def read_eva_agent_speech_fidelity(path: Path, spec: DatasetSpec, notes: Notes) -> Iterator[Sourced]:
    """Its records, clustered by the conversation that they are made from; turn ids are the file's `turn_index`."""
    ids = UniqueIds()
    folder = str(spec.options.get("audio_folder") or "")
    if not folder:
        notes.say("no sound: this dataset's recordings are not published (dataset.options.audio_folder=<folder>)")
    notes.say("labels are of whole recordings; a recording is rated 0 where any turn is")
    for place, data in read_json_lines(path):
        fields = Fields(data, place)
        fields.refuse_unknown(FIELDS)
        source_id = fields.text("id")
        record_id = opaque_id("es", source_id)
        ids.add(record_id, place)
        record = Record(
            record_id=record_id,
            cluster=opaque_id("esc", read_id(data.get("transcript_id"), place, name="transcript_id")),
            events=_events(fields),
            language="en",
            domain="airline",
            labels=_labels(fields, source_id),
            audio=_audio(fields, path.parent, folder, notes),
        )
        yield Sourced(record, place, unlabelled=0 if record.labels else 1)


def _events(fields: Fields) -> tuple[Event, ...]:
    events: list[Event] = []
    for row in fields.objects("intended_turns", required=True):
        row.refuse_unknown(TURN_FIELDS)
        row.choice("role", ("assistant",))
        turn = row.whole("turn_index")
        if events and turn <= events[-1].turn_id:
            raise row.place.error(f"does not rise from {events[-1].turn_id} to {turn}", row.path("turn_index"))
        events.append(Event(turn_id=turn, type="assistant", text=row.text("text")))
    if not events:
        raise fields.place.error("is empty", "intended_turns")
    return tuple(events)


def _labels(fields: Fields, source_id: str) -> dict[str, tuple[Annotation, ...]]:
    label = label_text(fields.data.get("expected_rating"))
    if label is None:
        return {}
    entities = {
        str(row.whole("turn_index")): list(row.texts("tts_critical_entities"))
        for row in fields.objects("intended_turns")
    }
    details = {name: fields.data[name] for name in LABEL_SIDE if fields.data.get(name) is not None}
    annotation = Annotation(
        label=label,
        annotator="ServiceNow/eva",
        provenance=fields.text("sample_type", default=""),
        details={"source_id": source_id, "entities": entities, **details},
    )
    return {"record": (annotation,)}


def _audio(fields: Fields, root: Path, folder: str, notes: Notes) -> str | None:
    if not folder:
        return None
    audio = f"{folder}/{fields.text('audio_id')}.wav"
    if not inside(root, audio, fields.place, name="audio_id").is_file():
        notes.count("records name a sound that is not there", Place(audio))
    return audio
