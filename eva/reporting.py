"""Run folders → reports: reads what the folders hold, hands it to the renderers. Calls no model."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd
from pydantic import TypeAdapter

from eva.edges.runs import RunFolder
from eva.metrics.results import Comparison, Summary
from eva.report import terminal
from eva.report.blocks import Report
from eva.report.inputs import Arm, Pair, conversations_of, facts_of, prompt_changes, votes_of
from eva.report.sections import comparison_report, run_report


def summary_of(folder: RunFolder) -> Summary:
    """summary.json as the Summary that it was written from."""
    found = dict(folder.summary)
    found["baselines"] = list(found["baselines"].values())
    known = {name: found[name] for name in Summary.__dataclass_fields__ if name in found}
    return TypeAdapter(Summary).validate_python(known)


def comparison_of(values: dict[str, Any]) -> Comparison:
    """comparison.json as the Comparison that it was written from."""
    known = {name: values[name] for name in Comparison.__dataclass_fields__ if name in values}
    return TypeAdapter(Comparison).validate_python(known)


def rows_of(table: pd.DataFrame) -> list[dict[str, Any]]:
    """A table as one mapping a row."""
    return [{str(key): value for key, value in row.items()} for row in table.to_dict("records")]


def arm_of(folder: RunFolder) -> Arm:
    """One run as the renderers want it."""
    rows = rows_of(folder.verdicts)
    return Arm(meta=folder.meta, summary=summary_of(folder), spend=folder.summary.get("spend"), votes=votes_of(rows))


def pair_of(before: RunFolder, after: RunFolder, comparison: Comparison) -> Pair:
    """Two runs and what changed between them, with reasons and conversations of the items that moved."""
    moved = {flip.item_id for flip in comparison.flips}
    rows = rows_of(after.verdicts[after.verdicts["item_id"].isin(moved)])
    records = {str(row["record_id"]) for row in rows}
    return Pair(
        before=arm_of(before),
        after=arm_of(after),
        comparison=comparison,
        prompt_changes=prompt_changes(before.prompt_parts, after.prompt_parts),
        items=facts_of(rows),
        conversations=conversations_of(row for row in after.lines("records.jsonl") if row["record_id"] in records),
    )


def report_of(folder: RunFolder, *, baseline: RunFolder | None = None, comparison: Comparison | None = None) -> Report:
    """The report of one run, with its baseline where there is one."""
    if baseline is None or comparison is None:
        return run_report(arm_of(folder))
    return run_report(arm_of(folder), comparison=pair_of(baseline, folder, comparison))


def comparisons_report(pairs: Sequence[Pair], *, command: str = "") -> Report:
    """One report over several comparisons."""
    return comparison_report(pairs, command=command)


def print_report(report: Report, *, detail: str = "short") -> None:
    """To the terminal, coloured there and plain in a pipe."""
    styled = sys.stdout.isatty()
    sys.stdout.write(terminal.render(report, styled=styled, detail="full" if detail == "full" else "short"))


def baseline_folder(folder: RunFolder) -> RunFolder | None:
    """The baseline that a run was compared with, if its folder is still there."""
    baseline = folder.meta.get("baseline")
    path = Path(folder.path.parent) / str(baseline)
    return RunFolder(path) if baseline and (path / "run.json").exists() else None


def print_run(folder: RunFolder) -> None:
    """A run's report, as at its end."""
    baseline = baseline_folder(folder)
    comparison = comparison_of(folder.comparison) if folder.comparison else None
    print_report(report_of(folder, baseline=baseline, comparison=comparison))
