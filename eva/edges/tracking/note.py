"""The run's note in MLflow: Markdown with the command, headline, verdict against the baseline and deep links."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from eva.edges.tracking.folder import RunFolder
from eva.edges.tracking.spec import Links
from eva.report import numbers

PAGE_SHOWS = 1000
"""Rows that the compare page shows and sums up (MLflow 3.17)."""
SHARES = ("accuracy", "macro_f1")
MISSING = "–"


def note(folder: RunFolder, links: Links, *, traces: int, remarks: Sequence[str] = ()) -> str:
    """The Markdown, headline first: the page folds all but its first lines.

    `traces`: items that have a row on the evaluation page; `remarks`: what was left out, in words.
    """
    run = folder.run
    lines = [
        *_state(folder),
        _headline(folder),
        "",
        *_links(links, folder),
        "",
        f"Prompt **{run.get('prompt')}** of **{folder.judge}**: {run.get('summary') or 'no summary'}",
        "",
        _sizes(folder),
        "",
        *_table(folder),
        *_verdict(folder),
        "",
        *_remarks(traces, remarks),
        "```",
        str(run.get("command") or "python run.py …"),
        "```",
    ]
    return "\n".join(lines).strip() + "\n"


def _state(folder: RunFolder) -> list[str]:
    if folder.status == "finished":
        return []
    return [f"> **{folder.status}**: the numbers are of what was asked before it stopped.", ""]


def _headline(folder: RunFolder) -> str:
    """`accuracy 70.07% ± 0.00%; against v1 −0.7 [−3.1, +1.6]: cannot tell`."""
    accuracy, score = folder.summary.get("accuracy") or {}, folder.summary.get("mean_score") or {}
    if accuracy.get("mean") is not None:
        spread = f" ± {percent(accuracy['std'])}" if accuracy.get("std") is not None else ""
        head = f"**accuracy {percent(accuracy['mean'])}{spread}**"
    else:
        head = f"**mean score {number(score.get('value'))}**"
    rows = (folder.comparison or {}).get("differences") or ()
    if not rows:
        return f"{head}; no baseline"
    shown = _change(rows[0])
    told = f"{shown.difference} {shown.interval}".rstrip()
    return f"{head}; against {_before(folder)} {told}: **{rows[0].get('verdict')}**"


def _before(folder: RunFolder) -> str:
    comparison = folder.comparison or {}
    return str(comparison.get("prompt_before") or comparison.get("before"))


def _sizes(folder: RunFolder) -> str:
    run, summary = folder.run, folder.summary
    dataset, model = run.get("dataset") or {}, run.get("model") or {}
    failures = sum((summary.get("failures") or {}).values())
    return (
        f"{dataset.get('name')} ({dataset.get('records')} records, {summary.get('n_items')} items, "
        f"{summary.get('n_labelled')} labelled) · {model.get('name')} · {run.get('language')} · "
        f"{numbers.counted(len(summary.get('repeats') or ()), 'repeat')} · {numbers.counted(failures, 'unreadable verdict')}"
    )


def _table(folder: RunFolder) -> list[str]:
    summary = folder.summary
    rows = []
    for key in SHARES:
        spread = summary.get(key) or {}
        interval = summary.get(f"{key}_interval") or {}
        if spread.get("mean") is None:
            continue
        rows.append(
            f"| {key} | {percent(spread['mean'])} | {percent(spread.get('std'))} | {ends(interval, numbers.PERCENT)} |"
        )
    score = summary.get("mean_score") or {}
    if score.get("value") is not None:
        rows.append(f"| mean_score | {number(score['value'])} | | {ends(score, numbers.PLAIN)} |")
    head = ["| | mean | run-to-run std | 95% interval |", "|---|---|---|---|"]
    return [*head, *rows, ""] if rows else []


def _verdict(folder: RunFolder) -> list[str]:
    comparison = folder.comparison
    if comparison is None:
        return []
    head = [
        f"Against **{_before(folder)}**, {comparison.get('n_items')} common items:",
        "",
        "| | before | after | difference | 95% interval | verdict |",
        "|---|---|---|---|---|---|",
    ]
    counts = comparison.get("counts") or {}
    moved = ", ".join(f"{counts[key]} {key}" for key in ("fixed", "broken", "moved", "undecided") if key in counts)
    warnings = [f"> {warning}" for warning in comparison.get("warnings") or ()]
    return [*warnings, *head, *map(_difference, (comparison.get("differences") or ())[:4]), "", f"Items: {moved}."]


def _difference(row: Mapping[str, Any]) -> str:
    shown = _change(row)
    cells = [row["statistic"], shown.before, shown.after, shown.difference, shown.interval or MISSING]
    return f"| {' | '.join(cells)} | **{row.get('verdict')}** |"


def _change(row: Mapping[str, Any]) -> numbers.Change:
    """A difference of comparison.json in words that agree with each other, as every report prints it."""
    estimate = row.get("difference") or {}
    return numbers.change(
        row.get("before"),
        row.get("after"),
        difference=estimate.get("value"),
        low=estimate.get("low"),
        high=estimate.get("high"),
        unit=numbers.unit_of(row["statistic"]),
    )


def _links(links: Links, folder: RunFolder) -> list[str]:
    out = [f"[Items of this run]({links.traces})"]
    if links.comparison:
        out.append(f"[Row by row against the baseline]({links.comparison})")
    elif folder.baseline:
        out.append(f"the baseline `{folder.baseline}` is not in this store: `python -m eva log {folder.baseline}`")
    if (folder.path / "report.html").is_file():
        out.append("the report is `report.html` among the artifacts")
    return [" · ".join(out)]


def _remarks(traces: int, remarks: Iterable[str]) -> list[str]:
    out = list(remarks)
    if traces > PAGE_SHOWS:
        out.append(
            f"The compare page shows and sums up the first {PAGE_SHOWS:,} of {traces:,} items; "
            "the numbers above are of all of them."
        )
    return [f"> {text}" for text in out] + ([""] if out else [])


def percent(value: float | None) -> str:
    """0.7007 -> `70.07%`; None -> `–`."""
    return numbers.percent(value, missing=MISSING)


def number(value: float | None) -> str:
    return numbers.level(value, numbers.PLAIN, missing=MISSING)


def ends(interval: Mapping[str, Any], unit: numbers.Unit) -> str:
    """The interval of a level: `[61.9, 77.7]`."""
    return numbers.interval(interval.get("low"), interval.get("high"), unit) or MISSING
