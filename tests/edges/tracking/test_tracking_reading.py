"""Looking into a store writes nothing; what belongs to one home lies in it; errors name the way out."""

from __future__ import annotations

import argparse
import os
from pathlib import Path

import pytest

from eva.__main__ import main
from eva.commands.places import tracking_of
from eva.edges.provenance import ROOT
from eva.edges.settings import settings
from eva.edges.tracking import TrackingSpec, log_run, prepare_store, reading
from eva.edges.tracking.history import list_runs
from eva.edges.tracking.reading import readable
from eva.edges.tracking.troubles import explained, sending_later
from eva.errors import ConfigError, TrackingError
from eva.sweep import begin_sweep, note_job
from tests.edges.tracking.run_folder import make_run

SERVER = TrackingSpec(kind="server", uri="http://127.0.0.1:5000", artifacts=None)


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_a_store_that_may_not_be_written_to_is_read_from_a_copy(
    tmp_path: Path, tracking: TrackingSpec, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same runs, no file changed or made beside the database. (Root may write anywhere: `os.access` is told.)"""
    log_run(make_run(tmp_path / "runs"), tracking=tracking)
    written = list_runs(tracking)
    before = contents(tmp_path / "mlruns")
    monkeypatch.setattr(reading.os, "access", lambda path, mode: mode != os.W_OK)

    assert list_runs(tracking) == written
    assert len(written) == 1
    assert contents(tmp_path / "mlruns") == before


def test_reading_makes_no_store(tmp_path: Path) -> None:
    """Where nothing was logged it says so, and how to look elsewhere."""
    spec = TrackingSpec().at(tmp_path)
    with pytest.raises(TrackingError, match=r"no run was logged there.*--home"), readable(spec):
        pass

    assert list(tmp_path.iterdir()) == []


def test_the_store_lies_in_the_home_of_its_runs(tmp_path: Path) -> None:
    """`home=…` moves database and artifacts; a given `tracking.uri` stays."""
    own = settings(f"home={tmp_path}").tracking.at(ROOT)
    given = settings(f"home={tmp_path}", "tracking.uri=sqlite:////srv/x.db").tracking.at(ROOT)

    assert (own.uri, own.artifacts) == (f"sqlite:///{tmp_path}/mlflow.db", f"{tmp_path}/artifacts")
    assert given.uri == "sqlite:////srv/x.db"
    assert settings().tracking.at(ROOT) == TrackingSpec().at(ROOT)


def test_commands_look_into_the_home_that_they_are_given(tmp_path: Path) -> None:
    """Blanks, quotes and commas in its name too."""
    odd = tmp_path / "Anna's runs, 2=3"
    found = tracking_of(argparse.Namespace(home=str(odd), overrides=[]))

    assert found.uri == f"sqlite:///{odd}/mlflow.db"


def test_runs_and_history_of_a_home(tmp_path: Path, tracking: TrackingSpec, capsys: pytest.CaptureFixture[str]) -> None:
    """The table has intervals of both statistics; settings may follow options."""
    log_run(make_run(tmp_path / "runs"), tracking=tracking)
    home = str(tmp_path / "mlruns")

    assert main(["runs", "--home", home, "--limit", "5", "tracking.port=5001"]) == 0
    assert "http://127.0.0.1:5001/#/experiments/" in capsys.readouterr().out
    assert main(["history", "--judge", "conciseness", "--home", home]) == 0
    told = capsys.readouterr().out
    assert told.count("[") == told.count("%]") == 2


def test_log_says_no_where_the_store_is_away(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Exit code 1: a script that sends runs must hear that one was not sent."""
    from eva.edges.tracking import retrying

    monkeypatch.setattr(retrying, "FIRST_WAIT_S", 0.0)
    make_run(tmp_path / "runs")
    away = ["tracking=server", "tracking.uri=http://127.0.0.1:9"]

    assert main(["log", "last", "--home", str(tmp_path), *away]) == 1


def test_a_server_that_is_away_is_said_before_anything_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    """With the command that starts it, for one judge and for a sweep."""
    from eva.edges.tracking import retrying

    monkeypatch.setattr(retrying, "FIRST_WAIT_S", 0.0)
    away = TrackingSpec(kind="server", uri="http://127.0.0.1:9", artifacts=None)
    for judge in ("conciseness", None):
        with pytest.raises(TrackingError, match=r"eva server --port 9`.*Nothing was asked.*tracking=none"):
            prepare_store(away, judge=judge)


def test_troubles_name_the_way_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """A server that is away, one that asks for a password, one that refuses it, and anything else in its own words."""
    monkeypatch.delenv("MLFLOW_TRACKING_USERNAME", raising=False)

    assert "`make server`" in explained("API request failed: Max retries exceeded", SERVER)
    assert explained("You are not authenticated. Please see …", SERVER).startswith("asks for a user and a password")
    monkeypatch.setenv("MLFLOW_TRACKING_USERNAME", "anna")
    monkeypatch.setenv("MLFLOW_TRACKING_PASSWORD", "wrong")
    assert explained("You are not authenticated. Please see …", SERVER).startswith("refuses the user and password in")
    assert explained("Permission denied", SERVER).startswith("lets the user in MLFLOW_TRACKING_USERNAME read only")
    assert explained("no such table.", TrackingSpec()) == "says: no such table."


def test_sending_later_names_server_and_home(tmp_path: Path) -> None:
    """Pasted as it is it completes the run where it was meant to be, not in the local store."""
    assert sending_later(ROOT / "mlruns" / "runs" / "r-1", TrackingSpec()) == "python -m eva log r-1"
    assert sending_later(tmp_path / "runs" / "r-1", SERVER) == (
        f"python -m eva log r-1 tracking=server tracking.uri=http://127.0.0.1:5000 --home {tmp_path}"
    )


def test_a_sweep_has_one_home(tmp_path: Path) -> None:
    """Its store, its notes and its summary belong together; quotes around the name are not part of it."""
    with pytest.raises(ConfigError, match="share one home"):
        begin_sweep(["-m", "prompt=v1,v2", "home=a,b"])
    note_job("sweep-1", ("prompt=v1", f"home='{tmp_path}'"), code=0)

    assert (tmp_path / "sweeps" / "sweep-1.jsonl").exists()
