"""Runs listed from MLflow, a judge's way over its versions, and a sweep's summary run."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from eva.edges.tracking import TrackingSpec, log_run
from eva.edges.tracking.client import Store
from eva.edges.tracking.folder import read
from eva.edges.tracking.history import Figure, KnownRun, history, list_runs
from eva.edges.tracking.sweeps import log_sweep, sweep_table
from eva.errors import UnknownChoice
from tests.edges.tracking.run_folder import make_run


def test_runs_are_listed_with_headline_and_identity(tmp_path: Path, tracking: TrackingSpec) -> None:
    """Newest first, children left out, numbers those of the run folder."""
    first = make_run(tmp_path / "runs", prompt="v1")
    second = make_run(tmp_path / "runs", prompt="v2", before=first, minute=9)
    for folder in (first, second):
        log_run(folder, tracking=tracking)
    found = list_runs(tracking, judge="conciseness")
    summary = json.loads((second / "summary.json").read_text())

    assert [run.run_id for run in found] == ["conciseness-v2-09", "conciseness-v1-00"]
    assert found[0].accuracy.value == summary["accuracy"]["mean"]
    assert found[0].accuracy.low == summary["accuracy_interval"]["low"]
    assert found[0].identity == json.loads((second / "run.json").read_text())["identity"]
    assert (found[0].verdict, found[1].verdict) == ("accuracy: cannot tell", "")
    assert list_runs(tracking, since=datetime(2026, 11, 30, 20, 5, tzinfo=UTC)) == found[:1]


def test_an_unknown_judge_names_the_known_ones(tmp_path: Path, tracking: TrackingSpec) -> None:
    """A typo is answered with what MLflow has runs of."""
    log_run(make_run(tmp_path / "runs"), tracking=tracking)

    with pytest.raises(UnknownChoice, match="conciseness"):
        list_runs(tracking, judge="concisness")


def known(prompt: str, **changes: object) -> KnownRun:
    figure = Figure(0.5, 0.1, 0.4, 0.6)
    base = KnownRun(
        run_id=prompt, judge="j", prompt=prompt, model="m", language="en", dataset="d", dataset_sha256="abc",
        created="2026-01-01", status="finished", repeats=3, accuracy=figure, macro_f1=figure, mean_score=figure,
        cost_usd=None, verdict="", identity="", sweep="", link="",
    )  # fmt: skip
    return replace(base, **changes)  # type: ignore[arg-type]  # a test's shorthand


def test_history_is_a_line_a_model_in_order_of_versions() -> None:
    """v10 after v2; of two runs of a version the newest counts; unfinished ones never."""
    runs = [
        known("v10"),
        known("v2", run_id="old"),
        known("v2", run_id="new", created="2026-01-02"),
        known("v3", status="interrupted"),
        known("v2", run_id="edited", created="2026-01-03", edited=True),
        known("v1", model="n"),
    ]

    assert {line: [run.run_id for run in row] for line, row in history(runs).items()} == {
        "m": ["new", "v10"],
        "n": ["v1"],
    }


def test_history_does_not_join_what_was_measured_on_different_things() -> None:
    """Another language or dataset is another line."""
    lines = history([known("v1"), known("v2", language="fr"), known("v3", dataset_sha256="fff", dataset="e")])

    assert list(lines) == ["m · en · d abc", "m · en · e fff", "m · fr · d abc"]


def test_a_sweep_has_one_summary_run(tmp_path: Path, tracking: TrackingSpec) -> None:
    """Its note is the table of its jobs; a second call re-makes it in place."""
    jobs = [
        make_run(tmp_path / "runs", prompt=prompt, judge=judge, minute=place, changes={"sweep": "s1"})
        for place, (judge, prompt) in enumerate([("faithfulness", "v2"), ("faithfulness", "v1"), ("conciseness", "v1")])
    ]
    for job in jobs:
        log_run(job, tracking=tracking)
    first = log_sweep(jobs, sweep="s1", tracking=tracking, comparisons="## v1 and v2")
    second = log_sweep(jobs, sweep="s1", tracking=tracking, comparisons="## v1 and v2")
    store = Store(tracking)
    found = store.find_runs([store.experiments()["eva/sweeps"]], "")

    assert first == second
    assert len(found) == 1
    assert found[0].metrics["jobs/finished"] == 3
    note = found[0].tags["mlflow.note.content"]
    assert [line.split(" | ")[:2] for line in note.splitlines()[2:5]] == [
        ["| conciseness", "v1"],
        ["| faithfulness", "v1"],
        ["| faithfulness", "v2"],
    ]
    assert "## v1 and v2" in note
    assert "[faithfulness](http://127.0.0.1:5000/#/experiments/" in note


def test_the_sweep_table_shows_what_the_summaries_hold(tmp_path: Path) -> None:
    """Mean and run-to-run std as in the run's own table."""
    folder = read(make_run(tmp_path))
    accuracy = folder.summary["accuracy"]

    assert f"{100 * accuracy['mean']:.2f}% ± {100 * accuracy['std']:.2f}%" in sweep_table([folder])
