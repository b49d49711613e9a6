"""Several jobs, one end: how each job ended, and the comparison of every pair that differs only in the prompt."""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from eva.comparing import compared
from eva.edges.compose import compose
from eva.edges.early import SWEEP_VARIABLE
from eva.edges.provenance import ROOT
from eva.edges.runs import RunFolder, all_runs
from eva.edges.secrets import redact
from eva.edges.settings import check_jobs, settings_from
from eva.edges.tracking import TrackingSpec, prepare_store
from eva.edges.tracking.links import open_ui
from eva.edges.tracking.sweeps import log_sweep
from eva.errors import ConfigError, TrackingError
from eva.prompts.lock import version_order
from eva.report import markdown
from eva.report.inputs import Pair
from eva.reporting import comparisons_report, print_report


def begin_sweep(arguments: Sequence[str]) -> None:
    """Before the jobs start, perhaps side by side: the MLflow store exists, since several makers would leave it half made."""
    several = [word for word in arguments if re.match(r"home=[^'\"]*,", word)]
    if several:
        raise ConfigError(f"{several[0]}: the jobs of one sweep share one home; name one folder.")
    check_jobs(arguments)
    prepare_store(_tracking(arguments))


def home_given(arguments: Sequence[str]) -> Path:
    """Where this sweep's runs lie."""
    own = [word.partition("=")[2].strip("'\"") for word in arguments if word.startswith("home=")]
    return (ROOT / (own[-1] if own else "mlruns")).resolve()


def note_job(sweep: str, overrides: tuple[str, ...], *, code: int, problem: str = "") -> None:
    """Append how a job ended; jobs may be processes of their own, so the note is a line in the sweep's file."""
    path = _notes(sweep, overrides)
    path.parent.mkdir(parents=True, exist_ok=True)
    line = json.dumps({"job": " ".join(overrides), "code": code, "problem": redact(problem)}, ensure_ascii=False)
    with path.open("a", encoding="utf-8") as file:
        file.write(line + "\n")


def finish_sweep(arguments: Sequence[str]) -> int:
    """Print the table of jobs and the comparisons; the worst exit code. Calls no model."""
    sweep = os.environ[SWEEP_VARIABLE]
    jobs = _jobs(_notes(sweep, arguments))
    print(f"\nsweep {sweep}: {len(jobs)} jobs")
    for job in jobs:
        problem = f": {job['problem']}" if job["problem"] else ""
        ended = "ok    " if job["code"] == 0 else f"exit {job['code']}"
        print(f"  {ended}  {job['job']}{problem}")
    runs = [
        run
        for run in all_runs(home_given(arguments))
        if run.meta.get("sweep") == sweep and run.meta["status"] == "finished"
    ]
    pairs = compared_pairs(runs)
    if pairs:
        print()
        print_report(comparisons_report(pairs))
    if runs:
        _log(runs, pairs, sweep=sweep, tracking=_tracking(arguments))
    return max((int(job["code"]) for job in jobs), default=0)


def compared_pairs(runs: list[RunFolder]) -> list[Pair]:
    """Every pair of `prompt_pairs`, compared as its later run was set to be."""
    return [
        compared(before, after, margin=float(after.meta["margin"]), attributed=after.meta.get("attribute") != "none")
        for before, after in prompt_pairs(runs)
    ]


def prompt_pairs(runs: list[RunFolder]) -> list[tuple[RunFolder, RunFolder]]:
    """Every two runs that differ in the prompt and in nothing else, older version first.

    Of several runs of one prompt the newest counts: jobs side by side may each have made the same baseline.
    """
    newest = {(_alike(run), str(run.meta["prompt_sha256"])): run for run in runs}
    ordered = sorted(newest.values(), key=_order)
    return [
        (before, after)
        for place, before in enumerate(ordered)
        for after in ordered[place + 1 :]
        if _alike(before) == _alike(after)
        and before.meta["prompt_sha256"] != after.meta["prompt_sha256"]
        # An edit is set against the version as released, not against other edits.
        and not before.meta.get("prompt_edited")
        and (not after.meta.get("prompt_edited") or before.meta["prompt"] == after.meta["prompt"])
    ]


def _order(run: RunFolder) -> tuple[object, ...]:
    meta = run.meta
    return (
        meta["judge"],
        version_order(str(meta["prompt"])),
        bool(meta.get("prompt_edited")),
        meta.get("prompt_edits"),
        run.run_id,
    )


def _alike(run: RunFolder) -> tuple[object, ...]:
    meta = run.meta
    return meta["judge"], meta["language"], meta["task"], meta["digests"]["model"], meta["digests"]["dataset"]


def _tracking(arguments: Sequence[str]) -> TrackingSpec:
    own = [word for word in arguments if word.startswith(("tracking", "home="))]
    return settings_from(compose(own)).tracking.at(ROOT)


def _log(runs: list[RunFolder], pairs: list[Pair], *, sweep: str, tracking: TrackingSpec) -> None:
    """The sweep's own page in MLflow; without it every run is still there."""
    comparisons = markdown.render(comparisons_report(pairs)) if pairs else ""
    try:
        address = log_sweep([run.path for run in runs], sweep=sweep, tracking=tracking, comparisons=comparisons)
    except TrackingError as error:
        print(f"eva: MLflow has no page of this sweep: {redact(str(error))}", file=sys.stderr)
        return
    if address:
        print(f"\nMLflow   {open_ui(tracking)}\n         {address}")


def _notes(sweep: str, arguments: Sequence[str]) -> Path:
    """A job's overrides name the same home as the command line of its sweep."""
    return home_given(arguments) / "sweeps" / f"{sweep}.jsonl"


def _jobs(path: Path) -> list[dict[str, Any]]:
    if not path.exists():
        print("eva: no job of this sweep got as far as a run", file=sys.stderr)
        return [{"job": "(none)", "code": 3, "problem": "no job ran"}]
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
