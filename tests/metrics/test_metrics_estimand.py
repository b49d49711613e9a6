"""One estimand: every statistic is the mean over repeats of the repeat's own value, in point, interval, p and difference."""

from __future__ import annotations

import itertools
import json

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import cohen_kappa_score, f1_score

from eva.metrics.agreement import repeat_scores
from eva.metrics.cells import Cells
from eva.metrics.compare import compare
from eva.metrics.differences import difference
from eva.metrics.frame import matrix_from_rows
from eva.metrics.intervals import clustered_se
from eva.metrics.matrix import VerdictMatrix
from eva.metrics.measures import flat, gold_measures, kappa, macro_f1, over_repeats, ratio
from eva.metrics.paired import pair_up
from eva.metrics.resample import _ways, flip_signs, rng_for
from eva.metrics.summary import summarise
from eva.metrics.tallies import confusion_tally

SCALE = ("1", "2", "3")
VALUES = (1.0, 2.0, 3.0)
MEANS = ("macro_f1", "kappa", "weighted_kappa", "mae", "bias", "mean_score", "coverage")


def measure(rows, labels=SCALE, values=VALUES, **settings):
    return summarise(
        rows,
        labels=labels,
        values=values,
        repeats=None,
        rng=rng_for("estimand"),
        **{"resamples": 300, "slices": (), **settings},
    )


def contrast(before, after, labels=SCALE, values=VALUES, **settings):
    return compare(
        before,
        after,
        labels=labels,
        values=values,
        margin=0.03,
        rng=rng_for("estimand"),
        **{"resamples": 300, "slices": (), **settings},
    )


def by_name(found):
    return {one.statistic: one for one in found.differences}


def matrix(gold, said):
    """(K, n) verdict codes of items that are clusters of their own."""
    n = len(gold)
    return VerdictMatrix(
        SCALE, VALUES, tuple(f"{i:04}" for i in range(n)), np.arange(n), np.array(gold), np.array(said).T
    )


def test_macro_f1_by_hand(make_rows):
    """All right is 1; always-1 on 1 1 2 2 has F1 2/3 and 0, so 1/3. The mean of both is 2/3; of the pooled table .733."""
    rows = make_rows(["1", "1", "2", "2"] * 15, [["1", "1", "2", "2"] * 15, ["1"] * 60])
    found = measure(rows, labels=("1", "2"), values=(1, 2))
    assert found.macro_f1.values == pytest.approx((1.0, 1 / 3))
    assert found.macro_f1.mean == pytest.approx(2 / 3)
    assert found.macro_f1_interval.value == pytest.approx(2 / 3)
    assert found.macro_f1_interval.low < 2 / 3 < found.macro_f1_interval.high < 0.733
    assert found.kappa.value == pytest.approx(0.5)  # 1 and 0


def test_a_difference_is_after_minus_before_of_what_is_printed(make_rows):
    """Before right throughout; after as above: 2/3 − 1, and the printed means are those of the repeats."""
    gold = ["1", "1", "2", "2"] * 15
    found = by_name(contrast(make_rows(gold, [gold]), make_rows(gold, [gold, ["1"] * 60]), ("1", "2"), (1, 2)))[
        "macro_f1"
    ]
    assert found.difference.value == pytest.approx(-1 / 3)
    assert (found.before, found.after) == (found.before_spread.mean, found.after_spread.mean)
    assert found.difference.low < -1 / 3 < found.difference.high


@pytest.mark.parametrize(("stray", "repeats"), [(0, 3), (2, 3), (0, 1)])
def test_one_stray_verdict_does_not_add_a_class(make_rows, stray, repeats):
    """One 2 of 20 verdicts of one of 3 repeats, where nobody has gold 2: F1 of class 1 falls to 18/19; a third of that.

    With class 2 in the mean of that repeat it would be (18/19 + 0 + 1) / 3 = .65 in place of .97, a loss of 33 points.
    """
    gold = ["1"] * 10 + ["3"] * 10
    said = [["2", *gold[1:]] if repeat == stray else gold for repeat in range(repeats)]
    found = by_name(contrast(make_rows(gold, [gold]), make_rows(gold, said)))["macro_f1"]
    assert found.difference.value == pytest.approx(-((1 - 18 / 19) / 2) / repeats)


@pytest.mark.parametrize("seed", range(4))
def test_a_class_without_gold_equals_scikit_learn(seed):
    """Gold 1 and 3 only, verdicts 1 to 3 and unreadable: f1_score over the classes with gold."""
    rng = np.random.default_rng(seed)
    gold, said = rng.choice([0, 2], 40), rng.integers(-1, 3, 40)
    score = repeat_scores(matrix(gold, [said]))[0]
    assert score.macro_f1 == pytest.approx(f1_score(gold, said, labels=[0, 2], average="macro", zero_division=0))
    assert (score.macro_classes, score.per_class[1].f1) == (2, None)
    assert score.macro_f1 == pytest.approx(np.mean([row.f1 for row in score.per_class if row.f1 is not None]))


