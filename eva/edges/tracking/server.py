"""MLflow for a team on this machine: PostgreSQL behind it, artifacts through it, jobs off, 127.0.0.1 only."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from eva.edges.tracking.postgres import Postgres
from eva.errors import TrackingError

AUTH_SETTINGS = """[mlflow]
default_permission = READ
database_uri = sqlite:///{users}
admin_username = admin
authorization_function = mlflow.server.auth:authenticate_request_basic_auth
"""

Backend = Literal["postgresql", "sqlite"]
READY_S = 120.0
AUTH_NEEDS = ("MLFLOW_FLASK_SERVER_SECRET_KEY", "MLFLOW_AUTH_ADMIN_PASSWORD")
AUTH_CONFIG = "MLFLOW_AUTH_CONFIG_PATH"


@dataclass(frozen=True)
class ServerPlan:
    """What is started: the command and the variables that it needs beside the environment at hand."""

    command: tuple[str, ...]
    environment: Mapping[str, str]
    address: str


def plan(home: Path, *, backend_uri: str, port: int = 5000, auth: bool = False, workers: int = 2) -> ServerPlan:
    """The server's command line. `home`: where its artifacts lie (`server-artifacts`). Writes nothing.

    Jobs off brings it from 2.8 GB to 0.5 GB. With `auth` MLflow's own users and passwords apply; without a file of
    one's own (MLFLOW_AUTH_CONFIG_PATH) users are kept in `home` too, not in the folder that the server is started in.
    """
    command = [
        sys.executable, "-m", "mlflow", "server",
        "--backend-store-uri", backend_uri,
        "--artifacts-destination", str(home / "server-artifacts"),
        "--serve-artifacts",
        "--host", "127.0.0.1",
        "--port", str(port),
        "--workers", str(workers),
        *(["--app-name", "basic-auth"] if auth else []),
    ]  # fmt: skip
    environment = {"MLFLOW_SERVER_ENABLE_JOB_EXECUTION": "false", "MLFLOW_DISABLE_TELEMETRY": "true"}
    if auth:
        environment[AUTH_CONFIG] = os.environ.get(AUTH_CONFIG) or str(home / "server-auth.ini")
    return ServerPlan(tuple(command), environment, f"http://127.0.0.1:{port}")


def serve(
    home: Path, *, say: Callable[[str], None], port: int = 5000, backend: Backend = "postgresql", auth: bool = False
) -> int:
    """Run the server until Ctrl-C or SIGTERM; its exit code. PostgreSQL (in `home/postgres`) is started and stopped with it.

    Raises TrackingError: PostgreSQL or its driver is missing, the port is taken, or `auth` lacks its two secrets.
    """
    _check(backend=backend, auth=auth)
    home.mkdir(parents=True, exist_ok=True)
    if auth:
        keep_users_in(home)
    database = Postgres(home / "postgres", port + 1) if backend == "postgresql" else None
    signal.signal(signal.SIGTERM, _stop_like_ctrl_c)
    if database is not None:
        database.start()
    try:
        uri = database.uri if database else f"sqlite:///{(home / 'server.db').resolve()}"
        started = plan(home, backend_uri=uri, port=port, auth=auth)
        process = start(started)
        say(f"MLflow at {started.address}: python run.py … tracking=server tracking.uri={started.address}")
        if auth:
            say("Users are asked for a password: MLFLOW_TRACKING_USERNAME and MLFLOW_TRACKING_PASSWORD for run.py.")
        say("Ctrl-C stops it; runs that are being logged then wait, and `python -m eva log <run>` completes them.")
        try:
            return process.wait()
        except KeyboardInterrupt:
            process.terminate()
            process.wait()
            return 0
    finally:
        if database is not None:
            database.stop()


def _stop_like_ctrl_c(number: int, frame: object) -> None:
    """A service manager stops with SIGTERM, which would leave PostgreSQL and the server's workers behind."""
    raise KeyboardInterrupt


def keep_users_in(home: Path) -> None:
    """The file that tells MLflow where its users are; one that is there stays as it is. It holds no password."""
    users = (home / "server-auth.db").resolve()
    try:
        with (home / "server-auth.ini").open("x", encoding="utf-8") as file:
            file.write(AUTH_SETTINGS.format(users=str(users).replace("%", "%%")))
    except FileExistsError:
        return  # somebody's own settings


def start(planned: ServerPlan) -> subprocess.Popen[bytes]:
    """The server as a process, once it answers. Raises TrackingError where it ends before that, or takes too long."""
    process = subprocess.Popen(planned.command, env={**os.environ, **planned.environment})  # noqa: S603  # no shell
    until = time.monotonic() + READY_S
    while time.monotonic() < until:
        if process.poll() is not None:
            raise TrackingError(f"the MLflow server ended with code {process.returncode}; its last words are above.")
        if _answers(planned.address):
            return process
        time.sleep(0.2)
    process.terminate()
    process.wait()
    raise TrackingError(f"the MLflow server at {planned.address} does not answer after {READY_S:.0f} s.")


def _answers(address: str) -> bool:
    try:
        with urllib.request.urlopen(f"{address}/health", timeout=2) as answer:  # noqa: S310  # http on 127.0.0.1
            return bool(answer.status == 200)
    except (urllib.error.URLError, TimeoutError, ConnectionError):
        return False  # not yet


def _check(*, backend: Backend, auth: bool) -> None:
    import importlib.util

    if backend == "postgresql" and importlib.util.find_spec("psycopg2") is None:
        raise TrackingError("PostgreSQL needs its driver: `pip install -e '.[server]'`, or use SQLite.")
    missing = [name for name in AUTH_NEEDS if auth and not os.environ.get(name)]
    if missing:
        raise TrackingError(
            f"Users and passwords need {' and '.join(missing)} in the environment: a long random text that signs "
            "sessions, and the password of the first user, `admin` (12 characters or more)."
        )
    if auth and importlib.util.find_spec("flask_wtf") is None:
        raise TrackingError("Users and passwords need `pip install -e '.[server]'`.")
