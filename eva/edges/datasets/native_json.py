"""Records written in the native format, the view of them that carries no label, and the sha256 of their content."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from eva.edges.datasets.ids import canonical
from eva.edges.datasets.jsonl import write_json_lines
from eva.types import Annotation, Event, Record


def write_native(path: Path, records: Iterable[Record]) -> None:
    """Write records so that reading them gives the same ones. Agents' configurations are written out in each record."""
    write_json_lines(path, (record_to_json(record) for record in records))


def record_to_json(record: Record) -> dict[str, Any]:
    """One record as the native format states it; empty fields are left out."""
    labels = [_label(item, one) for item, annotations in record.labels.items() for one in annotations]
    optional = {
        "cluster": record.cluster if record.cluster != record.record_id else "",
        "language": record.language,
        "domain": record.domain,
        "split": record.split,
        "context": dict(record.context),
    }
    return {
        "record_id": record.record_id,
        **_filled(optional),
        "events": [_event(event) for event in record.events],
        **_filled({"labels": labels, "audio": record.audio}),
    }


def label_free(record: Record) -> dict[str, Any]:
    """All of a record that any request may show: no labels, no split, no synthesis plan, no sound's file name."""
    view = record_to_json(record)
    for name in ("labels", "split", "audio"):
        view.pop(name, None)
    for event in view["events"]:
        event.pop("spoken", None)
    return view


def record_sha256(record: Record) -> str:
    """Of one record's content, labels included; the order of keys and of items does not count."""
    content = record_to_json(record)
    content["labels"] = sorted(content.get("labels", []), key=lambda label: str(label["item"]))
    return hashlib.sha256(canonical(content).encode()).hexdigest()


def content_sha256(digests: Iterable[str]) -> str:
    """Of a set of records, from each one's digest: the same whatever the file's name, line ends and order of rows."""
    return hashlib.sha256("\n".join(sorted(digests)).encode()).hexdigest()


def _event(event: Event) -> dict[str, Any]:
    made: dict[str, Any] = {"turn_id": event.turn_id, "type": event.type}
    if event.type in ("user", "assistant"):
        made["text"] = event.text or ""
    else:
        made["name"] = event.name or ""
    if event.type == "tool_call":
        made["arguments"] = dict(event.arguments or {})
    if event.response is not None:
        made["response"] = event.response
    for name, value in (("status", event.status), ("spoken", event.spoken)):
        if value is not None:
            made[name] = value
    return made


def _label(item: str, annotation: Annotation) -> dict[str, Any]:
    return {
        "item": item,
        "label": annotation.label,
        **_filled(
            {
                "flags": list(annotation.flags),
                "rules": list(annotation.rules),
                "annotator": annotation.annotator,
                "provenance": annotation.provenance,
                "note": annotation.note,
                "details": dict(annotation.details),
            }
        ),
    }


def _filled(values: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in values.items() if value not in ("", None, [], {})}
