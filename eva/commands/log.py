"""Send a run folder to MLflow, again or for the first time: completes what a lost server left undone, never doubles.

python -m eva log last
python -m eva log <run> tracking=server tracking.uri=http://127.0.0.1:5000
"""

from __future__ import annotations

import argparse

from eva.commands.places import add_filters, add_home, add_tracking, home_of, run_or_version, tracking_of
from eva.edges.runs import RunFolder, all_runs

HELP = "send a run folder to MLflow"


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("run", help="a run id, its beginning, a prompt version, `last`, or `all`")
    add_tracking(parser)
    add_filters(parser)
    add_home(parser)


def run(given: argparse.Namespace) -> int:
    from eva.publishing import log_folder

    tracking = tracking_of(given)
    failed = 0
    folders: list[RunFolder] = all_runs(home_of(given)) if given.run == "all" else [run_or_version(given, given.run)]
    for folder in folders:
        published = log_folder(folder, tracking=tracking, say=print)
        if published.logged is not None:
            print(f"{folder.run_id}: {published.logged.links.run}")
        failed += bool(published.problem)
    return 1 if failed else 0
