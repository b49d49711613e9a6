"""From spec to dataset: digest, filters, unlabelled records, labels against a scale, limits."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from eva.edges.datasets import (
    READERS,
    DatasetSpec,
    Notes,
    check_labels,
    limit_records,
    load_dataset,
    stream_records,
)
from eva.edges.datasets.limit import class_counts
from eva.errors import ConfigError, DataError, UnknownChoice
from eva.types import Record, Scale
from tests.edges.datasets.dataset_builders import dataset, load, record, row, write

SCALE = Scale(("1", "2", "3"), ordinal=True)
NO_LABEL = [{"item": "record", "label": None}]


def test_the_digest_is_of_the_content(tmp_path: Path) -> None:
    """File name, line ends, key order, order of rows and spelling of numbers in ids do not count; content does."""
    first = load(tmp_path, row("1"), row("2", domain="hr"))
    turned = dict(reversed(row(2, domain="hr").items()))
    other = tmp_path / "renamed.jsonl"
    other.write_bytes(b"\xef\xbb\xbf" + "\r\n".join([json.dumps(turned), json.dumps(row(1))]).encode())
    assert load_dataset(DatasetSpec(path=str(other))).sha256 == first.sha256
    for change in ({"domain": "it"}, {"labels": [{"item": "record", "label": "1"}]}, {"context": {"x": 1}}):
        assert load(tmp_path, row("1"), row("2", **{"domain": "hr", **change})).sha256 != first.sha256


def test_filters_keep_and_count(tmp_path: Path) -> None:
    """Split, languages and domains select; the note says how many are left."""
    rows = [row(f"{lang}-{split}", language=lang, split=split) for lang in ("en", "de") for split in ("dev", "test")]
    kept = load(tmp_path, *rows, split="test", languages=("de",))
    assert [r.record_id for r in kept.records] == ["de-test"]
    assert "1 of 4 records are of split test; languages de" in kept.notes
    with pytest.raises(DataError, match=r"no record is left by languages fr; there are .*language: de 2, en 2"):
        load(tmp_path, *rows, languages=("fr",))


def test_partly_labelled_files_are_refused_unless_told(tmp_path: Path) -> None:
    """7 of 10: refused by default with the ways out; kept unscored or dropped where asked, and counted."""
    rows = [row(str(n)) for n in range(7)] + [row(str(n), labels=NO_LABEL) for n in range(7, 10)]
    with pytest.raises(DataError, match=r"line 8, field `labels`: 7 of 10 records are labelled.*unlabelled=keep"):
        load(tmp_path, *rows)
    kept = load(tmp_path, *rows, unlabelled="keep")
    assert len(kept.records) == 10
    assert "7 of 10 records are labelled" in kept.notes
    assert len(load(tmp_path, *rows, unlabelled="drop").records) == 7


def test_a_file_without_any_label_is_fine(tmp_path: Path) -> None:
    """Stored conversations are re-scored without labels; the note says so."""
    loaded = load(tmp_path, row("a", labels=...), row("b", labels=[]))
    assert loaded.notes == ("none of the 2 records is labelled",)


def test_labels_are_checked_against_the_scale(tmp_path: Path) -> None:
    """While loading with file and line; afterwards with record and item; `not_applicable` only where it is allowed."""
    file = write(tmp_path, row("a"), row("b", labels=[{"item": "turn:1", "label": "5"}]))
    with pytest.raises(DataError, match=r"line 2, field `labels`: b, turn:1: label '5' is not on the judge's scale"):
        load_dataset(DatasetSpec(path=str(file)), scale=SCALE)
    with pytest.raises(DataError, match="b, turn:1: label '5'"):
        check_labels(load_dataset(DatasetSpec(path=str(file))), SCALE)
    absent = dataset(record("a", "not_applicable"))
    with pytest.raises(DataError, match="not_applicable"):
        check_labels(absent, SCALE)
    check_labels(absent, Scale(("1", "2", "3"), ordinal=True, allows_not_applicable=True))


def test_flags_are_checked_where_the_judge_has_some(tmp_path: Path) -> None:
    """A flag that the judge does not know would never be found."""
    loaded = load(tmp_path, row(labels=[{"item": "record", "label": "1", "flags": ["rude"]}]))
    check_labels(loaded, SCALE)
    with pytest.raises(DataError, match="flag 'rude' is not one of the judge's"):
        check_labels(loaded, SCALE, flags=("wordy",))


def test_wrong_settings_name_what_there_is(tmp_path: Path) -> None:
    """Reader, option, bundled set, split, policy, limit: refused before anything is read."""
    path = str(write(tmp_path, row()))
    with pytest.raises(UnknownChoice, match="Did you mean 'native'"):
        load_dataset(DatasetSpec(path=path, reader="nativ"))
    with pytest.raises(UnknownChoice, match="Option of dataset reader native 'pairing'"):
        load_dataset(DatasetSpec(path=path, options={"pairing": "pair"}))
    with pytest.raises(UnknownChoice, match="Bundled dataset"):
        load_dataset(DatasetSpec(path="bundled:../../secrets.jsonl"))
    for wrong in ({"split": "train"}, {"unlabelled": "ignore"}, {"limit": 0}, {"limit": True}, {"path": ""}):
        with pytest.raises(ConfigError):
            DatasetSpec(**{"path": path, **wrong})  # type: ignore[arg-type]  # wrong on purpose


def test_every_reader_says_its_version() -> None:
    """A run's identity needs it."""
    assert all(reader.version.isdigit() for reader in READERS.values())


