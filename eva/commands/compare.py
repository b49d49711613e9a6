"""What changed between two runs, or two prompt versions.

python -m eva compare v1 v2 --judge faithfulness
python -m eva compare <run> <run> --format markdown --out comment.md
python -m eva compare <run> <run> --floor <second run of the before arm> --pack must_change.yaml
"""

from __future__ import annotations

import argparse
import shlex
from pathlib import Path

from eva.commands.places import add_filters, add_home, home_of, run_or_version
from eva.edges import runs

HELP = "what changed between two runs"
FORMATS = ("terminal", "markdown", "html", "json")


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("before", help="a run id, its beginning, or a prompt version")
    parser.add_argument("after", help="the same")
    parser.add_argument("--format", choices=FORMATS, default="terminal")
    parser.add_argument("--out", type=Path, help="file to write to (default: the terminal)")
    parser.add_argument("--full", action="store_true", help="terminal: every section")
    parser.add_argument("--common", action="store_true", help="allow different data: compare the items that both have")
    parser.add_argument("--margin", type=float, help="what `same` means, as a share (default: the run's)")
    parser.add_argument(
        "--floor", metavar="RUN", help="a second run of the before arm: the A/A floor (default: repeats)"
    )
    parser.add_argument(
        "--pack", type=Path, action="append", default=[], help="YAML of items that must change or must not"
    )
    parser.add_argument("--attribute", choices=("explanations", "none"), default="explanations", help="why items moved")
    add_filters(parser)
    add_home(parser)


def run(given: argparse.Namespace) -> int:
    from eva.comparing import compared, rendered

    before, after = run_or_version(given, given.before), run_or_version(given, given.after)
    margin = given.margin if given.margin is not None else float(after.meta["margin"])
    rerun = None if given.floor is None else runs.find_run(home_of(given), given.floor)
    pair = compared(
        before,
        after,
        margin=margin,
        common=given.common,
        rerun=rerun,
        attributed=given.attribute == "explanations",
        packs=given.pack,
    )
    words = ["python", "-m", "eva", "compare", before.run_id, after.run_id]
    words += ["--floor", rerun.run_id] if rerun else []
    words += [word for pack in given.pack for word in ("--pack", str(pack))]
    command = shlex.join(words)
    text = rendered([pair], given.format, full=given.full, command=command)
    if given.out is not None:
        runs.write_text(given.out, text)
        print(given.out)
    else:
        print(text, end="")
    return 0
