"""ServiceNow/eva's `faithfulness.jsonl`: 137 airline conversations, one rating each.

Field by field: `id` gives the label away (the first seventy were made to fail), so the record id is a hash of it;
`failure_mode`, `description`, `validated`, `invalid` and the two versions are label-side and end up in the annotation.
The file has no agent configuration: `dataset.agent_config` names one, or the judge is told that there is none.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from eva.edges.datasets.eva_trace import opening, trace_events
from eva.edges.datasets.fields import Fields
from eva.edges.datasets.ids import UniqueIds, opaque_id, read_id
from eva.edges.datasets.jsonl import read_json_lines
from eva.edges.datasets.labels import label_text
from eva.edges.datasets.places import Notes, Sourced
from eva.edges.datasets.spec import DatasetSpec
from eva.types import Annotation, Record

FIELDS = (
    "id", "trace", "expected_rating", "failure_mode", "validated", "invalid", "description",
    "agent_instructions_version", "available_tools_version", "current_date_time",
)  # fmt: skip
VERSIONS = ("agent_instructions_version", "available_tools_version")


def read_eva_faithfulness(path: Path, spec: DatasetSpec, notes: Notes) -> Iterator[Sourced]:
    """Its records. Rows that open with the same words of the caller are variants of one another: one cluster."""
    ids = UniqueIds()
    clusters: set[str] = set()
    if not spec.agent_config:
        notes.say("no agent configuration: role, instructions and tools are absent (dataset.agent_config=<file>.yaml)")
    for place, data in read_json_lines(path):
        fields = Fields(data, place)
        fields.refuse_unknown(FIELDS)
        source_id = read_id(data.get("id"), place, name="id")
        ids.add(source_id, place)
        if left_out_as_invalid(fields, source_id, spec, notes):
            continue
        events = trace_events(fields, notes)
        date = fields.optional_text("current_date_time")
        if not date:
            notes.count("records have no `current_date_time`")
        record_id = opaque_id("ef", source_id)
        record = Record(
            record_id=record_id,
            cluster=opaque_id("efc", opening(events)),
            events=events,
            language="en",
            domain="airline",
            context={"current_date_time": date} if date else {},
            labels=_labels(fields, source_id, notes),
        )
        clusters.add(record.cluster)
        yield Sourced(record, place, unlabelled=0 if record.labels else 1)
    notes.say(f"rows in which the caller opens with the same words are one cluster: {len(clusters)} clusters")


def left_out_as_invalid(fields: Fields, source_id: str, spec: DatasetSpec, notes: Notes) -> bool:
    """Whether a row that the file marks invalid is left out; counted either way."""
    if fields.data.get("invalid") is not True:
        return False
    if spec.drop_invalid:
        notes.count("rows marked invalid are left out (dataset.drop_invalid)", source_id)
        return True
    notes.count("rows marked invalid are kept, as in the published n (dataset.drop_invalid=true drops)", source_id)
    return False


def _labels(fields: Fields, source_id: str, notes: Notes) -> dict[str, tuple[Annotation, ...]]:
    label = label_text(fields.data.get("expected_rating"))
    if label is None:
        return {}
    modes = fields.items("failure_mode")
    flags = tuple(mode for mode in modes if isinstance(mode, str) and mode.strip())
    if len(flags) < len(modes):
        notes.count('rows have `[""]` for no failure mode')
    if (label == "3") == bool(flags):
        notes.count("rows contradict themselves: rated 3 with failure modes, or lower without", source_id)
    versions = {name: fields.data[name] for name in VERSIONS if fields.data.get(name)}
    annotation = Annotation(
        label=label,
        annotator="ServiceNow/eva",
        flags=flags,
        provenance="with versions" if versions else "without versions",
        note=fields.text("description", default=""),
        details={"source_id": source_id, **versions},
    )
    return {"record": (annotation,)}
