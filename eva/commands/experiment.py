"""The lab book: a folder of experiments/ a question.

python -m eva experiment new my_question
python -m eva experiment run shared_multilingual_rules [overrides for every run]
python -m eva experiment report shared_multilingual_rules

Each YAML file of the folder is a part, and a sweep: experiment.yaml first, the others (such as stored.yaml) by name.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from eva.commands.places import add_home, home_of
from eva.edges import runs
from eva.edges.provenance import ROOT
from eva.edges.runs import RunFolder
from eva.errors import ConfigError, UnknownChoice

HELP = "the lab book: new, run, report"
CONFIG_DIR = "experiments"
FOLDER = ROOT / CONFIG_DIR
TASKS = {"validate": "Labelled conversations", "rescore": "Stored conversations, without labels"}
SMALL = frozenset({"local", "scripted"})
"""Kinds of model whose verdicts are no evidence."""
_NAME = re.compile(r"[a-z][a-z0-9_]{2,60}")
TEMPLATES = {
    "question.md": "# {name}\n\n## Why\n\n\n## What would decide it\n\n",
    "experiment.yaml": (
        "# python -m eva experiment run {name}\n"
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
            one.add_argument("--part", help="one YAML file of the folder, by name without .yaml; all of them otherwise")
            one.add_argument("overrides", nargs="*", help="settings for every run: model=… limit=…")


def run(given: argparse.Namespace) -> int:
    if given.action == "new":
        return _new(given.question)
    folder = FOLDER / given.question
    if not (folder / "experiment.yaml").is_file():
        known = [path.parent.name for path in FOLDER.glob("*/experiment.yaml")]
        raise UnknownChoice("experiment", given.question, known, hint="`experiment new` makes one.")
    code = 0
    home = home_of(given)
    if given.action == "run":
        for part in _parts(folder, only=given.part):
            print(f"part {part} of {given.question}", file=sys.stderr)
            code = max(code, _sweep(given.question, part, overrides=given.overrides, home=home))
    return max(code, _report(given.question, folder, home=home))


def _parts(folder: Path, *, only: str | None) -> list[str]:
    """Names of the folder's YAML files, experiment.yaml first."""
    names = sorted((path.stem for path in folder.glob("*.yaml")), key=lambda name: (name != "experiment", name))
    if only is None:
        return names
    if only not in names:
        raise UnknownChoice("part", only, names, hint=f"A part is a YAML file of experiments/{folder.name}.")
    return [only]


def _sweep(name: str, part: str, *, overrides: Sequence[str], home: Path) -> int:
    command = [sys.executable, "run.py", "-m", "--config-dir", CONFIG_DIR, f"+{name}@_global_={part}", f"home={home}"]
    return subprocess.run([*command, *overrides], cwd=ROOT, check=False).returncode  # noqa: S603  # our own run.py


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
    """report.md: of each part its newest sweep, labelled conversations first."""
    from eva.report import markdown
    from eva.reporting import comparisons_report
    from eva.sweep import compared_pairs

    own = [run for run in runs.all_runs(home) if run.meta.get("name") == name and run.meta["status"] == "finished"]
    if not own:
        print(f"no finished run of {name} in {home}: python -m eva experiment run {name}", file=sys.stderr)
        return 2
    texts = [f"<!-- made by: python -m eva experiment report {name} -->\n"]
    told = 0
    for task, title in TASKS.items():
        of_task = [run for run in own if run.meta["task"] == task]
        newest = [run for run in of_task if run.meta.get("sweep") == of_task[-1].meta.get("sweep")]
        pairs = compared_pairs(newest)
        if pairs:
            texts += [f"# {title}\n\n{_ran_on(newest)}\n", markdown.render(comparisons_report(pairs))]
            told += len(pairs)
    runs.write_text(folder / "report.md", "\n".join(texts))
    print(f"experiments/{name}/report.md: {told} comparisons")
    return 0


def _ran_on(newest: Sequence[RunFolder]) -> str:
    """Which models answered about which data, and what that is worth."""
    models = sorted({f"{run.meta['model']['name']} ({run.meta['model']['id']})" for run in newest})
    data = sorted({f"{run.meta['dataset']['name']}: {run.meta['dataset']['records']} records" for run in newest})
    text = f"Run on {', '.join(models)}: {len(newest)} runs; {'; '.join(data)}."
    if all(run.meta["model"]["kind"] in SMALL for run in newest):
        text += " That model is no judge: this page shows how the question is answered, and answers nothing about a strong judge."
    return text
