"""Section B of the list: what is read from a judge's answer, with the answers that the list gives."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from eva.edges.settings import load_judge
from eva.judges import conversation, turn
from eva.metrics.resample import rng_for
from eva.metrics.results import Summary
from eva.metrics.summary import summarise
from eva.replies.labels import read_label
from eva.types import Failure, JudgeSpec, Reply, Scale, Usage, Verdict
from tests.factories import CONCISENESS, FAITHFULNESS, RATING, STATUS_JUDGE, reply
from tests.factories import conversation as record
from tests.metrics.conftest import build_rows

ONE = replace(FAITHFULNESS, dimensions=(), reason_field="explanation")
"""A judge of `{"rating": …, "explanation": …}`."""


def said(text: str | None, *, judge: JudgeSpec = ONE, **fields: Any) -> str:
    """The label, or the kind of failure."""
    (verdict,) = conversation.read(judge, record(), reply=reply(text, **fields))
    return verdict.label if verdict.label is not None else str(verdict.failure)


def turns(value: Any, n: int, **fields: Any) -> list[Verdict]:
    text = value if isinstance(value, str) else json.dumps(value)
    return list(turn.read(CONCISENESS, record(n), reply=reply(text, **fields)))


def entry(turn_id: int, rating: Any, modes: tuple[str, ...] = ()) -> dict[str, Any]:
    return {"turn_id": turn_id, "explanation": "x", "failure_modes": list(modes), "rating": rating}


def measured(gold: list[str | None], verdicts: list[Verdict], **columns: Any) -> Summary:
    cells = [
        verdict.label.replace("not_applicable", "na") if verdict.label else f"!{verdict.failure}"
        for verdict in verdicts
    ]
    rows = build_rows(gold, [cells], **columns)
    return summarise(rows, labels=RATING.labels, values=RATING.values, repeats=1, rng=rng_for("b"), resamples=200)


@pytest.mark.parametrize("around", ["{}", "Sure!\n{}\nHope it helps.", "{}\n"])
@pytest.mark.parametrize("word", ["json", "", "JSON", "jsonc"])
def test_c18_fences_cost_nothing_but_a_mark(around: str, word: str) -> None:
    text = around.replace("{}", f'```{word}\n{{"rating": 2, "explanation": "ok"}}\n```')
    (verdict,) = conversation.read(ONE, record(), reply=reply(text))

    assert (verdict.label, verdict.repaired) == ("2", True)


def test_c19_a_good_answer_is_not_repaired() -> None:
    text = '{"rating": 3, "explanation": "The agent printed ```json {\\"rating\\": 1}``` to the user"}'
    (verdict,) = conversation.read(ONE, record(), reply=reply(text))

    assert (verdict.label, verdict.repaired) == ("3", False)


def test_c20_pieces_that_only_look_like_json_do_not_count() -> None:
    assert said('The call used args {} and returned []. Verdict: {"rating": 1, "explanation": "x"} (see {1}).') == "1"


def test_c22_a_thought_is_no_answer() -> None:
    assert said('Maybe {"rating": 1}. No, policy was followed.</think>{"rating": 3}') == "3"
    assert said('<think>Maybe {"rating": 1}. But then') == "unfinished_reasoning"
    assert said("<think>...unclosed") == "unfinished_reasoning"


OFF = "off_scale"


@pytest.mark.parametrize(
    ("value", "expected"),
    [("2", "2"), (2.0, "2"), ("2.0", "2"), (" 2 ", "2"), ("2/3", OFF), ("2 - adequate", OFF), (2.5, OFF), ("two", OFF),
     ("٢", OFF), ("２", OFF), ("1_0", OFF), (True, OFF)],
)  # fmt: skip
def test_c23_one_rule_for_all_judges(value: Any, expected: str) -> None:
    text = json.dumps({"rating": value, "explanation": "x"})
    per_turn = turns([entry(1, value)], 1)[0]

    assert said(text) == expected
    assert (per_turn.label or str(per_turn.failure)) == expected


def test_c25_null_is_abstaining_on_a_rated_item_and_right_on_another() -> None:
    """Gold rates turns 1 and 3; the judge says 3, null, null."""
    verdicts = turns([entry(1, 3), entry(2, None), entry(3, None)], 3)
    found = measured(["3", None, "3"], verdicts)
    unrated = measured(["3", "not_applicable", "3"], verdicts)

    assert found.failures == unrated.failures == {"abstained": 1}
    assert found.accuracy.mean == 0.5
    assert said('{"rating": null, "explanation": "x"}') == "abstained"


def test_c26_a_missing_verdict_is_missing() -> None:
    """Key case does not matter and one wrapper is looked through: the one documented rule; nothing has a default."""
    assert said('{"explanation": "All good."}') == "no_verdict"
    assert said('{"Rating": 2}') == "2"
    assert said('{"result": {"rating": 2}}') == "2"
    assert said('{"result": {"result": {"rating": 2}}}') == "no_verdict"


def test_c28_the_rating_stands_and_the_contradiction_is_counted() -> None:
    verdicts = turns([entry(1, 3, ("verbosity_or_filler",))], 1)
    found = measured(["3"], verdicts, broken_rules=[list(verdicts[0].broken_rules)])

    assert (verdicts[0].label, verdicts[0].flags) == ("3", ())
    assert found.broken_rules == {"flags_at_3:verbosity_or_filler": 1}


@pytest.mark.parametrize(
    ("value", "expected"),
    [("Incorrect.", "incorrect"), ("not correct", OFF), ("partially correct", OFF),
     ("label: correct, explanation: the incorrect fare was fixed", OFF)],
)  # fmt: skip
def test_c29_no_label_is_found_inside_other_words(value: str, expected: str) -> None:
    assert read_label(value, Scale(labels=("incorrect", "correct"), ordinal=False)) == expected


def test_c29_free_text_is_not_searched_for_labels() -> None:
    assert said("label: success, explanation: the failure was mended", judge=STATUS_JUDGE) == "no_json"


CUT = '[{"turn_id":1,"rating":3},{"turn_id":2,"rat'


@pytest.mark.parametrize("finish", ["length", "stop", None, "MAX_TOKENS"])
def test_c30_a_cut_answer_gives_no_turn(finish: str | None) -> None:
    """Turn 1 is not quietly kept while turn 2 vanishes, whatever the provider calls it."""
    assert [verdict.failure for verdict in turns(CUT, 2, finish_reason=finish)] == [Failure.TRUNCATED] * 2


def test_c30_a_budget_spent_on_hidden_reasoning_is_the_same() -> None:
    usage = Usage(input_tokens=900, output_tokens=200, reasoning_tokens=199)

    assert said("", finish_reason="length", usage=usage) == "truncated"


def test_c31_a_rating_in_prose_is_not_read_so_that_no_re_ask_is_needed() -> None:
    """What is asked again, how often, and that the first stays on record: tests/edges/test_asking.py."""
    assert said("I would give this a rating of 1.") == "no_json"


def test_c32_filters_and_refusals_are_failures_counted_by_class() -> None:
    replies = (reply(None, finish_reason="content_filter"), reply("I'm sorry, I can't help with that."))
    verdicts = [conversation.read(ONE, record(), reply=one)[0] for one in replies]
    found = measured(["1", "1"], verdicts)

    assert [verdict.failure for verdict in verdicts] == [Failure.FILTERED, Failure.REFUSED]
    assert found.failures_by_class == {"1": {"filtered": 1, "refused": 1}}


def test_c33_five_of_six_turns_stand() -> None:
    verdicts = turns([entry(number, 3) for number in (1, 2, 3, 5, 6)], 6)
    found = measured(["3"] * 6, verdicts)

    assert [verdict.label or verdict.failure for verdict in verdicts] == ["3", "3", "3", Failure.SKIPPED, "3", "3"]
    assert found.coverage.value == pytest.approx(5 / 6)


def test_c34_translated_labels_and_keys_fail_and_are_counted_by_language() -> None:
    """Only aliases that the judge's config declares are mapped."""
    verdict_judge = replace(ONE, label_field="verdict", scale=Scale(labels=("FAIL", "PASS"), ordinal=False))
    assert said('{"note": 3}') == "no_verdict"
    assert said('{"rating": "trois"}') == OFF
    assert said('{"verdict": "पास"}', judge=verdict_judge) == OFF
    aliased = replace(verdict_judge, scale=Scale(labels=("FAIL", "PASS"), ordinal=False, aliases={"पास": "PASS"}))
    assert said('{"verdict": "पास"}', judge=aliased) == "PASS"
    verdicts = [
        conversation.read(ONE, record(), reply=reply(text))[0] for text in ('{"rating": "trois"}', '{"rating": 3}')
    ]
    assert measured(["3", "3"], verdicts, language=["fr", "en"]).failures_by_language == {"fr": {"off_scale": 1}}


JUDGES: dict[str, Callable[[Any], str]] = {
    "faithfulness": lambda value: json.dumps({"rating": value}),
    "conciseness": lambda value: json.dumps([entry(n, value) for n in (1, 2, 3)]),
    "speakability": lambda value: json.dumps([{"turn_id": n, "explanation": "", "rating": value} for n in (1, 2, 3)]),
}


@pytest.mark.parametrize("name", JUDGES)
@pytest.mark.parametrize("value", [True, False, [1], {"rating": 1}, "1 or 2", 1e300, "-", "one"])
def test_no_judge_of_the_config_makes_a_label_of_what_is_none(name: str, value: Any) -> None:
    """The kind behind C23, C26 and C29, for judges as they are configured."""
    judge = load_judge(name)
    unit = conversation if judge.unit == "conversation" else turn
    verdicts = unit.read(judge, record(), reply=Reply(record_id="r1", repeat=0, digest="d", text=JUDGES[name](value)))

    assert {verdict.label for verdict in verdicts} == {None}
