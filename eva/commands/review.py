"""Review sheets for native speakers: a sample of what moved between two runs, both verdicts blind as A and B.

python -m eva review <before> <after> --out sheets [--size 100]

A sheet a language, as a page and as a table; which of A and B is which stands in <out>.key.json, beside the folder.
What comes back becomes labels: python -m eva datasets label --from sheets/*.csv …
"""

from __future__ import annotations

import argparse
import shlex
from pathlib import Path
from typing import Any

from eva.commands.places import add_filters, add_home, run_or_version
from eva.edges.compose import read_yaml
from eva.edges.runs import RunFolder
from eva.errors import ConfigError

HELP = "sheets of moved items for native speakers"


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("before", help="a run id, its beginning, or a prompt version")
    parser.add_argument("after", help="the same")
    parser.add_argument("--out", type=Path, required=True, help="a new folder; its content goes to the reviewers")
    parser.add_argument("--size", type=int, default=100, help="items, all languages together (default: 100)")
    parser.add_argument("--common", action="store_true", help="allow different data: items that both have")
    add_filters(parser)
    add_home(parser)


def run(given: argparse.Namespace) -> int:
    from eva.reviewing import write_sheets

    if given.size < 1:
        raise ConfigError(f"--size {given.size}: a number of items, 1 or more")
    before, after = run_or_version(given, given.before), run_or_version(given, given.after)
    made = write_sheets(before, after, out=given.out, size=given.size, limit_to_common=given.common)
    print(f"{made.items} of {made.moved} moved items")
    if made.hidden:
        print(f"{made.hidden} moved items have no verdict on one side and stand in no sheet")
    for file in made.files:
        print(f"  {file}")
    print(f"key, not for reviewers: {made.key}")
    print(f"when they come back:\n  {_next(after, given.out)}")
    return 0


def _next(after: RunFolder, out: Path) -> str:
    """The command that turns the sheets into labels, on the data that the run read."""
    dataset: dict[str, Any] = read_yaml(after.path / "config.yaml").get("dataset") or {}
    judge = str(after.meta["judge"])
    words = ["--data", str(dataset.get("path", "<data>")), "--judge", judge, "--out", f"{judge}-reviewed.jsonl"]
    reader = str(dataset.get("reader", "native"))
    words += [] if reader == "native" else ["--reader", reader]
    sheets = f"{shlex.quote(str(out))}/*.csv"
    return f"python -m eva datasets label --from {sheets} {shlex.join(words)}"
