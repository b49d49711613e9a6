"""Unit `conversation`: the label is what the judge's rule gives; what the model stated is kept beside it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from eva.judges import conversation
from eva.types import NOT_APPLICABLE, Failure, Verdict
from tests.factories import FAITHFULNESS, RATING_OR_NA, STATUS_JUDGE, reply_json
from tests.factories import conversation as record


def dimension(rating: Any, *, flagged: bool | None = None, evidence: str = "why") -> dict[str, Any]:
    return {"evidence": evidence, "flagged": rating != 3 if flagged is None else flagged, "rating": rating}


def read(value: Any, judge: Any = FAITHFULNESS) -> Verdict:
    (verdict,) = conversation.read(judge, record(), reply=reply_json(value))
    return verdict


def test_the_overall_is_the_minimum_of_the_dimensions() -> None:
    verdict = read({"rating": 3, "dimensions": {"policy": dimension(1), "hallucination": dimension(2)}})

    assert verdict.label == "1"
    assert verdict.model_label == "3"
    assert verdict.broken_rules == ("overall_is_not_the_rule",)
    assert verdict.flags == ("policy", "hallucination")
    assert verdict.dimensions == {"policy": "1", "hallucination": "2"}
    assert verdict.reason == "policy: why\nhallucination: why"


def test_a_missing_overall_follows_from_the_dimensions() -> None:
    verdict = read({"dimensions": {"policy": dimension(3), "hallucination": dimension(2)}})

    assert (verdict.label, verdict.model_label) == ("2", None)
    assert verdict.broken_rules == ("overall_unreadable",)


def test_a_missing_dimension_cannot_raise_the_overall() -> None:
    """What the model stated overall covers the dimension that it left out."""
    verdict = read({"rating": 1, "dimensions": {"policy": dimension(3)}})

    assert verdict.label == "1"
    assert verdict.broken_rules == ("dimension_missing:hallucination",)


def test_dimensions_left_out_without_an_overall_give_no_verdict_but_the_worst() -> None:
    """C26: what was not said is not taken to be fine; only a worst label cannot change any more."""
    missing = read({"dimensions": {"policy": dimension(3)}})
    off = read({"rating": "good", "dimensions": {"policy": dimension(2)}})
    worst = read({"dimensions": {"policy": dimension(1)}})

    assert [verdict.failure for verdict in (missing, off)] == [Failure.NO_VERDICT] * 2
    assert worst.label == "1"


def test_a_dimension_that_does_not_apply_is_left_out_of_the_rule() -> None:
    judge = replace(FAITHFULNESS, scale=RATING_OR_NA)
    some = read(
        {"rating": 2, "dimensions": {"policy": dimension(None, flagged=False), "hallucination": dimension(2)}}, judge
    )
    none = read({"dimensions": dict.fromkeys(("policy", "hallucination"), dimension(None, flagged=False))}, judge)

    assert (some.label, some.broken_rules, some.reason) == ("2", (), "hallucination: why")
    assert none.label == NOT_APPLICABLE


def test_an_overall_alone_is_read_and_said_to_lack_its_dimensions() -> None:
    verdict = read({"rating": 2})

    assert verdict.label == "2"
    assert verdict.broken_rules == ("dimensions_missing",)


def test_an_unreadable_dimension_is_a_failure_not_a_guess() -> None:
    verdict = read({"rating": 3, "dimensions": {"policy": dimension("fine"), "hallucination": dimension(3)}})

    assert verdict.label is None
    assert verdict.failure == Failure.OFF_SCALE


def test_flag_and_rating_of_a_dimension_must_agree() -> None:
    verdict = read({"rating": 3, "dimensions": {"policy": dimension(3, flagged=True), "hallucination": dimension(3)}})

    assert verdict.label == "3"
    assert verdict.broken_rules == ("flag_against_rating:policy",)


def test_bare_ratings_of_small_models_are_read() -> None:
    verdict = read({"rating": 2, "dimensions": {"policy": 2, "hallucination": 3}, "evidence": "turn 2"})

    assert verdict.label == "2"
    assert verdict.flags == ("policy",)
    assert verdict.reason == "turn 2"


def test_three_flags_make_the_worst_label_where_the_judge_says_so() -> None:
    judge = replace(FAITHFULNESS, dimensions=("a", "b", "c"), options={"overall": "min", "worst_if_flagged": 3})
    verdict = read({"rating": 2, "dimensions": {name: dimension(2) for name in "abc"}}, judge)

    assert verdict.label == "1"


def test_a_judge_without_dimensions_reads_its_one_label() -> None:
    verdict = read({"status": "Model failure", "rationale": "no call"}, STATUS_JUDGE)

    assert (verdict.label, verdict.reason) == ("model_failure", "no call")


def test_a_duplicate_key_with_two_values_is_ambiguous() -> None:
    from tests.factories import reply

    text = '{"rating": 3, "dimensions": {"policy": {"rating": 3, "rating": 1}, "hallucination": {"rating": 3}}}'
    (verdict,) = conversation.read(FAITHFULNESS, record(), reply=reply(text))
    twice = '{"rating": 3, "dimensions": {"policy": 3, "hallucination": 3}, "dimensions": {"policy": 1}}'
    (other,) = conversation.read(FAITHFULNESS, record(), reply=reply(twice))

    assert (verdict.failure, other.failure) == (Failure.AMBIGUOUS, Failure.AMBIGUOUS)


@pytest.mark.parametrize(
    ("rationale", "heard"),
    [
        ("No audio was provided.", False), ("There is no audio to judge", False), ("I cannot hear the recording.", False),
        ("The audio file was not attached.", False), ("I don't have access to the audio.", False),
        ("Heard: \"I can't hear the recording\"; clear.", True), ("English; there is no audio guide in the museum", True),
        ("No audible name.", True), ("The audio is clear.", True),
    ],
)  # fmt: skip
def test_an_audio_judge_that_heard_nothing_has_not_judged(rationale: str, heard: bool) -> None:
    """C96: whatever it rates; what a caller says about sound is no such word."""
    verdict = read({"status": "success", "rationale": rationale}, replace(STATUS_JUDGE, modality="audio"))

    assert (verdict.label, verdict.failure) == (("success", None) if heard else (None, Failure.NO_AUDIO))


def test_the_contract_has_the_label_first_for_small_models_and_last_for_others() -> None:
    strong = conversation.schema(FAITHFULNESS, record(), max_chars=None)
    small = conversation.schema(FAITHFULNESS, record(), max_chars=40)

    assert list(strong["properties"]) == ["dimensions", "rating"]
    assert list(strong["properties"]["dimensions"]["properties"]["policy"]["properties"]) == [
        "evidence",
        "flagged",
        "rating",
    ]
    assert list(small["properties"]) == ["rating", "dimensions", "evidence"]
    assert small["properties"]["evidence"]["maxLength"] == 40
