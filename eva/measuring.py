"""Verdict tables → numbers: one run's summary, two runs' comparison. Calls no model; the same input gives the same numbers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pandas as pd

from eva.edges.runs import RunFolder
from eva.errors import ComparisonError
from eva.judges.plan import Plan
from eva.metrics.compare import compare
from eva.metrics.resample import rng_for
from eva.metrics.results import Baseline, Comparison, Summary
from eva.metrics.summary import summarise


def measure(plan: Plan, rows: pd.DataFrame, *, repeats: int, trivial: Baseline | None) -> Summary:
    """All numbers of one run, beside what a trivial model reaches. Randomness comes from the run's own digests."""
    scale = plan.judge.scale
    return summarise(
        rows,
        labels=scale.labels,
        values=scale.values,
        repeats=repeats,
        rng=rng_for(f"{plan.prompt_sha256}{plan.dataset.sha256}"),
        trivial=trivial,
    )


def compare_runs(
    before: RunFolder,
    after: RunFolder,
    *,
    margin: float,
    limit_to_common: bool = False,
    rerun: RunFolder | None = None,
) -> Comparison:
    """What changed between two runs of one judge.

    `rerun`: the before arm's prompt once more, by the same model on the same data: the A/A floor is then what differs
    between those two runs. Raises ComparisonError for different judges or scales, for different dataset content unless
    `limit_to_common`, and for a rerun that is none.
    """
    check_comparable(before, after, limit_to_common=limit_to_common)
    if rerun is not None:
        _check_rerun(before, rerun)
    comparison = compare(
        before.verdicts,
        after.verdicts,
        labels=after.meta["labels"],
        values=after.meta["values"],
        rng=rng_for(f"{before.meta['identity']}{after.meta['identity']}"),
        margin=margin,
        rerun=None if rerun is None else rerun.verdicts,
    )
    return _with_warnings(comparison, unlike(before.meta, after.meta))


def check_comparable(before: RunFolder, after: RunFolder, *, limit_to_common: bool = False) -> None:
    """Raise ComparisonError unless both runs are of one judge, on one scale and (unless `limit_to_common`) on the same data."""
    if before.meta["judge"] != after.meta["judge"]:
        raise ComparisonError(
            f"two judges: {before.meta['judge']} and {after.meta['judge']}. Compare runs of one judge."
        )
    if before.meta["labels"] != after.meta["labels"]:
        raise ComparisonError(
            f"two scales: {before.meta['labels']} and {after.meta['labels']}. The judge itself was changed between the runs."
        )
    same_data = before.meta["digests"]["dataset"] == after.meta["digests"]["dataset"]
    if not same_data and not limit_to_common:
        raise ComparisonError(
            f"different dataset content: {_data(before.meta)} and {_data(after.meta)}. Run both on the same data, or compare "
            "the items that both have: --common."
        )


def _check_rerun(before: RunFolder, rerun: RunFolder) -> None:
    """A floor is what moves when nothing changed: prompt, model, judge and data must be those of the before run."""
    if rerun.run_id == before.run_id:
        raise ComparisonError(
            f"{rerun.run_id} is the before run itself; a floor needs a second run of the same prompt."
        )
    unlike_ = [
        name
        for name in ("judge", "prompt", "model", "dataset")
        if before.meta["digests"][name] != rerun.meta["digests"][name]
    ]
    if unlike_:
        raise ComparisonError(
            f"{rerun.run_id} is no second run of {before.run_id}: {', '.join(unlike_)} differ. What moves between them is no floor."
        )


def unlike(before: Mapping[str, Any], after: Mapping[str, Any]) -> tuple[str, ...]:
    """Ways in which two runs differ beside the prompt, in words: said at the top of a comparison."""
    found: list[str] = []
    for name, one, other in (
        ("model", before["model"]["name"], after["model"]["name"]),
        ("model id", before["model"]["id"], after["model"]["id"]),
        ("parameters", before["model"]["params"], after["model"]["params"]),
        ("model that answered", before["model"]["answered"], after["model"]["answered"]),
        ("seed sent", before["model"].get("seed_sent"), after["model"].get("seed_sent")),
        ("language", before["language"], after["language"]),
        ("task", before["task"], after["task"]),
        ("dataset reader", before["dataset"]["reader"], after["dataset"]["reader"]),
        ("dataset content", _data(before), _data(after)),
        ("judge's config", before["digests"]["judge"][:12], after["digests"]["judge"][:12]),
    ):
        if one != other:
            found.append(f"{name}: {one} before, {other} after")
    for side, meta in (("before", before), ("after", after)):
        if meta["status"] != "finished":
            found.append(f"the {side} run is {meta['status']}: some repeats are missing")
        if lost := meta.get("lost"):
            found.append(f"{lost} calls of the {side} run got no reply at all: that says nothing about the judge")
        if len(meta["model"]["answered"]) > 1:
            found.append(f"several models answered in the {side} run: {', '.join(meta['model']['answered'])}")
    return tuple(found)


def _with_warnings(comparison: Comparison, warnings: tuple[str, ...]) -> Comparison:
    return replace(comparison, warnings=(*warnings, *comparison.warnings))


def _data(meta: Mapping[str, Any]) -> str:
    return f"{meta['dataset']['name']} ({meta['dataset']['items']} items, {meta['digests']['dataset'][:12]})"
