"""The same rows through PostgreSQL and through a server; a server that goes away; many processes at once."""

from __future__ import annotations

import json
import shutil
import socket
import subprocess
import sys
import tempfile
import urllib.request
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from eva.edges.tracking import LoggedRun, TrackingSpec, log_run, prepare_store, retrying
from eva.edges.tracking.client import Store
from eva.edges.tracking.labels import pull
from eva.edges.tracking.postgres import Postgres, binary
from eva.edges.tracking.server import keep_users_in, plan, start
from eva.errors import TrackingError
from eva.types import Scale
from tests.edges.tracking.run_folder import make_run

pytestmark = pytest.mark.slow
ROOT = Path(__file__).resolve().parents[3]


def free_port() -> int:
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        return int(held.getsockname()[1])


@pytest.fixture
def postgres() -> Iterator[Postgres]:
    """A PostgreSQL of this test's own; skipped where its programs or its driver are not there.

    Not below pytest's folder: that one is closed to the user that the database runs as when root runs the tests.
    """
    pytest.importorskip("psycopg2", reason="PostgreSQL's driver is not installed (extra `server`)")
    try:
        binary("initdb")
    except TrackingError as error:
        pytest.skip(str(error))
    with tempfile.TemporaryDirectory() as place:
        Path(place).chmod(0o711)
        database = Postgres(Path(place) / "data", free_port())
        database.start()
        yield database
        database.stop()


@pytest.fixture
def server(tmp_path: Path, prepared: Path) -> Iterator[TrackingSpec]:
    """An MLflow server on SQLite."""
    backend = tmp_path / "server.db"
    shutil.copy(prepared, backend)
    planned = plan(tmp_path, backend_uri=f"sqlite:///{backend}", port=free_port(), workers=1)
    process = start(planned)
    yield TrackingSpec(kind="server", uri=planned.address, artifacts=None)
    process.terminate()
    process.wait()


def logged(folder: Path, tracking: TrackingSpec) -> LoggedRun:
    result = log_run(folder, tracking=tracking)
    assert result is not None
    return result


def told(tracking: TrackingSpec, result: LoggedRun) -> dict[str, object]:
    """What a store holds of a run, without what differs between any two stores: ids and links."""
    store = Store(tracking)
    run = next(run for run in store.find_runs([result.experiment_id], "") if run.run_id == result.run_id)
    traces = store.traces(result.experiment_id, result.run_id)
    return {
        "metrics": run.metrics,
        "params": run.params,
        "status": run.status,
        "traces": [
            (
                trace.tags["eva.item_id"],
                trace.request,
                trace.response,
                sorted((row.name, row.kind, str(row.value), row.source_id, row.rationale) for row in trace.opinions),
            )
            for trace in traces
        ],
    }


def test_postgresql_holds_the_same_as_sqlite(tmp_path: Path, tracking: TrackingSpec, postgres: Postgres) -> None:
    """By the quick way too, and logging twice adds nothing there either."""
    folder = make_run(tmp_path / "runs")
    other = TrackingSpec(kind="server", uri=postgres.uri, artifacts=str(tmp_path / "artifacts"))
    prepare_store(other, judge="conciseness")
    first = logged(folder, other)
    again = logged(folder, other)

    assert (first.trace_writer, again.trace_writer) == ("tables", "none")
    assert told(other, again) == told(tracking, logged(folder, tracking))


def test_a_server_holds_the_same_as_sqlite(tmp_path: Path, tracking: TrackingSpec, server: TrackingSpec) -> None:
    """By the public client over HTTP; artifacts go through the server."""
    folder = make_run(tmp_path / "runs")
    result = logged(folder, server)

    assert result.trace_writer == "client"
    assert told(server, result) == told(tracking, logged(folder, tracking))
    assert [path.read_text() for path in tmp_path.rglob("server-artifacts/**/prompt.md")] == [
        (folder / "prompt.md").read_text()
    ]


def test_a_label_added_by_the_pages_own_api_is_pulled(tmp_path: Path, server: TrackingSpec) -> None:
    """The request that the browser sends when a reviewer adds an expectation."""
    result = logged(make_run(tmp_path / "runs"), server)
    trace = next(Store(server).traces(result.experiment_id, result.run_id))
    body = {
        "assessment": {
            "assessment_name": "human_label",
            "expectation": {"value": "3"},
            "source": {"source_type": "HUMAN", "source_id": "reviewer"},
        }
    }
    request = urllib.request.Request(
        f"{server.uri}/ajax-api/3.0/mlflow/traces/{trace.trace_id}/assessments",
        data=json.dumps(body).encode(),
        headers={"Content-Type": "application/json"},
    )
    with urllib.request.urlopen(request) as answer:
        assert answer.status == 200
    found = pull(server, judge="conciseness", scale=Scale(("1", "2", "3"), ordinal=True)).annotations

    assert [(note.annotator, note.label) for note in found[trace.tags["eva.item_id"]]] == [("reviewer", "3")]


