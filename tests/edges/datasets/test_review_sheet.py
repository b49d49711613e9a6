"""Review sheets that came back become labels, with the reviewers' names."""

from __future__ import annotations

from pathlib import Path

import pytest

from eva.edges.datasets import DatasetSpec, load_dataset, write_native
from eva.edges.datasets.review_sheet import item_key, labelled_dataset, read_sheets
from eva.errors import DataError
from eva.types import Scale
from tests.edges.datasets.dataset_builders import dataset, record

SCALE = Scale(("1", "2", "3"), ordinal=True, allows_not_applicable=True)
HEAD = "item_id,conversation,verdict_a,agree_a,verdict_b,agree_b,label,annotator,comment"


def sheet(path: Path, *rows: str, name: str = "sheet.csv", head: str = HEAD) -> Path:
    file = path / name
    file.write_text("\n".join([head, *rows]) + "\n", encoding="utf-8-sig")
    return file


def test_agreement_and_own_labels(tmp_path: Path) -> None:
    """The verdict that the reviewer agrees with, or the label that he writes; empty rows are no labels."""
    file = sheet(
        tmp_path,
        "a#1,…,3,yes,2,no,,Mina,",
        "a#2,…,3,no,2,no,1,Mina,Far too long",
        "a#3,…,3,,2,,,Mina,",
        "b,…,1,no,2,Yes,,Jo,",
    )
    found = read_sheets([file], SCALE)
    assert {item: said[0].label for item, said in found.annotations.items()} == {"a#1": "3", "a#2": "1", "b": "2"}
    second = found.annotations["a#2"][0]
    assert (second.annotator, second.note, second.provenance) == ("Mina", "Far too long", "review sheet sheet")
    assert second.details == {"verdict_a": "3", "verdict_b": "2", "agree_a": "no", "agree_b": "no"}
    assert any(note.startswith("1 rows are not reviewed") and "a#3" in note for note in found.notes)


def test_several_reviewers(tmp_path: Path) -> None:
    """Two people may differ: both are kept, the first is gold, the difference is counted."""
    one = sheet(tmp_path, "a#1,…,3,yes,2,,,Mina,", name="one.csv")
    two = sheet(tmp_path, "a#1,…,3,,2,yes,,Jo,", name="two.csv")
    found = read_sheets([one, two], SCALE)
    assert [(said.annotator, said.label) for said in found.annotations["a#1"]] == [("Mina", "3"), ("Jo", "2")]
    assert any("labelled differently" in note for note in found.notes)


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ("a#1,…,3,yes,2,yes,,Mina,", "field `agree_b`: agrees with both '3' and '2'"),
        ("a#1,…,3,maybe,2,,,Mina,", "field `agree_a`: is 'maybe', not yes or no"),
        ("a#1,…,3,no,2,no,7,Mina,", "field `label`: is '7', not on the scale"),
        ("a#1,…,3,yes,2,,,,", "field `annotator`: is empty"),
    ],
)
def test_what_is_not_understood_is_refused(tmp_path: Path, row: str, said: str) -> None:
    """With sheet, line and column."""
    with pytest.raises(DataError, match="sheet.csv, line 2, " + said):
        read_sheets([sheet(tmp_path, row)], SCALE)


def test_the_same_person_labels_an_item_once(tmp_path: Path) -> None:
    """A sheet that was sent back twice is noticed."""
    file = sheet(tmp_path, "a#1,…,3,yes,2,,,Mina,")
    with pytest.raises(DataError, match="Mina labelled a#1 already"):
        read_sheets([file, file], SCALE)


def test_sheets_as_programs_save_them(tmp_path: Path) -> None:
    """Semicolons, line breaks in cells, guards against formulas, other case; a missing column is named."""
    rows = 'a#1;"two\nlines";3;YES;2;;;Mina;"\'=not a formula"'
    found = read_sheets([sheet(tmp_path, rows, head=HEAD.replace(",", ";").upper())], SCALE)
    assert found.annotations["a#1"][0].note == "=not a formula"
    with pytest.raises(DataError, match="has no column agree_b"):
        read_sheets([sheet(tmp_path, "", head=HEAD.replace("agree_b", "b"))], SCALE)
    (tmp_path / "old.csv").write_bytes(HEAD.encode() + b"\na,\xe9,,,,,,,\n")
    with pytest.raises(DataError, match="CSV UTF-8"):
        read_sheets([tmp_path / "old.csv"], SCALE)
    with pytest.raises(DataError, match="no row of the sheets holds a label"):
        read_sheets([sheet(tmp_path, "a#1,…,3,,2,,,Mina,")], SCALE)


def test_labels_become_a_dataset_that_loads(tmp_path: Path) -> None:
    """Only labelled records, written and read again; a name for all rows where the sheet has none."""
    found = read_sheets(
        [sheet(tmp_path, "a#1,…,3,yes,2,,,,", "a#2,…,3,no,2,yes,,,")], SCALE, annotator="native speaker"
    )
    made = labelled_dataset(dataset(record("a", text="Guten Tag."), record("z"), record("a2")), found)
    assert [one.record_id for one in made.records] == ["a"]
    with_turns = labelled_dataset(dataset(record("a", "3", "3")), found)
    write_native(tmp_path / "labelled.jsonl", with_turns.records)
    again = load_dataset(DatasetSpec(path=str(tmp_path / "labelled.jsonl")), scale=SCALE)
    assert again.records == with_turns.records
    assert again.sha256 == with_turns.sha256
    assert again.records[0].labels["turn:2"][0].annotator == "native speaker"


def test_labels_can_be_added_behind_others(tmp_path: Path) -> None:
    """The gold label stays the first; records that the dataset does not have are refused."""
    found = read_sheets([sheet(tmp_path, "a#1,…,3,,2,yes,,Mina,")], SCALE)
    made = labelled_dataset(dataset(record("a", "3", "3")), found, add=True)
    assert [said.label for said in made.records[0].labels["turn:1"]] == ["3", "2"]
    assert [said.label for said in made.records[0].labels["turn:2"]] == ["3"]
    with pytest.raises(DataError, match="1 labelled records are not in this dataset, a first"):
        labelled_dataset(dataset(record("b", "3")), found)


def test_item_ids_and_item_keys() -> None:
    """The id of a run's row and the key of a label name the same item."""
    assert item_key("rec") == ("rec", "record")
    assert item_key("rec#3") == ("rec", "turn:3")
    assert item_key("rec#3/kb_grounding") == ("rec", "turn:3/kb_grounding")
