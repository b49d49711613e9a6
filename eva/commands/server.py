"""MLflow for a team on this machine, with PostgreSQL behind it: `make server`. Ctrl-C stops both.

python -m eva server [--port 5000] [--sqlite] [--auth]
"""

from __future__ import annotations

import argparse

from eva.commands.places import add_home, home_of

HELP = "start MLflow for a team"


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--port", type=int, default=5000)
    parser.add_argument("--sqlite", action="store_true", help="SQLite instead of PostgreSQL")
    parser.add_argument("--auth", action="store_true", help="MLflow's own users and passwords")
    add_home(parser)


def run(given: argparse.Namespace) -> int:
    from eva.edges.tracking.server import serve

    return serve(
        home_of(given), say=print, port=given.port, backend="sqlite" if given.sqlite else "postgresql", auth=given.auth
    )
