"""Reading a run folder: all that tracking is given. Files are known by name; others are reported, never read."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from eva.errors import StoreError

REQUIRED = ("run.json", "summary.json", "verdicts.parquet")
OPTIONAL = (
    "config.yaml",
    "prompt.md",
    "prompt_parts.json",
    "items.jsonl",
    "records.jsonl",
    "comparison.json",
    "asked_again.jsonl",
    "report.html",
)
PLOTS = "plots"
PICTURES = ("png", "svg")


@dataclass(frozen=True)
class RunFolder:
    """What one finished, interrupted or failed run left on disk."""

    path: Path
    run: Mapping[str, Any]
    summary: Mapping[str, Any]
    comparison: Mapping[str, Any] | None
    parts: Mapping[str, Mapping[str, str]]
    """`<language>.<pipeline>` -> part path -> text, in order."""
    items: Sequence[Mapping[str, Any]]
    """In dataset order."""
    files: tuple[Path, ...]
    """Known files, in a fixed order."""
    unknown: tuple[str, ...]
    digest: str
    """sha256 of the known files' content: two equal folders need no second logging."""

    @property
    def run_id(self) -> str:
        return str(self.run["run_id"])

    @property
    def judge(self) -> str:
        return str(self.run["judge"])

    @property
    def status(self) -> str:
        """finished, interrupted or failed."""
        return str(self.run.get("status", "finished"))

    @property
    def baseline(self) -> str | None:
        """Our id of the run that this one is compared with."""
        before = self.comparison.get("before") if self.comparison else None
        value = before if isinstance(before, str) else self.run.get("baseline")
        return str(value) if value else None

    def verdicts(self) -> list[dict[str, Any]]:
        """One row per item and repeat; NaN becomes None. Read on demand: metrics and notes do not need it."""
        import pyarrow.parquet as pq  # slow to import, wanted only where traces are written

        rows = pq.read_table(self.path / "verdicts.parquet").to_pylist()
        return [{key: None if value != value else value for key, value in row.items()} for row in rows]


def read(run_dir: Path) -> RunFolder:
    """The run folder at `run_dir`.

    Raises StoreError where a file that every run has is missing, or is not what its name says.
    """
    missing = [name for name in REQUIRED if not (run_dir / name).is_file()]
    if missing:
        raise StoreError(f"{run_dir} is not a run folder: it has no {', '.join(missing)}.")
    files, unknown = _files(run_dir)
    return RunFolder(
        path=run_dir,
        run=_object(run_dir / "run.json"),
        summary=_object(run_dir / "summary.json"),
        comparison=_object(run_dir / "comparison.json") if (run_dir / "comparison.json").is_file() else None,
        parts=_object(run_dir / "prompt_parts.json") if (run_dir / "prompt_parts.json").is_file() else {},
        items=_lines(run_dir / "items.jsonl"),
        files=files,
        unknown=unknown,
        digest=_digest(run_dir, files),
    )


def _files(run_dir: Path) -> tuple[tuple[Path, ...], tuple[str, ...]]:
    known = [run_dir / name for name in (*REQUIRED, *OPTIONAL) if (run_dir / name).is_file()]
    known += sorted(path for kind in PICTURES for path in (run_dir / PLOTS).glob(f"*.{kind}"))
    names = {path.relative_to(run_dir).as_posix() for path in known}
    found = {path.relative_to(run_dir).as_posix() for path in run_dir.rglob("*") if path.is_file()}
    return tuple(known), tuple(sorted(found - names))


def _digest(run_dir: Path, files: tuple[Path, ...]) -> str:
    total = hashlib.sha256()
    for path in files:
        total.update(path.relative_to(run_dir).as_posix().encode() + b"\0")
        total.update(hashlib.sha256(path.read_bytes()).digest())
    return total.hexdigest()


def _object(path: Path) -> dict[str, Any]:
    try:
        value = json.loads(path.read_text(encoding="utf-8"), parse_constant=_refuse)
    except ValueError as error:
        raise StoreError(f"{path}: not strict JSON: {error}") from error
    if not isinstance(value, dict):
        raise StoreError(f"{path}: holds {type(value).__name__}, not an object.")
    return value


def _lines(path: Path) -> list[dict[str, Any]]:
    if not path.is_file():
        return []
    rows = []
    for number, line in enumerate(path.read_text(encoding="utf-8").split("\n"), start=1):
        if not line.strip():
            continue
        try:
            rows.append(json.loads(line))
        except ValueError as error:
            raise StoreError(f"{path}, line {number}: not JSON: {error}") from error
    return rows


def _refuse(word: str) -> float:
    raise ValueError(f"{word} is not JSON")
