"""Samples of moved items keep every language, direction and flag in sight, and can be drawn again."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eva.metrics.results import Flip
from eva.metrics.sampling import NO_FLAG, allocate, move_strata, stratified_sample

NONE: frozenset[str] = frozenset()


def rng() -> np.random.Generator:
    return np.random.default_rng(11)


def flip(item: str, before: str | None, after: str | None) -> Flip:
    return Flip(item, "moved", None, before, after, {}, {}, severity=1.0)


def test_strata_are_language_direction_and_flag() -> None:
    """An item with several flags goes with the most frequent; one without a verdict in one arm cannot be shown blind."""
    wordy, dense = frozenset({"wordy"}), frozenset({"dense"})
    flips = [flip("a", "1", "2"), flip("b", "2", "1"), flip("c", "3", "2"), flip("d", "3", "2"), flip("e", None, "2")]
    flags = {"a": (NONE, NONE), "b": (NONE, wordy), "c": (NONE, wordy | dense), "d": (NONE, dense), "e": (NONE, dense)}
    languages = {"a": "de", "b": "fr", "c": "fr", "d": "ja"}
    found = move_strata(flips, flags | {"x": (wordy, NONE)}, languages=languages, labels=("1", "2", "3"))

    assert found == {
        "a": ("de", "up", NO_FLAG),
        "b": ("fr", "down", "wordy"),
        "c": ("fr", "down", "dense"),
        "d": ("ja", "down", "dense"),
    }


@given(
    st.dictionaries(st.tuples(st.sampled_from("abcdefgh")), st.integers(1, 60), min_size=1, max_size=8),
    st.integers(1, 200),
)
def test_allocation(sizes: dict[tuple[str, ...], int], size: int) -> None:
    """Exactly as many as asked for, never more than there are, at least one of each where there is room."""
    quota = allocate(sizes, size)
    assert sum(quota.values()) == min(size, sum(sizes.values()))
    assert all(0 <= quota[stratum] <= sizes[stratum] for stratum in sizes)
    if size >= len(sizes):
        assert min(quota.values()) >= 1


def test_allocation_is_proportional() -> None:
    assert allocate({("a",): 300, ("b",): 100, ("c",): 2}, 40) == {("a",): 29, ("b",): 10, ("c",): 1}
    assert allocate({("a",): 5, ("b",): 9, ("c",): 1}, 2) == {("b",): 1, ("a",): 1, ("c",): 0}


def test_a_sample_can_be_drawn_again() -> None:
    """Whatever the order of the items; weights add up to the items; another seed draws others."""
    strata = {f"i{n:03d}": (("de", "fr")[n % 2], "up") for n in range(80)}
    one = stratified_sample(strata, size=20, rng=rng())
    again = stratified_sample(dict(reversed(strata.items())), size=20, rng=rng())
    other = stratified_sample(strata, size=20, rng=np.random.default_rng(12))

    assert one == again
    assert one != other
    assert Counter(drawn.stratum for drawn in one) == {("de", "up"): 10, ("fr", "up"): 10}
    assert sum(drawn.weight for drawn in one) == pytest.approx(80)
    assert len({drawn.item_id for drawn in one}) == 20
    assert [drawn.item_id for drawn in one] != sorted(drawn.item_id for drawn in one)


def test_every_item_of_a_stratum_has_the_same_chance() -> None:
    strata = {f"i{n}": ("de",) for n in range(10)}
    hits = Counter(
        drawn.item_id
        for seed in range(2000)
        for drawn in stratified_sample(strata, size=3, rng=np.random.default_rng(seed))
    )
    assert min(hits.values()) > 500
    assert max(hits.values()) < 700


def test_small_and_empty_sets() -> None:
    """Fewer items than asked for: all of them. None: none. No sample of nothing."""
    assert {drawn.item_id for drawn in stratified_sample({"a": ("x",), "b": ("y",)}, size=9, rng=rng())} == {"a", "b"}
    assert stratified_sample({}, size=9, rng=rng()) == ()
    with pytest.raises(ValueError, match="a sample of 0 items is none"):
        stratified_sample({}, size=0, rng=rng())
