"""Names, numbers and facts that MLflow takes: nothing that loses a batch, a value or a meaning."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eva.edges.tracking import TrackingSpec, facts, log_run, numbers
from eva.edges.tracking.client import Store
from eva.edges.tracking.folder import read
from eva.edges.tracking.items import chosen, item_traces
from eva.edges.tracking.names import LONGEST, prompt_name, slug, unslug
from eva.edges.tracking.registry import prompt_texts
from tests.edges.tracking.run_folder import make_run

ODD = ["N/A", "a/b", "50%", "très bien", "../x", "", "a b", "a_b", "-u0025-", "-u-", "पास", "fr-CA", "x" * 400]


@given(st.text(alphabet=st.sampled_from("-u0025a/% .é=") | st.characters(exclude_categories=["Cs"]), max_size=15))
def test_a_slug_can_be_read_back(text: str) -> None:
    """So no two labels share a metric name."""
    assert unslug(slug(text)) == text


@pytest.mark.parametrize("text", ODD)
def test_a_slug_is_a_name_that_mlflow_takes(text: str) -> None:
    """Letters, digits, `_ - .` and blank; never a path."""
    from mlflow.utils.validation import _validate_metric_name

    _validate_metric_name(f"class.{slug(text)}/f1")
    assert "/" not in slug(text)
    assert len(slug(text)) <= LONGEST


def test_odd_class_labels_lose_no_batch(tmp_path: Path, tracking: TrackingSpec) -> None:
    """`50%`, `../x` and an empty label beside a good one: all of them are metrics of the run."""
    folder = make_run(tmp_path / "runs")
    summary = json.loads((folder / "summary.json").read_text())
    shape = summary["per_class"][1]
    summary["per_class"] = [{**shape, "label": label} for label in ODD]
    (folder / "summary.json").write_text(json.dumps(summary))
    log_run(folder, tracking=tracking)
    store = Store(tracking)
    found = store.find_runs([store.experiments()["eva/conciseness"]], "tags.`eva.run_id` LIKE '%'")[0].metrics

    assert {f"class.{slug(label)}/f1" for label in ODD} <= set(found)


def test_more_numbers_than_a_batch_takes_are_all_logged(tmp_path: Path, tracking: TrackingSpec) -> None:
    """1,500 slices, 2 numbers each: MLflow takes 1,000 at once."""
    folder = make_run(tmp_path / "runs")
    summary = json.loads((folder / "summary.json").read_text())
    shape = summary["slices"][0]
    summary["slices"] = [{**shape, "by": "rule", "value": f"rule {n}"} for n in range(1500)]
    (folder / "summary.json").write_text(json.dumps(summary))
    log_run(folder, tracking=tracking)
    store = Store(tracking)
    found = store.find_runs([store.experiments()["eva/conciseness"]], "tags.`eva.run_id` LIKE '%'")[0].metrics

    assert sum(key.startswith("rule.rule ") and key.endswith("/accuracy") for key in found) == 1500


def test_undefined_numbers_and_booleans_are_no_metrics() -> None:
    """NaN would break the page, None the batch; a boolean is no number."""
    pairs = [("a", 1), ("b", None), ("c", float("nan")), ("d", float("inf")), ("e", True), ("f", 0.0)]

    assert numbers.defined(pairs) == {"a": 1.0, "f": 0.0}


def test_single_values_never_share_a_key_with_means(tmp_path: Path) -> None:
    """MLflow shows the value of the highest step: a mean logged beside them would not be seen."""
    folder = read(make_run(tmp_path))
    single = set(numbers.run_numbers(folder.summary, folder.comparison))

    assert not single & {key for key, _, _ in numbers.repeat_series(folder.summary)}


def test_baselines_may_be_named_or_listed(tmp_path: Path) -> None:
    """summary.json holds them by name, the result type as a list."""
    summary = dict(read(make_run(tmp_path)).summary)
    listed = numbers.run_numbers(summary, None)
    summary["baselines"] = {row["name"]: row for row in summary["baselines"]}

    assert numbers.run_numbers(summary, None) == listed
    assert listed["baseline.majority/accuracy"] == 0.34


def test_params_hold_what_defines_the_run_and_tags_what_may_differ(tmp_path: Path) -> None:
    """Status, command and git are no params: those are write-once."""
    folder = read(make_run(tmp_path))
    moved = replace(folder, run={**folder.run, "status": "failed", "command": "other", "git": {}, "versions": {}})

    assert facts.params(folder) == facts.params(moved)
    assert {"judge", "prompt", "model.temperature", "digest.prompt", "identity"} <= set(facts.params(folder))
    assert facts.tags(folder)["eva.git.dirty"] == "true"
    assert facts.dataset_input(folder)["digest"] == facts.tags(folder)["eva.dataset.sha256"][:36]


def test_long_texts_are_cut_with_a_word(tmp_path: Path) -> None:
    """Below MLflow's own limit, which cuts without one."""
    folder = read(make_run(tmp_path, changes={"command": "x" * 9000}))

    assert facts.tags(folder)["eva.command"].endswith("cut; whole in the run's artifacts")
    assert len(facts.tags(folder)["eva.command"]) <= 5000


@pytest.mark.parametrize(
    ("which", "limit", "keep"),
    [
        ("all", None, lambda trace: True),
        ("moved", None, lambda trace: trace.moved),
        ("failures", None, lambda trace: trace.wrong),
        ("none", None, lambda trace: False),
    ],
)
def test_which_items_get_a_trace(tmp_path: Path, which: str, limit: int | None, keep: Callable[..., bool]) -> None:
    """All, those that moved, those that were wrong or failed, none; a limit takes the first."""
    before = make_run(tmp_path, prompt="v1", skill=0.5)
    folder = read(make_run(tmp_path, prompt="v2", skill=0.8, before=before, minute=1))
    every = item_traces(folder, folder.verdicts())
    expected = [trace.item_id for trace in every if keep(trace)]

    assert [trace.item_id for trace in chosen(every, which, limit)] == expected  # type: ignore[arg-type]  # a Literal
    assert len(chosen(every, which, 3)) == min(3, len(expected))  # type: ignore[arg-type]  # a Literal
    assert which in ("all", "none") or 0 < len(expected) < len(every)


def test_what_is_left_out_is_said(tmp_path: Path, tracking: TrackingSpec) -> None:
    """In the result, and in the run's note."""
    result = log_run(make_run(tmp_path / "runs"), tracking=replace(tracking, trace_limit=7))

    assert result is not None
    assert result.notes == ("7 of 30 items have a row on the evaluation page (traces=all).",)


def test_prompts_of_languages_and_pipelines_have_names_of_their_own(tmp_path: Path) -> None:
    """Versions of one text share a name; drafts are candidates, others released."""
    folder = make_run(tmp_path, changes={"draft": True})
    (folder / "prompt_parts.json").write_text(json.dumps({"fr-CA.s2s": {"a": "x", "b": "y"}, "en.cascade": {"a": "z"}}))
    first, second = prompt_texts(read(folder))

    assert (first.name, second.name) == ("conciseness.fr-CA.s2s", "conciseness")
    assert (first.text, first.alias) == ("x\n\ny", "candidate")
    assert re.fullmatch(r"[A-Za-z0-9._-]+", prompt_name("agent/speech é", "ko"))
