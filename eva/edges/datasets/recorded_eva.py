"""The verdicts that ServiceNow/eva stored in its `metrics.json` files, taken as they stand.

That program replaces a rating that it cannot read by the worst one, so that some of its 1s are failures in truth; its
`error` entries are failures here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from eva.edges.datasets.eva_runs import conversation_id, read_eva_runs
from eva.edges.datasets.places import Notes, Sourced
from eva.edges.datasets.run_manifest import conversations, find_runs, read_json
from eva.edges.datasets.spec import DatasetSpec
from eva.edges.datasets.verdict_rows import verdict_row
from eva.judges import unit_of
from eva.types import Failure, Item, JudgeSpec, Record


def eva_verdicts(path: Path, judge: JudgeSpec, notes: Notes) -> Iterator[tuple[dict[str, Any], str]]:
    """A row for each item of each conversation that the judge's metric was computed for, and the metric's version."""
    spec = DatasetSpec(path=str(path), reader="eva_runs", options={"skip_broken": True})
    files = _metric_files(path)
    for sourced in read_eva_runs(path, spec, notes):
        record = sourced.record
        metric = _metric(read_json(files[record.record_id]), judge.name)
        if metric is None:
            notes.count(f"conversations have no verdict of {judge.name}", record.record_id)
            continue
        version = " ".join(str(metric[key]) for key in ("version", "prompt_hash") if metric.get(key))
        for row in _rows(sourced, metric, judge):
            yield row, version


def _metric_files(path: Path) -> dict[str, Path]:
    """Record id -> its metrics.json."""
    quiet = Notes()
    found = (one for run in find_runs(path, ()) for one in conversations(run, quiet))
    return {conversation_id(one): one.folder / "metrics.json" for one in found}


def _metric(data: Mapping[str, Any], name: str) -> Mapping[str, Any] | None:
    metrics = data.get("metrics")
    metric = metrics.get(name) if isinstance(metrics, dict) else None
    return metric if isinstance(metric, dict) else None


def _rows(sourced: Sourced, metric: Mapping[str, Any], judge: JudgeSpec) -> Iterator[dict[str, Any]]:
    record: Record = sourced.record
    details = metric.get("details") if isinstance(metric.get("details"), dict) else {}
    assert isinstance(details, dict)
    for item in unit_of(judge).items(judge, record):
        if metric.get("error"):
            failure = Failure.NO_JSON if "parse" in str(metric["error"]).lower() else Failure.PROVIDER
            yield verdict_row(item, judge, value=None, failure=failure, reason=str(metric["error"])[:500])
        elif item.turn_id is None:
            yield _conversation_row(item, details, judge)
        else:
            yield _turn_row(item, details, judge)


def _conversation_row(item: Item, details: Mapping[str, Any], judge: JudgeSpec) -> dict[str, Any]:
    explanation = details.get("explanation")
    found = explanation.get("dimensions") if isinstance(explanation, dict) else None
    dimensions = {name: one for name, one in (found or {}).items() if isinstance(one, dict)}
    flagged = [name for name, one in dimensions.items() if one.get("flagged") is True]
    evidence = [f"{name}: {dimensions[name].get('evidence', '')}" for name in flagged]
    missing = "rating" not in details
    return verdict_row(
        item,
        judge,
        value=details.get("rating"),
        failure=Failure.NO_VERDICT if missing else None,
        flags=flagged,
        reason="\n".join(evidence) if dimensions else str(explanation or ""),
        dimensions={name: str(one.get("rating")) for name, one in dimensions.items()},
    )


def _turn_row(item: Item, details: Mapping[str, Any], judge: JudgeSpec) -> dict[str, Any]:
    turn = str(item.turn_id)
    ratings = _by_turn(details, "per_turn_ratings")
    modes = _by_turn(details, "per_turn_failure_modes").get(turn) or []
    return verdict_row(
        item,
        judge,
        value=ratings.get(turn),
        failure=None if turn in ratings else Failure.SKIPPED,
        flags=[str(mode) for mode in modes] if isinstance(modes, list) else [],
        reason=str(_by_turn(details, "per_turn_explanations").get(turn) or ""),
    )


def _by_turn(details: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    value = details.get(name)
    return value if isinstance(value, dict) else {}
