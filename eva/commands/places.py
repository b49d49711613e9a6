"""Where commands look for runs, and how they name them."""

from __future__ import annotations

import argparse
from pathlib import Path

from eva.edges import runs
from eva.edges.compose import compose
from eva.edges.provenance import ROOT
from eva.edges.runs import RunFolder
from eva.edges.settings import settings_from
from eva.edges.tracking import TrackingSpec
from eva.errors import ComparisonError, UnknownChoice


def add_home(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--home", default="mlruns", help="folder of all local state (default: mlruns)")


def home_of(given: argparse.Namespace) -> Path:
    """The state folder, relative to the checkout whatever folder the command was started in."""
    return (ROOT / str(given.home)).resolve()


def add_tracking(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("overrides", nargs="*", help="tracking=… settings, as for run.py")


def tracking_of(given: argparse.Namespace) -> TrackingSpec:
    """Where MLflow is: conf/tracking, in the folder that `--home` names, with what the command line changes."""
    quoted = str(home_of(given)).replace("\\", "\\\\").replace("'", "\\'")
    return settings_from(compose([f"home='{quoted}'", *given.overrides])).tracking.at(ROOT)


def add_filters(parser: argparse.ArgumentParser) -> None:
    """What narrows a prompt version down to one run."""
    for name in ("judge", "model", "language", "dataset"):
        parser.add_argument(f"--{name}", help=f"where a prompt version is named: the {name} of its run")


def run_or_version(given: argparse.Namespace, name: str) -> RunFolder:
    """A run by id, prefix or `last`; or the newest finished run of a prompt version (`v2`) that the filters fit.

    Raises UnknownChoice, or ComparisonError where a version fits several judges and none was named.
    """
    home = home_of(given)
    fitting = [run for run in runs.all_runs(home) if run.meta.get("prompt") == name and _fits(run, given)]
    if not fitting:
        return runs.find_run(home, name)
    judges = sorted({str(run.meta["judge"]) for run in fitting})
    if len(judges) > 1:
        raise ComparisonError(
            f"prompt {name} was run for several judges ({', '.join(judges)}): say which with --judge."
        )
    finished = [run for run in fitting if run.meta.get("status") == "finished"]
    if not finished:
        raise UnknownChoice(
            "finished run of prompt", name, [run.run_id for run in fitting], hint="Those shown did not finish."
        )
    return finished[-1]


def _fits(run: RunFolder, given: argparse.Namespace) -> bool:
    has = {
        "judge": run.meta["judge"],
        "model": run.meta["model"]["name"],
        "language": run.meta["language"],
        "dataset": run.meta["dataset"]["name"],
    }
    return all(getattr(given, key, None) in (None, value) for key, value in has.items())
