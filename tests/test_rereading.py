"""Stored replies under another reader: which verdicts are told as changed."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import pytest

from eva import rereading
from eva.edges.runs import RunFolder
from eva.judges.plan import Plan
from eva.types import Reply, Verdict
from tests.small_runs import command, data_file, run_here
from tests.stub_server import running_stub


@pytest.fixture
def folder(tmp_path: Path) -> RunFolder:
    """A run of three records, all rated 3."""
    data = data_file(tmp_path / "d.jsonl", 3)
    with running_stub(answer=lambda record, body: '{"rating": 3, "evidence": "x"}') as stub:
        _, done = run_here(*command(stub.url, data))
    assert done is not None
    return RunFolder(done.folder.path)


def changes(folder: RunFolder, monkeypatch: pytest.MonkeyPatch, **now: object) -> list[tuple[str, str]]:
    """What reading again tells, where today's reader gives the first record's verdict `now`."""
    real = rereading.read_replies

    def read(plan: Plan, replies: Iterable[Reply]) -> list[Verdict]:
        first, *others = real(plan, replies)
        return [replace(first, **now), *others]  # type: ignore[arg-type]  # fields of a Verdict

    monkeypatch.setattr(rereading, "read_replies", read)
    found = rereading.reread(folder, home=folder.path.parents[1])
    assert (found.replies, found.verdicts) == (3, 3)
    return [(change.before, change.after) for change in found.changed]


def test_the_same_reader_changes_nothing(folder: RunFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    assert changes(folder, monkeypatch) == []


def test_another_label_is_told(folder: RunFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    assert changes(folder, monkeypatch, label="1") == [("3", "1")]


def test_other_flags_and_dimensions_are_told_beside_the_label(
    folder: RunFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The label stays, and what the judge's owner counts beside it does not."""
    assert changes(folder, monkeypatch, flags=("a", "b")) == [("3 (no flags)", "3 (a, b)")]
    assert changes(folder, monkeypatch, flags=(), dimensions={"policy": "1"}) == [
        ("3 (no flags)", "3 (no flags, policy 1)")
    ]
