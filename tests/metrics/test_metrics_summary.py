"""One arm's summary: what it says, what must not change it, and its edges."""

from __future__ import annotations

import dataclasses
import json

import pandas as pd
import pytest

from eva.metrics.baselines import majority_baseline
from eva.metrics.frame import matrix_from_rows
from eva.metrics.resample import rng_for
from eva.metrics.results import Baseline
from eva.metrics.summary import summarise

SCALE = ("1", "2", "3")
GOLD = ["1"] * 57 + ["2"] * 28 + ["3"] * 52


def measure(rows, *, labels=SCALE, values=(1, 2, 3), repeats=None, **settings):
    return summarise(
        rows, labels=labels, values=values, repeats=repeats, rng=rng_for("summary"), **{"resamples": 500, **settings}
    )


def numbers(summary):
    """All estimates that rest on items and not on how often each was asked."""
    names = ("accuracy_interval", "macro_f1_interval", "mean_score", "kappa", "weighted_kappa", "mae", "bias")
    return [dataclasses.astuple(getattr(summary, name))[:3] for name in names]


def test_mean_and_std_over_repeats(make_rows, make_right):
    """93, 96, 96 right of 137: 69.34% ± 1.26%; the item mean is the same number, with an interval from items."""
    found = measure(make_rows(GOLD, make_right(GOLD, [93, 96, 96], scale=SCALE)))
    assert f"{found.accuracy.mean:.2%} ± {found.accuracy.std:.2%}" == "69.34% ± 1.26%"
    assert found.accuracy_interval.value == pytest.approx(found.accuracy.mean)
    assert found.accuracy_interval.low < 0.63 < 0.75 < found.accuracy_interval.high
    assert [score.n_correct for score in found.repeats] == [93, 96, 96]
    assert found.baselines[0].accuracy == pytest.approx(57 / 137)


def test_duplicated_repeats_change_nothing(random_rows):
    """Three repeats, and the same three twice: the same estimates and the same intervals."""
    rows = random_rows(5)
    twice = pd.concat([rows, rows.assign(repeat=rows["repeat"] + 3)])
    for a, b in zip(numbers(measure(twice)), numbers(measure(rows)), strict=True):
        assert a == pytest.approx(b, rel=1e-12)


def test_duplicated_items_inside_clusters_change_no_interval(random_rows):
    """Every item twice in its cluster adds no evidence: estimates and intervals stay."""
    rows = random_rows(6)
    twice = pd.concat([rows, rows.assign(item_id=rows["item_id"] + "b")])
    for a, b in zip(numbers(measure(twice)), numbers(measure(rows)), strict=True):
        assert a == pytest.approx(b, abs=1e-9)


def test_order_of_rows_changes_nothing(random_rows):
    """Shuffled rows give an equal summary."""
    rows = random_rows(7)
    assert measure(rows.sample(frac=1, random_state=3)) == measure(rows)


def test_renamed_labels_change_nothing(random_rows):
    """Other words for the labels give the same numbers."""
    rows = random_rows(8)
    words = {"1": "bad", "2": "fair", "3": "good"}
    renamed = rows.assign(gold=rows["gold"].map(words), label=rows["label"].map(words))
    assert numbers(measure(renamed, labels=tuple(words.values()))) == numbers(measure(rows))


@pytest.mark.parametrize(
    ("gold", "said"),
    [
        ([], [[]]),
        (["1"], [["1"], ["1"]]),
        (["1", "2", "3"], [["1", "2", "3"]] * 3),
        (["1", "2", "3"], [["!no_json"] * 3] * 3),
        ([None, None], [["1", "2"], ["!empty", "2"]]),
        (["not_applicable"] * 3, [["na"] * 3]),
        (["1", "2"], [[None, None], ["1", None]]),
    ],
)
def test_edges_are_strict_json(make_rows, gold, said):
    """No items, one cluster, all right, all unreadable, no gold, all not applicable, unfinished: no NaN anywhere."""
    found = measure(make_rows(gold, said, clusters=["c"] * len(gold)))
    text = json.dumps(dataclasses.asdict(found), allow_nan=False)
    assert "NaN" not in text
    for name in ("accuracy_interval", "macro_f1_interval", "kappa", "mean_score", "coverage"):
        estimate = getattr(found, name)
        assert estimate.value is not None or estimate.note
        assert (estimate.low is None) == (estimate.high is None)
        assert estimate.low is not None or estimate.note


