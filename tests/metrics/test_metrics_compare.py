"""Two arms: differences with hand-worked numbers, what must not change them, edges, unlike arms."""

from __future__ import annotations

import dataclasses
import json

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from eva.metrics.compare import compare
from eva.metrics.resample import rng_for
from eva.metrics.results import VERDICT_MEANINGS

SCALE = ("1", "2", "3")


def contrast(before, after, *, labels=SCALE, values=(1, 2, 3), margin=0.03, **settings):
    return compare(
        before,
        after,
        labels=labels,
        values=values,
        margin=margin,
        rng=rng_for("compare"),
        **{"resamples": 1000, **settings},
    )


def by_name(found):
    return {one.statistic: one for one in found.differences}


def pair_of(make_rows, fixed, broken, n=137):
    """One repeat of a 0/1 judge: `fixed` items go wrong → right, `broken` the other way, 90 others stay right."""
    gold = ["1"] * n
    before = ["2"] * fixed + ["1"] * broken + ["1"] * 90 + ["2"] * (n - 90 - fixed - broken)
    after = ["1"] * fixed + ["2"] * broken + ["1"] * 90 + ["2"] * (n - 90 - fixed - broken)
    return make_rows(gold, [before]), make_rows(gold, [after])


@pytest.mark.parametrize(
    ("fixed", "broken", "p", "verdict"),
    [(9, 4, 0.27, "cannot tell"), (12, 3, 0.035, "better"), (3, 12, 0.035, "worse"), (5, 0, 0.0625, "cannot tell")],
)
def test_fixed_and_broken(make_rows, fixed, broken, p, verdict):
    """9/4 of 137 is no change that one can show (+3.6 points, p .27); 12/3 is (p .035); 5/0 is not (p .0625)."""
    found = contrast(*pair_of(make_rows, fixed, broken))
    accuracy = by_name(found)["accuracy"]
    assert (found.counts.fixed, found.counts.broken) == (fixed, broken)
    assert found.counts.mcnemar_p == pytest.approx(p, abs=0.005)
    assert accuracy.difference.value == pytest.approx((fixed - broken) / 137)
    assert accuracy.verdict == verdict
    assert found.counts.unchanged == 137 - fixed - broken


def test_the_paired_interval_equals_the_t_interval_nearly(simulate, make_rows):
    """Paired differences of item means: clustered t equals scipy's paired t test, and the bootstrap lies near it."""
    one, two, gold = simulate(np.random.default_rng(2), n=137, repeats=3, change=0.08)
    found = by_name(
        contrast(make_rows(gold, one), make_rows(gold, two), labels=("0", "1"), values=(0, 1), resamples=10_000)
    )
    right = [np.mean([[v == g for v, g in zip(said, gold, strict=True)] for said in arm], axis=0) for arm in (one, two)]
    expected = stats.ttest_rel(right[1], right[0])
    accuracy = found["accuracy"]
    second = accuracy.difference_t
    interval = expected.confidence_interval()
    assert (second.low, second.high) == pytest.approx((interval.low, interval.high))
    width = interval.high - interval.low
    assert accuracy.difference.low == pytest.approx(interval.low, abs=0.1 * width)
    assert accuracy.difference.high == pytest.approx(interval.high, abs=0.1 * width)
    assert accuracy.p_value == pytest.approx(expected.pvalue, abs=0.05)  # thirds of an item tie, t knows no ties


def test_p_of_a_mean_equals_scipy_permutation(make_rows):
    """The sign-flip p of few items is scipy's exact paired permutation p."""
    gold = ["1"] * 12
    before = [["1"] * 6 + ["2"] * 6, ["1"] * 4 + ["2"] * 8]
    after = [["1"] * 9 + ["2"] * 3, ["2"] * 3 + ["1"] * 9]
    found = by_name(contrast(make_rows(gold, before), make_rows(gold, after)))["accuracy"]
    means = [np.mean([[v == "1" for v in said] for said in arm], axis=0) for arm in (before, after)]
    expected = stats.permutation_test(
        means, lambda x, y: np.mean(y) - np.mean(x), permutation_type="samples", n_resamples=10_000
    )
    assert found.p_value == pytest.approx(expected.pvalue)


