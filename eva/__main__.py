"""`python -m eva …`: everything that is done with finished runs, prompts, datasets and stored replies. Nothing here asks a model.

Exit codes: 0 done; 1 no (a check or a gate failed); 2 cannot tell, or wrong input; 3 the check itself broke; 130 interrupted.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from eva.commands import COMMANDS
from eva.edges.early import leave, spare_collections
from eva.edges.logging_lines import show_log_lines


def parser() -> argparse.ArgumentParser:
    """The command line, one file of eva/commands a command."""
    top = argparse.ArgumentParser(
        prog="python -m eva", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    subparsers = top.add_subparsers(dest="command", required=True, metavar="command")
    for name, command in COMMANDS.items():
        one = subparsers.add_parser(
            name, help=command.HELP, description=command.__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
        )
        command.arguments(one)
        one.set_defaults(handler=command.run)
    return top


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; the exit code is returned, or raised as SystemExit for errors that users can mend."""
    given = _given(arguments)
    show_log_lines()
    with leave():
        code: int = given.handler(given)
        return code


def _given(arguments: Sequence[str] | None) -> argparse.Namespace:
    """The parsed command line. Before Python 3.13 argparse loses settings (`tracking=server`) that follow an option."""
    top = parser()
    given, rest = top.parse_known_args(arguments)
    if rest and not (hasattr(given, "overrides") and all("=" in word and word[0] != "-" for word in rest)):
        top.error(f"unrecognized arguments: {' '.join(rest)}")
    if rest:
        given.overrides = [*given.overrides, *rest]
    return given


if __name__ == "__main__":
    spare_collections()
    sys.exit(main())
