"""The quick way of writing traces: the same rows as the public client's, or not used at all."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from eva.edges.tracking import TrackingSpec, log_run, tables
from eva.edges.tracking.client import Store
from eva.edges.tracking.folder import read
from eva.edges.tracking.items import item_traces
from eva.edges.tracking.prepare import open_experiment
from eva.edges.tracking.wire import Target, WireTrace, wire
from tests.edges.tracking.run_folder import make_run

TABLES = ("trace_info", "trace_tags", "trace_request_metadata", "spans", "assessments")
Ask = Callable[[str], list[tuple[object, ...]]]


def traces(folder: Path, experiment_id: str) -> list[WireTrace]:
    found = read(folder)
    target = Target(
        experiment_id, "0" * 32, found.run_id, "conciseness", "gpt-5.2", 1_800_000_000_000, ("conciseness", 2)
    )
    return wire(item_traces(found, found.verdicts()), target)


def copy(source: Path, target: Path) -> None:
    """With what still lies in the write-ahead log."""
    with closing(sqlite3.connect(source)) as old, closing(sqlite3.connect(target)) as new:
        old.backup(new)


def content(path: Path, table: str) -> list[dict[str, object]]:
    """All rows, with JSON parsed: MLflow and we may order its keys differently."""
    with closing(sqlite3.connect(path)) as database:
        database.row_factory = sqlite3.Row
        rows = [dict(row) for row in database.execute(f"SELECT * FROM {table}")]
    for row in rows:
        for key in ("content", "assessment_metadata"):
            if isinstance(row.get(key), str):
                row[key] = json.loads(row[key])
    return sorted(rows, key=lambda row: json.dumps(row, sort_keys=True, default=str))


def test_both_ways_write_the_same_rows(tmp_path: Path, tracking: TrackingSpec) -> None:
    """Table by table, column by column: traces, tags, metadata, spans, assessments."""
    folder = make_run(tmp_path / "runs")
    assert tracking.sqlite_path is not None
    experiment_id = open_experiment(Store(tracking), "conciseness")
    other = tracking.sqlite_path.with_name("other.db")
    copy(tracking.sqlite_path, other)
    written = traces(folder, experiment_id)
    tables.write_traces(tracking.uri, written)
    Store(replace(tracking, uri=f"sqlite:///{other}")).write_traces(written)

    for table in TABLES:
        assert content(tracking.sqlite_path, table) == content(other, table) != [], table


def test_a_second_write_adds_nothing(tmp_path: Path, tracking: TrackingSpec, rows: Ask) -> None:
    """Ids follow from run and item, and rows that are there stay."""
    written = traces(make_run(tmp_path / "runs"), open_experiment(Store(tracking), "conciseness"))
    tables.write_traces(tracking.uri, written)
    before = rows("SELECT count(*), sum(length(content)) FROM spans")
    tables.write_traces(tracking.uri, written)

    assert rows("SELECT count(*), sum(length(content)) FROM spans") == before


def test_another_version_of_mlflow_is_not_touched(
    tmp_path: Path, tracking: TrackingSpec, rows: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The public client writes the traces then, and the result says so."""
    monkeypatch.setattr(tables, "version", lambda name: "3.18.0")
    result = log_run(make_run(tmp_path / "runs"), tracking=tracking)

    assert result is not None
    assert result.trace_writer == "client"
    assert any("MLflow is 3.18.0" in note for note in result.notes)
    assert rows("SELECT count(*) FROM spans") == [(30,)]


def test_another_schema_is_not_touched(
    tmp_path: Path, tracking: TrackingSpec, rows: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A revision that nobody tested: the public client."""
    monkeypatch.setattr(tables, "SCHEMA_REVISION", "0123456789ab")
    result = log_run(make_run(tmp_path / "runs"), tracking=tracking)

    assert result is not None
    assert result.trace_writer == "client"
    assert rows("SELECT count(*) FROM assessments")[0][0] == rows("SELECT count(*) FROM trace_info")[0][0] * 5 + sum(
        int(str(row[0])) for row in rows("SELECT count(*) FROM assessments WHERE name = 'raised_flags'")
    )


def test_roll_ups_are_left_to_mlflow(monkeypatch: pytest.MonkeyPatch) -> None:
    """With materialised roll-ups direct rows would be missing from MLflow's own sums."""
    monkeypatch.setenv("MLFLOW_SQL_TRACE_ROLLUPS_ENABLED", "true")

    with pytest.raises(tables.NotUsable, match="ROLLUPS"):
        tables.check_version()


def test_a_refused_batch_leaves_no_half_trace(tmp_path: Path, tracking: TrackingSpec, rows: Ask) -> None:
    """The database takes the traces and refuses their spans: nothing of the batch stays."""
    written = traces(make_run(tmp_path / "runs"), open_experiment(Store(tracking), "conciseness"))
    broken = replace(written[-1], span={**written[-1].span, "name": object()})

    with pytest.raises((tables.NotUsable, TypeError)):
        tables.write_traces(tracking.uri, [*written[:-1], broken])
    assert rows("SELECT count(*) FROM trace_info") == [(0,)]


def test_the_quick_way_is_the_usual_one(tmp_path: Path, tracking: TrackingSpec) -> None:
    """With the pinned MLflow on SQLite nothing falls back."""
    result = log_run(make_run(tmp_path / "runs"), tracking=tracking)

    assert result is not None
    assert (result.trace_writer, result.traces, result.notes) == ("tables", 30, ())