@pytest.mark.parametrize(("failures", "repeats"), [(0.0, (3, 3)), (0.1, (3, 2)), (0.2, (1, 4)), (0.1, (2, 2))])
@pytest.mark.parametrize("gold", [True, False])
def test_columns_and_difference_agree_to_the_last_bit(random_rows, failures, repeats, gold):
    """For every statistic, failures and unlike numbers of repeats included: difference = after − before = of the means."""
    arms = [
        random_rows(seed, skill=skill, failures=failures, repeats=k).assign(cluster=lambda rows: rows["item_id"])
        for seed, skill, k in ((3, 0.5, repeats[0]), (3, 0.6, repeats[1]))
    ]
    if not gold:
        arms = [rows.assign(gold=None) for rows in arms]
    found = contrast(*arms, rerun=None)
    assert len(found.differences) == (8 if gold else 2)
    for one in found.differences:
        assert one.difference.value == one.after - one.before
        assert (one.before, one.after) == (one.before_spread.mean, one.after_spread.mean)
        assert one.difference.low <= one.difference.value <= one.difference.high
        if one.difference_t is not None:
            assert one.difference_t.value == pytest.approx(one.difference.value, abs=1e-12)


def test_summary_points_are_means_of_the_repeats(random_rows):
    """An arm with failures and an unfinished repeat: each estimate is the mean of the per-repeat numbers, in its interval."""
    rows = random_rows(5, repeats=3, failures=0.15)
    rows = rows[(rows["repeat"] < 2) | (rows["item_id"] < "item00060")]
    found = measure(rows)
    for name in MEANS:
        estimate = getattr(found, f"{name}_interval" if name == "macro_f1" else name)
        mean = np.mean([getattr(score, name) for score in found.repeats])
        assert estimate.value == pytest.approx(mean, abs=1e-12), name
        assert estimate.low <= estimate.value <= estimate.high
    assert found.accuracy_interval.value == pytest.approx(found.accuracy.mean, abs=1e-12)
    assert found.accuracy_interval_t.value == pytest.approx(found.accuracy.mean, abs=1e-12)


def test_resamples_equal_the_naive_loop():
    """Each resample's number is the mean over repeats of scikit-learn's on the items so drawn."""
    rng = np.random.default_rng(1)
    gold, said = rng.integers(0, 3, 30), rng.integers(-1, 3, (3, 30))
    tally = confusion_tally(matrix(gold, said))
    times = rng.multinomial(30, np.ones(30) / 30, size=20)
    items = [np.repeat(np.arange(30), row) for row in times]
    drawn = times.astype(float) @ tally.sums
    naive = [
        np.mean([f1_score(gold[i], s[i], labels=np.unique(gold[i]), average="macro", zero_division=0) for s in said])
        for i in items
    ]
    assert over_repeats(flat(macro_f1, 3), 3)(drawn) == pytest.approx(naive)
    naive = [np.mean([cohen_kappa_score(gold[i], s[i]) for s in said]) for i in items]
    assert over_repeats(flat(kappa, 3), 3)(drawn) == pytest.approx(naive)


@pytest.mark.parametrize(("first", "second"), [(1, 1), (2, 3), (3, 3)])
def test_sign_flips_equal_the_naive_loop(first, second):
    """Every pattern of 6 items: swapped items take each repeat of the other arm in turn, the mean over all ways."""
    rng = np.random.default_rng(first + second)
    gold = np.array([0, 0, 1, 1, 2, 2])
    arms = [rng.integers(0, 3, (k, 6)) for k in (first, second)]
    arms[1][:, 0] = (arms[0][0, 0] + 1) % 3  # no pooled equality by chance in the first item
    tallies = [confusion_tally(matrix(gold, arm)) for arm in arms]
    flips = flip_signs(*tallies, resamples=10, rng=rng)
    differ = [not np.allclose(tallies[0].pooled()[i], tallies[1].pooled()[i]) for i in range(6)]

    def score(said):
        return f1_score(gold, said, labels=[0, 1, 2], average="macro", zero_division=0)

    naive = []
    for pattern in itertools.product([False, True], repeat=6):
        swap = np.array(pattern)
        if (swap & ~np.array(differ)).any():
            continue
        ways = [(np.where(swap, a, b), np.where(swap, b, a)) for b in arms[0] for a in arms[1]]
        naive.append(np.mean([score(after) - score(before) for before, after in ways]))
    assert flips.exact
    assert sorted(flips.gaps(flat(macro_f1, 3))) == pytest.approx(sorted(naive))


