"""A finished run folder → its page, its plots and MLflow. What fails here loses nothing: the folder is the truth."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from eva.edges import runs
from eva.edges.runs import RunFolder
from eva.edges.tracking import LoggedRun, TrackingSpec, log_run
from eva.errors import TrackingError
from eva.report import html
from eva.reporting import pair_with_baseline, plots_of, report_of

Say = Callable[[str], None]


@dataclass(frozen=True)
class Published:
    """Where a run can be looked at."""

    logged: LoggedRun | None
    """None with tracking=none, or where MLflow failed."""
    problem: str = ""


def publish(folder: RunFolder, *, tracking: TrackingSpec, say: Say) -> Published:
    """Write the run's page and plots, then send the folder to MLflow."""
    write_page(folder)
    return log_folder(folder, tracking=tracking, say=say)


def write_page(folder: RunFolder) -> None:
    """report.html and plots/, from what the folder holds."""
    pair = pair_with_baseline(folder)
    runs.write_text(folder.path / "report.html", html.render(report_of(folder, pair=pair)))
    for name, picture in plots_of(folder, pair=pair).items():
        runs.write_bytes(folder.path / "plots" / name, picture)


def log_folder(folder: RunFolder, *, tracking: TrackingSpec, say: Say) -> Published:
    """Send a folder to MLflow; a failure is said with the command that completes it."""
    try:
        return Published(logged=log_run(folder.path, tracking=tracking))
    except TrackingError as error:
        problem = f"MLflow: {error}\nThe run is safe in {folder.path}."
        say(problem)
        return Published(logged=None, problem=problem)
