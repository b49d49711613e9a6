"""Unit `conversation`: the label is what the judge's rule gives; what the model stated is kept beside it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from eva.judges import conversation
from eva.types import Failure, Verdict
from tests.factories import FAITHFULNESS, STATUS_JUDGE, reply_json
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

    assert verdict.failure == Failure.AMBIGUOUS


def test_an_audio_judge_that_heard_nothing_has_not_judged() -> None:
    """C96."""
    judge = replace(STATUS_JUDGE, modality="audio")
    verdict = read({"status": "success", "rationale": "No audio was provided."}, judge)

    assert verdict.failure == Failure.NO_AUDIO


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
