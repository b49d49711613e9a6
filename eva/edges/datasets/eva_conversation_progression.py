"""ServiceNow/eva's `conversation_progression.jsonl`: 136 airline conversations, one rating each.

Field by field: `id`, `failure_mode`, `description`, `source`, `modified_at`, `has_interruption_tags`, `validated` and
`invalid` are label-side. `failure_mode` mixes two generations of names, so that it is no truth for single dimensions:
it stands in the annotation's details and gives no flags.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from eva.edges.datasets.eva_faithfulness import left_out_as_invalid
from eva.edges.datasets.eva_trace import opening, trace_events
from eva.edges.datasets.fields import Fields
from eva.edges.datasets.ids import UniqueIds, opaque_id, read_id
from eva.edges.datasets.jsonl import read_json_lines
from eva.edges.datasets.labels import label_text
from eva.edges.datasets.places import Notes, Sourced
from eva.edges.datasets.spec import DatasetSpec
from eva.types import Annotation, Record

FIELDS = (
    "id", "trace", "expected_rating", "failure_mode", "validated", "invalid", "description", "modified_at", "source",
    "has_interruption_tags",
)  # fmt: skip


def read_eva_conversation_progression(path: Path, spec: DatasetSpec, notes: Notes) -> Iterator[Sourced]:
    """Its records. Rows that open with the same words of the caller are variants of one another: one cluster."""
    ids = UniqueIds()
    notes.say("failure modes mix two generations of names: kept in the annotation's details, not as flags")
    for place, data in read_json_lines(path):
        fields = Fields(data, place)
        fields.refuse_unknown(FIELDS)
        source_id = read_id(data.get("id"), place, name="id")
        ids.add(source_id, place)
        if left_out_as_invalid(fields, source_id, spec, notes):
            continue
        events = trace_events(fields, notes)
        record = Record(
            record_id=opaque_id("ep", source_id),
            cluster=opaque_id("epc", opening(events)),
            events=events,
            language="en",
            domain="airline",
            labels=_labels(fields, source_id, notes),
        )
        yield Sourced(record, place, unlabelled=0 if record.labels else 1)


def failure_modes(value: Any) -> tuple[str, ...]:
    """Names from a comma-separated string, a list, null or an empty string: the file has all of them."""
    parts = value.split(",") if isinstance(value, str) else value or ()
    return tuple(part.strip() for part in parts if isinstance(part, str) and part.strip() not in ("", "None"))


def _labels(fields: Fields, source_id: str, notes: Notes) -> dict[str, tuple[Annotation, ...]]:
    label = label_text(fields.data.get("expected_rating"))
    if label is None:
        return {}
    modes = failure_modes(fields.data.get("failure_mode"))
    if label == "3" and modes:
        notes.count("rows rated 3 carry a failure mode", source_id)
    if label != "3" and not modes:
        notes.count("rows rated below 3 carry no failure mode", source_id)
    annotation = Annotation(
        label=label,
        annotator="ServiceNow/eva",
        provenance=fields.text("source", default=""),
        note=fields.text("description", default=""),
        details={"source_id": source_id, "failure_mode": list(modes)},
    )
    return {"record": (annotation,)}
