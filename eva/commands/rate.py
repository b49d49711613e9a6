"""What a judge's rate on unlabelled conversations means, given how it errs on labelled ones.

python -m eva rate <labelled run> <rescore run> [--label 0]
"""

from __future__ import annotations

import argparse

from eva.commands.output import add_output, write_or_print
from eva.commands.places import add_home, home_of
from eva.edges import runs

HELP = "a judge's rate, corrected for its errors"


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("labelled", help="a run on a labelled set")
    parser.add_argument("unlabelled", help="a run of the same judge, prompt and model on the conversations in question")
    parser.add_argument(
        "--label", nargs="+", metavar="LABEL", help="whose share (default: the worst label of the scale)"
    )
    add_output(parser, plot=False)
    add_home(parser)


def run(given: argparse.Namespace) -> int:
    from eva.benchmarks import rendered
    from eva.rates import corrected_rate
    from eva.report.imperfect import rate_report

    labelled, unlabelled = (runs.find_run(home_of(given), name) for name in (given.labelled, given.unlabelled))
    target = given.label or [str(unlabelled.meta["labels"][0])]
    found = corrected_rate(labelled, unlabelled, target=target)
    write_or_print(given, rendered(rate_report(found), found, form=given.format, full=given.full))
    return 0
