"""log_run: one parent, one child a repeat, one trace an item, however often it is called."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from eva.edges.tracking import LoggedRun, TrackingSpec, log_run
from eva.edges.tracking.client import Store
from eva.errors import StoreError, TrackingError
from tests.edges.tracking.run_folder import make_run

Ask = Callable[[str], list[tuple[object, ...]]]
COUNTED = ("runs", "metrics", "params", "trace_info", "spans", "assessments", "trace_tags", "model_versions", "inputs")


def logged(folder: Path, tracking: TrackingSpec) -> LoggedRun:
    result = log_run(folder, tracking=tracking)
    assert result is not None
    return result


def counts(rows: Ask) -> dict[str, object]:
    return {table: rows(f"SELECT count(*) FROM {table}")[0][0] for table in COUNTED}


def test_a_run_becomes_one_parent_with_a_child_a_repeat(tmp_path: Path, tracking: TrackingSpec) -> None:
    """The parent holds mean, std and interval; each child one repeat; single values have keys of their own."""
    folder = make_run(tmp_path / "runs")
    result = logged(folder, tracking)
    summary = json.loads((folder / "summary.json").read_text())
    found = Store(tracking).find_runs([result.experiment_id], "")
    parent = next(run for run in found if run.run_id == result.run_id)
    children = sorted((run for run in found if run.run_id != result.run_id), key=lambda run: run.name)

    assert parent.metrics["accuracy"] == summary["accuracy"]["mean"]
    assert parent.metrics["accuracy/std"] == summary["accuracy"]["std"]
    assert parent.metrics["accuracy/low"] == summary["accuracy_interval"]["low"]
    assert parent.metrics["repeat/accuracy"] == summary["repeats"][-1]["accuracy"]
    assert [child.name for child in children] == ["repeat 0", "repeat 1", "repeat 2"]
    assert [child.metrics["accuracy"] for child in children] == [row["accuracy"] for row in summary["repeats"]]
    assert {child.tags["mlflow.parentRunId"] for child in children} == {result.run_id}
    assert {run.status for run in found} == {"FINISHED"}


def test_names_are_stable_and_undefined_numbers_are_left_out(tmp_path: Path, tracking: TrackingSpec) -> None:
    """F1 of the absent class and the undefined kappa are no metrics; classes, languages and flags have fixed names."""
    result = logged(make_run(tmp_path / "runs"), tracking)
    metrics = Store(tracking).find_runs([result.experiment_id], "tags.`eva.run_id` LIKE '%'")[0].metrics
    named = {"class.2/f1", "lang.fr/accuracy", "flag.verbosity_or_filler/rate", "spend/calls", "stability"}

    assert named <= set(metrics)
    assert "class.1/f1" not in metrics
    assert "weighted_kappa" not in metrics


def test_logging_twice_adds_no_row(tmp_path: Path, tracking: TrackingSpec, rows: Ask) -> None:
    """The second logging finds the first by our run id and has nothing to do."""
    folder = make_run(tmp_path / "runs")
    first = logged(folder, tracking)
    before = counts(rows)
    second = logged(folder, tracking)

    assert first.run_id == second.run_id
    assert before == counts(rows)


def test_an_interrupted_logging_is_completed(
    tmp_path: Path, tracking: TrackingSpec, rows: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The store goes away after some traces: an error that says how to go on, and then the same rows as without it."""
    folder = make_run(tmp_path / "runs")
    whole = replace(tracking, uri=str(tracking.uri).replace("mlflow.db", "whole.db"))
    assert tracking.sqlite_path is not None
    assert whole.sqlite_path is not None
    whole.sqlite_path.write_bytes(tracking.sqlite_path.read_bytes())
    logged(folder, whole)

    def write_some(self: Store, traces: list[object]) -> None:
        kept(self, traces[:7])
        raise TrackingError("MLflow went away.")

    kept = Store.write_traces
    with monkeypatch.context() as patch:
        patch.setattr(Store, "write_traces", write_some)
        with pytest.raises(TrackingError, match="python -m eva log conciseness-v1-00"):
            log_run(folder, tracking=replace(tracking, fast_traces=False))
    assert rows("SELECT count(*) FROM trace_info") == [(7,)]
    logged(folder, tracking)

    import sqlite3

    with sqlite3.connect(whole.sqlite_path) as other:
        expected = {table: other.execute(f"SELECT count(*) FROM {table}").fetchone()[0] for table in COUNTED}
    other.close()
    assert expected == counts(rows)


def test_a_comparison_links_both_runs(tmp_path: Path, tracking: TrackingSpec) -> None:
    """diff/… are metrics of the later run, and the deep link holds both MLflow ids."""
    before = make_run(tmp_path / "runs", prompt="v1", skill=0.6)
    after = make_run(tmp_path / "runs", prompt="v2", skill=0.9, before=before, minute=3)
    first, second = logged(before, tracking), logged(after, tracking)
    comparison = json.loads((after / "comparison.json").read_text())
    metrics = Store(tracking).find_runs([second.experiment_id], "tags.`eva.prompt` = 'v2'")[0].metrics

    assert metrics["diff/accuracy"] == comparison["differences"][0]["difference"]["value"]
    assert metrics["diff/fixed"] == comparison["counts"]["fixed"]
    assert second.links.comparison is not None
    assert second.links.comparison.endswith(f"selectedRunUuid={second.run_id}&compareToRunUuid={first.run_id}")


