"""The lab book: a folder of experiments/ a question.

python -m eva experiment new my_question
python -m eva experiment run shared_multilingual_rules [overrides for every run]
python -m eva experiment report shared_multilingual_rules
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
from pathlib import Path

from eva.commands.places import add_home, home_of
from eva.edges import runs
from eva.edges.provenance import ROOT
from eva.errors import ConfigError, UnknownChoice

HELP = "the lab book: new, run, report"
FOLDER = ROOT / "experiments"
_NAME = re.compile(r"[a-z][a-z0-9_]{2,60}")
TEMPLATES = {
    "question.md": "# {name}\n\n## Why\n\n\n## What would decide it\n\n",
    "experiment.yaml": (
        "# python run.py -m --config-dir experiments +{name}@_global_=experiment\n"
        "name: {name}\nseeds: 3\nbaseline: none\nhydra:\n  sweeper:\n    params:\n      judge: faithfulness\n      prompt: v1,v2\n"
    ),
    "decision.md": "# {name}: decision\n\nOpen.\n",
}


def arguments(parser: argparse.ArgumentParser) -> None:
    actions = parser.add_subparsers(dest="action", required=True)
    for name, told in (
        ("new", "a folder to fill in"),
        ("run", "run it, then write report.md"),
        ("report", "write report.md"),
    ):
        one = actions.add_parser(name, help=told)
        one.add_argument("question", help="name of its folder below experiments/")
        add_home(one)
        if name == "run":
            one.add_argument("overrides", nargs="*", help="settings for every run: model=… limit=…")


def run(given: argparse.Namespace) -> int:
    if given.action == "new":
        return _new(given.question)
    folder = FOLDER / given.question
    if not (folder / "experiment.yaml").is_file():
        known = [path.parent.name for path in FOLDER.glob("*/experiment.yaml")]
        raise UnknownChoice("experiment", given.question, known, hint="`experiment new` makes one.")
    code = 0
    if given.action == "run":
        command = [
            sys.executable,
            "run.py",
            "-m",
            "--config-dir",
            "experiments",
            f"+{given.question}@_global_=experiment",
        ]
        code = subprocess.run([*command, *given.overrides], cwd=ROOT, check=False).returncode  # noqa: S603  # our own run.py
    return max(code, _report(given.question, folder, home=home_of(given)))


def _new(name: str) -> int:
    if not _NAME.fullmatch(name):
        raise ConfigError(f"{name!r}: small letters, digits and underscores, three or more, a letter first.")
    folder = FOLDER / name
    if folder.exists():
        raise ConfigError(f"experiments/{name} is there already.")
    for file, text in TEMPLATES.items():
        runs.write_text(folder / file, text.format(name=name))
    print(f"experiments/{name}: write down why, and what would decide it, before you run it")
    return 0


def _report(name: str, folder: Path, *, home: Path) -> int:
    """report.md from the newest sweep of this experiment."""
    from eva.comparing import compared
    from eva.report import markdown
    from eva.reporting import comparisons_report
    from eva.sweep import prompt_pairs

    own = [run for run in runs.all_runs(home) if run.meta.get("name") == name and run.meta["status"] == "finished"]
    if not own:
        print(f"no finished run of {name} in {home}: python -m eva experiment run {name}", file=sys.stderr)
        return 2
    newest = [run for run in own if run.meta.get("sweep") == own[-1].meta.get("sweep")]
    pairs = [compared(before, after, margin=float(after.meta["margin"])) for before, after in prompt_pairs(newest)]
    models = sorted({f"{run.meta['model']['name']} ({run.meta['model']['id']})" for run in newest})
    data = ", ".join(sorted({str(run.meta["dataset"]["name"]) for run in newest}))
    head = (
        f"<!-- made by: python -m eva experiment report {name} -->\n\n"
        f"Run on {', '.join(models)}: {len(newest)} runs, dataset {data}.\n\n"
    )
    runs.write_text(folder / "report.md", head + markdown.render(comparisons_report(pairs)))
    print(f"experiments/{name}/report.md: {len(pairs)} comparisons of {len(newest)} runs")
    return 0