def test_which_repeat_comes_first_does_not_matter(random_rows):
    """Repeats numbered otherwise, in one arm: equal differences, intervals and p of every statistic."""
    one, two = random_rows(2, skill=0.5), random_rows(2, skill=0.7)
    turned = two.assign(repeat=(two["repeat"] + 1) % 3)
    for a, b in zip(contrast(one, two).differences, contrast(one, turned).differences, strict=True):
        assert (a.difference.low, a.difference.high, a.p_value) == pytest.approx(
            (b.difference.low, b.difference.high, b.p_value)
        )


def test_renamed_clusters_change_nothing(random_rows):
    """Other names, so another order, of the clusters: equal summaries' intervals and differences."""
    one, two = random_rows(7, skill=0.5), random_rows(7, skill=0.7)
    renamed = [rows.assign(cluster=rows["cluster"].str[::-1]) for rows in (one, two)]
    for a, b in zip(contrast(one, two).differences, contrast(*renamed).differences, strict=True):
        assert (a.difference.low, a.difference.high) == pytest.approx((b.difference.low, b.difference.high))


def test_a_repeat_without_a_value_is_left_out_and_said(make_rows):
    """Two items of one label, and one repeat says it throughout: kappa exists in the other repeat only."""
    rows = make_rows(["1"] * 30, [["1"] * 30, ["1"] * 20 + ["2"] * 10])
    assert measure(rows).kappa.value == 0.0
    assert "undefined in 1 of 2 repeats" in measure(rows).kappa.note
    assert "undefined in 1 of 2 repeats before" in by_name(contrast(rows, rows))["kappa"].difference.note


def test_the_linear_sums_give_the_mean_and_its_error():
    """Complete repeats: the item means. With gaps: the mean of the repeats exactly, and the jackknife's SE nearly."""
    rng = np.random.default_rng(3)
    values, clusters = rng.random((200, 3)), np.repeat(np.arange(50), 4)
    full = Cells(values, np.ones((200, 3), dtype=bool))
    np.testing.assert_allclose(full.linear_sums(clusters), full.item_sums(clusters))
    counted = rng.random((200, 3)) < np.array([0.9, 0.7, 0.4])
    some = Cells(values, counted)
    sums = some.linear_sums(clusters)
    expected = np.mean([values[counted[:, k], k].mean() for k in range(3)])
    assert ratio(sums.sum(axis=0)) == pytest.approx(expected)
    assert sums[:, 1].sum() == counted.any(axis=1).sum()
    out = []
    for cluster in range(50):
        kept = counted & (clusters != cluster)[:, None]
        out.append(np.mean([values[kept[:, k], k].mean() for k in range(3)]))
    jackknife = np.sqrt(49 / 50 * ((np.array(out) - np.mean(out)) ** 2).sum())
    assert clustered_se(sums) == pytest.approx(jackknife, rel=0.05)


def test_denominators_are_the_statistics_own(make_rows):
    """20 items in 10 clusters; 12 of them in 6 clusters are readable: mean score, MAE, bias and weighted kappa say so."""
    gold = ["1", "2"] * 10
    clusters = [f"c{place // 2}" for place in range(20)]
    said = [gold[:12] + ["!no_json"] * 8, ["1"] * 11 + ["!no_json"] * 9]
    rows = make_rows(gold, said, clusters=clusters)
    found = measure(rows, labels=("1", "2"), values=(1, 2))
    for name in ("mean_score", "mae", "bias", "weighted_kappa"):
        assert (getattr(found, name).n_items, getattr(found, name).n_clusters) == (12, 6), name
    for name in ("accuracy_interval", "macro_f1_interval", "kappa", "coverage"):
        assert (getattr(found, name).n_items, getattr(found, name).n_clusters) == (20, 10), name
    whole = make_rows(gold, [gold], clusters=clusters)
    for one in contrast(whole, rows, ("1", "2"), (1, 2)).differences:
        own = one.statistic in ("mean_score", "mae", "bias", "weighted_kappa")
        assert (one.difference.n_items, one.difference.n_clusters) == ((12, 6) if own else (20, 10)), one.statistic


