"""ServiceNow/eva's label files: small rows of their shape, and the real ones where they lie beside the repository."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from eva.edges.datasets import DatasetSpec, load_dataset
from eva.errors import DataError, UnknownChoice
from eva.types import Dataset
from tests.edges.datasets.dataset_builders import write

TRACE = [
    {"event_type": "agent_utterance", "utterance": "Hello."},
    {"event_type": "user_utterance", "utterance": "Move my flight."},
    {"event_type": "tool_call", "tool_name": "find", "params": {"code": "K7Q2MD"}},
    {"event_type": "tool_response", "tool_name": "find", "status": "error", "response": {"status": "error"}},
    {"event_type": "agent_utterance", "utterance": "Which code?"},
    {"event_type": "user_utterance", "utterance": "K seven."},
    {"event_type": "agent_utterance", "utterance": "Thanks."},
]


def faithfulness_row(number: int, rating: int | None, **more: Any) -> dict[str, Any]:
    modes = [""] if rating == 3 else ["hallucination"]
    return {"id": number, "trace": TRACE, "expected_rating": rating, "failure_mode": modes, "validated": True,
            "invalid": False, "description": None, **more}  # fmt: skip


def conciseness_row(*ratings: int | None) -> dict[str, Any]:
    turns: list[dict[str, Any]] = []
    for number, rating in enumerate(ratings):
        turns.append({"position": 2 * number + 1, "role": "user", "content": "Question."})
        modes = [] if rating == 3 else ["verbosity_or_filler"]
        turns.append({"position": 2 * number + 2, "role": "agent", "content": "Answer.", "expected_rating": rating,
                      "failure_modes": modes})  # fmt: skip
    return {"id": 1, "conversation_id": "a0ab2221-2550", "conv_turns": turns}


def load(path: Path, reader: str, *rows: object, **spec: Any) -> Dataset:
    return load_dataset(DatasetSpec(path=str(write(path, *rows)), reader=reader, **spec))


def golds(dataset: Dataset) -> Counter[str]:
    return Counter(found[0].label for record in dataset.records for found in record.labels.values())


def test_turn_ids_follow_the_caller(tmp_path: Path) -> None:
    """The greeting is turn 0; each user utterance starts the next; calls and answers share it."""
    record = load(tmp_path, "eva_faithfulness", faithfulness_row(1, 1)).records[0]
    assert [event.turn_id for event in record.events] == [0, 1, 1, 1, 1, 2, 2]
    assert [event.type for event in record.events][2:4] == ["tool_call", "tool_response"]
    assert record.events[3].status == "error"


def test_label_side_fields_end_up_in_the_annotation(tmp_path: Path) -> None:
    """Flags without the empty one; the file's own id, versions and description are kept beside the label only."""
    row = faithfulness_row(71, 3, agent_instructions_version="v2", description="Fine.", current_date_time="2026-03-17")
    record = load(tmp_path, "eva_faithfulness", row).records[0]
    gold = record.labels["record"][0]
    assert (gold.label, gold.flags, gold.note, gold.provenance) == ("3", (), "Fine.", "with versions")
    assert gold.details == {"source_id": "71", "agent_instructions_version": "v2"}
    assert record.context == {"current_date_time": "2026-03-17"}


def test_ids_are_hashes_and_stay_the_same(tmp_path: Path) -> None:
    """The file's numbers follow the labels; the hash does not, and it does not depend on the conversation's text."""
    one = load(tmp_path, "eva_faithfulness", faithfulness_row(1, 1), faithfulness_row(2, 3))
    two = load(tmp_path, "eva_faithfulness", faithfulness_row(2, 1, trace=TRACE[:2]))
    assert one.records[1].record_id == two.records[0].record_id
    assert one.records[0].cluster == one.records[1].cluster  # both callers open with the same words
    with pytest.raises(DataError, match=r"line 2, field `record_id`: '1' stands there already \(line 1\)"):
        load(tmp_path, "eva_faithfulness", faithfulness_row(1, 1), faithfulness_row(1, 1))


def test_invalid_rows_are_kept_or_dropped_and_counted(tmp_path: Path) -> None:
    """The published n counts them; a setting leaves them out; the notes say which."""
    rows = [faithfulness_row(1, 1), faithfulness_row(27, 2, invalid=True)]
    kept = load(tmp_path, "eva_faithfulness", *rows)
    dropped = load(tmp_path, "eva_faithfulness", *rows, drop_invalid=True)
    assert (len(kept.records), len(dropped.records)) == (2, 1)
    assert any(note.startswith("1 rows marked invalid are kept") and "(27)" in note for note in kept.notes)
    assert any(note.startswith("1 rows marked invalid are left out") for note in dropped.notes)