def test_swapped_arms_flip_every_sign(random_rows):
    """before ↔ after: each difference changes its sign, fixed and broken swap, p stays."""
    one, two = random_rows(1, skill=0.6), random_rows(1, skill=0.6).assign(label="3", failure=None)
    there, back = contrast(one, two), contrast(two, one)
    for a, b in zip(there.differences, back.differences, strict=True):
        assert a.difference.value == pytest.approx(-b.difference.value)
        assert a.p_value == pytest.approx(b.p_value, abs=0.03)
    assert (there.counts.fixed, there.counts.broken) == (back.counts.broken, back.counts.fixed)


def test_duplicated_repeats_change_no_difference(random_rows):
    """The same three repeats twice, in one arm or both: equal estimates, intervals, p-values and flips."""
    one, two = random_rows(2, skill=0.5), random_rows(2, skill=0.7)
    doubled = [pd.concat([rows, rows.assign(repeat=rows["repeat"] + 3)]) for rows in (one, two)]
    plain = contrast(one, two)
    for before, after in ((one, doubled[1]), doubled):
        found = contrast(before, after)
        for a, b in zip(plain.differences, found.differences, strict=True):
            assert (a.difference.value, a.difference.low, a.difference.high) == pytest.approx(
                (b.difference.value, b.difference.low, b.difference.high)
            )
            assert a.p_value == pytest.approx(b.p_value)
        assert [flip.item_id for flip in plain.flips] == [flip.item_id for flip in found.flips]


def test_duplicated_items_inside_clusters_change_no_interval(random_rows):
    """Every item twice in its cluster: the interval of every difference stays."""
    one, two = random_rows(3, skill=0.5), random_rows(3, skill=0.7)
    doubled = [pd.concat([rows, rows.assign(item_id=rows["item_id"] + "b")]) for rows in (one, two)]
    for a, b in zip(contrast(one, two).differences, contrast(*doubled).differences, strict=True):
        assert (a.difference.low, a.difference.high) == pytest.approx((b.difference.low, b.difference.high))


def test_order_of_rows_and_runs_changes_nothing(random_rows):
    """Shuffled rows, and the same comparison twice: equal results."""
    one, two = random_rows(4, skill=0.5), random_rows(4, skill=0.7)
    assert contrast(one.sample(frac=1, random_state=1), two.sample(frac=1, random_state=2)) == contrast(one, two)


def test_equal_arms_are_bounded_not_certain(random_rows):
    """Not one verdict differs among 137 items: accuracy within ±2.7 points; macro-F1 has no interval, and says why."""
    rows = random_rows(5, n=137).assign(cluster=lambda frame: frame["item_id"])
    found = by_name(contrast(rows, rows))
    accuracy = found["accuracy"]
    assert (accuracy.difference.low, accuracy.difference.high) == pytest.approx((-0.02657, 0.02657), abs=1e-5)
    assert (accuracy.verdict, accuracy.p_value, accuracy.equivalent) == ("same", 1.0, True)
    assert (found["macro_f1"].difference.low, found["macro_f1"].verdict) == (None, "cannot tell")
    assert "0 of 137 clusters changed" in found["macro_f1"].difference.note


@pytest.mark.parametrize(
    ("gold", "before", "after"),
    [
        ([], [[]], [[]]),
        (["1"], [["1"]], [["2"], ["1"]]),
        (["1", "2", "3"], [["1", "2", "3"]] * 2, [["!no_json"] * 3]),
        (["1", "2", "3"], [["!no_json"] * 3], [["!empty"] * 3] * 2),
        ([None, None, None], [["1", "1", "2"]], [["3", "na", "!empty"]]),
        (["3", "3"], [["3", "3"]], [["3", "3"]]),
    ],
)
@pytest.mark.parametrize("values", [(1, 2, 3), None])
def test_edges_are_strict_json(make_rows, gold, before, after, values):
    """No items, one item, failures in one arm or both, no gold, one class: no NaN; every missing number has a note."""
    rows = [make_rows(gold, said, language=["en", "de", "hi"][: len(gold)]) for said in (before, after)]
    found = contrast(*rows, values=values)
    json.dumps(dataclasses.asdict(found), allow_nan=False)
    assert len(found.differences) > 0 or not gold
    for one in found.differences:
        assert one.verdict in VERDICT_MEANINGS
        assert one.difference.low is not None or one.difference.note
        assert one.verdict != "not measured" or one.difference.value is None


