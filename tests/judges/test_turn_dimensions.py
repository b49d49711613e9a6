"""Unit `turn_dimensions`: booleans per turn, facts of the input passed through, calls tracked by turn."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from eva.errors import DataError
from eva.judges import turn_dimensions, turn_sheet
from eva.types import NOT_APPLICABLE, Annotation, Event, Failure, Record
from tests.factories import TURN_JUDGE, reply, reply_json

RECORD = Record(
    record_id="t1",
    cluster="t1",
    events=(
        Event(turn_id=0, type="user", text="hello"),
        Event(turn_id=0, type="assistant", text="hi"),
        Event(turn_id=1, type="user", text="book it"),
        Event(turn_id=1, type="tool_call", name="book", arguments={"id": 1}),
        Event(turn_id=1, type="assistant", text=""),
    ),
    context={
        "golden_turns": [
            {"turn_id": 0, "golden": "hi"},
            {"turn_id": 1, "golden": "done", "expected_calls": [{"name": "book", "arguments": {"id": 1}}]},
        ],
        "turn_taking_failures": {"0": ["overlap"]},
    },
    labels={"turn:1/tool_use_correct": (Annotation(label="true", annotator="author"),)},
)


def entry(turn: int, *, tool: Any = True, instruction: Any = True, taking: Any = True) -> dict[str, Any]:
    return {
        "turn": turn,
        "reasoning": "why",
        "turn_taking": taking,
        "tool_use_correct": tool,
        "instruction_following": instruction,
    }


def by_item(final: list[dict[str, Any]]) -> dict[str, Any]:
    found = turn_dimensions.read(TURN_JUDGE, RECORD, reply=reply_json({"final_judgments": final}))
    return {verdict.item_id: verdict for verdict in found}


def test_turn_taking_is_no_item_and_is_checked_against_the_input() -> None:
    found = by_item([entry(0, taking=True), entry(1)])

    assert set(found) == {
        f"t1#{turn}/{name}" for turn in (0, 1) for name in ("tool_use_correct", "instruction_following")
    }
    assert found["t1#0/instruction_following"].broken_rules == ("not_copied_from_input:turn_taking",)
    assert found["t1#1/instruction_following"].broken_rules == ()


def test_the_call_dimension_has_nothing_to_rate_without_calls() -> None:
    found = by_item([entry(0, taking=False, tool=False), entry(1, tool=False)])

    assert (found["t1#0/tool_use_correct"].label, found["t1#0/tool_use_correct"].model_label) == (
        NOT_APPLICABLE,
        "false",
    )
    assert found["t1#1/tool_use_correct"].label == "false"


def test_missing_and_contradictory_turns_fail() -> None:
    found = by_item([entry(1, instruction=True), entry(1, instruction=False)])

    assert found["t1#0/instruction_following"].failure == Failure.SKIPPED
    assert found["t1#1/instruction_following"].failure == Failure.REPEATED


def test_a_lone_entry_lines_and_invented_turns() -> None:
    one = turn_dimensions.read(TURN_JUDGE, RECORD, reply=reply_json(entry(1)))
    lines = "\n".join(json.dumps(value) for value in (entry(0, taking=False), entry(1)))
    both = turn_dimensions.read(TURN_JUDGE, RECORD, reply=reply(lines))

    assert [verdict.label or verdict.failure for verdict in one] == [NOT_APPLICABLE, Failure.SKIPPED, "true", "true"]
    assert [verdict.label for verdict in both] == [NOT_APPLICABLE, "true", "true", "true"]
    assert by_item([entry(0, taking=False), entry(1), entry(7)])["t1#1/instruction_following"].broken_rules == (
        "unknown_turn:7",
    )


def test_a_sheet_that_is_no_sheet_names_its_record() -> None:
    broken = replace(RECORD, context={"golden_turns": [{"turn_id": 0, "expected_calls": ["book"]}]})

    with pytest.raises(DataError, match="record 't1': `expected_calls`"):
        turn_sheet.turn_sheet_text(TURN_JUDGE, broken)
    with pytest.raises(DataError, match="record 't1': `turn_taking_failures`"):
        turn_sheet.turn_sheet_text(TURN_JUDGE, replace(RECORD, context={"turn_taking_failures": ["0"]}))


def test_a_missing_boolean_is_not_false() -> None:
    one = entry(1)
    del one["instruction_following"]

    assert by_item([entry(0, taking=False), one])["t1#1/instruction_following"].failure == Failure.NO_VERDICT


def test_labels_stand_on_their_items() -> None:
    items = {item.item_id: item for item in turn_dimensions.items(TURN_JUDGE, RECORD)}

    gold = items["t1#1/tool_use_correct"].gold
    assert gold is not None
    assert gold.label == "true"
