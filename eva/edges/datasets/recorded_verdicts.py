"""What other people's judges said, so that it can be compared with ours: stored verdicts become rows of a run.

| what | how it is told apart |
|---|---|
| rows `{"record", "turn", "dimension", "repeat", "label", "flags", "reason", …}` | `label` |
| vectors of the turn benchmark, `{"run_dir", "scores": {"kb_grounding": "1101…"}}` | `scores` |
| judged turns of the turn benchmark, `{"run_dir", "turn", "judge_scores": {…: true}}` | `judge_scores` |
| the turn benchmark's run folders with `claude_judged.jsonl` | a folder that has them |
| ServiceNow/eva's run folders, `metrics.json` | a folder with `records/` |
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from eva.edges.datasets.fields import Fields
from eva.edges.datasets.ids import read_id
from eva.edges.datasets.jsonl import read_json_lines
from eva.edges.datasets.places import Notes
from eva.edges.datasets.recorded_eva import eva_verdicts
from eva.edges.datasets.turn_benchmark import JUDGED, benchmark_id
from eva.edges.datasets.verdict_rows import RecordedVerdicts, verdict_frame, verdict_row
from eva.errors import DataError
from eva.types import Item, JudgeSpec

ROW_FIELDS = (
    "record", "turn", "dimension", "repeat", "label", "flags", "reason", "cluster", "language", "domain", "split",
    "model", "version", "text",
)  # fmt: skip


class _Found:
    """What is gathered while reading."""

    def __init__(self, judge: JudgeSpec) -> None:
        self.judge = judge
        self.rows: list[dict[str, Any]] = []
        self.items: dict[str, Mapping[str, str]] = {}
        self.seen: dict[tuple[str, int], str] = {}
        self.models: dict[str, None] = {}
        self.versions: dict[str, None] = {}

    def add(self, row: dict[str, Any], *, where: str, text: str = "", version: str = "") -> None:
        key = (row["item_id"], row["repeat"])
        if key in self.seen:
            raise DataError(f"{key[0]}, repeat {key[1]}, has a verdict already ({self.seen[key]})", file=where)
        self.seen[key] = where
        self.rows.append(row)
        self.items.setdefault(
            row["item_id"],
            {"item_id": row["item_id"], "record_id": row["record_id"], "title": row["item_id"], "request": text},
        )
        if row["model_answered"]:
            self.models[row["model_answered"]] = None
        if version:
            self.versions[version] = None


def recorded_verdicts(path: Path, judge: JudgeSpec) -> RecordedVerdicts:
    """Read stored verdicts for a judge; labels are read as a reply's would be, dimensions that it copies are left out.

    Raises DataError for a file that holds nothing of this kind, or two verdicts for one item and repeat.
    """
    found, notes = _Found(judge), Notes()
    if path.is_dir() and not any(path.rglob(JUDGED)):
        for row, version in eva_verdicts(path, judge, notes):
            found.add(row, where=str(path), version=version)
    else:
        for file in sorted(path.rglob(JUDGED)) if path.is_dir() else [path]:
            _read_file(file, found, notes)
    if not found.rows:
        raise DataError(f"holds no recorded verdict of {judge.name}", file=str(path))
    failures = sum(row["failure"] is not None for row in found.rows)
    notes.say(f"{len(found.rows)} recorded verdicts, {failures} of them without a label of the scale")
    return RecordedVerdicts(
        table=verdict_frame(found.rows),
        items=tuple(found.items.values()),
        models=tuple(found.models),
        versions=tuple(found.versions),
        notes=notes.lines(),
    )


def _read_file(file: Path, found: _Found, notes: Notes) -> None:
    for place, data in read_json_lines(file):
        fields = Fields(data, place)
        run = file.parent.name if file.name == JUDGED else fields.text("run_dir", default="")
        if "label" in data:
            _add_row(fields, found)
        elif "judge_scores" in data or file.name == JUDGED:
            scores = fields.mapping("judge_scores" if "judge_scores" in data else "scores")
            turns = {fields.whole("turn"): scores}
            _add_turns(fields, run or fields.text("run_prefix"), turns, found, notes)
        elif "scores" in data:
            _add_turns(fields, run, _vectors(fields), found, notes)
        else:
            raise place.error("is no recorded verdict: none of label, scores, judge_scores is there")


def _add_row(fields: Fields, found: _Found) -> None:
    fields.refuse_unknown(ROW_FIELDS)
    record = read_id(fields.data.get("record"), fields.place, name="record")
    turn = fields.whole("turn") if fields.data.get("turn") is not None else None
    item = _item(record, turn, fields.optional_text("dimension"), fields)
    row = verdict_row(
        item,
        found.judge,
        value=fields.data["label"],
        repeat=fields.whole("repeat") if fields.data.get("repeat") is not None else 0,
        flags=fields.texts("flags"),
        reason=fields.text("reason", default=""),
        model=fields.optional_text("model"),
    )
    text, version = fields.text("text", default=""), fields.text("version", default="")
    found.add(row, where=str(fields.place), text=text, version=version)


def _vectors(fields: Fields) -> dict[int, dict[str, bool]]:
    """`{"dimension": "0110…"}` by turn: a character a turn, from 0."""
    turns: dict[int, dict[str, bool]] = {}
    for dimension, bits in fields.mapping("scores").items():
        if not isinstance(bits, str) or set(bits) - {"0", "1"}:
            raise fields.place.error("is not a string of 0 and 1", f"scores.{dimension}")
        for turn, bit in enumerate(bits):
            turns.setdefault(turn, {})[dimension] = bit == "1"
    return turns


def _add_turns(fields: Fields, run: str, turns: Mapping[int, Mapping[str, Any]], found: _Found, notes: Notes) -> None:
    passed = found.judge.options.get("passthrough") or ()
    reason = fields.text("judge_reasoning", default=fields.text("claude_reasoning", default=""))
    for turn, scores in turns.items():
        for dimension, value in scores.items():
            if dimension in passed:
                notes.count(f"values of `{dimension}` are facts of the input and no verdicts")
                continue
            item = _item(benchmark_id(run), turn, dimension, fields)
            row = verdict_row(item, found.judge, value=value, reason=reason, model=fields.optional_text("judge_model"))
            version = fields.text("judge_version", default="")
            found.add(row, where=str(fields.place), text=_said(fields), version=version)


def _item(record: str, turn: int | None, dimension: str | None, fields: Fields) -> Item:
    item_id = record + (f"#{turn}" if turn is not None else "") + (f"/{dimension}" if dimension else "")
    domain = fields.text("domain", default=fields.text("cohort", default=fields.text("model_name", default="")))
    return Item(
        item_id=item_id,
        record_id=record,
        cluster=fields.text("cluster", default=record),
        turn_id=turn,
        dimension=dimension,
        language=fields.text("language", default="en"),
        domain=domain,
        split=fields.text("split", default=""),
    )


def _said(fields: Fields) -> str:
    lines: Iterator[str] = (
        f"{speaker}: {fields.text(f'{speaker}_text', default='')}"
        for speaker in ("user", "assistant")
        if fields.data.get(f"{speaker}_text") is not None
    )
    return "\n".join(lines)
