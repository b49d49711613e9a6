"""ServiceNow/eva's `conciseness.jsonl`: 100 airline conversations, 479 rated assistant turns.

The file numbers utterances (`position`), the judge rates turns. `options.pairing`:
`pair` (default): the caller's utterance and the answer share a turn, `turn_id = ceil(position / 2)`, as in production;
`position`: `turn_id = position`, a turn for each utterance. The choice is in the notes: it may change verdicts.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Literal

from eva.edges.datasets.fields import Fields
from eva.edges.datasets.ids import UniqueIds, read_id
from eva.edges.datasets.jsonl import read_json_lines
from eva.edges.datasets.labels import label_text
from eva.edges.datasets.places import Notes, Place, Sourced
from eva.edges.datasets.spec import DatasetSpec
from eva.errors import UnknownChoice
from eva.types import Annotation, Event, Record

FIELDS = ("id", "conversation_id", "conv_turns")
TURN_FIELDS = ("position", "role", "content", "expected_rating", "failure_modes")
PAIRINGS = {"pair": "turn id = ceil(position / 2): caller and answer share a turn", "position": "turn id = position"}
ROLES: dict[str, Literal["user", "assistant"]] = {"user": "user", "agent": "assistant"}


def read_eva_conciseness(path: Path, spec: DatasetSpec, notes: Notes) -> Iterator[Sourced]:
    """Its records: one cluster each, labels by turn."""
    pairing = spec.options.get("pairing", "pair")
    if pairing not in PAIRINGS:
        raise UnknownChoice("dataset.options.pairing", pairing, PAIRINGS)
    notes.say(PAIRINGS[pairing])
    ids = UniqueIds()
    for place, data in read_json_lines(path):
        fields = Fields(data, place)
        fields.refuse_unknown(FIELDS)
        record_id = read_id(data.get("conversation_id"), place, name="conversation_id")
        ids.add(record_id, place)
        turns = fields.objects("conv_turns", required=True)
        events, labels, unlabelled = _conversation(turns, place, notes, paired=pairing == "pair")
        record = Record(
            record_id=record_id,
            cluster=record_id,
            events=events,
            language="en",
            domain="airline",
            labels=labels,
        )
        yield Sourced(record, place, unlabelled)


def _conversation(
    turns: list[Fields], place: Place, notes: Notes, *, paired: bool
) -> tuple[tuple[Event, ...], dict[str, tuple[Annotation, ...]], int]:
    events: list[Event] = []
    labels: dict[str, tuple[Annotation, ...]] = {}
    unlabelled = 0
    for number, row in enumerate(turns, start=1):
        row.refuse_unknown(TURN_FIELDS)
        role = row.choice("role", ROLES)
        if row.whole("position") != number or role != ("user", "agent")[1 - number % 2]:
            raise place.error("positions must count from 1, user and agent in turn", row.path("position"))
        turn = (number + 1) // 2 if paired else number
        events.append(Event(turn_id=turn, type=ROLES[role], text=row.text("content")))
        if role == "agent":
            annotation = _annotation(row, notes)
            unlabelled += annotation is None
            if annotation:
                labels[f"turn:{turn}"] = (annotation,)
    return tuple(events), labels, unlabelled


def _annotation(row: Fields, notes: Notes) -> Annotation | None:
    label = label_text(row.data.get("expected_rating"))
    if label is None:
        return None
    flags = tuple(mode for mode in row.items("failure_modes") if isinstance(mode, str) and mode.strip())
    if label == "2" and len(flags) > 1:
        notes.count("turns rated 2 have several failure modes (the rubric says one minor one)")
    if (label == "3") == bool(flags):
        notes.count("turns contradict themselves: rated 3 with failure modes, or lower without", row.place)
    return Annotation(label=label, annotator="ServiceNow/eva", flags=flags)
