"""Moved items are grouped by their flags first, then by what their explanations have in common."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest

from eva.metrics.attribution import attribute
from eva.metrics.moved import explanations
from eva.metrics.results import Flip
from eva.metrics.texts import cluster_texts, typical, words

SCALE = ("1", "2", "3")
NONE: frozenset[str] = frozenset()
GLOSS = "The term {} stands beside its translation in parentheses, so that it is heard twice."
LINK = "A web address such as {} is written out letter by letter and cannot be said."


def flip(item: str, before: str | None, after: str | None) -> Flip:
    return Flip(item, "moved", None, before, after, {}, {}, severity=1.0)


def rng() -> np.random.Generator:
    return np.random.default_rng(7)


def test_flags_come_first_and_count_of_their_direction() -> None:
    """66 of 70 that fell are glosses: the flag that the after arm raises; the four others by their words."""
    flips = [flip(f"i{n:03d}", "1", "0") for n in range(70)] + [flip("up", "0", "1")]
    reasons = {one.item_id: ("", GLOSS.format(one.item_id)) for one in flips}
    flags = {one.item_id: (NONE, frozenset({"gloss"})) for one in flips[:66]}
    found = attribute(flips, reasons, flags=flags, rng=rng(), labels=("0", "1"))

    assert found.moved == 71
    assert found.moves == {"down": {"1 → 0": 70}, "up": {"0 → 1": 1}}
    first, second, third = found.groups
    assert (first.direction, first.named_by, first.name, first.items, first.of) == ("down", "flag", "gloss", 66, 70)
    assert (second.direction, second.named_by, second.items, second.of) == ("down", "explanation", 4, 70)
    assert (third.direction, third.items, third.of) == ("up", 1, 1)
    assert len(first.examples) == 3


def test_what_explains_a_move_stands_on_the_worse_side() -> None:
    """Up: what was said before. Down: what is said now. Both flag it: the flag that weighs more now. Several: each."""
    flips = [flip("up", "2", "3"), flip("down", "3", "2"), flip("both", "2", "1"), flip("two", "3", "1")]
    reasons = {one.item_id: ("said before", "said after") for one in flips}
    wordy, dense = frozenset({"wordy"}), frozenset({"dense"})
    flags = {"up": (wordy, NONE), "down": (NONE, dense), "both": (wordy, wordy), "two": (NONE, wordy | dense)}
    found = attribute(flips, reasons, flags=flags, rng=rng(), labels=SCALE)

    counted = {(group.direction, group.name): group.items for group in found.groups}
    assert counted == {("up", "wordy"): 1, ("down", "wordy"): 2, ("down", "dense"): 2}
    assert {one.reason for group in found.groups if group.direction == "up" for one in group.examples} == {
        "said before"
    }
    assert found.notes == ("an item with several flags is counted under each of them",)


def test_explanations_cluster_by_their_words() -> None:
    """Two ways of failing, without flags: two groups, named by their terms; the order of the flips does not matter."""
    flips = [flip(f"g{n}", "1", "0") for n in range(12)] + [flip(f"l{n}", "1", "0") for n in range(8)]
    names = ("alpha", "bravo", "carol", "delta")
    reasons = {
        one.item_id: ("", (GLOSS if one.item_id[0] == "g" else LINK).format(names[n % 4]))
        for n, one in enumerate(flips)
    }
    found = attribute(flips, reasons, flags={}, rng=rng(), labels=("0", "1"))
    again = attribute(flips[::-1], reasons, flags={}, rng=rng(), labels=("0", "1"))

    assert [group.items for group in found.groups] == [12, 8]
    assert "translation" in found.groups[0].name
    assert "address" in found.groups[1].name
    assert all(example.item_id.startswith("l") for example in found.groups[1].examples)
    assert again == found


def test_moves_without_any_explanation_are_said_to_be_so() -> None:
    """An item without majority, or without reason, moved for no stated reason; nothing moved gives nothing."""
    found = attribute([flip("a", "3", None), flip("b", "3", "2")], {}, flags={}, rng=rng(), labels=SCALE)

    assert [(group.direction, group.named_by, group.items) for group in found.groups] == [
        ("down", "nothing", 1),
        ("other", "nothing", 1),
    ]
    assert attribute([], {}, flags={}, rng=rng()).groups == ()


def test_explanation_and_flags_of_the_majority(make_rows: Callable[..., pd.DataFrame]) -> None:
    """The reason of a repeat that votes with most; a flag that most of those repeats raise."""
    gold = [None]
    before = make_rows(gold, [["3"], ["3"], ["1"]], ids=["a"])
    before["reason"] = ["", "fine", "too long"]
    before["flags"] = [[], [], ["wordy"]]
    after = make_rows(gold, [["2"], ["2"], ["2"]], ids=["a"])
    after["reason"] = ["one", "two", "three"]
    after["flags"] = [["wordy", "dense"], ["wordy"], []]
    reasons, flags = explanations([flip("a", "3", "2")], before=before, after=after)

    assert reasons == {"a": ("fine", "one")}
    assert flags == {"a": (frozenset(), frozenset({"wordy"}))}
    nothing = explanations([flip("a", None, "2")], before=before, after=after)
    assert nothing[0]["a"][0] == ""
    assert (
        explanations([flip("a", "3", "2")], before=before.drop(columns=["reason", "flags"]), after=after)[0]["a"][0]
        == ""
    )


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("The turn's 3 items", ["the", "turn's", "items"]),
        ("長すぎる", ["長す", "すぎ", "ぎる"]),
        ("너무 길다", ["너무", "길다"]),
        ("…", []),
    ],
)
def test_words_of_all_scripts(text: str, found: list[str]) -> None:
    """Spaced scripts by word, kana and Han by pairs of signs."""
    assert words(text) == found


def test_texts_without_structure_stay_together() -> None:
    """No text, texts without words, few texts, equal texts: one cluster at most."""
    assert cluster_texts([], seed=1) == ()
    assert [cluster.places for cluster in cluster_texts(["…", "!"], seed=1)] == [(0, 1)]
    assert [len(cluster.places) for cluster in cluster_texts(["too long"] * 9, seed=1)] == [9]
    assert typical(["alpha bravo", "", "alpha bravo carol", "zulu"])[-1] == 1
