"""Apply today's reader to a run's stored replies, without a call: which verdicts would change?

python -m eva reread last
"""

from __future__ import annotations

import argparse

from eva.commands.places import add_filters, add_home, home_of, run_or_version
from eva.replies.fields import one_line

HELP = "read a run's stored replies again"
SHOWN = 30


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("run", help="a run id, its beginning, a prompt version, or `last`")
    add_filters(parser)
    add_home(parser)


def run(given: argparse.Namespace) -> int:
    from eva.rereading import reread

    folder = run_or_version(given, given.run)
    result = reread(folder, home=home_of(given))
    print(
        f"{result.replies} of {result.wanted} replies found, {result.verdicts} verdicts read, {len(result.changed)} differ"
    )
    for change in result.changed[:SHOWN]:
        print(
            f"  {one_line(change.item_id)} repeat {change.repeat}: {change.before} → {change.after} (gold {change.gold or 'none'})"
        )
    if len(result.changed) > SHOWN:
        print(f"  and {len(result.changed) - SHOWN} more")
    print(
        f"right before {result.right_before}, right now {result.right_now}, of {result.labelled} verdicts with a gold label"
    )
    return 0
