"""The turn benchmark's own scores: pass and error rates by model under test, over all scripted turns.

python -m eva turn-benchmark <run>… | <recorded verdicts>… [--golden golden_turns.jsonl] [--plot rates.png]
"""

from __future__ import annotations

import argparse
from pathlib import Path

from eva.commands.output import add_output, write_or_print, write_plot
from eva.commands.places import add_home, home_of

HELP = "pass and error rates of the turn benchmark"


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("source", nargs="+", help="runs of turn_judge, or files and folders of recorded verdicts")
    parser.add_argument("--golden", type=Path, help="the script, whose turns are the denominator")
    add_output(parser)
    add_home(parser)


def run(given: argparse.Namespace) -> int:
    from eva.benchmarks import benchmark_of, rendered
    from eva.report.turn_benchmark import benchmark_plot, benchmark_report

    found = benchmark_of(given.source, home=home_of(given), golden=given.golden)
    write_plot(given, lambda kind: benchmark_plot(found, kind=kind))
    write_or_print(given, rendered(benchmark_report(found), found, form=given.format, full=given.full))
    return 0
