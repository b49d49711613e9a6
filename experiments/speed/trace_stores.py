"""Stores for the benchmark of traces: made, written to, and counted; PostgreSQL and a server held against SQLite."""

from __future__ import annotations

import socket
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import create_engine, text

from eva.edges.tracking import TrackingSpec, prepare_store, tables
from eva.edges.tracking.client import Store
from eva.edges.tracking.folder import read
from eva.edges.tracking.items import item_traces
from eva.edges.tracking.postgres import Postgres
from eva.edges.tracking.prepare import open_experiment
from eva.edges.tracking.server import plan, start
from eva.edges.tracking.wire import Target, WireTrace, wire
from tests.edges.tracking.run_folder import make_run

ROWS = ("trace_info", "spans", "assessments")
SAID = (
    "SELECT request_id, request_preview, response_preview, status, timestamp_ms FROM trace_info ORDER BY 1",
    "SELECT assessment_id, trace_id, name, value, rationale, source_type, source_id FROM assessments ORDER BY 1",
    "SELECT trace_id, span_id, name, status, start_time_unix_nano FROM spans ORDER BY 1",
)
"""What a reader of the pages can tell apart. Spans' content is dumped by each writer in its own order of keys."""
Write = Callable[[str, list[WireTrace], TrackingSpec], None]


@dataclass(frozen=True)
class Timing:
    name: str
    items: int
    seconds: float
    rows: tuple[int, ...]

    @property
    def rate(self) -> float:
        return self.items / self.seconds


def by_tables(uri: str, traces: list[WireTrace], spec: TrackingSpec) -> None:
    tables.write_traces(uri, traces)


def by_client(uri: str, traces: list[WireTrace], spec: TrackingSpec) -> None:
    Store(spec).write_traces(traces)


def traces_alone(root: Path, items: int, write: Write, *, name: str = "", spec: TrackingSpec | None = None) -> Timing:
    """Traces alone, from what is in memory to what is in the database. Without `spec` a fresh SQLite file in `root`."""
    spec = fresh_store(root) if spec is None else spec
    folder = read(make_run(root / "runs", items=items))
    target = Target(
        open_experiment(Store(spec), "conciseness"), "0" * 32, folder.run_id, "conciseness", "m", 2 * 10**12
    )
    traces = wire(item_traces(folder, folder.verdicts()), target)
    start_at = time.perf_counter()
    write(spec.uri, traces, spec)
    seconds = time.perf_counter() - start_at
    rows = () if spec.uri.startswith("http") else count(spec.uri)
    return Timing(name or f"eva, {root.name}", items, seconds, rows)


def through_postgresql(root: Path, items: int) -> Timing:
    """The tables of a PostgreSQL of its own. Raises AssertionError where it holds other rows than SQLite."""
    same = traces_alone(root / "beside-postgresql", items, by_tables)
    with tempfile.TemporaryDirectory() as place:
        Path(place).chmod(0o711)  # PostgreSQL runs as a user of its own where root starts it
        database = Postgres(Path(place) / "data", _free_port())
        database.start()
        try:
            spec = TrackingSpec(kind="server", uri=database.uri, artifacts=str(root / "artifacts"))
            prepare_store(spec, judge="conciseness")
            timing = traces_alone(root / "postgresql", items, by_tables, name="eva, tables of PostgreSQL", spec=spec)
            assert timing.rows == same.rows
            assert said(database.uri) == said(_sqlite(root / "beside-postgresql"))
            return timing
        finally:
            database.stop()


def through_a_server(root: Path, items: int) -> Timing:
    """The public client over HTTP. Raises AssertionError where the server holds other rows than a SQLite file."""
    same = traces_alone(root / "beside-server", items, by_tables)
    backend = fresh_store(root / "server").uri
    planned = plan(root / "server", backend_uri=backend, port=_free_port(), workers=1)
    process = start(planned)
    try:
        spec = TrackingSpec(kind="server", uri=planned.address, artifacts=None)
        prepare_store(spec, judge="conciseness")
        timing = traces_alone(root / "http", items, by_client, name="eva, client through a server", spec=spec)
    finally:
        process.terminate()
        process.wait()
    assert count(backend) == same.rows
    assert said(backend) == said(_sqlite(root / "beside-server"))
    return Timing(timing.name, items, timing.seconds, count(backend))


def fresh_store(root: Path) -> TrackingSpec:
    """A SQLite store of the current schema in a folder of its own."""
    root.mkdir()
    spec = TrackingSpec().at(root)
    prepare_store(spec)
    return spec


def count(uri: str) -> tuple[int, ...]:
    """Rows of each table of ROWS."""
    return tuple(int(rows[0][0]) for rows in _ask(uri, [f"SELECT count(*) FROM {table}" for table in ROWS]))


def said(uri: str) -> list[list[tuple[object, ...]]]:
    """All that SAID asks for."""
    return [sorted(rows, key=lambda row: str(row[0])) for rows in _ask(uri, SAID)]


def _ask(uri: str, queries: list[str] | tuple[str, ...]) -> list[list[tuple[object, ...]]]:
    engine = create_engine(uri)
    try:
        with engine.connect() as connection:
            return [[tuple(row) for row in connection.execute(text(query))] for query in queries]
    finally:
        engine.dispose()


def _sqlite(root: Path) -> str:
    return TrackingSpec().at(root).uri


def _free_port() -> int:
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        return int(held.getsockname()[1])
