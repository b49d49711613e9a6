"""A PostgreSQL of our own in a folder: made, started and stopped with the system's binaries. For `make server` and tests.

It listens on 127.0.0.1 only. PostgreSQL refuses to run as root: started by root it runs as the user `postgres`.
"""

from __future__ import annotations

import getpass
import os
import pwd
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from eva.errors import TrackingError

USER, DATABASE = "eva", "mlflow"
HINT = "Install it (Debian: `apt-get install postgresql`), or start the server with SQLite."


@dataclass(frozen=True)
class Postgres:
    """One cluster in `folder`, on `port`."""

    folder: Path
    port: int

    @property
    def uri(self) -> str:
        """What MLflow takes as a backend; the driver is named, since SQLAlchemy 2.1 takes another one by itself.

        No password: it listens on this machine only and trusts it.
        """
        return f"postgresql+psycopg2://{USER}@127.0.0.1:{self.port}/{DATABASE}"

    def start(self) -> None:
        """Make the cluster if it is not there, start it, and make the database. Raises TrackingError."""
        self.folder.parent.mkdir(parents=True, exist_ok=True)
        if not (self.folder / "PG_VERSION").exists():
            self._make()
        options = f"-p {self.port} -c listen_addresses=127.0.0.1 -c unix_socket_directories="
        self._run("pg_ctl", "-D", str(self.folder), "-l", str(self.folder / "log"), "-w", "-o", options, "start")
        names = self._run("psql", *self._address("postgres"), "-Atc", "SELECT datname FROM pg_database")
        if DATABASE not in names.split():
            self._run("createdb", *self._address(None), DATABASE)

    def stop(self) -> None:
        """Stop it after what is being written is written."""
        self._run("pg_ctl", "-D", str(self.folder), "-w", "-m", "fast", "stop")

    def _make(self) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        owner = _owner()
        if owner is not None:
            shutil.chown(self.folder, owner)
        self._run("initdb", "-D", str(self.folder), "-U", USER, "-A", "trust", "-E", "UTF8", "--locale=C.UTF-8")

    def _address(self, database: str | None) -> list[str]:
        return ["-h", "127.0.0.1", "-p", str(self.port), "-U", USER, *(["-d", database] if database else [])]

    def _run(self, program: str, *arguments: str) -> str:
        """Its output. The log is a file: a server that inherits a pipe would keep it open."""
        with (self.folder.parent / f"{self.folder.name}.out").open("w+", encoding="utf-8") as out:
            code = subprocess.call(  # noqa: S603  # our own arguments, no shell
                [binary(program), *arguments],
                stdout=out,
                stderr=subprocess.STDOUT,
                stdin=subprocess.DEVNULL,
                cwd="/",
                **_as_owner(),
            )
            out.seek(0)
            said = out.read()
        if code:
            hint = f" The user {_owner()} must be able to reach the folder." if "Permission denied" in said else ""
            raise TrackingError(f"{program} failed in {self.folder}: {said.strip()[-500:]}{hint}")
        return said


def binary(name: str) -> str:
    """The path of one of PostgreSQL's programs; Debian keeps them out of the PATH. Raises TrackingError."""
    found = shutil.which(name)
    if found:
        return found
    kept = sorted(Path("/usr/lib/postgresql").glob(f"*/bin/{name}"), key=lambda path: int(path.parts[-3]))
    if not kept:
        raise TrackingError(f"PostgreSQL's `{name}` is not on this machine. {HINT}")
    return str(kept[-1])


def _as_owner() -> dict[str, Any]:
    """Arguments for a process of that user, without root's groups."""
    owner = _owner()
    return {} if owner is None else {"user": owner, "group": pwd.getpwnam(owner).pw_gid, "extra_groups": []}


def _owner() -> str | None:
    """Whom the server runs as, where that is not the user at hand."""
    if os.geteuid() != 0:
        return None
    try:
        return pwd.getpwnam("postgres").pw_name
    except KeyError as error:
        raise TrackingError(
            f"PostgreSQL does not run as {getpass.getuser()}, and there is no user postgres."
        ) from error
