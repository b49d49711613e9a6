"""Two run folders → a pair for the report, and the report in the format that was asked for. Calls no model."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from eva.edges.runs import RunFolder
from eva.measuring import compare_runs
from eva.moved_items import with_moved
from eva.report import html, machine, markdown, terminal
from eva.report.inputs import Pair
from eva.report.sections import comparison_report
from eva.reporting import pair_of


def compared(
    before: RunFolder,
    after: RunFolder,
    *,
    margin: float,
    common: bool = False,
    rerun: RunFolder | None = None,
    attributed: bool = True,
    packs: Sequence[Path] = (),
) -> Pair:
    """The pair, freshly compared from both verdict tables; `rerun` gives the A/A floor. Raises ComparisonError, DataError."""
    comparison = compare_runs(before, after, margin=margin, limit_to_common=common, rerun=rerun)
    return with_moved(
        pair_of(before, after, comparison), before=before, after=after, attributed=attributed, packs=packs
    )


def rendered(pairs: Sequence[Pair], form: str, *, full: bool = False, command: str = "") -> str:
    """The report on these pairs as terminal text, Markdown, HTML or JSON."""
    if form == "json":
        return machine.to_json(pairs)
    report = comparison_report(pairs, command=command)
    if form == "markdown":
        return markdown.render(report)
    if form == "html":
        return html.render(report)
    return terminal.render(report, styled=sys.stdout.isatty(), detail="full" if full else "short")
