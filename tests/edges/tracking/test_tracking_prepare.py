"""Before the first paid call: a store that is there, an experiment that can be written to, from whatever folder."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from eva.edges.tracking import TrackingSpec, import_in_background, log_run, prepare_store
from eva.edges.tracking.client import Store
from eva.errors import TrackingError
from tests.edges.tracking.run_folder import make_run

ROOT = Path(__file__).resolve().parents[3]


def test_a_deleted_experiment_is_found_before_anything_is_paid(tmp_path: Path, tracking: TrackingSpec) -> None:
    """The message holds the command that restores it; the run folder can be logged after that."""
    folder = make_run(tmp_path / "runs")
    result = log_run(folder, tracking=tracking)
    assert result is not None
    Store(tracking).client.delete_experiment(result.experiment_id)

    with pytest.raises(TrackingError, match=r"mlflow experiments restore --experiment-id 1"):
        prepare_store(tracking, judge="conciseness")
    with pytest.raises(TrackingError, match=r"restore.*python -m eva log conciseness-v1-00"):
        log_run(folder, tracking=tracking)
    Store(tracking).client.restore_experiment(result.experiment_id)
    prepare_store(tracking, judge="conciseness")


def test_a_ready_store_is_looked_at_without_importing_mlflow(tracking: TrackingSpec) -> None:
    """Imports cost 1.5 s; a start that only looks costs none."""
    script = (
        "import sys; from pathlib import Path; from eva.edges.tracking import TrackingSpec, prepare_store;"
        "prepare_store(TrackingSpec().at(Path(sys.argv[1])), judge='conciseness');"
        "sys.exit(any(name in sys.modules for name in ('mlflow', 'sqlalchemy', 'pandas', 'litellm')))"
    )
    assert tracking.sqlite_path is not None
    home = tracking.sqlite_path.parent.parent

    assert subprocess.call([sys.executable, "-c", script, str(home)], cwd=ROOT) == 0


def test_runs_from_any_folder_land_in_one_store(
    tmp_path: Path, tracking: TrackingSpec, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The address is absolute, and MLflow makes no database of its own where one stands."""
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    log_run(make_run(tmp_path / "runs"), tracking=tracking)

    assert list(elsewhere.iterdir()) == []
    assert tracking.uri == f"sqlite:///{tmp_path}/mlruns/mlflow.db"


def test_relative_places_are_taken_from_the_root() -> None:
    """A server's address and an artifact place that is an address stay as they are."""
    root = Path("/srv/eva")
    local = TrackingSpec().at(root)
    server = TrackingSpec(kind="server", uri="http://127.0.0.1:5000", artifacts="s3://bucket/x").at(root)

    assert (local.uri, local.artifacts) == ("sqlite:////srv/eva/mlruns/mlflow.db", "/srv/eva/mlruns/artifacts")
    assert (server.uri, server.artifacts) == ("http://127.0.0.1:5000", "s3://bucket/x")


def test_what_is_no_database_is_refused_with_its_path(tmp_path: Path) -> None:
    """Not overwritten, and no traceback of a driver."""
    spec = TrackingSpec().at(tmp_path)
    assert spec.sqlite_path is not None
    spec.sqlite_path.parent.mkdir()
    spec.sqlite_path.write_text("this is a text\n" * 100)

    with pytest.raises(TrackingError, match=r"mlruns/mlflow\.db"):
        prepare_store(spec, judge="conciseness")
    assert spec.sqlite_path.read_text().startswith("this is a text")


def test_a_warm_up_that_fails_says_so_when_it_is_asked(tmp_path: Path) -> None:
    """In the background nothing is printed; logging meets the same error and tells it."""
    spec = TrackingSpec().at(tmp_path)
    (tmp_path / "mlruns").write_text("a file where the folder should be")

    assert isinstance(import_in_background(spec).exception(), TrackingError)


def test_nothing_is_prepared_for_none(tmp_path: Path) -> None:
    """tracking=none makes no file."""
    prepare_store(TrackingSpec(kind="none").at(tmp_path), judge="conciseness")

    assert list(tmp_path.iterdir()) == []