def test_a_server_that_is_away_costs_nothing_but_time(
    tmp_path: Path, prepared: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Stopped: an error that names the command. Started again: that command completes the run."""
    monkeypatch.setattr(retrying, "FIRST_WAIT_S", 0.01)
    backend = tmp_path / "server.db"
    shutil.copy(prepared, backend)
    planned = plan(tmp_path, backend_uri=f"sqlite:///{backend}", port=free_port(), workers=1)
    tracking = TrackingSpec(kind="server", uri=planned.address, artifacts=None)
    folder = make_run(tmp_path / "runs")
    process = start(planned)
    prepare_store(tracking, judge="conciseness")
    process.terminate()
    process.wait()
    with pytest.raises(TrackingError, match=r"cannot be reached.*python -m eva log conciseness-v1-00"):
        log_run(folder, tracking=tracking)
    process = start(planned)
    result = logged(folder, tracking)
    traces = list(Store(tracking).traces(result.experiment_id, result.run_id))
    process.terminate()
    process.wait()

    assert len(traces) == 30


def test_users_and_passwords(tmp_path: Path, prepared: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`--auth`: without a password and with a wrong one nothing is logged, and the error names the variables."""
    pytest.importorskip("flask_wtf", reason="MLflow's users need Flask-WTF (extra `server`)")
    monkeypatch.setenv("MLFLOW_FLASK_SERVER_SECRET_KEY", "a text for this test only")
    monkeypatch.setenv("MLFLOW_AUTH_ADMIN_PASSWORD", "right-for-this-test")
    backend = tmp_path / "server.db"
    shutil.copy(prepared, backend)
    keep_users_in(tmp_path)
    planned = plan(tmp_path, backend_uri=f"sqlite:///{backend}", port=free_port(), auth=True, workers=1)
    tracking = TrackingSpec(kind="server", uri=planned.address, artifacts=None)
    folder = make_run(tmp_path / "runs")
    process = start(planned)
    try:
        for name in ("MLFLOW_TRACKING_USERNAME", "MLFLOW_TRACKING_PASSWORD"):
            monkeypatch.delenv(name, raising=False)
        with pytest.raises(TrackingError, match="asks for a user and a password: set MLFLOW_TRACKING_USERNAME"):
            prepare_store(tracking, judge="conciseness")
        monkeypatch.setenv("MLFLOW_TRACKING_USERNAME", "admin")
        monkeypatch.setenv("MLFLOW_TRACKING_PASSWORD", "wrong")
        with pytest.raises(TrackingError, match="refuses the user and password in MLFLOW_TRACKING_USERNAME"):
            log_run(folder, tracking=tracking)
        monkeypatch.setenv("TEAM_PASSWORD", "right-for-this-test")
        result = logged(folder, replace(tracking, password_env="TEAM_PASSWORD"))
        found = list(Store(tracking).traces(result.experiment_id, result.run_id))
    finally:
        process.terminate()
        process.wait()

    assert len(found) == 30
    assert (tmp_path / "server-auth.db").exists()
    assert "right-for-this-test" not in (tmp_path / "server-auth.ini").read_text()


def test_ten_processes_at_once_lose_nothing(tmp_path: Path, tracking: TrackingSpec) -> None:
    """Ten runs into one SQLite file at the same moment: every run, repeat, metric and trace is there, prompts once."""
    folders = [make_run(tmp_path / "runs", prompt="v1", minute=minute) for minute in range(10)]
    script = (
        "import sys; from pathlib import Path; from eva.edges.tracking import TrackingSpec, log_run;"
        "log_run(Path(sys.argv[1]), tracking=TrackingSpec().at(Path(sys.argv[2])))"
    )
    started = [
        subprocess.Popen([sys.executable, "-c", script, str(folder), str(tmp_path)], cwd=ROOT) for folder in folders
    ]
    codes = [process.wait() for process in started]
    store = Store(tracking)
    experiment_id = store.experiments()["eva/conciseness"]
    runs = store.find_runs([experiment_id], "")
    parents = [run for run in runs if "eva.run_id" in run.tags]
    summary = json.loads((folders[0] / "summary.json").read_text())

    assert codes == [0] * 10
    assert sorted(run.tags["eva.run_id"] for run in parents) == sorted(folder.name for folder in folders)
    assert len(runs) == 40
    assert {run.metrics["accuracy"] for run in parents} == {summary["accuracy"]["mean"]}
    assert len({len(run.metrics) for run in parents}) == 1
    assert sum(1 for _ in store.traces(experiment_id)) == 300
    assert len(store.prompt_versions("conciseness")) == 1


def test_four_processes_make_one_store(tmp_path: Path) -> None:
    """Absent before: the first makes it, the others wait, and nobody finds half a schema."""
    script = (
        "import sys; from pathlib import Path; from eva.edges.tracking import TrackingSpec, prepare_store;"
        "prepare_store(TrackingSpec().at(Path(sys.argv[1])), judge='conciseness')"
    )
    started = [subprocess.Popen([sys.executable, "-c", script, str(tmp_path)], cwd=ROOT) for _ in range(4)]

    assert [process.wait() for process in started] == [0] * 4
    assert list(Store(TrackingSpec().at(tmp_path)).experiments()) == ["eva/conciseness", "Default"]