def conversations() -> tuple[Record, ...]:
    return tuple(
        record(f"r{n}", "321"[min(n // 20, 2)], text="x" * (n % 7 + 1), language=["en", "de"][n % 2]) for n in range(60)
    )


def test_conversation_labels_come_out_equal_per_class() -> None:
    """A dozen of 60 records in file order 3, 2, 1: four of each class, in the file's order, with a note."""
    limited = limit_records(dataset(*conversations()), 12)
    assert Counter(label for r in limited.records for label in class_counts(r)) == {"1": 4, "2": 4, "3": 4}
    places = [int(r.record_id[1:]) for r in limited.records]
    assert places == sorted(places)
    assert limited.notes[-1].startswith("limit 12: 12 of 60 records")
    assert limited.sha256 != dataset().sha256


def test_turn_labels_come_out_as_even_as_records_allow() -> None:
    """Where most turns are 3, records with other classes are taken first."""
    plain = [record(f"p{n}", "3", "3", "3") for n in range(30)]
    mixed = [record(f"m{n}", "1", "2", "3") for n in range(4)]
    limited = limit_records(dataset(*plain, *mixed), 4)
    assert {r.record_id for r in limited.records} == {"m0", "m1", "m2", "m3"}


def test_the_choice_is_the_same_in_any_order_and_grows() -> None:
    """Sorting the file changes nothing, and a larger limit only adds records: their replies are in the store."""
    records = conversations()
    some = {r.record_id for r in limit_records(dataset(*records), 9).records}
    turned = {r.record_id for r in limit_records(dataset(*reversed(records)), 9).records}
    more = {r.record_id for r in limit_records(dataset(*records), 20).records}
    assert some == turned
    assert some < more


def test_short_records_first_where_asked() -> None:
    """Among records of the class that is due, the shortest."""
    limited = limit_records(dataset(*conversations()), 6, prefer_short=True)
    assert {r.events[0].text for r in limited.records} == {"x"}


def test_variants_of_one_conversation_come_last() -> None:
    """A cluster already taken tells less than a new one."""
    same = [record(f"s{n}", "1", cluster="s") for n in range(10)]
    limited = limit_records(dataset(*same, record("t", "1"), record("u", "1")), 3)
    assert {r.cluster for r in limited.records} == {"s", "t", "u"}


def test_unbalanced_takes_the_first_and_a_large_limit_takes_all() -> None:
    """`balanced: false` is the file's head; a limit above n is no limit."""
    data = dataset(*conversations())
    assert limit_records(data, 5, balanced=False).records == data.records[:5]
    assert limit_records(data, 60) is data


def test_records_without_labels_are_taken_last() -> None:
    """They cannot make classes even; without any label the choice is by hash."""
    limited = limit_records(dataset(record("a"), record("b"), record("c", "1")), 2)
    assert "c" in {r.record_id for r in limited.records}
    assert len(limit_records(dataset(record("a"), record("b")), 1).records) == 1


def test_streaming_filters_and_stops(tmp_path: Path) -> None:
    """Records come one by one: a broken line behind the limit is never reached."""
    file = write(tmp_path, row("a"), row("b", language="de"), row("c"), row("d"), "{broken")
    notes = Notes()
    spec = DatasetSpec(path=str(file), languages=("en",), limit=2)
    assert [r.record_id for r in stream_records(spec, notes)] == ["a", "c"]
