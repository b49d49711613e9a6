"""What to do about a store that refuses or is away: the second half of the error that a user reads."""

from __future__ import annotations

import os
import shlex
from pathlib import Path
from urllib.parse import urlsplit

from eva.edges.provenance import ROOT
from eva.edges.tracking.spec import TrackingSpec

PORT = 5000
"""Of `make server`."""
AWAY = ("max retries exceeded", "connection refused", "connection aborted", "connection reset")
REFUSED = ("not authenticated", "error code 401", "unauthorized")
FORBIDDEN = ("permission denied", "error code 403")


def explained(words: str, tracking: TrackingSpec) -> str:
    """MLflow's own words with the way out, or better ones where they only name a socket."""
    said = words.lower()
    if tracking.uri.startswith(("http://", "https://")):
        if any(word in said for word in AWAY):
            return f"cannot be reached. {starting(tracking)}"
        if any(word in said for word in REFUSED):
            names = f"{tracking.username_env} and {tracking.password_env}"
            if all(os.environ.get(name) for name in (tracking.username_env, tracking.password_env)):
                return f"refuses the user and password in {names}: mend them, or ask whoever keeps the server."
            return f"asks for a user and a password: set {names}."
        if any(word in said for word in FORBIDDEN):
            return (
                f"lets the user in {tracking.username_env} read only: whoever keeps the server gives the right to "
                f"write. It says: {words.rstrip('.')}."
            )
    return f"says: {words.rstrip('.')}."


def starting(tracking: TrackingSpec) -> str:
    """How to start the server at this address."""
    place = urlsplit(tracking.uri)
    if place.hostname not in ("127.0.0.1", "localhost"):
        return "Is it running there, and is `tracking.uri` right?"
    own = "make server" if place.port == PORT else f"python -m eva server --port {place.port or 80}"
    return f"Start it with `{own}`."


def sending_later(run_dir: Path, tracking: TrackingSpec) -> str:
    """The command that completes a run in the store that it was meant for."""
    home = run_dir.resolve().parent.parent
    words = ["python", "-m", "eva", "log", run_dir.name]
    if tracking.kind == "server":
        words += ["tracking=server", f"tracking.uri={tracking.uri}"]
    if home != (ROOT / "mlruns").resolve():
        words += ["--home", str(home)]
    return shlex.join(words)
