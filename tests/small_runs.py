"""Small whole runs for tests: a data set whose records the stub server knows by name, and the command line of a run over it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from eva.edges.compose import compose
from eva.edges.early import leave
from eva.edges.settings import settings_from
from eva.flow import Finished, validate

ROOT = Path(__file__).resolve().parent.parent


def data_file(path: Path, records: int, *, text: str = "") -> Path:
    """`records` conversations r0, r1, …, labelled 1, 2, 3, 1, …; each names itself as the stub looks for it."""
    rows = (
        {
            "record_id": f"r{number}",
            "events": [
                {"turn_id": 0, "type": "assistant", "text": "Hello."},
                {"turn_id": 1, "type": "user", "text": f"record=r{number} {text}"},
                {"turn_id": 1, "type": "assistant", "text": "Done."},
            ],
            "labels": [{"item": "record", "label": number % 3 + 1, "annotator": "test"}],
        }
        for number in range(records)
    )
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def command(url: str, data: Path, *more: str) -> list[str]:
    """Overrides of a run against the stub, all state beside the data, MLflow off."""
    return [
        "judge=faithfulness", "prompt=v1", "model=endpoint", "model.id=stub", f"model.api_base={url}", "model.free=true",
        "model.max_attempts=2", "model.timeout_s=20", "dataset=file", f"dataset.path={data}", "tracking=none", "baseline=none",
        f"home={data.parent / 'state'}", *more,
    ]  # fmt: skip


def run_here(*overrides: str, said: list[str] | None = None) -> tuple[int, Finished | None]:
    """Exit code and outcome of a run in this process, as `run.py` would leave."""
    said = [] if said is None else said
    try:
        with leave():
            finished = validate(settings_from(compose(overrides)), overrides=tuple(overrides), say=said.append)
    except SystemExit as end:
        return int(str(end.code)), None
    return (0 if finished is None else finished.exit_code), finished


def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave out of runs in this process what takes seconds and is tested elsewhere: the page with its plots, the trivial model."""
    monkeypatch.setattr("eva.publishing.write_page", lambda folder: None)
    monkeypatch.setattr("eva.flow.begin_trivial", lambda plan: lambda: None)


def start(*overrides: str, env: dict[str, str] | None = None, **kwargs: Any) -> subprocess.Popen[bytes]:
    """`python run.py …` in a process of its own."""
    return subprocess.Popen(
        [sys.executable, "run.py", *overrides],
        cwd=ROOT,
        env={**os.environ, **(env or {})},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        **kwargs,
    )


def runs_in(home: Path) -> list[dict[str, Any]]:
    """run.json of each run, in order of creation."""
    found = [json.loads(path.read_text(encoding="utf-8")) for path in (home / "runs").glob("*/run.json")]
    return sorted(found, key=lambda meta: str(meta["created"]))
