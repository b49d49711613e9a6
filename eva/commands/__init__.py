"""The commands of `python -m eva`, by name. Each module: HELP, arguments(parser), run(arguments) → exit code."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from typing import Protocol

from eva.commands import (
    comment,
    compare,
    datasets,
    experiment,
    gate,
    history,
    labels,
    log,
    notebooks,
    prompts,
    rate,
    reread,
    review,
    runs,
    server,
    show,
    store,
    task_completion,
    turn_benchmark,
)


class Command(Protocol):
    """What a file in this folder provides."""

    HELP: str

    def arguments(self, parser: argparse.ArgumentParser) -> None:
        """Declare the command's arguments."""
        ...

    def run(self, given: argparse.Namespace) -> int:
        """Do it; the exit code."""
        ...


COMMANDS: Mapping[str, Command] = {
    "show": show,
    "compare": compare,
    "gate": gate,
    "comment": comment,
    "prompts": prompts,
    "datasets": datasets,
    "review": review,
    "rate": rate,
    "task-completion": task_completion,
    "turn-benchmark": turn_benchmark,
    "experiment": experiment,
    "reread": reread,
    "store": store,
    "log": log,
    "runs": runs,
    "history": history,
    "labels": labels,
    "notebooks": notebooks,
    "server": server,
}
