"""Before the first paid call: is there a store, and is its experiment there to be written to?"""

from __future__ import annotations

import sqlite3
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

from eva.edges.tracking import client
from eva.edges.tracking.names import experiment_name
from eva.edges.tracking.retrying import BEFORE_A_RUN
from eva.edges.tracking.spec import SCHEMA_REVISION, TrackingSpec
from eva.errors import TrackingError

PRIMARY = {
    "mlflow.experimentKind": "genai_development",
    "mlflow.experiment.primaryMetric.name": "accuracy",
    "mlflow.experiment.primaryMetric.greaterIsBetter": "True",
}


def prepare_store(tracking: TrackingSpec, *, judge: str | None = None) -> None:
    """Make the store's schema if it is not there (2-7 s, once), and look whether `judge`'s experiment can be used.

    Call it before the first model call, and before the processes of a sweep start: a database that several processes
    create at once ends half made. With a ready SQLite store this takes a millisecond and imports nothing.

    Raises TrackingError: the store cannot be opened, or somebody deleted the experiment (with the way out).
    """
    if tracking.kind == "none":
        return
    path = tracking.sqlite_path
    if path is not None and _ready(path):
        if judge is not None and (lost := _deleted(path, experiment_name(judge))) is not None:
            raise deleted(tracking, experiment_name(judge), lost)
        return
    try:
        store = client.Store(tracking, attempts=BEFORE_A_RUN)
        if judge is not None:
            open_experiment(store, judge)
        elif tracking.kind == "server":
            store.experiments()  # a sweep names no judge; a server that is away is to be known before its jobs start
    except TrackingError as error:
        if tracking.kind != "server" or "tracking=none" in str(error):
            raise
        raise TrackingError(
            f"{error} Nothing was asked of a model. Or run with `tracking=none`, and send the run afterwards: "
            f"`python -m eva log <run> tracking=server tracking.uri={tracking.uri}`."
        ) from error


def open_experiment(store: client.Store, judge: str) -> str:
    """The id of the judge's experiment, made if it is not there. Raises TrackingError where it was deleted."""
    name = experiment_name(judge)
    found = store.experiment(name)
    if found is None:
        return store.create_experiment(name, {**PRIMARY, "eva.judge": judge})
    if found[1] != "active":
        raise deleted(store.tracking, name, found[0])
    return found[0]


def import_in_background(tracking: TrackingSpec | None = None) -> Future[None]:
    """Import MLflow (1.5 s) and, where `tracking` is given, open its store, in a side thread while calls are in flight.

    What goes wrong there is kept in the future and need not be asked for: logging meets it again and says it.
    """
    pool = ThreadPoolExecutor(max_workers=1, thread_name_prefix="mlflow-import")
    future = pool.submit(_warm_up, tracking)
    pool.shutdown(wait=False)
    return future


def deleted(tracking: TrackingSpec, name: str, experiment_id: str) -> TrackingError:
    """The error for an experiment that somebody deleted, with three ways out."""
    return TrackingError(
        f"Experiment {name!r} was deleted in MLflow at {tracking.uri}; MLflow keeps its name. Restore it with "
        f"`MLFLOW_TRACKING_URI={tracking.uri} mlflow experiments restore --experiment-id {experiment_id}`, "
        "log elsewhere with `tracking.uri=…`, or run with `tracking=none` and `python -m eva log <run>` later."
    )


def _warm_up(tracking: TrackingSpec | None) -> None:
    if tracking is None or tracking.kind == "none":
        client.load()
    else:
        client.Store(tracking)


def _ready(path: Path) -> bool:
    """Whether the file is an MLflow database of the revision that this package is tested with."""
    if not path.is_file():
        return False
    try:
        with closing(_read_only(path)) as database:
            rows = database.execute("SELECT version_num FROM alembic_version").fetchall()
    except sqlite3.Error:  # not a database, or empty: MLflow itself then says what is wrong
        return False
    return rows == [(SCHEMA_REVISION,)]


def _deleted(path: Path, name: str) -> str | None:
    """The id of the deleted experiment of this name; None where it is active, or not there."""
    query = "SELECT experiment_id FROM experiments WHERE name = ? AND lifecycle_stage = 'deleted'"
    with closing(_read_only(path)) as database:
        row = database.execute(query, (name,)).fetchone()
    return None if row is None else str(row[0])


def _read_only(path: Path) -> sqlite3.Connection:
    return sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True, timeout=20)
