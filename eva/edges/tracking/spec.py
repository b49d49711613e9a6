"""What tracking is told, and what it hands back. No MLflow here."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

MLFLOW_VERSION, SCHEMA_REVISION = "3.17.2", "dc11669786a5"
"""What this package is tested with: MLflow's version, and the revision of its database's schema."""

Kind = Literal["local", "server", "none"]
Traces = Literal["all", "moved", "failures", "none"]


@dataclass(frozen=True)
class TrackingSpec:
    """Where runs are logged. Holds names of environment variables, never a password."""

    kind: Kind = "local"
    uri: str = "sqlite:///mlruns/mlflow.db"
    """local: `sqlite:///path`; server: `http(s)://host:port` or a database URL."""
    artifacts: str | None = "mlruns/artifacts"
    """local: the folder of artifacts; server: None (the server's own place)."""
    traces: Traces = "all"
    """Which items get a trace: all, those that moved against the baseline, those that were wrong or failed, none."""
    trace_limit: int | None = None
    """At most so many traces a run; what was left out is said in the run's note."""
    fast_traces: bool = True
    """Write traces through the store's own tables where version and schema are the known ones."""
    username_env: str = "MLFLOW_TRACKING_USERNAME"
    password_env: str = "MLFLOW_TRACKING_PASSWORD"  # noqa: S105  # the name of a variable, not a password
    ui: str = ""
    """Where people open the pages, if not at `uri` (a proxy)."""
    port: int = 5000
    """local: where the printed command opens the pages."""

    def at(self, root: Path) -> TrackingSpec:
        """The same with absolute paths, so that runs started from any folder land in one store."""
        uri, artifacts = self.uri, self.artifacts
        if uri.startswith("sqlite:///"):
            uri = f"sqlite:///{(root / uri.removeprefix('sqlite:///')).resolve()}"
        if artifacts is not None and "://" not in artifacts:
            artifacts = str((root / artifacts).resolve())
        return replace(self, uri=uri, artifacts=artifacts)

    @property
    def sqlite_path(self) -> Path | None:
        """The database file of a local store; None for anything else."""
        if not self.uri.startswith("sqlite:///"):
            return None
        return Path(self.uri.removeprefix("sqlite:///"))


@dataclass(frozen=True)
class Links:
    """Deep links into the MLflow pages."""

    run: str
    traces: str
    comparison: str | None
    """Row by row against the baseline's run; None where that run is not in this store."""
    open_ui: str
    """The command that opens the pages, or their address."""


@dataclass(frozen=True)
class LoggedRun:
    """Where a run ended up."""

    uri: str
    experiment_id: str
    run_id: str
    """MLflow's own id; ours is the tag `eva.run_id`."""
    links: Links
    traces: int
    """How many items have a trace now."""
    trace_writer: str
    """tables, client or none: which way the traces were written."""
    notes: tuple[str, ...] = ()
    """What was left out or done the slow way, in words."""