def test_the_baseline_need_not_be_in_the_store(tmp_path: Path, tracking: TrackingSpec, rows: Ask) -> None:
    """There is no comparison link then, and the note says which command sends the baseline."""
    before = make_run(tmp_path / "runs", prompt="v1")
    result = logged(make_run(tmp_path / "runs", prompt="v2", before=before, minute=3), tracking)
    note = str(rows("SELECT value FROM tags WHERE key = 'mlflow.note.content'")[0][0])

    assert result.links.comparison is None
    assert "python -m eva log conciseness-v1-00" in note


@pytest.mark.parametrize(
    ("status", "shown"), [("finished", "FINISHED"), ("interrupted", "KILLED"), ("failed", "FAILED")]
)
def test_the_status_says_how_the_run_ended(tmp_path: Path, tracking: TrackingSpec, status: str, shown: str) -> None:
    """Ctrl-C is KILLED in MLflow, on the parent and its children."""
    result = logged(make_run(tmp_path / "runs", status=status), tracking)

    assert {run.status for run in Store(tracking).find_runs([result.experiment_id], "")} == {shown}


def test_changed_numbers_are_logged_anew_in_the_same_run(tmp_path: Path, tracking: TrackingSpec) -> None:
    """A rescored run keeps its MLflow id and shows its new numbers."""
    folder = make_run(tmp_path / "runs")
    first = logged(folder, tracking)
    summary = json.loads((folder / "summary.json").read_text())
    summary["accuracy"]["mean"] = 0.123
    (folder / "summary.json").write_text(json.dumps(summary))
    second = logged(folder, tracking)
    found = Store(tracking).find_runs([second.experiment_id], "tags.`eva.run_id` LIKE '%'")

    assert first.run_id == second.run_id
    assert [run.metrics["accuracy"] for run in found] == [0.123]


def test_the_folder_is_among_the_artifacts_and_strangers_are_not(tmp_path: Path, tracking: TrackingSpec) -> None:
    """Only files that a run folder has by name are logged; leftovers of an earlier attempt are reported."""
    folder = make_run(tmp_path / "runs")
    (folder / "verdicts (copy).parquet").write_bytes(b"")
    result = logged(folder, tracking)
    root = Path(str(tracking.artifacts)) / result.run_id / "artifacts"
    found = {path.relative_to(root).as_posix() for path in root.rglob("*") if path.is_file()}

    assert {
        "report.html",
        "verdicts.parquet",
        "plots/confusion.png",
        "plots/confusion.svg",
        "prompt.md",
        "config.yaml",
    } <= found
    assert "verdicts (copy).parquet" not in found
    assert result.notes == ("verdicts (copy).parquet: unknown file, not logged",)


def test_a_prompt_is_registered_once_a_content(tmp_path: Path, tracking: TrackingSpec) -> None:
    """Three runs, two texts: two versions with the release's summary and aliases; v1 again does not move `released`."""
    first = make_run(tmp_path / "runs", prompt="v1")
    later = make_run(tmp_path / "runs", prompt="v2", before=first, minute=1)
    for folder in (first, later, make_run(tmp_path / "runs", minute=2)):
        logged(folder, tracking)
    store = Store(tracking)
    versions = store.prompt_versions("conciseness")

    assert [(row.version, row.tags["eva.prompt"]) for row in versions] == [(1, "v1"), (2, "v2")]
    assert (store.aliased("conciseness", "released"), store.aliased("conciseness", "candidate")) == (1, 2)


def test_a_prompt_edited_on_the_command_line_is_never_the_released_one(tmp_path: Path, tracking: TrackingSpec) -> None:
    """It is a version of its own, said to be edited, and no alias points at it."""
    logged(make_run(tmp_path / "runs", prompt="v2"), tracking)
    edited = make_run(tmp_path / "runs", prompt="v2", minute=1, changes={"prompt_edited": True})
    (edited / "prompt_parts.json").write_text(json.dumps({"en.cascade": {"sections.role": "One rule less."}}))
    logged(edited, tracking)
    store = Store(tracking)

    assert [row.tags.get("edited") for row in store.prompt_versions("conciseness")] == [None, "true"]
    assert store.aliased("conciseness", "released") == 1


def test_none_logs_nothing(tmp_path: Path) -> None:
    """tracking=none opens no store."""
    assert log_run(make_run(tmp_path / "runs"), tracking=TrackingSpec(kind="none")) is None


def test_a_folder_that_is_no_run_is_refused(tmp_path: Path, tracking: TrackingSpec) -> None:
    """The message names what is missing."""
    with pytest.raises(StoreError, match=r"it has no run\.json, summary\.json, verdicts\.parquet"):
        log_run(tmp_path, tracking=tracking)
