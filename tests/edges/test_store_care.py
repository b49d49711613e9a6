"""Looking after the store: statistics, verification, pruning, and replies on the way to a colleague."""

from __future__ import annotations

import gzip
import json
import sqlite3
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from eva.edges import store_care
from eva.edges.store import ReplyStore
from eva.edges.store_care import export_replies, import_replies, prune, stats, verify
from eva.errors import DataError, StoreError
from eva.types import Failure, Reply


def reply(number: int, *, repeat: int = 0, model: str = "m-1") -> Reply:
    return Reply(
        record_id=f"r{number}", repeat=repeat, digest=f"{number:064x}", text=f"é {number}", model=model,
        created=f"2026-01-{number + 1:02d}T00:00:00",
    )  # fmt: skip


def filled(path: Path) -> ReplyStore:
    store = ReplyStore(path)
    for number in range(5):
        store.put(reply(number))
        store.put(reply(number, repeat=1, model="m-2"))
    store.put(replace(reply(7), text=None, error=Failure.PROVIDER, error_text="x"))
    return store


def test_stats_count_what_is_there(tmp_path: Path) -> None:
    with filled(tmp_path / "s") as store:
        found = stats(store)
    assert (found.replies, found.requests, found.errors) == (10, 5, 1)
    assert found.by_model == {"m-1": 5, "m-2": 5}
    assert (found.oldest, found.newest) == ("2026-01-01T00:00:00", "2026-01-05T00:00:00")
    assert found.bytes > 0


def test_verify_names_each_damaged_row(tmp_path: Path) -> None:
    with filled(tmp_path / "s") as store:
        assert verify(store).whole
    with sqlite3.connect(tmp_path / "s") as db:
        db.execute("UPDATE replies SET body=replace(body, '3', '4') WHERE record_id='r3' AND repeat=0")
        db.execute("UPDATE replies SET repeat=9 WHERE record_id='r1' AND repeat=1")
    db.close()
    with ReplyStore(tmp_path / "s") as store:
        found = verify(store)
    assert not found.whole
    assert found.replies == 10
    assert sorted(found.damaged) == [f"{1:064x}/9/0", f"{3:064x}/0/0"]


def test_prune_deletes_what_matches_everything_that_is_said(tmp_path: Path) -> None:
    with filled(tmp_path / "s") as store:
        assert prune(store, before="2026-01-04", model="m-2", keep=[reply(0).digest], count_only=True) == 2
        assert stats(store).replies == 10
        assert prune(store, before="2026-01-04", model="m-2", keep=[reply(0).digest]) == 2
        assert store.get(reply(0).digest, 1) is not None
        assert store.get(reply(1).digest, 1) is None
        assert store.get(reply(1).digest, 0) is not None
        with pytest.raises(StoreError, match="what may go"):
            prune(store)


@pytest.mark.parametrize("name", ["replies.jsonl", "replies.jsonl.gz"])
def test_an_export_travels_to_another_store(tmp_path: Path, name: str) -> None:
    with filled(tmp_path / "s") as store, ReplyStore(tmp_path / "other") as other:
        assert export_replies(store, tmp_path / name) == 10
        other.put(replace(reply(2), text="theirs"))
        done = import_replies(other, tmp_path / name)
        assert (done.added, done.present) == (9, 1)
        assert other.get(reply(2).digest, 0).text == "theirs"  # type: ignore[union-attr]  # asserted by the comparison
        assert other.get(reply(3).digest, 1) == store.get(reply(3).digest, 1)
        assert import_replies(other, tmp_path / name).added == 0


def test_an_export_may_hold_one_run_only(tmp_path: Path) -> None:
    with filled(tmp_path / "s") as store:
        assert export_replies(store, tmp_path / "one.jsonl", digests=[reply(1).digest]) == 2


@pytest.mark.parametrize("fault", ["changed", "cut", "foreign", "extra", "header", "empty"])
def test_a_faulty_export_is_refused_whole_with_its_line(tmp_path: Path, fault: str) -> None:
    path = tmp_path / "replies.jsonl"
    with filled(tmp_path / "s") as store:
        export_replies(store, path)
    lines = path.read_text().split("\n")
    if fault == "changed":
        lines[3] = lines[3].replace("u00e9", "u00e8")
    elif fault == "cut":
        lines = [*lines[:4], lines[4][:50]]
    elif fault == "foreign":
        lines[4] = '{"prompt": "x"}'
    elif fault == "extra":
        row = json.loads(lines[4])
        row["reply"]["evil"] = 1
        lines[4] = json.dumps(row)
    elif fault == "header":
        lines = lines[1:]
    else:
        lines = []
    path.write_text("\n".join(lines))
    with ReplyStore(tmp_path / "other") as other:
        with pytest.raises(DataError, match=r"line \d+" if fault != "empty" else "empty"):
            import_replies(other, path)
        assert stats(other).replies == 0


def test_a_packed_bomb_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store_care, "LONGEST_LINE", 1000)
    path = tmp_path / "bomb.jsonl.gz"
    with gzip.open(path, "wt") as file:
        file.write(json.dumps(store_care.HEADER) + "\n" + "x" * 1_000_000)
    with ReplyStore(tmp_path / "s") as store, pytest.raises(DataError, match="too big"):
        import_replies(store, path)


@pytest.mark.parametrize("text", ["yesterday", "2026-1-5", "05.01.2026", "", "2026-13-01"])
def test_what_is_no_date_deletes_nothing(tmp_path: Path, text: str) -> None:
    """Dates are compared as texts: `yesterday` is later than all of them, and would take every paid reply along."""
    with filled(tmp_path / "s") as store:
        with pytest.raises(StoreError, match="is no date"):
            prune(store, before=text)
        assert stats(store).replies == 10


def test_a_time_of_another_zone_is_the_same_moment(tmp_path: Path) -> None:
    with filled(tmp_path / "s") as store:
        assert prune(store, before="2026-01-03T02:00:00+02:00", count_only=True) == 4
        assert prune(store, before="2026-01-03T02:00:01+02:00", count_only=True) == 6


def test_an_export_is_written_whole_or_not_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with filled(tmp_path / "s") as store:
        with pytest.raises(StoreError, match="cannot be written"):
            export_replies(store, tmp_path / "nowhere" / "replies.jsonl")
        target = tmp_path / "replies.jsonl.gz"
        export_replies(store, target)
        before = target.read_bytes()

        def full(self: ReplyStore) -> Iterator[tuple[str, str]]:
            raise OSError(28, "No space left on device")

        monkeypatch.setattr(ReplyStore, "replies", full)
        with pytest.raises(StoreError, match="No space left"):
            export_replies(store, target)
    assert target.read_bytes() == before
    assert not list(tmp_path.glob(".*"))