def test_one_cluster_has_no_interval_and_no_verdict(make_rows):
    """Ten turns of one conversation, all fixed: the difference is 1, nothing else can be said."""
    rows = [make_rows(["1"] * 10, [[said] * 10], clusters=["c"] * 10) for said in ("2", "1")]
    accuracy = by_name(contrast(*rows))["accuracy"]
    assert (accuracy.difference.value, accuracy.difference.low, accuracy.p_value) == (1.0, None, None)
    assert (accuracy.smallest_visible, accuracy.verdict) == (None, "cannot tell")
    assert "1 cluster" in accuracy.difference.note


def test_failures_in_one_arm_are_losses(make_rows):
    """The after arm fails on 12 of 60 that it had right: worse, coverage worse, and a warning names the coverage."""
    gold = ["1", "2", "3"] * 20
    found = contrast(make_rows(gold, [gold]), make_rows(gold, [gold[:48] + ["!truncated"] * 12]))
    differences = by_name(found)
    assert differences["accuracy"].difference.value == pytest.approx(-0.2)
    assert (differences["accuracy"].verdict, differences["coverage"].verdict) == ("worse", "worse")
    assert found.counts.undecided == 12
    assert any("coverage differs: 100.0% readable before, 80.0% after" in warning for warning in found.warnings)


def test_only_common_items_are_compared(make_rows):
    """Items of one arm only are counted and left out, whatever their verdicts."""
    before = make_rows(["1"] * 30, [["1"] * 30], ids=[f"a{i:02}" for i in range(30)])
    after = make_rows(["1"] * 30, [["2"] * 10 + ["1"] * 20], ids=[f"a{i + 10:02}" for i in range(30)])
    found = contrast(before, after)
    assert (found.n_items, found.only_before, found.only_after) == (20, 10, 10)
    assert by_name(found)["accuracy"].difference.value == pytest.approx(-0.5)
    assert any("20 common items" in warning for warning in found.warnings)
    apart = contrast(before, make_rows(["1"], [["1"]], ids=["z"]))
    assert (apart.n_items, apart.differences[0].difference.value, apart.flips) == (0, None, ())
    assert any("no common items" in warning for warning in apart.warnings)


def test_changed_gold_labels_are_named_and_the_newer_hold(make_rows):
    """One label was corrected between the runs: both arms are scored on the newer one."""
    before, after = make_rows(["1"] * 10, [["1"] * 10]), make_rows(["1"] * 9 + ["2"], [["1"] * 10])
    found = contrast(before, after)
    accuracy = by_name(found)["accuracy"]
    assert (accuracy.before, accuracy.after) == (0.9, 0.9)
    assert any("gold labels differ for 1 items" in warning for warning in found.warnings)


def test_unlike_class_sets_are_named(make_rows):
    """One arm says class 2, which gold does not have: left out of both macro averages, and said where the arms differ."""
    gold = ["1", "3"] * 10
    arms = make_rows(gold, [gold]), make_rows(gold, [["2", *gold[1:]]])
    told = "class 2 has no gold items and is left out of macro-F1: 0 of 20 verdicts say it before, 1 of 20 after"
    assert told in contrast(*arms).warnings
    assert not any("class" in text for text in contrast(arms[1], arms[1]).warnings)


def test_without_gold_the_score_comes_first(make_rows):
    """No labels: mean score leads, verdict `moved`, flips are up and down."""
    before = make_rows([None] * 40, [["2"] * 40] * 2)
    after = make_rows([None] * 40, [["3"] * 15 + ["1"] * 2 + ["2"] * 23] * 3)
    found = contrast(before, after)
    first = found.differences[0]
    assert (first.statistic, first.verdict) == ("mean_score", "moved")
    assert first.difference.value == pytest.approx(13 / 40)
    assert first.margin == pytest.approx(0.06)
    assert (found.counts.up, found.counts.down, found.counts.mcnemar_p) == (15, 2, None)
    assert [one.statistic for one in found.differences] == ["mean_score", "coverage"]