def test_what_is_missing_is_said(tmp_path: Path) -> None:
    """No date, no agent configuration, labels that contradict their flags: counted in words."""
    notes = load(tmp_path, "eva_faithfulness", faithfulness_row(1, 3, failure_mode=["hallucination"])).notes
    assert any("no agent configuration" in note for note in notes)
    assert "1 records have no `current_date_time`" in notes
    assert any("contradict themselves" in note for note in notes)


def test_rows_of_another_shape_are_refused(tmp_path: Path) -> None:
    """A field or event that is not of this file means that it is another one."""
    with pytest.raises(DataError, match="field `conv_turns`: is unknown"):
        load(tmp_path, "eva_faithfulness", {**faithfulness_row(1, 1), "conv_turns": []})
    with pytest.raises(DataError, match=r"field `trace\[0\].event_type`"):
        load(tmp_path, "eva_faithfulness", faithfulness_row(1, 1, trace=[{"event_type": "noise"}]))


def test_positions_are_paired(tmp_path: Path) -> None:
    """Caller and answer share turn ceil(position / 2); the label of agent position p joins turn p / 2."""
    record = load(tmp_path, "eva_conciseness", conciseness_row(3, 1)).records[0]
    assert [(event.turn_id, event.type) for event in record.events] == [
        (1, "user"), (1, "assistant"), (2, "user"), (2, "assistant"),
    ]  # fmt: skip
    assert {item: found[0].label for item, found in record.labels.items()} == {"turn:1": "3", "turn:2": "1"}
    assert record.labels["turn:2"][0].flags == ("verbosity_or_filler",)
    assert record.record_id == "a0ab2221-2550"


def test_positions_can_stay_turns(tmp_path: Path) -> None:
    """The other rendering is a setting, and the notes say which one was used."""
    loaded = load(tmp_path, "eva_conciseness", conciseness_row(3, 1), options={"pairing": "position"})
    assert list(loaded.records[0].labels) == ["turn:2", "turn:4"]
    assert "turn id = position" in loaded.notes
    with pytest.raises(UnknownChoice, match="pairing"):
        load(tmp_path, "eva_conciseness", conciseness_row(3), options={"pairing": "odd"})


def test_positions_out_of_step_are_refused(tmp_path: Path) -> None:
    """Pairing rests on user and agent taking turns from 1."""
    row = conciseness_row(3, 3)
    del row["conv_turns"][1]
    with pytest.raises(DataError, match=r"`conv_turns\[1\].position`: positions must count from 1"):
        load(tmp_path, "eva_conciseness", row)


def test_a_turn_without_rating_is_unlabelled(tmp_path: Path) -> None:
    """Null is no label and no zero: refused by default, kept unscored where asked."""
    with pytest.raises(DataError, match="1 labels in them are null"):
        load(tmp_path, "eva_conciseness", conciseness_row(3, None))
    kept = load(tmp_path, "eva_conciseness", conciseness_row(3, None), unlabelled="keep")
    assert list(kept.records[0].labels) == ["turn:1"]


def test_the_real_faithfulness_file(shared_data: Path) -> None:
    """137 items, classes 57/28/52, 69 without a date; the agent's configuration reaches all of them."""
    folder = shared_data / "eva"
    spec = DatasetSpec(
        reader="eva_faithfulness",
        path=str(folder / "faithfulness.jsonl"),
        agent_config=str(folder / "airline_agent.yaml"),
    )
    dataset = load_dataset(spec)
    assert len(dataset.records) == 137
    assert golds(dataset) == {"1": 57, "2": 28, "3": 52}
    assert "69 records have no `current_date_time`" in dataset.notes
    assert '48 rows have `[""]` for no failure mode' in dataset.notes
    flags = Counter(flag for record in dataset.records for flag in record.labels["record"][0].flags)
    assert flags == {"violating_policies": 51, "hallucination": 30, "fabricating_tool_parameters": 25,
                     "misrepresenting_tool_result": 13, "failing_to_disambiguate": 5}  # fmt: skip
    assert all(len(record.context["agent_instructions"]) > 6000 for record in dataset.records)
    assert all(len(record.context["tools"]) == 15 for record in dataset.records)
    assert len({record.cluster for record in dataset.records}) == 112


def test_the_real_conciseness_file(shared_data: Path) -> None:
    """479 items in 100 clusters, classes 93/49/337."""
    dataset = load_dataset(DatasetSpec(reader="eva_conciseness", path=str(shared_data / "eva" / "conciseness.jsonl")))
    assert golds(dataset) == {"1": 93, "2": 49, "3": 337}
    assert len({record.cluster for record in dataset.records}) == 100
    assert sum(len(record.labels) for record in dataset.records) == 479


