"""The turn judge's sheet: what was expected of each turn beside what happened.

The record's context holds `golden_turns`, a list of {turn_id, golden, expected_calls: [{name, arguments}]}, and
`turn_taking_failures`, an object of turn id (as text) → list of issues.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from eva.errors import DataError
from eva.prompts.blocks import compact_json, indented, one_line
from eva.types import Event, JudgeSpec, Record


def golden_turns(record: Record) -> dict[int, Mapping[str, Any]]:
    """The golden turns by turn id."""
    return {int(turn["turn_id"]): turn for turn in record.context.get("golden_turns") or ()}


def expected_calls(record: Record, turn: int) -> tuple[Mapping[str, Any], ...]:
    calls = golden_turns(record).get(turn, {}).get("expected_calls") or ()
    if not isinstance(calls, list | tuple) or not all(isinstance(call, Mapping) and call.get("name") for call in calls):
        raise DataError(
            f"record {record.record_id!r}: `expected_calls` of golden turn {turn} is a list of {{name, arguments}}"
        )
    return tuple(calls)


def actual_calls(record: Record, turn: int) -> tuple[Event, ...]:
    return tuple(event for event in record.events if event.turn_id == turn and event.type == "tool_call")


def turn_ids(record: Record) -> tuple[int, ...]:
    """All scripted turns, and any further turn that happened."""
    return tuple(sorted({*golden_turns(record), *(event.turn_id for event in record.events)}))


def turn_taking_failed(record: Record, turn: int) -> bool:
    return str(turn) in _failures(record)


def _failures(record: Record) -> Mapping[str, Any]:
    found = record.context.get("turn_taking_failures") or {}
    if not isinstance(found, Mapping):
        raise DataError(f"record {record.record_id!r}: `turn_taking_failures` is an object of turn id and issues")
    return found


def expected_calls_text(judge: JudgeSpec, record: Record) -> str:
    """Every expected call of the whole script, one a line: calls are tracked by occurrence, not by name."""
    lines: list[str] = []
    for turn in golden_turns(record):
        for call in expected_calls(record, turn):
            lines.append(
                f"{len(lines) + 1}. due at turn {turn}: {one_line(str(call['name']))} {compact_json(call.get('arguments') or {})}"
            )
    return "\n".join(lines) or "(no call is expected in this script)"


def turn_sheet_text(judge: JudgeSpec, record: Record) -> str:
    return "\n".join(_turn_block(record, turn) for turn in turn_ids(record))


def _turn_block(record: Record, turn: int) -> str:
    golden = golden_turns(record).get(turn, {})
    issues = _failures(record).get(str(turn))
    expected = [compact_json(call) for call in expected_calls(record, turn)]
    actual = [compact_json({"name": call.name, "arguments": call.arguments}) for call in actual_calls(record, turn)]
    return "\n".join(
        (
            f"Turn {turn}",
            f"  turn-taking: {'FAILURE: ' + _issues(issues) if issues is not None else 'OK'}",
            f"  user: {indented(_said(record, turn, 'user'))}",
            f"  assistant: {indented(_said(record, turn, 'assistant')) or '(no text)'}",
            f"  golden answer: {indented(str(golden.get('golden', '(none)')))}",
            f"  expected calls: {', '.join(expected) or 'none'}",
            f"  actual calls: {', '.join(actual) or 'none'}",
        )
    )


def _issues(issues: Any) -> str:
    return one_line(", ".join(map(str, issues)) if isinstance(issues, list | tuple) else str(issues))


def _said(record: Record, turn: int, speaker: str) -> str:
    return "\n".join(event.text or "" for event in record.events if event.turn_id == turn and event.type == speaker)
