"""Unit `turn`: every turn once, matched by its id only (pitfalls C25, C28, C33)."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from eva.judges import turn
from eva.types import NOT_APPLICABLE, Annotation, Failure, Verdict
from tests.factories import CONCISENESS, reply, reply_json
from tests.factories import conversation as record


def entry(turn_id: Any, rating: Any, modes: Any = ()) -> dict[str, Any]:
    return {"turn_id": turn_id, "explanation": f"about {turn_id}", "failure_modes": list(modes), "rating": rating}


def read(value: Any, *, turns: int = 3, judge: Any = CONCISENESS) -> list[Verdict]:
    return list(turn.read(judge, record(turns), reply=reply_json(value)))


def outcomes(verdicts: list[Verdict]) -> list[str | None]:
    return [verdict.label or verdict.failure for verdict in verdicts]


def test_turns_are_matched_by_id_in_any_order() -> None:
    assert outcomes(read([entry(3, 1), entry("1", 3), entry(2.0, 2)])) == ["3", "2", "1"]


def test_a_left_out_turn_fails_and_the_others_stand() -> None:
    """C33: 5 results kept, turn 4 skipped."""
    found = read([entry(number, 3) for number in (1, 2, 3, 5, 6)], turns=6)

    assert outcomes(found) == ["3", "3", "3", Failure.SKIPPED, "3", "3"]


def test_renumbered_turns_are_not_matched_by_position() -> None:
    found = read([entry(0, 3), entry(1, 2), entry(2, 1)])

    assert outcomes(found) == ["2", "1", Failure.SKIPPED]
    assert all("unknown_turn:0" in verdict.broken_rules for verdict in found)


def test_a_turn_rated_twice() -> None:
    same = read([entry(1, 3), entry(1, 3), entry(2, 3), entry(3, 3)])
    different = read([entry(1, 3), entry(1, 1), entry(2, 3), entry(3, 3)])

    assert outcomes(same) == ["3", "3", "3"]
    assert same[0].broken_rules == ("turn_repeated",)
    assert outcomes(different) == [Failure.REPEATED, "3", "3"]


def test_null_says_that_there_is_nothing_to_rate() -> None:
    """C25: it is kept as such; whether that is right is for the metrics to say, which know the label."""
    assert outcomes(read([entry(1, None), entry(2, 3), entry(3, 3)])) == [NOT_APPLICABLE, "3", "3"]


def test_null_for_a_turn_that_is_no_item_breaks_no_rule() -> None:
    """A contract of one entry a turn asks for null where the rated speaker is silent."""
    found = read([entry(0, None), entry(1, 3), entry(2, 3), entry(3, 3)])

    assert {verdict.broken_rules for verdict in found} == {()}


def test_leaving_out_a_silent_turn_is_no_failure() -> None:
    """A turn that people call not applicable, since the speaker says nothing: null and silence are the same."""
    silent = record(2, labels={"turn:7": (Annotation(label=NOT_APPLICABLE, annotator="a"),)})
    found = turn.read(CONCISENESS, silent, reply=reply_json([entry(1, 3), entry(2, 3)]))

    assert outcomes(list(found)) == ["3", "3", NOT_APPLICABLE]


def test_the_best_rating_has_no_failure_mode() -> None:
    """C28: the rating stands, the contradiction is counted."""
    found = read([entry(1, 3, ["verbosity_or_filler"]), entry(2, 2, ["Verbosity or filler", "other"]), entry(3, 3)])

    assert (found[0].label, found[0].flags, found[0].broken_rules) == ("3", (), ("flags_at_3:verbosity_or_filler",))
    assert (found[1].flags, found[1].broken_rules) == (("verbosity_or_filler",), ("unknown_flag:other",))


def test_wrapped_lists_and_a_single_turn_are_read() -> None:
    assert outcomes(read({"turns": [entry(1, 3)]}, turns=1)) == ["3"]
    assert outcomes(read(entry(1, 3), turns=1)) == ["3"]
    assert outcomes(read({"ratings": [entry(1, 3)], "summary": "fine"}, turns=1)) == ["3"]


def test_objects_of_one_turn_each_are_one_list() -> None:
    """JSON Lines: no turn is lost because the model left the brackets out."""
    lines = [json.dumps(entry(turn, rating)) for turn, rating in ((1, 3), (2, 1), (3, 2))]
    draft = json.dumps(entry(2, 3))

    assert outcomes_of("\n".join(lines)) == ["3", "1", "2"]
    assert outcomes_of("Here:\n" + "\n".join([draft, *lines])) == ["3", "1", "2"]
    assert outcomes_of("\n".join([draft, *lines]) + "\nor so") == [Failure.AMBIGUOUS] * 3
    assert outcomes_of("\n".join(lines[:2]), finish_reason="length") == [Failure.TRUNCATED] * 3


def outcomes_of(text: str, **fields: Any) -> list[str | None]:
    return outcomes(list(turn.read(CONCISENESS, record(3), reply=reply(text, **fields))))


def test_an_id_that_cannot_be_read_is_said_so() -> None:
    found = read([entry("first", 3), entry(2, 3), entry(3, 3)])

    assert outcomes(found) == [Failure.SKIPPED, "3", "3"]
    assert found[1].broken_rules == ("turn_id_unreadable",)


def test_a_reply_that_rambles_fills_no_table() -> None:
    """Invented turns and flags are named up to five; a flag with half a character in it can be written to a file."""
    found = read([entry(number, 3) for number in range(5_000)])
    odd = read([entry(1, 2, ["x\ud83d", *(f"f{n}" for n in range(900))]), entry(2, 3), entry(3, 3)])

    assert found[0].broken_rules[-1] == "unknown_turn:more"
    assert len(found[0].broken_rules) == 6
    assert len(odd[0].broken_rules) == 6
    assert all(rule.encode() for rule in odd[0].broken_rules)


def test_a_reason_of_any_type_is_text() -> None:
    listed = {**entry(1, 3), "explanation": ["first", "second"]}
    nested = {**entry(2, 3), "explanation": {"why": "so \ud83d"}}
    found = read([listed, nested, entry(3, 3)])

    assert [verdict.reason for verdict in found[:2]] == ["first\nsecond", '{"why": "so \\ud83d"}']


def test_positions_and_bare_ratings_give_no_verdict() -> None:
    assert outcomes(read([3, 3, 3])) == [Failure.NO_VERDICT] * 3
    assert outcomes(read([])) == [Failure.NO_VERDICT] * 3


def test_a_turn_without_its_rating_field() -> None:
    assert outcomes(read([{"turn_id": 1, "explanation": "fine"}, entry(2, 3), entry(3, 3)])) == [
        Failure.NO_VERDICT,
        "3",
        "3",
    ]


def test_a_turn_without_entities_has_nothing_to_rate() -> None:
    judge = replace(CONCISENESS, options={"entities_field": "has_entities"}, flags=(), flags_field="")
    found = read(
        [{"turn_id": 1, "has_entities": False, "explanation": "", "rating": 1}, {**entry(2, 1), "has_entities": True}],
        turns=2,
        judge=judge,
    )

    assert outcomes(found) == [NOT_APPLICABLE, "1"]


def test_the_bounded_contract_names_exactly_the_turns() -> None:
    schema = turn.schema(CONCISENESS, record(2), max_chars=40)

    assert [one["properties"]["turn_id"]["const"] for one in schema["prefixItems"]] == [1, 2]
    assert list(schema["prefixItems"][0]["properties"]) == ["turn_id", "rating", "failure_modes", "explanation"]
    assert schema["maxItems"] == schema["minItems"] == 2


def test_a_label_of_the_whole_record_is_met_by_the_worst_turn() -> None:
    """Recordings that people rated as a whole (agent_speech_fidelity): any 1 makes it 1; an unread turn leaves it open."""
    whole = record(2, labels={"record": (Annotation(label="1", annotator="a"),)})

    def label(*entries: dict[str, Any]) -> tuple[str, str | None]:
        (verdict,) = turn.read(CONCISENESS, whole, reply=reply_json(list(entries)))
        return verdict.item_id, verdict.label or verdict.failure

    assert [item.item_id for item in turn.items(CONCISENESS, whole)] == ["r1"]
    assert label(entry(1, 3), entry(2, 1)) == ("r1", "1")
    assert label(entry(1, 3), entry(2, None)) == ("r1", "3")
    assert label(entry(1, 1)) == ("r1", "1")
    assert label(entry(1, 2)) == ("r1", Failure.SKIPPED)
    assert label(entry(1, None), entry(2, None)) == ("r1", NOT_APPLICABLE)
