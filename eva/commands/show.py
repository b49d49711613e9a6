"""Print a finished run: its table, or its summary as JSON.

python -m eva show last
python -m eva show last --json
"""

from __future__ import annotations

import argparse
import json

from eva.commands.places import add_filters, add_home, run_or_version

HELP = "print a run's table or summary"


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("run", help="a run id, its beginning, a prompt version, or `last`")
    parser.add_argument("--json", action="store_true", help="summary.json instead of the table")
    add_filters(parser)
    add_home(parser)


def run(given: argparse.Namespace) -> int:
    folder = run_or_version(given, given.run)
    if given.json:
        print(json.dumps(folder.summary, ensure_ascii=False, indent=1, allow_nan=False))
        return 0
    from eva.reporting import print_run

    print_run(folder)
    return 0
