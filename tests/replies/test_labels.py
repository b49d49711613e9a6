"""One value of a reply becomes a label or a failure of a named kind, never a guess (pitfalls C14, C23, C25, C29, C34)."""

from __future__ import annotations

from typing import Any

import pytest

from eva.replies.labels import normalise_gold, read_label
from eva.types import NOT_APPLICABLE, Failure, Scale
from tests.factories import RATING, RATING_OR_NA, STATUS, YES_NO

OFF = Failure.OFF_SCALE
WORDS = Scale(labels=("incorrect", "correct"), ordinal=False)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (2, "2"), (2.0, "2"), ("2", "2"), ("2.0", "2"), (" 2 ", "2"), ("2.", "2"), ("'2'", "2"), ("**2**", "2"),
        ("+2", OFF), ("02", OFF), ("2,0", OFF), ("2.50", OFF), ("2e0", OFF), ("0x2", OFF),
        (2.5, OFF), ("2/3", OFF), ("2 - adequate", OFF), ("two", OFF), ("２", OFF), ("٢", OFF), ("1_0", OFF), ("trois", OFF),
        (4, OFF), (0, OFF), (-1, OFF), (True, OFF), (False, OFF), ("NaN", OFF), (float("nan"), OFF), (float("inf"), OFF),
        (10**400, OFF),
        ([2], OFF), ({"rating": 2}, OFF), ("", OFF), ("2" * 500, OFF),
        (None, Failure.ABSTAINED), ("not_applicable", OFF),
    ],
)  # fmt: skip
def test_a_rating_is_an_exact_number_of_the_scale(value: Any, expected: str | Failure) -> None:
    """C23: exact numeric forms count, in every judge alike; booleans, fractions, words and other scripts' digits do not."""
    assert read_label(value, RATING) == expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("success", "success"), ("Success.", "success"), ("MODEL FAILURE", "model_failure"), ("model-failure", "model_failure"),
        ('"success"', "success"), ("ok", "success"), ("fine", OFF), ("no success", OFF), ("पास", OFF), (True, OFF), (1, OFF),
    ],
)  # fmt: skip
def test_a_word_is_matched_whole_or_by_a_declared_alias(value: Any, expected: str | Failure) -> None:
    """C14, C34: case, blanks and hyphens do not count; translations and other words do not match."""
    assert read_label(value, STATUS) == expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [("Incorrect.", "incorrect"), ("not correct", OFF), ("correct: mostly", OFF), ("CORRECT", "correct")],
)
def test_no_label_is_found_inside_another(value: str, expected: str | Failure) -> None:
    """C29: `incorrect` and `not correct` are not `correct`."""
    assert read_label(value, WORDS) == expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [(True, "true"), (False, "false"), ("TRUE", "true"), ("yes", OFF), (1, OFF), (None, Failure.ABSTAINED)],
)
def test_booleans_belong_to_boolean_scales(value: Any, expected: str | Failure) -> None:
    assert read_label(value, YES_NO) == expected


def test_accents_are_the_same_however_they_are_encoded() -> None:
    """C14: a label typed on another machine is the same label."""
    scale = Scale(labels=("très bien", "mal"), ordinal=False)

    assert read_label("tre\u0300s bien", scale) == "très bien"


def test_null_is_not_applicable_only_where_the_scale_has_it() -> None:
    """C25: null never becomes 0 or the lowest rating."""
    assert read_label(None, RATING_OR_NA) == NOT_APPLICABLE
    assert read_label("not applicable", RATING_OR_NA) == NOT_APPLICABLE
    assert read_label(None, RATING) == Failure.ABSTAINED


def test_gold_labels_read_by_the_same_rules() -> None:
    assert normalise_gold(3.0, RATING) == "3"
    assert normalise_gold("four", RATING) is None