def progression_row(number: int, rating: int, mode: object, **more: Any) -> dict[str, Any]:
    return {"id": number, "trace": TRACE, "expected_rating": rating, "failure_mode": mode, "validated": True,
            "description": "Why.", **more}  # fmt: skip


def test_progression_modes_are_no_flags(tmp_path: Path) -> None:
    """Two generations of names: kept beside the label, whatever their spelling; contradictions are counted."""
    rows = [
        progression_row(1, 2, "minor_redundancy, question_quality"),
        progression_row(2, 3, "None"),
        progression_row(3, 3, "vague_questions"),
        progression_row(4, 1, None),
    ]
    loaded = load(tmp_path, "eva_conversation_progression", *rows)
    golds = [record.labels["record"][0] for record in loaded.records]
    assert [gold.flags for gold in golds] == [()] * 4
    assert golds[0].details["failure_mode"] == ["minor_redundancy", "question_quality"]
    assert golds[1].details["failure_mode"] == []
    assert "1 rows rated 3 carry a failure mode (3)" in loaded.notes
    assert "1 rows rated below 3 carry no failure mode (4)" in loaded.notes


def test_progression_arguments_in_strings_are_decoded(tmp_path: Path) -> None:
    """Some rows hold JSON in strings and responses without status; a trace may start with a call."""
    trace = [
        {"event_type": "tool_call", "tool_name": "find", "params": '{"code": "K7"}'},
        {"event_type": "tool_response", "tool_name": "find", "response": '{"found": true}'},
        {"event_type": "tool_call", "tool_name": "find", "params": "not JSON"},
        {"event_type": "tool_response", "tool_name": "find", "response": "plain words"},
    ]
    loaded = load(tmp_path, "eva_conversation_progression", progression_row(1, 2, "x", trace=trace))
    first, second, third, fourth = loaded.records[0].events
    assert (first.turn_id, first.arguments) == (0, {"code": "K7"})
    assert second.response == {"found": True}
    assert third.arguments == {"value": "not JSON"}
    assert fourth.response == "plain words"
    assert any(note.startswith("2 tool responses have no status") for note in loaded.notes)


def speech_row(sample: str, rating: int, **more: Any) -> dict[str, Any]:
    turns = [{"turn_index": index, "role": "assistant", "text": f"Turn {index}.", "tts_critical_entities": ["K7"]}
             for index in (0, 2, 5)]  # fmt: skip
    return {"id": f"1.1.2_assistant_{sample}", "transcript_id": "1.1.2", "evaluation_mode": "speaker_turns",
            "sample_type": sample, "intended_turns": turns, "expected_rating": rating, "audio_id": "1.1.2_x",
            **more}  # fmt: skip


def test_speech_rows_are_variants_of_their_conversation(tmp_path: Path) -> None:
    """One cluster a conversation, opaque ids although the text is the same, the file's turn numbers, a record label."""
    loaded = load(tmp_path, "eva_agent_speech_fidelity", speech_row("faithful", 1), speech_row("audio_missing", 0))
    one, two = loaded.records
    assert one.cluster == two.cluster
    assert one.record_id != two.record_id
    assert [event.turn_id for event in one.events] == [0, 2, 5]
    assert {item: found[0].label for item, found in one.labels.items()} == {"record": "1"}
    assert one.audio is None
    assert any("no sound" in note for note in loaded.notes)


def test_speech_sound_stays_below_its_folder(tmp_path: Path) -> None:
    """An audio id cannot lead out; a missing file is counted."""
    options = {"audio_folder": "wav"}
    loaded = load(tmp_path, "eva_agent_speech_fidelity", speech_row("faithful", 1), options=options)
    assert loaded.records[0].audio == "wav/1.1.2_x.wav"
    assert any("name a sound that is not there" in note for note in loaded.notes)
    with pytest.raises(DataError, match="field `audio_id`"):
        load(tmp_path, "eva_agent_speech_fidelity", speech_row("f", 1, audio_id="../../x"), options=options)


@pytest.mark.parametrize(
    ("reader", "classes", "clusters"),
    [
        ("conversation_progression", {"2": 5, "3": 3, "1": 2}, 7),
        ("agent_speech_fidelity", {"0": 8, "1": 2}, 4),
    ],
)
def test_the_real_heads_load(shared_data: Path, reader: str, classes: dict[str, int], clusters: int) -> None:
    """Ten rows of each of the two files that are there in part."""
    file = shared_data / "eva" / f"{reader}.head10.jsonl"
    dataset = load_dataset(DatasetSpec(reader=f"eva_{reader}", path=str(file)))
    assert golds(dataset) == classes
    assert len({record.cluster for record in dataset.records}) == clusters