def test_points_of_few_readable_items_are_hidden(make_rows):
    """A language of 30 items of which 8 are readable: no mean score is shown there, its accuracy is."""
    gold, languages = ["1", "2", "3"] * 20, ["hi"] * 30 + ["en"] * 30
    rows = make_rows(gold, [gold[:8] + ["!empty"] * 22 + gold[30:]], language=languages)
    whole = make_rows(gold, [gold], language=languages)
    part = next(part for part in measure(rows, slices=("language",)).slices if part.value == "hi")
    assert (part.mean_score.value, part.mean_score.n_items) == (None, 8)
    assert part.mean_score.low is not None
    assert "8 items: under 10" in part.mean_score.note
    assert part.accuracy.value == pytest.approx(8 / 30)
    slices = contrast(whole, rows, slices=("language",)).slices
    found = {one.difference.statistic: one for one in slices if one.value == "hi"}
    assert (found["mean_score"].n_items, found["mean_score"].difference.difference.value) == (8, None)
    assert found["mean_score"].difference.before is None
    assert found["accuracy"].n_items == 30
    assert found["accuracy"].difference.difference.value == pytest.approx(-22 / 30)


def test_why_nothing_is_visible_is_said(make_rows):
    """Five clusters, one cluster, an undefined statistic, a statistic without interval: each says why."""
    rows = make_rows(["1", "2"] * 5, [["1"] * 10], clusters=[f"c{place // 2}" for place in range(10)])
    other = make_rows(["1", "2"] * 5, [["2"] * 10], clusters=[f"c{place // 2}" for place in range(10)])
    accuracy = by_name(contrast(rows, other))["accuracy"]
    assert accuracy.smallest_visible is None
    assert accuracy.visible_note == "5 clusters, fewer than 6: no change of any size can be shown"
    assert (accuracy.items_needed, accuracy.needed_note) == (None, accuracy.visible_note)
    alone = by_name(contrast(*(one.assign(cluster="c") for one in (rows, other))))["accuracy"]
    assert alone.visible_note.startswith("1 cluster, fewer than 6")
    many = make_rows(["1"] * 40, [["1"] * 40])
    same = by_name(contrast(many, many))
    assert (
        same["kappa"].visible_note
        == "before and after: undefined: judge and people use one label only, or nothing is readable"
    )
    assert same["macro_f1"].visible_note == "0 of 40 clusters changed: too few to resample"
    assert (same["accuracy"].visible_note, same["accuracy"].needed_note) == ("", "no difference was seen")


def test_dust_needs_no_items(make_rows):
    """0.1 + 0.2 − 0.3 is no change: five repeats right in turns give 5.6e-17 in floats and no number of items."""
    gold = ["1"] * 30
    turns = [["1"] * place + ["2"] * (30 - place) for place in (3, 6, 9)]
    found = by_name(contrast(make_rows(gold, turns), make_rows(gold, turns[::-1])))["accuracy"]
    assert abs(found.difference.value) < 1e-12
    assert (found.items_needed, found.needed_note) == (None, "no difference was seen")


def test_notes_are_strict_json(random_rows):
    """The new notes are plain text."""
    found = contrast(random_rows(1), random_rows(2))
    assert all(isinstance(json.loads(json.dumps(one.visible_note)), str) for one in found.differences)


@pytest.mark.parametrize(
    ("first", "second"), [(1, 1), (3, 3), (6, 6), (2, 5), (10, 10), (7, 7), (20, 1), (12, 8), (9, 10)]
)
def test_ways_take_every_repeat_equally_often(first, second):
    """Up to 36 ways all of them, else some; the mean over them is the mean over repeats of either arm."""
    ways = _ways(first, second)
    assert np.bincount(ways[0]).tolist() == [len(ways[0]) // first] * first
    assert np.bincount(ways[1]).tolist() == [len(ways[1]) // second] * second
    if first * second <= 36:
        assert len(set(zip(*(way.tolist() for way in ways), strict=True))) == first * second


def test_a_statistic_of_many_repeats():
    """Ten repeats an arm, in chunks: a p and an interval."""
    rng = np.random.default_rng(0)
    gold = rng.integers(0, 3, 60)
    arms = [confusion_tally(matrix(gold, rng.integers(0, 3, (10, 60)))) for _ in range(2)]
    paired = pair_up(*arms, repeats=10, resamples=2000, rng=rng_for("many"))
    found = difference(paired, gold_measures(3, VALUES)[1], margin=0.03, counted=np.ones(60))
    assert paired.flips.from_before.shape == (2000, 120)
    assert 0 < found.p_value <= 1
    assert found.difference.low <= found.difference.value <= found.difference.high


def test_unfinished_rows_still_compare(random_rows):
    """One arm lacks half of a repeat: accuracy of the arm is the mean of its repeats, clustered t of the same number."""
    one, two = random_rows(4), random_rows(4, skill=0.7)
    cut = two[(two["repeat"] < 2) | (two["item_id"] < "item00030")]
    found = by_name(contrast(one, cut))["accuracy"]
    scores = repeat_scores(matrix_from_rows(pd.DataFrame(cut), SCALE, VALUES))
    assert found.after == pytest.approx(np.mean([score.accuracy for score in scores]))
    assert found.difference_t.value == pytest.approx(found.difference.value)