def test_nominal_scales_compare_label_shares(make_rows):
    """No order: the share of every label, none better than another."""
    labels = ("eligible", "participant_deviation", "unverifiable")
    before = make_rows([None] * 20, [["eligible"] * 20])
    after = make_rows([None] * 20, [["eligible"] * 10 + ["unverifiable"] * 10])
    found = by_name(contrast(before, after, labels=labels, values=None))
    assert found["label=eligible/rate"].difference.value == pytest.approx(-0.5)
    assert found["label=eligible/rate"].verdict == "moved"
    assert "mean_score" not in found


def test_within_one_std_is_the_criterion_of_old(make_rows, make_right):
    """70.07 ± 0.00 → 69.34 ± 1.26: 0.73 ≤ 1.26, within one std; the honest word is another matter."""
    gold = ["1"] * 57 + ["2"] * 28 + ["3"] * 52
    rows = [make_rows(gold, make_right(gold, counts, scale=SCALE)) for counts in ([96, 96, 96], [93, 96, 96])]
    accuracy = by_name(contrast(*rows))["accuracy"]
    assert accuracy.within_one_std is True
    assert (accuracy.before_spread.std, round(accuracy.after_spread.std, 4)) == (0.0, 0.0126)
    single = by_name(contrast(*(rows_[rows_["repeat"] == 0] for rows_ in rows)))["accuracy"]
    assert single.within_one_std is None


def test_slices_adjust_over_their_family(make_rows):
    """Eight languages, one with a real loss: adjusted p is at least p, the family is named, the word follows it."""
    names = ["de", "en", "es", "fr", "hi", "it", "ja", "ko"]
    languages = [name for name in names for _ in range(25)]
    gold = ["1"] * 200
    lost = ["2" if language == "hi" and place % 25 < 15 else "1" for place, language in enumerate(languages)]
    rows = [make_rows(gold, [said], language=languages) for said in (gold, lost)]
    slices = [part for part in contrast(*rows).slices if part.by == "language"]
    found = {part.value: part for part in slices if part.difference.statistic == "accuracy"}
    assert {part.value: part.difference.verdict for part in slices[8:]}["hi"] == "moved"  # the mean score's family
    hindi = found["hi"].difference
    assert (hindi.verdict, hindi.family) == ("worse", "Holm over 8")
    assert hindi.p_adjusted == pytest.approx(min(1.0, 8 * hindi.p_value))
    assert all(part.difference.p_adjusted == 1.0 for name, part in found.items() if name != "hi")


def test_small_slices_hide_the_point(make_rows):
    """Four items of a language: the interval is there, the points are not."""
    rows = [make_rows(["1"] * 50, [[said] * 50], language=["ja"] * 4 + ["en"] * 46) for said in ("2", "1")]
    few = next(part.difference for part in contrast(*rows).slices if part.value == "ja")
    assert (few.difference.value, few.before, few.after) == (None, None, None)
    assert few.difference.low is not None
    assert "under 10" in few.difference.note


def test_flags_before_and_after(make_rows):
    """A flag on 20 of 40 items before and on 5 after: items, clusters and the paired rate; precision against people."""
    gold_flags = [["x"] if place < 5 else [] for place in range(40)]
    before, after = (make_rows(["1"] * 40, [["1"] * 40], gold_flags=gold_flags) for _ in range(2))
    before["flags"] = [["x"] if place < 20 else [] for place in range(40)]
    after["flags"] = [["x"] if place < 5 else [] for place in range(40)]
    flag = contrast(before, after).flags[0]
    assert (flag.before_items, flag.after_items, flag.before_clusters) == (20, 5, 20)
    assert flag.difference.value == pytest.approx(-15 / 40)
    assert flag.difference.high < 0
    assert (flag.before_precision, flag.after_precision, flag.after_recall) == (0.25, 1.0, 1.0)
    assert flag.verdict == "moved"
