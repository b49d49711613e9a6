"""One Hydra job: composed config in, a run and its printed end out."""

from __future__ import annotations

import os
import sys
import traceback
from pathlib import Path
from typing import Any

from eva.edges.compose import plain, sweep_overrides
from eva.edges.early import SWEEP_VARIABLE, leave, show_what_can_be_shown
from eva.edges.provenance import ROOT
from eva.edges.secrets import redact
from eva.edges.settings import settings_from
from eva.errors import EvaError
from eva.flow import Finished, home_of, validate
from eva.reporting import print_run


def run_job(config: Any) -> None:
    """Run one job. Alone, a job ends the process with its exit code; in a sweep it notes how it ended and the sweep goes on."""
    sweep = os.environ.get(SWEEP_VARIABLE)
    if sweep is None:
        with leave():  # here, since Hydra would print a traceback of its own
            try:
                code = _run(config, sweep=None)
            except EvaError:
                raise
            except Exception:  # ours to mend: shown whole, but for credentials
                print(redact(traceback.format_exc()), file=sys.stderr)
                code = 3
        if code:
            raise SystemExit(code)
        return
    from eva.sweep import note_job

    show_what_can_be_shown()  # a job of a sweep may have a process of its own
    overrides = sweep_overrides()
    try:
        note_job(sweep, overrides, code=_run(config, sweep=sweep))
    except EvaError as error:
        note_job(sweep, overrides, code=error.exit_code, problem=str(error))
        print(f"eva: {redact(str(error))}", file=sys.stderr)
    except Exception:  # the sweep's other jobs go on; the table at its end says that this one broke
        problem = redact(traceback.format_exc())
        note_job(sweep, overrides, code=3, problem=problem.strip().splitlines()[-1])
        print(problem, file=sys.stderr)


def _run(config: Any, *, sweep: str | None) -> int:
    settings = settings_from(plain(config))
    finished = validate(settings, overrides=sweep_overrides(), sweep=sweep, say=_say)
    if finished is None:
        return 0
    print_end(finished, home=str(home_of(settings)))
    return finished.exit_code


def print_end(finished: Finished, *, home: str) -> None:
    """The table, where everything is, and how to go on."""
    print_run(finished.folder)
    print(f"\nrun      {finished.folder.run_id}")
    print(f"folder   {finished.folder.path}")
    elsewhere = "" if Path(home) == ROOT / "mlruns" else f" --home {home}"
    print(f"again    python -m eva show {finished.folder.run_id}{elsewhere}")
    if finished.baseline is not None:
        print(f"compare  python -m eva compare {finished.baseline.run_id} {finished.folder.run_id}{elsewhere}")
    logged = finished.published.logged
    if logged is not None:
        print(f"MLflow   {logged.links.open_ui}")
        print(f"         {logged.links.run}")
        if logged.links.comparison:
            print(f"         {logged.links.comparison}")
        for note in logged.notes:
            print(f"         note: {note}")
    if finished.exit_code == 130:
        print("interrupted: the same command goes on where this one stopped", file=sys.stderr)
    elif finished.exit_code == 1:
        print("exit code 1: more failures than max_failures allows", file=sys.stderr)


def _say(text: str) -> None:
    print(redact(text), file=sys.stderr, flush=True)
