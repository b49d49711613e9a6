"""Per-repeat numbers: by hand, and against scikit-learn."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn import metrics as sk

from eva.metrics.agreement import repeat_scores
from eva.metrics.frame import matrix_from_rows
from eva.metrics.matrix import VerdictMatrix

SCALE = ("1", "2", "3")


def one(make_rows, gold, said, labels=SCALE, values=(1, 2, 3)):
    return repeat_scores(matrix_from_rows(make_rows(gold, [said]), labels, values, repeats=1))[0]


def test_an_unreadable_reply_is_wrong_and_no_class(make_rows):
    """Gold 1122, judge 112?: class 1 has F1 1, class 2 has 2·1/(2+1) = 2/3: macro 5/6; coverage 3/4."""
    score = one(make_rows, ["1", "1", "2", "2"], ["1", "1", "2", "!no_json"], labels=("1", "2"), values=(1, 2))
    assert score.macro_f1 == pytest.approx(5 / 6)
    assert (score.accuracy, score.coverage, score.accuracy_readable) == (0.75, 0.75, 1.0)
    assert score.confusion == ((2, 0, 0), (0, 1, 1))


def test_a_class_without_gold_and_verdicts_is_left_out(make_rows):
    """Gold = judge = 3331 on a scale of three: macro-F1 is 1 over two classes, and class 2 has no F1."""
    score = one(make_rows, ["3", "3", "3", "1"], ["3", "3", "3", "1"])
    assert (score.macro_f1, score.macro_classes) == (1.0, 2)
    assert (score.per_class[1].support, score.per_class[1].f1) == (0, None)


def test_a_failure_is_not_the_worst_grade(make_rows):
    """Gold 1, 1, 3 and three refusals: accuracy 0, not 2/3; nothing readable, so the second number is undefined."""
    score = one(make_rows, ["1", "1", "3"], ["!refused"] * 3)
    assert (score.accuracy, score.macro_f1, score.coverage, score.accuracy_readable) == (0.0, 0.0, 0.0, None)
    assert (score.mae, score.bias, score.weighted_kappa, score.mean_score) == (None, None, None, None)


def test_failing_on_the_wrong_ones_does_not_raise_accuracy(make_rows):
    """6 right of 8, and the two wrong ones crash: accuracy stays 0.75, among readable 1.0."""
    score = one(make_rows, ["1"] * 8, ["1"] * 6 + ["!provider"] * 2)
    assert (score.accuracy, score.accuracy_readable, score.coverage) == (0.75, 1.0, 0.75)


def test_kappa_is_undefined_with_one_label(make_rows):
    """Judge and people both say 3 throughout: expected agreement is 1, so kappa is None, not NaN, 0 or 1."""
    score = one(make_rows, ["3", "3"], ["3", "3"])
    assert (score.kappa, score.weighted_kappa) == (None, None)
    assert score.accuracy == 1.0


def test_ordinal_errors_by_hand(make_rows):
    """Gold 1 2 3 3, judge 3 2 2 ?: errors +2, 0, −1: MAE 1, bias 1/3 over three readable; mean score 7/3."""
    score = one(make_rows, ["1", "2", "3", "3"], ["3", "2", "2", "!empty"])
    assert score.mae == pytest.approx(1.0)
    assert score.bias == pytest.approx(1 / 3)
    assert score.mean_score == pytest.approx(7 / 3)


def test_unlabelled_items_count_in_the_mean_score_only(make_rows):
    """An item without gold is not in n; its verdict is in the mean score. An item never asked is in neither."""
    score = one(make_rows, ["1", None, "1"], ["1", "3", None])
    assert (score.n, score.accuracy, score.mean_score) == (1, 1.0, 2.0)


def test_no_items_give_none(make_rows):
    """n = 0: every number is None."""
    score = one(make_rows, [], [])
    assert (score.n, score.accuracy, score.macro_f1, score.coverage, score.kappa) == (0, None, None, None, None)


@pytest.mark.parametrize("seed", range(8))
def test_equals_scikit_learn(seed):
    """Accuracy, macro-F1, per-class numbers, kappa, quadratic kappa and MAE equal scikit-learn's."""
    rng = np.random.default_rng(seed)
    n = 60
    gold, said = rng.integers(0, 3, n), rng.integers(-1, 3, n)
    matrix = VerdictMatrix(SCALE, (1.0, 2.0, 3.0), tuple(map(str, range(n))), np.arange(n), gold, said[:, None])
    score = repeat_scores(matrix)[0]
    scale = [0, 1, 2]
    assert score.accuracy == pytest.approx(sk.accuracy_score(gold, said))
    assert score.macro_f1 == pytest.approx(sk.f1_score(gold, said, labels=scale, average="macro", zero_division=0))
    precision, recall, f1, support = sk.precision_recall_fscore_support(gold, said, labels=scale, zero_division=0)
    assert [row.precision for row in score.per_class] == pytest.approx(precision)
    assert [row.recall for row in score.per_class] == pytest.approx(recall)
    assert [row.f1 for row in score.per_class] == pytest.approx(f1)
    assert [row.support for row in score.per_class] == support.tolist()
    assert score.kappa == pytest.approx(sk.cohen_kappa_score(gold, said))
    read = said >= 0
    quadratic = sk.cohen_kappa_score(gold[read], said[read], weights="quadratic", labels=scale)
    assert score.weighted_kappa == pytest.approx(quadratic)
    assert score.mae == pytest.approx(sk.mean_absolute_error(gold[read], said[read]))
    assert score.bias == pytest.approx((said[read] - gold[read]).mean())
