"""The turn benchmark: a script of turns with golden answers, and what models under test said to it.

Either a folder with `…/<run>/transcript.jsonl`, or a file of whole conversations (`conversation_id`, `turns`). The
script (`options.golden`, default `golden_turns.jsonl` beside the data) gives each record all its turns: one that was
never reached is still judged, so that denominators are fixed. All conversations follow one script, so the model under
test is the record's `domain`: the slice that matters.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from eva.edges.datasets.chat_messages import parsed
from eva.edges.datasets.fields import Fields
from eva.edges.datasets.ids import plain_id
from eva.edges.datasets.jsonl import read_json_lines
from eva.edges.datasets.places import Notes, Place, Sourced
from eva.edges.datasets.spec import DatasetSpec
from eva.errors import DataError
from eva.types import Event, Record

GOLDEN = "golden_turns.jsonl"
TRANSCRIPT = "transcript.jsonl"
JUDGED = "claude_judged.jsonl"
DEEP = 3
"""Folders between the given one and a run."""

Script = list[dict[str, Any]]


def read_turn_benchmark(path: Path, spec: DatasetSpec, notes: Notes) -> Iterator[Sourced]:
    """The conversations, one cluster each. Recovery turns (the harness nudges the model) are not scripted: left out."""
    golden = _golden_file(path, spec)
    script = read_script(golden)
    reached = 0
    for name, place, rows, failures in _conversations(path):
        record = _record(name, place, rows, script, failures, notes)
        last = max((event.turn_id for event in record.events), default=-1)
        reached += 1
        if last < max(turn["turn_id"] for turn in script):
            notes.count("conversations stop before the script's end; their missing turns are judged", record.record_id)
        yield Sourced(record, place)
    if not reached:
        raise DataError(f"holds no {TRANSCRIPT} within {DEEP} folders", file=str(path))
    notes.say(f"{len(script)} scripted turns from {golden.name}")


def read_script(path: Path) -> Script:
    """The script's turns as a record's context holds them: `turn_id`, `golden`, `expected_calls`."""
    script: Script = []
    for place, data in read_json_lines(path):
        fields = Fields(data, place)
        calls = [
            {"name": call.text("name"), "arguments": call.mapping("args")} for call in fields.objects("expected_calls")
        ]
        script.append({"turn_id": fields.whole("turn"), "golden": fields.text("golden_text"), "expected_calls": calls})
    if not script:
        raise DataError("holds no golden turn", file=str(path))
    return script


def benchmark_id(run: str) -> str:
    """The record id of a run folder: its last part, the same for records and for recorded verdicts."""
    return plain_id(run.rstrip("/").rsplit("/", maxsplit=1)[-1])


def _golden_file(path: Path, spec: DatasetSpec) -> Path:
    given = spec.options.get("golden")
    file = Path(str(given)).expanduser() if given else (path if path.is_dir() else path.parent) / GOLDEN
    if not file.is_file():
        raise DataError(f"there is no script {file}; dataset.options.golden=<golden turns>.jsonl names it")
    return file


def _conversations(path: Path) -> Iterator[tuple[str, Place, list[Fields], Mapping[str, list[str]]]]:
    if path.is_file():
        for place, data in read_json_lines(path):
            fields = Fields(data, place)
            rows = [Fields({**fields.data, **row.data}, place, within=row.within) for row in fields.objects("turns")]
            yield fields.text("conversation_id"), place, rows, {}
        return
    for folder in _run_folders(path, DEEP):
        rows = [Fields(data, place) for place, data in read_json_lines(folder / TRANSCRIPT)]
        yield folder.name, Place(f"{folder.name}/{TRANSCRIPT}"), rows, _turn_taking(folder)


def _run_folders(path: Path, deep: int) -> Iterator[Path]:
    if (path / TRANSCRIPT).is_file():
        yield path
    elif deep:
        for inner in sorted(one for one in path.iterdir() if one.is_dir()):
            yield from _run_folders(inner, deep - 1)


def _turn_taking(folder: Path) -> dict[str, list[str]]:
    """Turn (as text) -> issues: computed from the sound before any judge, and stored beside the judge's verdicts."""
    failures: dict[str, list[str]] = {}
    if (folder / JUDGED).is_file():
        for place, data in read_json_lines(folder / JUDGED):
            fields = Fields(data, place)
            issues = [str(issue) for issue in fields.items("turn_taking_issues")]
            if issues or fields.mapping("scores").get("turn_taking") is False:
                failures[str(fields.whole("turn"))] = issues
    return failures


def _record(
    name: str, place: Place, rows: list[Fields], script: Script, failures: Mapping[str, list[str]], notes: Notes
) -> Record:
    events: list[Event] = []
    for row in rows:
        if row.data.get("recovery_turn"):
            notes.count("recovery turns are left out", name)
            continue
        events += _events(row, notes)
    if not events:
        raise place.error("holds no turn")
    context: dict[str, Any] = {"golden_turns": script}
    if failures:
        context["turn_taking_failures"] = dict(failures)
    return Record(
        record_id=benchmark_id(name),
        cluster=benchmark_id(name),
        events=tuple(sorted(events, key=lambda event: event.turn_id)),
        domain=rows[0].text("model_name", default=""),
        context=context,
    )


def _events(row: Fields, notes: Notes) -> Iterator[Event]:
    """User, calls each with its result, assistant: the order in which a turn goes."""
    turn = row.whole("turn")
    yield Event(turn_id=turn, type="user", text=row.text("user_text"))
    results = row.items("tool_results")
    for number, call in enumerate(row.objects("tool_calls")):
        name = call.text("name")
        if call.data.get("is_duplicate") is True:
            notes.count("calls are repetitions of an earlier one; they are kept", row.place)
        yield Event(turn_id=turn, type="tool_call", name=name, arguments=call.mapping("args"))
        if number < len(results):
            yield Event(turn_id=turn, type="tool_response", name=name, response=parsed(results[number]))
    text = row.optional_text("assistant_text")
    if text is not None:
        yield Event(turn_id=turn, type="assistant", text=text)
