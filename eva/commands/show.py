"""Print a finished run: its table, or its summary as JSON.

python -m eva show last
python -m eva show last --json
"""

from __future__ import annotations

import argparse
import json
from typing import Any

from eva.commands.places import add_filters, add_home, run_or_version
from eva.edges.runs import ASKED_AGAIN, RunFolder
from eva.replies.fields import one_line

SHOWN = 30
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
    for line in asked_again(folder):
        print(line)
    return 0


def asked_again(folder: RunFolder) -> list[str]:
    """The second verdicts beside the first ones, a line an item and repeat; empty where nothing was asked again."""
    if not (folder.path / ASKED_AGAIN).exists():
        return []
    rows = folder.lines(ASKED_AGAIN)
    lines = [
        f"  {one_line(row['item_id'])} repeat {row['repeat']}: "
        f"{_said(row, 'first')} → {_said(row, 'second')} (ask {row['ask']}, gold {row['gold'] or 'none'})"
        for row in rows[:SHOWN]
    ]
    more = [f"  and {len(rows) - SHOWN} more"] if len(rows) > SHOWN else []
    head = f"Asked again: {len(rows)} verdicts, first → second; all scores rest on the first. Whole: {folder.path / ASKED_AGAIN}"
    return ["", head, *lines, *more]


def _said(row: dict[str, Any], which: str) -> str:
    return row[f"{which}_label"] or f"failure {row[f'{which}_failure']}"
