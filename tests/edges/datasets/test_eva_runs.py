"""ServiceNow/eva's run outputs: the manifest decides, one folder at a time."""

from __future__ import annotations

import json
import tracemalloc
from pathlib import Path
from typing import Any

import pytest

from eva.edges.datasets import DatasetSpec, Notes, load_dataset, stream_records
from eva.errors import ConfigError, DataError, UnknownChoice
from eva.types import Dataset, Event
from tests.edges.datasets.run_builders import TRACE, write_conversation, write_manifest, write_run


def load(path: Path, **options: Any) -> Dataset:
    return load_dataset(DatasetSpec(path=str(path), reader="eva_runs", name="eva_runs", options=options))


def test_a_conversation_becomes_a_record(tmp_path: Path) -> None:
    """Events with their turn ids, the agent's configuration, language, domain and scenario; no labels."""
    write_run(tmp_path / "out" / "run-1", ["1.1.2"])
    record = load(tmp_path / "out").records[0]
    assert (record.record_id, record.cluster, record.language, record.domain) == (
        "run-1.1.1.2",
        "airline.1.1.2",
        "de",
        "airline",
    )
    assert record.events[2] == Event(1, "tool_call", name="find", arguments={"code": "K7"})
    assert record.events[3] == Event(1, "tool_response", name="find", response={"status": "error"}, status="error")
    assert record.context == {
        "agent_role": "You answer calls.",
        "agent_instructions": "Ask for the code.",
        "tools": [{"name": "find"}],
        "current_date_time": "2026-03-17 10:45 CST",
        "scenario": "Move the flight.",
        "pipeline": "cascade",
    }
    assert record.labels == {}


def test_the_manifest_decides_which_folders_count(tmp_path: Path) -> None:
    """Leftovers of earlier attempts, failed ones and unknown folders are left out and counted; no name is guessed."""
    run = write_run(tmp_path / "run", ["1.1.2/trial_0", "1.1.2/trial_1", "2.1_failed_attempt_1"], failed=["3.1"])
    for leftover in ("1.1.2_failed_attempt_1", "9.9_unvalidated_0", "1.1.2 (copy)"):
        write_conversation(run, leftover)
    write_conversation(run, "1.1.2/trial_0_failed_attempt")
    loaded = load(run)
    assert [r.record_id for r in loaded.records] == [
        "run.1.1.2.trial_0",
        "run.1.1.2.trial_1",
        "run.2.1_failed_attempt_1",
    ]
    assert {r.cluster for r in loaded.records} == {"airline.1.1.2", "airline.2.1_failed_attempt_1"}
    notes = " | ".join(loaded.notes)
    assert "3 folders are in no manifest and are left out" in notes
    assert "1 conversations did not complete and are left out (run/3.1)" in notes


def test_without_results_the_summary_is_the_manifest(tmp_path: Path) -> None:
    """`evaluation_summary.json` lists what succeeded; without either the run is refused."""
    run = write_run(tmp_path / "run", ["1.1", "1.2"])
    (run / "results.csv").unlink()
    with pytest.raises(DataError, match="which folders count is unknown"):
        load(run)
    summary = {"simulation": {"successful_record_ids": ["1.2"]}}
    (run / "evaluation_summary.json").write_text(json.dumps(summary), encoding="utf-8")
    assert [r.record_id for r in load(run).records] == ["run.1.2"]


def test_a_manifest_cannot_lead_out(tmp_path: Path) -> None:
    """An id that is a path is refused with its line."""
    run = write_run(tmp_path / "run", ["1.1"])
    write_manifest(run, ["1.1", "../../etc"])
    with pytest.raises(DataError, match=r"run/results\.csv, line 3, field `record_id`: is '\.\./\.\./etc'"):
        load(run)


def test_several_runs_share_their_scenarios(tmp_path: Path) -> None:
    """One cluster a scenario over all runs; runs can be picked by name, a wrong name lists those there are."""
    for name in ("a", "b"):
        write_run(tmp_path / name, ["1.1"])
    assert {r.cluster for r in load(tmp_path).records} == {"airline.1.1"}
    assert [r.record_id for r in load(tmp_path, runs=["b"]).records] == ["b.1.1"]
    with pytest.raises(DataError, match="there is no run c; there are: a, b"):
        load(tmp_path, runs=["c"])


