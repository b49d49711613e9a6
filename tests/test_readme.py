"""The README's promises, walked: its tutorial judge works as it is written there, and its commands are commands."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from eva.commands import COMMANDS
from eva.edges.early import check_command_line

ROOT = Path(__file__).resolve().parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
FILES = re.findall(r"`([\w/.]+\.(?:yaml|jsonl))`:\n\n```\w+\n(.*?)```", README, re.DOTALL)
COMMAND = re.compile(r"(?:^|`|    )((?:\w+=\S+ )?python (?:run\.py|-m eva) (?!…)[^`\n]*)", re.MULTILINE)


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A copy of what a user would have, to add files to."""
    for name in ("conf", "eva"):
        shutil.copytree(ROOT / name, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "run.py", tmp_path)
    return tmp_path


def test_the_tutorial_adds_a_judge_without_python(checkout: Path) -> None:
    """Every file of the tutorial, its command with replies at hand instead of a model, and the label that they say."""
    for name, text in FILES:
        path = checkout / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    replies = [
        {"record": record, "repeat": repeat, "text": json.dumps({"why": "heard it", "closing": label})}
        for record, label in (("c1", "Proper"), ("c2", "abrupt"))
        for repeat in (0, 1)
    ]
    (checkout / "replies.jsonl").write_text("\n".join(map(json.dumps, replies)), encoding="utf-8")
    command = re.search(r"```sh\npython run\.py (judge=closing .*?)\n", README)
    assert command is not None
    done = subprocess.run(
        [sys.executable, "run.py", *shlex.split(command.group(1)), "model=recorded", "model.path=replies.jsonl"],
        cwd=checkout,
        capture_output=True,
        text=True,
    )

    assert done.returncode == 0, done.stderr
    (summary,) = (checkout / "mlruns" / "runs").glob("*/summary.json")
    assert json.loads(summary.read_text(encoding="utf-8"))["accuracy"] == {
        "mean": 1.0,
        "std": 0.0,
        "values": [1.0, 1.0],
    }
    assert [name for name, _ in FILES] == [
        "conf/judge/closing.yaml", "conf/prompt/closing/v1.yaml", "conf/dataset/closing.yaml", "closing.jsonl",
    ]  # fmt: skip


@pytest.mark.parametrize("command", sorted(set(COMMAND.findall(README))))
def test_every_command_names_choices_that_exist(command: str) -> None:
    words = shlex.split(command.split("   ")[0], comments=True)
    if "run.py" in words:
        arguments = [word for word in words[words.index("run.py") + 1 :] if "closing" not in word]
        check_command_line([word.replace("<rule>", "rule") for word in arguments if word != "-m"])
    else:
        assert words[words.index("eva") + 1] in COMMANDS


def test_the_first_screen_holds_the_two_commands() -> None:
    first = README.split("## What you get")[0]

    assert "pip install -e . && python run.py judge=faithfulness prompt=v2 seeds=3" in first
    assert "make test" in first
