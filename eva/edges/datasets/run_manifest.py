"""Which conversations of a ServiceNow/eva run count: its own manifest says so, folder names do not.

Folders such as `1.1.2_failed_attempt_1` or `1.1.2_unvalidated_0` are earlier attempts; a pattern that guesses them
counts some as data. `results.csv` (or the list in `evaluation_summary.json`) names every conversation that counts.
"""

from __future__ import annotations

import csv
import json
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from eva.edges.datasets.fields import shown
from eva.edges.datasets.ids import ID
from eva.edges.datasets.places import Notes, Place
from eva.errors import DataError

TRIAL = re.compile(r"trial_\d{1,4}")


@dataclass(frozen=True)
class Conversation:
    """One conversation of a run that counts."""

    run: Path
    scenario: str
    trial: str
    """`trial_0`, or empty where each scenario was run once."""
    place: Place

    @property
    def folder(self) -> Path:
        return self.run / "records" / self.scenario / self.trial


def find_runs(path: Path, wanted: tuple[str, ...]) -> list[Path]:
    """The run folders below `path` (or `path` itself), by name. Raises DataError where none is, or one is missing."""
    if (path / "records").is_dir():
        return [path]
    runs = sorted(one.parent for one in path.glob("*/records") if one.is_dir())
    names = [run.name for run in runs]
    missing = sorted(set(wanted) - set(names))
    if missing:
        raise DataError(f"there is no run {missing[0]}; there are: {', '.join(names) or 'none'}", file=str(path))
    if not runs:
        raise DataError("holds no run: neither `records/` nor `<run>/records/` is there", file=str(path))
    return [run for run in runs if not wanted or run.name in wanted]


def conversations(run: Path, notes: Notes) -> Iterator[Conversation]:
    """The conversations that count, in the manifest's order. Raises DataError for a run without manifest."""
    named: set[str] = set()
    given: set[str] = set()
    for output_id, place in _completed(run, notes):
        if output_id in given:
            notes.count("conversations stand twice in their manifest", f"{run.name}/{output_id}")
            continue
        given.add(output_id)
        scenario, _, trial = output_id.partition("/")
        if not ID.fullmatch(scenario) or (trial and not TRIAL.fullmatch(trial)):
            raise place.error(f"is {shown(output_id)}, not `<id>` or `<id>/trial_<n>`", "record_id")
        named.add(scenario)
        yield Conversation(run, scenario, trial, place)
    with os.scandir(run / "records") as entries:
        for entry in entries:
            if entry.is_dir() and entry.name not in named:
                notes.count("folders are in no manifest and are left out", f"{run.name}/{entry.name}")


def read_json(path: Path) -> dict[str, Any]:
    """A JSON object of a file. Raises DataError with the file for anything else."""
    try:
        value = json.loads(path.read_text(encoding="utf-8-sig"))
    except (ValueError, RecursionError) as error:
        raise DataError(f"is not usable JSON: {error}", file=str(path)) from None
    except OSError as error:
        raise DataError(f"cannot be read: {error.strerror}", file=str(path)) from None
    if not isinstance(value, dict):
        raise DataError(f"holds a {type(value).__name__}, not an object", file=str(path))
    return value


def _completed(run: Path, notes: Notes) -> Iterator[tuple[str, Place]]:
    table, summary = run / "results.csv", run / "evaluation_summary.json"
    if table.is_file():
        with table.open(encoding="utf-8-sig", newline="") as file:
            rows = csv.DictReader(file)
            if not {"record_id", "completed"} <= set(rows.fieldnames or ()):
                raise DataError("has no columns `record_id` and `completed`", file=str(table))
            for row in rows:
                output_id = row["record_id"] or ""
                if (row["completed"] or "").strip().lower() == "true":
                    yield output_id, Place(f"{run.name}/results.csv", rows.line_num)
                else:
                    notes.count("conversations did not complete and are left out", f"{run.name}/{output_id}")
    elif summary.is_file():
        data = read_json(summary)
        simulation = data.get("simulation", data)
        for output_id in simulation.get("successful_record_ids") or ():
            yield str(output_id), Place(f"{run.name}/evaluation_summary.json")
    else:
        raise DataError(
            "has neither results.csv nor evaluation_summary.json: which folders count is unknown", file=str(run)
        )