def test_a_conversation_that_cannot_be_read(tmp_path: Path) -> None:
    """Refused with its place and field; left out and counted where asked; a missing file is counted always."""
    run = write_run(tmp_path / "run", ["1.1", "1.2", "1.3"])
    write_manifest(run, ["1.1", "1.2", "1.3", "1.4"])
    broken = run / "records" / "1.2" / "metrics.json"
    broken.write_text(
        json.dumps({"context": {"conversation_trace": [{"role": "robot", "turn_id": 1}]}}), encoding="utf-8"
    )
    with pytest.raises(
        DataError, match=r"run/records/1\.2, field `context\.conversation_trace\[0\]\.role`.*skip_broken"
    ):
        load(run)
    (run / "records" / "1.3" / "metrics.json").write_text("{", encoding="utf-8")
    loaded = load(run, skip_broken=True)
    assert [r.record_id for r in loaded.records] == ["run.1.1"]
    assert "2 conversations cannot be read and are left out (run.1.2, run.1.3)" in loaded.notes
    assert "1 completed conversations have no metrics.json and are left out (run.1.4)" in loaded.notes


def test_old_runs_and_missing_fields_are_said(tmp_path: Path) -> None:
    """A pipeline is taken from the older field; what a judge may miss is counted; falling turns are put in order."""
    run = tmp_path / "run"
    late = {**TRACE[1], "turn_id": 0}
    write_conversation(
        run, "1.1", pipeline_type=..., is_audio_native=True, current_date_time=..., conversation_trace=[*TRACE, late]
    )
    write_manifest(run, ["1.1"])
    loaded = load(run)
    assert loaded.records[0].context["pipeline"] == "s2s"
    assert [event.turn_id for event in loaded.records[0].events] == [0, 0, 1, 1, 1, 1]
    notes = " | ".join(loaded.notes)
    assert "taken as s2s" in notes
    assert "1 conversations have no `current_date_time`" in notes
    assert "turn ids that fall" in notes


def test_sound_is_named_where_asked(tmp_path: Path) -> None:
    """Below the output folder; the older file name is known."""
    run = write_run(tmp_path / "run", ["1.1"])
    (run / "records" / "1.1" / "audio_user.wav").write_bytes(b"RIFF")
    assert load(tmp_path, audio="user").records[0].audio == "run/records/1.1/audio_user.wav"
    assert load(tmp_path, audio="assistant").records[0].audio is None
    with pytest.raises(UnknownChoice, match="audio"):
        load(tmp_path, audio="both")


def test_folders_and_files_are_told_apart(tmp_path: Path) -> None:
    """A path of the wrong kind, or without any run, says what was looked for."""
    (tmp_path / "x.json").write_text("{}", encoding="utf-8")
    with pytest.raises(ConfigError, match="is a file; reader eva_runs reads a folder"):
        load(tmp_path / "x.json")
    with pytest.raises(DataError, match="holds no run"):
        load(tmp_path)


def peak(path: Path, limit: int) -> int:
    """Bytes that streaming takes at most."""
    tracemalloc.start()
    count = sum(1 for _ in stream_records(DatasetSpec(path=str(path), reader="eva_runs", limit=limit), Notes()))
    assert count == limit
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return most


def test_memory_stays_flat(tmp_path: Path) -> None:
    """Ten times the conversations take little more memory: ids of the manifest, never records."""
    run = write_run(tmp_path / "run", [f"1.{n}" for n in range(400)])
    peak(run, 20)
    # The least of three: threads that other tests left behind allocate memory too.
    large, small = (min(peak(run, count) for _ in range(3)) for count in (400, 40))
    assert large < small + 150_000


def test_the_real_context(shared_data: Path, tmp_path: Path) -> None:
    """A real conversation context in the layout of a run: 30 events, turns 0 to 10, an old pipeline field."""
    run = tmp_path / "run"
    real = json.loads((shared_data / "eva" / "run_record_context.json").read_text(encoding="utf-8"))
    write_conversation(run, "1.1.2")
    (run / "records" / "1.1.2" / "metrics.json").write_text(
        json.dumps({"context": real, "metrics": {}}), encoding="utf-8"
    )
    write_manifest(run, ["1.1.2"])
    record = load(run).records[0]
    assert len(record.events) == 30
    assert sorted({event.turn_id for event in record.events}) == list(range(11))
    assert sum(event.type == "tool_call" for event in record.events) == 5
    assert record.context["pipeline"] == "cascade"
