"""Run folders → reports: reads what the folders hold, hands it to the renderers. Calls no model."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final, Literal

import pandas as pd

from eva.edges.runs import RunFolder
from eva.metrics.results import Comparison, Summary
from eva.report import machine, plots, terminal
from eva.report.blocks import Confusion, Report
from eva.report.inputs import (
    Arm,
    Pair,
    RuleBreak,
    conversations_of,
    facts_of,
    prompt_changes,
    rule_breaks_of,
    votes_of,
)
from eva.report.noise import stability_of
from eva.report.sections import comparison_report, run_report

KINDS: Final[tuple[Literal["png", "svg"], ...]] = ("png", "svg")


def summary_of(folder: RunFolder) -> Summary:
    """summary.json as the Summary that it was written from."""
    return machine.summary_from({**folder.summary, "baselines": list(folder.summary["baselines"].values())})


def rows_of(table: pd.DataFrame) -> list[dict[str, Any]]:
    """A table as one mapping a row."""
    return [{str(key): value for key, value in row.items()} for row in table.to_dict("records")]


def arm_of(folder: RunFolder, *, votes_on: frozenset[str] = frozenset()) -> Arm:
    """One run as the renderers want it; votes and reasons of the items named."""
    table = folder.verdicts
    rows = rows_of(table[table["item_id"].isin(votes_on)])
    return Arm(
        meta=shown_meta(folder.meta),
        summary=summary_of(folder),
        spend=folder.summary.get("spend"),
        attacks=folder.summary.get("attacks"),
        readings=folder.summary.get("readings"),
        rule_breaks=_rule_breaks(table),
        votes=votes_of(rows),
    )


def _rule_breaks(table: pd.DataFrame) -> tuple[tuple[RuleBreak, int], ...] | None:
    """None where the table, made by others, does not say."""
    if "broken_rules" not in table.columns:
        return None
    if table.empty:  # a run that was stopped before its first reply
        return ()
    broken = table[[rules is not None and len(rules) > 0 for rules in table["broken_rules"]]]
    return rule_breaks_of(rows_of(broken[["broken_rules", "model_label", "label"]]))


def shown_meta(meta: Mapping[str, Any]) -> dict[str, Any]:
    """run.json with an edited prompt named as such: it is not the version that was released."""
    edits = [str(edit).removeprefix("prompt.").removeprefix("sections.") for edit in meta.get("prompt_edits") or ()]
    return {**meta, "prompt": f"{meta['prompt']} ({', '.join(edits)})"} if edits else dict(meta)


def pair_of(before: RunFolder, after: RunFolder, comparison: Comparison) -> Pair:
    """Two runs and what changed between them, with reasons and conversations of the items that moved."""
    moved = frozenset(flip.item_id for flip in comparison.flips)
    rows = rows_of(after.verdicts[after.verdicts["item_id"].isin(moved)])
    records = {str(row["record_id"]) for row in rows}
    return Pair(
        before=arm_of(before, votes_on=moved),
        after=arm_of(after, votes_on=moved),
        comparison=comparison,
        prompt_changes=prompt_changes(before.prompt_parts, after.prompt_parts),
        items=facts_of(rows),
        conversations=conversations_of(row for row in after.lines("records.jsonl") if row["record_id"] in records),
    )


def report_of(folder: RunFolder, *, pair: Pair | None = None) -> Report:
    """The report of one run, with the comparison to its baseline where there is one."""
    return run_report(pair.after if pair is not None else arm_of(folder), comparison=pair)


def plots_of(folder: RunFolder, *, pair: Pair | None = None) -> dict[str, bytes]:
    """File name → picture: confusion and stability, and the differences where there is a baseline."""
    arms = [("before", pair.before), ("after", pair.after)] if pair is not None else [("", arm_of(folder))]
    tables = [Confusion(name, arm.summary.labels, arm.summary.confusion) for name, arm in arms]
    noise = [(f"{name} {arm.meta['prompt']}".strip(), stability_of(arm)) for name, arm in arms]
    pictures = {}
    for kind in KINDS:
        if folder.summary["n_labelled"]:
            pictures[f"confusion.{kind}"] = plots.confusion(
                tables, title=f"{folder.meta['judge']}: people and judge", kind=kind
            )
        pictures[f"stability.{kind}"] = plots.stability(noise, kind=kind)
        if pair is not None:
            pictures[f"differences.{kind}"] = plots.differences([pair], kind=kind)
    return pictures


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


def pair_with_baseline(folder: RunFolder) -> Pair | None:
    """The comparison that a run's folder holds, if the baseline's folder is still there."""
    baseline = baseline_folder(folder)
    if baseline is None or folder.comparison is None:
        return None
    return pair_of(baseline, folder, machine.comparison_from(folder.comparison))


def print_run(folder: RunFolder) -> None:
    """A run's report, as at its end."""
    print_report(report_of(folder, pair=pair_with_baseline(folder)))
