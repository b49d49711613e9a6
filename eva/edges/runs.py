"""Run folders: `mlruns/runs/<run>/` holds all that a run found, and everything below the money line reads it from there.

run.json (what was run), config.yaml, prompt.md, prompt_parts.json, summary.json, verdicts.parquet, items.jsonl, records.jsonl,
comparison.json where there is a baseline, asked_again.jsonl where replies were asked for again, report.html. Files are
written whole or not at all; run.json, which says that a run exists, is written last.
"""

from __future__ import annotations

import json
import logging
import math
import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import asdict, is_dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import pandas as pd

from eva.errors import StoreError, UnknownChoice

log = logging.getLogger("eva")
_RUN_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+-]{2,200}")

ASKED_AGAIN = "asked_again.jsonl"
"""One row per verdict that was asked for again: the first verdict, which stays on record, and the last word beside it."""


class RunFolder:
    """One run on disk; parts are read when they are asked for."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @property
    def run_id(self) -> str:
        return self.path.name

    @cached_property
    def meta(self) -> dict[str, Any]:
        """run.json."""
        return self._json("run.json")

    @cached_property
    def summary(self) -> dict[str, Any]:
        return self._json("summary.json")

    @cached_property
    def comparison(self) -> dict[str, Any] | None:
        return self._json("comparison.json") if (self.path / "comparison.json").exists() else None

    @cached_property
    def verdicts(self) -> pd.DataFrame:
        """One row per item and repeat."""
        try:
            return pd.read_parquet(self.path / "verdicts.parquet")
        except (OSError, ValueError) as error:
            raise StoreError(f"{self.path}/verdicts.parquet cannot be read: {error}") from error

    @cached_property
    def prompt_parts(self) -> dict[str, dict[str, str]]:
        return self._json("prompt_parts.json")

    def lines(self, name: str) -> list[dict[str, Any]]:
        """A JSONL file of the folder (items.jsonl, records.jsonl)."""
        with (self.path / name).open(encoding="utf-8") as file:
            return [json.loads(line) for line in file]

    def _json(self, name: str) -> dict[str, Any]:
        try:
            loaded = json.loads((self.path / name).read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise StoreError(
                f"{self.path}/{name} cannot be read: {error}. The run can be made again at no cost."
            ) from error
        assert isinstance(loaded, dict)
        return loaded


def create(home: Path, run_id: str) -> Path:
    """A new, empty run folder; fails if it exists."""
    folder = home / "runs" / run_id
    try:
        folder.mkdir(parents=True, exist_ok=False)
    except OSError as error:
        raise StoreError(
            f"cannot create the run folder {folder}: {error.strerror}. Another place for all state: home=FOLDER."
        ) from error
    return folder


def write_text(path: Path, text: str) -> None:
    """Write whole or not at all; UTF-8, `\\n`."""
    write_bytes(path, text.encode("utf-8", "backslashreplace"))


def write_bytes(path: Path, content: bytes) -> None:
    """Write whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(f".{path.name}.{os.getpid()}.partial")
    partial.write_bytes(content)
    os.replace(partial, path)


def write_json(path: Path, value: Any) -> None:
    """Strict JSON: no NaN, keys in their order, the same bytes for the same value."""
    write_text(path, json.dumps(strict(value), ensure_ascii=False, indent=1, allow_nan=False) + "\n")


def write_lines(path: Path, rows: Iterable[Mapping[str, Any]]) -> None:
    write_text(path, "".join(json.dumps(strict(row), ensure_ascii=False) + "\n" for row in rows))


def write_verdicts(path: Path, rows: pd.DataFrame) -> None:
    partial = path.with_name(f".{path.name}.partial")
    rows.to_parquet(partial, index=False)
    os.replace(partial, path)


def strict(value: Any) -> Any:
    """Dataclasses, tuples and numpy scalars as plain JSON values; undefined numbers as null."""
    if is_dataclass(value) and not isinstance(value, type):
        value = asdict(value)
    if isinstance(value, Mapping):
        return {str(key): strict(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [strict(inner) for inner in value]
    if hasattr(value, "item") and not isinstance(value, str | bytes):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def all_runs(home: Path) -> list[RunFolder]:
    """Every run that has a run.json, oldest first by when they ended (a baseline that a run made first ends
    before it), then by creation, then id. A copy under another name, and a run.json that
    cannot be read, are said and left out: neither is a run, and neither stands in the way of the others."""
    folders = [folder for path in (home / "runs").glob("*/run.json") if _is_run(folder := RunFolder(path.parent))]
    return sorted(folders, key=_when)


def _when(folder: RunFolder) -> tuple[str, str, str]:
    created = str(folder.meta.get("created") or "")
    return str(folder.meta.get("finished") or created), created, folder.run_id


def _is_run(folder: RunFolder) -> bool:
    try:
        named = str(folder.meta.get("run_id"))
    except StoreError as error:
        log.warning("%s", error)
        return False
    if named != folder.run_id:
        log.warning("%s is a copy of run %s and counts as none", folder.path, named)
    return named == folder.run_id


def find_run(home: Path, name: str) -> RunFolder:
    """A run by id, by a prefix that fits one id only, or `last`. Raises UnknownChoice."""
    runs = all_runs(home)
    if name == "last" and runs:
        return runs[-1]
    exact = [run for run in runs if run.run_id == name] if _RUN_ID.fullmatch(name) else []
    found = exact or [run for run in runs if run.run_id.startswith(name)]
    if len(found) == 1:
        return found[0]
    recent = [run.run_id for run in (found or runs)[-8:]]
    hint = (
        "Several begin so: give more of the id."
        if found
        else f"Runs are folders in {home / 'runs'}; the newest are shown."
    )
    raise UnknownChoice("run", name, recent, hint=hint)
