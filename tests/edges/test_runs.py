"""Run folders in order: the run that was asked for comes after the baseline that it made first."""

from __future__ import annotations

from pathlib import Path

from eva.edges import runs


def run(home: Path, name: str, *, created: str, finished: str | None) -> None:
    runs.write_json(runs.create(home, name) / "run.json", {"run_id": name, "created": created, "finished": finished})


def test_the_last_run_is_the_one_that_ended_last(tmp_path: Path) -> None:
    """v2 is begun, finds no baseline, judges v1, then ends itself."""
    run(tmp_path, "v2-run", created="2026-01-01T10:00:00", finished="2026-01-01T10:09:00")
    run(tmp_path, "v1-run", created="2026-01-01T10:00:01", finished="2026-01-01T10:05:00")

    assert [folder.run_id for folder in runs.all_runs(tmp_path)] == ["v1-run", "v2-run"]
    assert runs.find_run(tmp_path, "last").run_id == "v2-run"


def test_a_run_without_an_end_counts_by_its_beginning(tmp_path: Path) -> None:
    run(tmp_path, "one-run", created="2026-01-01T10:00:00", finished=None)
    run(tmp_path, "two-run", created="2026-01-01T09:00:00", finished="2026-01-01T09:30:00")

    assert runs.find_run(tmp_path, "last").run_id == "one-run"
