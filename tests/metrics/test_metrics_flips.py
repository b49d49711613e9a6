"""Flips on modal verdicts, per repeat, and the A/A floor."""

from __future__ import annotations

import numpy as np
import pytest

from eva.metrics.compare import compare
from eva.metrics.resample import rng_for

SCALE = ("1", "2", "3")


def contrast(before, after, *, values=(1, 2, 3), **settings):
    return compare(
        before, after, labels=SCALE, values=values, margin=0.03, rng=rng_for("flips"), resamples=500, **settings
    )


def test_every_kind_of_flip(make_rows):
    """fixed, broken, moved, tie and failure undecided, up, down; not applicable moves; both open is no flip."""
    cases = {  # gold, before, after
        "broken": ("3", "33", "11"),
        "down": (None, "33", "11"),
        "fixed": ("1", "22", "11"),
        "moved": ("1", "22", "33"),
        "none": ("1", "22", "22"),
        "open": ("1", "12", "!!"),
        "tie": ("1", "12", "11"),
        "unread": ("1", "11", "!!"),
        "up": (None, "11", "22"),
        "unrated": (None, "11", "nn"),
    }
    say = {"!": "!empty", "n": "na"}
    ids, gold = list(cases), [case[0] for case in cases.values()]
    said = [
        [[say.get(case[arm][repeat], case[arm][repeat]) for case in cases.values()] for repeat in (0, 1)]
        for arm in (1, 2)
    ]
    found = contrast(*(make_rows(gold, arm, ids=ids) for arm in said))
    kinds = {flip.item_id: flip.kind for flip in found.flips}
    assert kinds == {
        "broken": "broken",
        "down": "down",
        "fixed": "fixed",
        "moved": "moved",
        "tie": "undecided",
        "unread": "undecided",
        "up": "up",
        "unrated": "moved",
    }
    counts = found.counts
    assert (counts.fixed, counts.broken, counts.moved, counts.undecided) == (1, 1, 2, 2)
    assert (counts.up, counts.down, counts.unchanged) == (1, 1, 2)
    by_id = {flip.item_id: flip for flip in found.flips}
    assert (by_id["tie"].before, by_id["tie"].after, by_id["tie"].before_votes) == (None, "1", {"1": 1, "2": 1})
    assert (by_id["unread"].after, by_id["unread"].after_votes) == (None, {"empty": 2})
    assert by_id["unrated"].after == "not_applicable"


def test_worst_flips_first(make_rows):
    """3 → 1 on gold 3 (distance +1) before 3 → 2 (+½) before 1 → 2 on gold 3 (−½): sorted by distance from gold."""
    before, after = make_rows(["3"] * 3, [["3", "3", "1"]]), make_rows(["3"] * 3, [["2", "1", "2"]])
    found = contrast(before, after).flips
    assert [(flip.item_id, flip.severity) for flip in found] == [
        ("item00001", 1.0),
        ("item00000", 0.5),
        ("item00002", -0.5),
    ]


def test_unlike_repeats_are_never_zipped(make_rows):
    """2 repeats before, 5 after: modal 2 → 3, whatever the order of the repeats."""
    before = make_rows(["3"], [["2"], ["2"]])
    after = make_rows(["3"], [["3"], ["3"], ["3"], ["2"], ["!empty"]])
    found = contrast(before, after)
    assert [flip.kind for flip in found.flips] == ["fixed"]
    assert contrast(before, after.assign(repeat=4 - after["repeat"])).flips == found.flips


def test_floor_by_hand(make_rows):
    """Votes before 1,2 and 1,1; after 1,1 and 2,2: floors ½ and 0, between (½ + 1)/2, excess ¾ − ¼ = ½."""
    before = make_rows(["1", "1"], [["1", "1"], ["2", "1"]])
    after = make_rows(["1", "1"], [["1", "2"], ["1", "2"]])
    floor = contrast(before, after).floor
    assert (floor.before.value, floor.after.value, floor.between.value) == (0.5, 0.0, 0.75)
    assert floor.excess.value == pytest.approx(0.5)
    # one repeat each: item 0 goes 2 → 1 half of the time, item 1 goes 1 → 2 always
    assert (floor.up, floor.down) == (1.0, 0.5)
    # within the before arm item 0 goes 1 → 2 in half of the ordered pairs; the after arm never moves
    assert (floor.floor_up, floor.floor_down) == (0.25, 0.25)


def test_single_repeats_have_no_floor(make_rows):
    """One repeat in one arm: that floor is None and says so; in both arms there is no excess either."""
    one, two = make_rows(["1", "2"], [["1", "2"]]), make_rows(["1", "2"], [["1", "2"], ["2", "2"]])
    half = contrast(one, two).floor
    assert (half.before.value, half.after.value) == (None, 0.5)
    assert half.excess.value is not None
    none = contrast(one, one).floor
    assert (none.excess.value, none.floor_up, none.between.value) == (None, None, 0.0)
    assert "no floor" in none.excess.note


def test_a_rerun_gives_the_floor(make_rows):
    """The same prompt once more, in a run of its own: 2 of 4 differ, 1 up and 1 down; single repeats suffice."""
    before = make_rows([None] * 4, [["2", "2", "2", "2"]])
    again = make_rows([None] * 4, [["3", "1", "2", "2"]])
    after = make_rows([None] * 4, [["3", "3", "3", "2"]])
    floor = contrast(before, after, rerun=again).floor
    assert (floor.before.value, floor.floor_up, floor.floor_down) == (0.5, 1.0, 1.0)
    assert (floor.between.value, floor.up, floor.down) == (0.75, 3.0, 0.0)
    assert floor.excess.value == pytest.approx(0.25)


def test_the_same_judge_twice_has_no_excess(make_rows):
    """20% of items flip between repeats of one and the same judge: the excess interval holds 0."""
    rng = np.random.default_rng(0)
    gold = ["1"] * 300
    shaky = rng.random(300) < 0.2
    said = [[str(1 + int(flip and rng.random() < 0.5)) for flip in shaky] for _ in range(6)]
    floor = contrast(make_rows(gold, said[:3]), make_rows(gold, said[3:])).floor
    assert floor.between.value > 0.05
    assert floor.excess.low <= 0 <= floor.excess.high


def test_nominal_scales_have_no_up_and_down(make_rows):
    """Without an order a flip without gold is `moved`, and the floor has no directions."""
    before, after = make_rows([None] * 2, [["1", "2"]] * 2), make_rows([None] * 2, [["2", "2"]] * 2)
    found = contrast(before, after, values=None)
    assert [flip.kind for flip in found.flips] == ["moved"]
    assert (found.floor.up, found.floor.floor_down) == (None, None)
