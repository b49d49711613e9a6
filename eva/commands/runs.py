"""Runs that MLflow knows, newest first, with headline and identity.

python -m eva runs [--judge faithfulness] [--since 2026-11-01] [tracking=server tracking.uri=…]
"""

from __future__ import annotations

import argparse
from datetime import UTC, datetime

from eva.commands.places import add_home, add_tracking, tracking_of
from eva.errors import ConfigError
from eva.report.numbers import percent

HELP = "list runs from MLflow"


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--judge")
    parser.add_argument("--since", help="date, ISO 8601")
    parser.add_argument("--limit", type=int, default=50)
    add_tracking(parser)
    add_home(parser)


def run(given: argparse.Namespace) -> int:
    from eva.edges.tracking.history import list_runs

    found = list_runs(tracking_of(given), judge=given.judge, since=_since(given.since), limit=given.limit)
    for one in found:
        accuracy = percent(one.accuracy.value) if one.accuracy.value is not None else "no labels"
        print(
            f"{one.created}  {one.judge} {one.prompt} · {one.model} · {one.language} · {one.dataset}: {accuracy}  {one.verdict}"
        )
        print(f"    {one.run_id}  {one.status}  identity {one.identity[:12]}  {one.link}")
    print(f"{len(found)} runs")
    return 0


def _since(text: str | None) -> datetime | None:
    if text is None:
        return None
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise ConfigError(f"--since {text!r}: a date is wanted, such as 2026-11-30.") from None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
