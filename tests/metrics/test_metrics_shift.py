"""Stuart–Maxwell: against statsmodels, and with clusters and repeats."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from statsmodels.stats.contingency_tables import SquareTable

from eva.metrics.compare import compare
from eva.metrics.resample import rng_for
from eva.metrics.shift import label_shift
from eva.metrics.summary import summarise

SCALE = ("1", "2", "3")


@pytest.mark.parametrize("seed", range(4))
def test_equals_statsmodels(seed):
    """Single verdicts of items of their own: statistic, degrees and p of SquareTable.homogeneity."""
    rng = np.random.default_rng(seed)
    one = rng.choice(3, 150, p=[0.2, 0.3, 0.5])
    two = np.where(rng.random(150) < 0.6, one, rng.choice(3, 150, p=[0.1, 0.2, 0.7]))
    table = np.zeros((3, 3))
    np.add.at(table, (one, two), 1)
    expected = SquareTable(table, shift_zeros=False).homogeneity()
    found = label_shift(np.eye(3)[one], np.eye(3)[two], clusters=np.arange(150), labels=SCALE)
    assert (found.statistic, found.degrees, found.p_value) == pytest.approx((expected.statistic, 2, expected.pvalue))
    assert sum(found.before) == pytest.approx(1)


def test_two_labels_are_mcnemar_without_correction():
    """20 items go 0 → 1, 8 go 1 → 0: χ² = 12² / 28 with one degree of freedom."""
    one = np.array([0] * 20 + [1] * 8 + [0] * 30)
    two = np.array([1] * 20 + [0] * 8 + [0] * 30)
    found = label_shift(np.eye(2)[one], np.eye(2)[two], clusters=np.arange(58), labels=("0", "1"))
    assert (found.statistic, found.degrees) == (pytest.approx(144 / 28), 1)


def test_copies_inside_clusters_add_no_evidence():
    """Every item three times in its cluster: the same statistic."""
    rng = np.random.default_rng(1)
    one, two = rng.choice(3, 60), rng.choice(3, 60)
    plain = label_shift(np.eye(3)[one], np.eye(3)[two], clusters=np.arange(60), labels=SCALE)
    thrice = [np.repeat(np.eye(3)[arm], 3, axis=0) for arm in (one, two)]
    copied = label_shift(*thrice, clusters=np.repeat(np.arange(60), 3), labels=SCALE)
    assert copied.statistic == pytest.approx(plain.statistic)


def test_nothing_moved_and_nothing_there():
    """No move, few moves, no items: no p, and a note."""
    same = label_shift(np.eye(3)[[0, 1]], np.eye(3)[[0, 1]], clusters=np.arange(2), labels=SCALE)
    assert (same.statistic, same.degrees, same.p_value) == (None, 0, None)
    few = label_shift(np.eye(3)[[0, 1]], np.eye(3)[[1, 2]], clusters=np.arange(2), labels=SCALE)
    assert few.p_value is None
    assert "2 clusters moved" in few.note
    empty = label_shift(np.zeros((0, 3)), np.zeros((0, 3)), clusters=np.zeros(0, dtype=np.int64), labels=SCALE)
    assert (empty.before, empty.p_value, empty.note) == ((), None, "no items")


def test_a_lenient_judge_drifts_from_people(make_rows):
    """30 of 60 items one step too high: the summary's drift shows it; repeats twice change nothing; no gold, no drift."""
    rows = make_rows(["1", "2", "3"] * 20, [["2", "2", "3"] * 20, ["1", "3", "3"] * 20])
    twice = pd.concat([rows, rows.assign(repeat=rows["repeat"] + 2)])
    found = [
        summarise(each, labels=SCALE, values=(1, 2, 3), repeats=None, rng=rng_for("x"), resamples=50).drift
        for each in (rows, twice)
    ]
    assert found[0] == found[1]
    assert found[0].p_value < 0.001
    assert found[0].after[2] > found[0].before[2]
    unlabelled = rows.assign(gold=None)
    assert summarise(unlabelled, labels=SCALE, values=None, repeats=2, rng=rng_for("x"), resamples=50).drift is None


def test_comparisons_carry_the_shift(make_rows):
    """Without gold: 15 of 40 items move up, the distribution shifts."""
    before, after = make_rows([None] * 40, [["2"] * 40]), make_rows([None] * 40, [["3"] * 15 + ["2"] * 25])
    found = compare(before, after, labels=SCALE, values=(1, 2, 3), margin=0.03, rng=rng_for("x"), resamples=50).shift
    assert (found.before, found.after) == ((0, 1, 0), (0, 0.625, 0.375))
    assert found.p_value == pytest.approx(0.000108, abs=1e-5)  # χ² = 15² / 15 with one degree
