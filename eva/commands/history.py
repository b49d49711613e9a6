"""A judge's way over its prompt versions: accuracy and macro-F1 with intervals, one line a model.

python -m eva history --judge faithfulness [--out history.png]
"""

from __future__ import annotations

import argparse
from pathlib import Path

from eva.commands.places import add_home, add_tracking, tracking_of
from eva.edges import runs
from eva.metrics.results import Estimate
from eva.report.numbers import percent

HELP = "accuracy and macro-F1 over prompt versions"


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--judge", required=True)
    parser.add_argument("--out", type=Path, help="picture to write (.png or .svg)")
    add_tracking(parser)
    add_home(parser)


def run(given: argparse.Namespace) -> int:
    from eva.edges.tracking.history import Figure, KnownRun, history, list_runs
    from eva.report import plots

    def estimate(figure: Figure, repeats: int | None) -> Estimate:
        return Estimate(figure.value, figure.low, figure.high, repeats=repeats or 0)

    def shown(figure: Figure) -> str:
        value, low, high = ("–" if part is None else percent(part) for part in (figure.value, figure.low, figure.high))
        return f"{value} [{low}, {high}]"

    def point(line: str, one: KnownRun) -> plots.HistoryPoint:
        return plots.HistoryPoint(
            one.prompt, line, estimate(one.accuracy, one.repeats), estimate(one.macro_f1, one.repeats)
        )

    lines = history(list_runs(tracking_of(given), judge=given.judge, limit=10_000))
    for line, found in lines.items():
        print(line)
        for one in found:
            print(f"  {one.prompt:<6} accuracy {shown(one.accuracy)}  macro-F1 {shown(one.macro_f1)}  {one.run_id}")
    if given.out is not None:
        points = [point(line, one) for line, found in lines.items() for one in found]
        kind: plots.Format = "svg" if given.out.suffix == ".svg" else "png"
        runs.write_bytes(given.out, plots.history(points, judge=given.judge, kind=kind))
        print(given.out)
    return 0
