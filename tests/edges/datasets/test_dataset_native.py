"""The native format: what is read, and how each defect is named."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eva.edges.datasets import DatasetSpec, load_dataset, record_to_json, write_native
from eva.errors import DataError
from eva.types import Annotation, Event, Record
from tests.edges.datasets.dataset_builders import ANSWER, GREETING, QUESTION, load, row, write


def test_a_row_becomes_a_record(tmp_path: Path) -> None:
    """Every field of the format arrives at its place."""
    calls = [
        {"turn_id": 1, "type": "tool_call", "name": "next_train", "arguments": {"from": "Ulm"}},
        {"turn_id": 1, "type": "tool_response", "name": "next_train", "status": "success", "response": {"at": "09:10"}},
    ]
    label = {"item": "turn:1", "label": 2, "flags": ["wordy"], "rules": ["r1"], "annotator": "ann", "note": "why"}
    given = row(
        cluster="c", language="fr-CA", domain="rail", split="dev", context={"scenario": "s", "pipeline": "s2s"},
        events=[GREETING, QUESTION, *calls, ANSWER], labels=[label], audio="sound/a.wav",
    )  # fmt: skip
    got = load(tmp_path, given).records[0]
    assert got == Record(
        record_id="a",
        cluster="c",
        events=(
            Event(0, "assistant", text=GREETING["text"]),
            Event(1, "user", text=QUESTION["text"]),
            Event(1, "tool_call", name="next_train", arguments={"from": "Ulm"}),
            Event(1, "tool_response", name="next_train", response={"at": "09:10"}, status="success"),
            Event(1, "assistant", text=ANSWER["text"]),
        ),
        language="fr-CA",
        domain="rail",
        split="dev",
        context={"scenario": "s", "pipeline": "s2s"},
        labels={"turn:1": (Annotation("2", "ann", flags=("wordy",), rules=("r1",), note="why"),)},
        audio="sound/a.wav",
    )


def test_mark_blank_lines_crlf_and_line_separators(tmp_path: Path) -> None:
    """A byte order mark, blank lines and CRLF are accepted; U+2028 and U+0085 inside a string do not end a line."""
    text = "one\u2028two\u0085three"
    events = [{"turn_id": 1, "type": "user", "text": text}]
    lines = [json.dumps(row("a", events=events), ensure_ascii=False), "", json.dumps(row("b")), "  "]
    file = tmp_path / "data.jsonl"
    file.write_bytes(("\ufeff" + "\r\n".join(lines) + "\r\n").encode())
    records = load_dataset(DatasetSpec(path=str(file))).records
    assert [record.record_id for record in records] == ["a", "b"]
    assert records[0].events[0].text == text


@pytest.mark.parametrize(
    ("second", "said"),
    [
        ('{"record_id": "b", "events": [', "line 2: is not JSON"),
        ("[1]", "line 2: holds a list, not an object"),
        ('{"record_id": "b", "record_id": "c"}', "'record_id' stands twice"),
        ('{"record_id": "b", "context": {"x": NaN}}', "NaN is not a JSON number"),
        ('{"record_id": "b\\ud800"}', "half of a surrogate"),
        ("[" * 100_000, "line 2: is not usable JSON"),
    ],
)  # fmt: skip
def test_a_broken_line_is_named_by_number(tmp_path: Path, second: str, said: str) -> None:
    """Text that is no JSON object stops the loading with its line; it is never skipped."""
    with pytest.raises(DataError, match=said) as error:
        load(tmp_path, row("a"), second)
    assert "data.jsonl" in str(error.value)


def test_text_that_is_not_utf8_is_named(tmp_path: Path) -> None:
    """A file in another encoding is refused with line and byte, not guessed."""
    (tmp_path / "data.jsonl").write_bytes(json.dumps(row("a")).encode() + b'\n{"record_id": "caf\xe9"}\n')
    with pytest.raises(DataError, match="line 2: is not UTF-8: byte 0xe9"):
        load_dataset(DatasetSpec(path=str(tmp_path / "data.jsonl")))


@pytest.mark.parametrize("twin", [7, "7", 7.0])
def test_ids_that_read_alike_collide(tmp_path: Path, twin: object) -> None:
    """7, "7" and 7.0 are one id; both lines are named."""
    with pytest.raises(DataError, match=r"line 3, field `record_id`: '7' stands there already \(line 1\)"):
        load(tmp_path, row(7), row("8"), row(twin))


@pytest.mark.parametrize("bad", ["../x", "a b", "a#1", "", ".hidden", True, 1.5, ["a"], "é", "a" * 129])
def test_ids_that_are_no_plain_names_are_refused(tmp_path: Path, bad: object) -> None:
    """An id is used in file names and item ids, so that separators, spaces and dots in front are out."""
    with pytest.raises(DataError, match="line 1, field `record_id`"):
        load(tmp_path, row(bad))


def test_a_row_without_id_gets_one_from_its_content(tmp_path: Path) -> None:
    """Sorting the file or changing a label changes no id; two rows of the same content are refused."""
    other = row(..., domain="hr")
    first = load(tmp_path, row(...), other)
    relabelled = load(tmp_path, other, row(..., labels=[{"item": "record", "label": "1"}]))
    assert [r.record_id for r in first.records] == [r.record_id for r in reversed(relabelled.records)]
    assert any("got one from their content" in note for note in first.notes)
    with pytest.raises(DataError, match="stands there already"):
        load(tmp_path, row(...), row(...))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"expected_rating": 3}, "field `expected_rating`: is unknown"),
        ({"lables": []}, "did you mean `labels`"),
        ({"events": ...}, "field `events`: is missing"),
        ({"events": []}, "field `events`: is empty"),
        ({"events": [{**QUESTION, "txt": "x"}]}, r"`events\[0\].txt`: is unknown; did you mean `text`"),
        ({"events": [{**QUESTION, "type": "human"}]}, r"`events\[0\].type`: is 'human', not one of user"),
        ({"events": [{**QUESTION, "turn_id": "1"}]}, r"`events\[0\].turn_id`: is '1', not a whole number"),
        ({"events": [{**QUESTION, "turn_id": True}]}, r"`events\[0\].turn_id`: is True"),
        ({"events": [{**QUESTION, "turn_id": 1.5}]}, r"`events\[0\].turn_id`: is 1.5"),
        ({"events": [{**QUESTION, "turn_id": -1}]}, r"`events\[0\].turn_id`: is -1"),
        ({"events": [QUESTION, GREETING]}, r"`events\[1\].turn_id`: falls from 1 to 0"),
        ({"events": [{**QUESTION, "text": 7}]}, r"`events\[0\].text`: is 7, not a string"),
        ({"language": "English"}, "field `language`: is 'English', not a code"),
        ({"split": "train"}, "field `split`: is 'train', not one of dev, test"),
        ({"context": {"pipeline": "video"}}, "field `context.pipeline`"),
        ({"context": {"tools": {}}}, "field `context.tools`"),
        ({"context": []}, "field `context`: is .*, not an object"),
        ({"labels": [{"item": "turn:9", "label": "3"}]}, r"`labels\[0\].item`: is 'turn:9'; the record's turns"),
        ({"labels": [{"item": "turn:01", "label": "3"}]}, r"`labels\[0\].item`"),
        ({"labels": [{"item": "record", "label": ["3"]}]}, r"`labels\[0\].label`: is \['3'\], not a label"),
        ({"labels": [{"item": "record", "label": "3", "flag": []}]}, "did you mean `flags`"),
        ({"labels": [{"item": "record", "label": "3", "flags": [""]}]}, r"`labels\[0\].flags`"),
    ],
)  # fmt: skip
def test_each_defect_names_file_line_and_field(tmp_path: Path, change: dict[str, object], said: str) -> None:
    """A message says where, which field, the value, and what is allowed."""
    with pytest.raises(DataError, match=said) as error:
        load(tmp_path, row("ok"), row("bad", **change))
    assert str(error.value).startswith("data.jsonl, line 2")


def test_labels_have_one_spelling(tmp_path: Path) -> None:
    """3, 3.0, "3" and true are read as the strings that verdicts use."""
    given = [{"item": "record", "label": value} for value in (3, 3.0, " 3 ", True, False)]
    found = load(tmp_path, row(labels=given)).records[0].labels["record"]
    assert [annotation.label for annotation in found] == ["3", "3", "3", "true", "false"]


def test_two_policies_become_two_more_annotations(tmp_path: Path) -> None:
    """`label_strict` and `label_lenient` stand behind the gold label, by their names, with its rules."""
    given = {"item": "turn:1", "label": "2", "label_strict": 1, "label_lenient": 3, "rules": ["r"], "annotator": "ann"}
    found = load(tmp_path, row(labels=[given])).records[0].labels["turn:1"]
    assert [(a.annotator, a.label, a.rules) for a in found] == [
        ("ann", "2", ("r",)), ("strict", "1", ("r",)), ("lenient", "3", ("r",)),
    ]  # fmt: skip


TEXT = st.text(st.characters(exclude_categories=("Cs",)), max_size=20)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**60), 2**60) | st.floats(allow_nan=False, allow_infinity=False) | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=6,
)
EVENTS = st.one_of(
    st.builds(Event, st.integers(0, 9), st.sampled_from(["user", "assistant"]), text=TEXT, spoken=st.none() | TEXT),
    st.builds(
        Event, st.integers(0, 9), st.just("tool_call"), name=TEXT, arguments=st.dictionaries(TEXT, JSON, max_size=3)
    ),
    st.builds(Event, st.integers(0, 9), st.just("tool_response"), name=TEXT, response=JSON, status=st.none() | TEXT),
)
ANNOTATIONS = st.builds(
    Annotation, st.sampled_from(["1", "2", "not_applicable"]), TEXT, flags=st.just(("f",)), note=TEXT,
    details=st.dictionaries(TEXT, JSON, max_size=2),
)  # fmt: skip


@given(st.lists(EVENTS, min_size=1, max_size=5), st.lists(ANNOTATIONS, max_size=3), TEXT)
@settings(max_examples=60, deadline=None)
def test_what_is_written_is_read_again(
    tmp_path_factory: pytest.TempPathFactory, events: list[Event], labels: list[Annotation], scenario: str
) -> None:
    """Any record survives writing and reading: braces, line ends, quotes and other scripts inside strings included."""
    ordered = tuple(sorted(events, key=lambda event: event.turn_id))
    found = {"record": tuple(labels)} if labels else {}
    record = Record("a", "a", ordered, context={"scenario": scenario}, labels=found)
    file = tmp_path_factory.mktemp("round") / "data.jsonl"
    write_native(file, [record])
    assert load_dataset(DatasetSpec(path=str(file))).records == (record,)


def test_a_written_file_is_plain_jsonl(tmp_path: Path) -> None:
    """Readable text, one object a line, `\\n`: what a person edits and a diff shows."""
    record = load(tmp_path, row(domain="Zürich 確認")).records[0]
    file = tmp_path / "out.jsonl"
    write_native(file, [record, record])
    assert file.read_bytes().count(b"\n") == 2
    assert "Zürich 確認" in file.read_text(encoding="utf-8")
    assert json.loads(file.read_text(encoding="utf-8").split("\n")[0]) == record_to_json(record)


def test_a_line_has_a_longest_length(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file of another kind is not read into memory."""
    monkeypatch.setattr("eva.edges.datasets.jsonl.MAX_LINE_BYTES", 1000)
    with pytest.raises(DataError, match="line 1: is longer than"):
        load(tmp_path, row(domain="x" * 2000))


def test_a_missing_file_or_a_folder_says_so(tmp_path: Path) -> None:
    """No traceback of the operating system."""
    with pytest.raises(DataError, match="there is no such file"):
        load_dataset(DatasetSpec(path=str(tmp_path / "none.jsonl")))
    with pytest.raises(ValueError, match="is a folder; reader native reads a file"):
        load_dataset(DatasetSpec(path=str(tmp_path)))
    with pytest.raises(DataError, match="holds no record"):
        load_dataset(DatasetSpec(path=str(write(tmp_path, ""))))