def test_all_unreadable_scores_nothing(make_rows):
    """Accuracy 0.0 with an interval that leaves room, coverage 0.0, three failures a repeat, by class."""
    found = measure(make_rows(list(SCALE), [["!no_json"] * 3] * 2))
    assert (found.accuracy.mean, found.coverage.value, found.accuracy_readable) == (0.0, 0.0, None)
    assert found.accuracy_interval.high > 0.5
    assert found.failures == {"no_json": 6}
    assert found.failures_by_class == {"1": {"no_json": 2}, "2": {"no_json": 2}, "3": {"no_json": 2}}


def test_not_applicable_in_all_its_ways(make_rows):
    """Abstaining on a rated item is a failure; on an unrated one it is right; rating an unrated one is counted."""
    rows = make_rows(["1", "not_applicable", "not_applicable", None], [["na", "na", "2", "na"]], language=["hi"] * 4)
    found = measure(rows)
    assert (found.failures, found.over_answered, found.n_labelled) == ({"abstained": 1}, 1, 1)
    assert found.failures_by_language == {"hi": {"abstained": 1}}
    assert any("2 items are not applicable" in note for note in found.notes)


def test_a_judge_no_better_than_its_baselines_is_told(make_rows, make_right):
    """57 of 137 right is what always-1 reaches; the trivial model is better still: two sentences."""
    rows = make_rows(GOLD, make_right(GOLD, [57], scale=SCALE))
    found = measure(rows, trivial=Baseline("trivial", 0.6, 0.55, "words"))
    assert [base.name for base in found.baselines] == ["majority", "trivial"]
    assert sum("does not beat" in note for note in found.notes) == 2
    better = measure(make_rows(GOLD, make_right(GOLD, [130], scale=SCALE)), margin=0.1)
    assert not any("does not beat" in note for note in better.notes)


@pytest.mark.parametrize(("sizes", "accuracy", "macro"), [((122, 25), 0.830, 0.454), ((93, 49, 337), 0.704, 0.275)])
def test_majority_baseline_of_the_real_sets(make_rows, sizes, accuracy, macro):
    """Always the largest class: 122/25 gives .830 and .454, 93/49/337 gives .704 and .275."""
    labels = SCALE[: len(sizes)]
    gold = [label for label, size in zip(labels, sizes, strict=True) for _ in range(size)]
    found = majority_baseline(matrix_from_rows(make_rows(gold, [gold]), labels, None))
    assert (round(found.accuracy, 3), round(found.macro_f1, 3)) == (accuracy, macro)


def test_flags_against_labelled_flags(make_rows):
    """Raised on items 0, 1 (of 4) in one repeat and 0 in the other; people flag 0 and 3: precision 2/3, recall 1/2."""
    rows = make_rows(["1"] * 4, [["1"] * 4] * 2, gold_flags=[["x"], [], [], ["x"]], clusters=["a", "a", "b", "b"])
    rows["flags"] = [["x"], ["x"], [], [], ["x"], [], [], []]
    flag = measure(rows).flags[0]
    assert (flag.items, flag.clusters, flag.rate.value, flag.labelled) == (1.5, 1.0, 0.375, 2)
    assert flag.precision == pytest.approx(2 / 3)
    assert flag.recall == pytest.approx(1 / 2)


def test_flags_of_failures_are_not_asked(make_rows):
    """A repeat without a verdict neither raises nor clears a flag: rate 1 of 1; without labelled flags no precision."""
    rows = make_rows(["1", "1"], [["1", "1"], ["!empty", "1"]])
    rows["flags"] = [["x"], [], [], []]
    flag = measure(rows).flags[0]
    assert (flag.items, flag.rate.value, flag.precision, flag.labelled) == (0.5, 0.5, None, None)


def test_slices_hide_points_of_few_items_and_no_interval(make_rows, make_right):
    """A language with 5 items shows its interval and no point; one with 132 shows both; one value is no slice."""
    languages = ["ja"] * 5 + ["en"] * 132
    rows = make_rows(GOLD, make_right(GOLD, [90, 96], scale=SCALE), language=languages, domain=["airline"] * 137)
    found = {(part.by, part.value): part for part in measure(rows).slices}
    few, many = found["language", "ja"], found["language", "en"]
    assert (few.accuracy.value, few.n_items) == (None, 5)
    assert few.accuracy.low is not None
    assert "under 10" in few.accuracy.note
    assert many.accuracy.value == pytest.approx((85 + 91) / (2 * 132))
    assert not any(by == "domain" for by, _ in found)
    assert [value for by, value in found if by == "class"] == ["1", "2", "3"]


def test_unfinished_runs_say_so(make_rows):
    """Two verdicts were never asked for: counted nowhere, said in the notes."""
    found = measure(make_rows(["1", "2"], [["1", "2"], ["1", None], [None, "2"]]), repeats=3)
    assert found.accuracy.mean == 1.0
    assert any("2 of 6 verdicts were never asked" in note for note in found.notes)
