"""Rates corrected for an imperfect judge: hand-worked, a stored case of ppi-python, refusals, coverage."""

from __future__ import annotations

import numpy as np
import pytest

from eva.metrics.imperfect import imperfect_rate, ppi_mean, rogan_gladen
from eva.metrics.resample import rng_for

GOLD = np.array([1, 0, 0, 1, 1, 0, 1, 0, 1, 1, 0, 0], dtype=float)
JUDGED = np.array([1, 0, 1 / 3, 2 / 3, 1, 0, 1, 1 / 3, 2 / 3, 1, 1, 0])
UNLABELLED = np.array([1, 1, 0, 2 / 3, 1 / 3, 0, 0, 1, 1, 1 / 3, 0, 0, 1, 0, 2 / 3, 1, 0, 0, 0, 1])


def binomial(share, n):
    return (share * (1 - share) / n) ** 0.5


def test_rogan_gladen_by_hand():
    """30% of 1,000, Se .92, Sp .85 of 100 each: (.30 + .85 − 1) / .77 = .195, interval .11 to .28."""
    errors = (binomial(0.3, 1000), binomial(0.92, 100), binomial(0.85, 100))
    found = rogan_gladen(0.3, 0.92, specificity=0.85, errors=errors, n=1000)
    assert found.value == pytest.approx(0.15 / 0.77)
    assert (round(found.low, 2), round(found.high, 2)) == (0.11, 0.28)


def test_rates_stay_between_0_and_1():
    """A raw rate below the judge's false-alarm rate means 0, not less."""
    found = rogan_gladen(0.05, 0.9, specificity=0.9, errors=(0.01, 0.03, 0.03), n=500)
    assert (found.value, found.low) == (0.0, 0.0)
    assert found.high > 0


@pytest.mark.parametrize(("sensitivity", "specificity"), [(0.5, 0.5), (0.6, 0.3), (0.55, 0.5)])
def test_a_judge_no_better_than_chance_is_refused(sensitivity, specificity):
    """Se + Sp − 1 not shown to be above 0: no number, and the reason."""
    errors = (0.01, binomial(sensitivity, 50), binomial(specificity, 50))
    found = rogan_gladen(0.3, sensitivity, specificity=specificity, errors=errors, n=100)
    assert (found.value, found.low) == (None, None)
    assert "no better than chance" in found.note


def test_ppi_equals_a_stored_case():
    """ppi_py 0.2.3, ppi_mean_pointestimate and ppi_mean_ci(alpha=0.05) on these numbers; a reversed judge gets λ = 0."""
    found = ppi_mean(GOLD, JUDGED, unlabelled=UNLABELLED)
    assert (found.value, found.low, found.high) == pytest.approx((0.43656994, 0.20297551, 0.67016437), abs=1e-8)
    useless = ppi_mean(GOLD, 1 - JUDGED, unlabelled=UNLABELLED)
    assert (useless.value, useless.low, useless.high) == pytest.approx((0.5, 0.21710357, 0.78289643), abs=1e-8)
    assert useless.note.startswith("lambda 0.00")


def test_too_little_to_correct_with(make_rows):
    """No labelled items of one kind, or one item: None with a note."""
    assert ppi_mean(GOLD[:1], JUDGED[:1], unlabelled=UNLABELLED).value is None
    rows = make_rows(["bad"] * 3, [["bad", "good", "bad"]])
    found = imperfect_rate(rows, rows.assign(gold=None), labels=("bad", "good"), target=("bad",))
    assert (found.rogan_gladen.value, found.specificity.value) == (None, None)
    assert found.rogan_gladen.note
    assert found.raw.value == pytest.approx(2 / 3)


def test_from_verdict_rows(make_rows):
    """Se 18/20, Sp 24/30, raw rate 40/100: θ = (.4 + .8 − 1) / .7; unreadable items are left out of everything."""
    gold = ["bad"] * 20 + ["good"] * 30 + ["bad"]
    said = ["bad"] * 18 + ["good"] * 2 + ["bad"] * 6 + ["good"] * 24 + ["!no_json"]
    unlabelled = make_rows([None] * 102, [["bad"] * 40 + ["good"] * 60 + ["!empty"] * 2])
    found = imperfect_rate(make_rows(gold, [said]), unlabelled, labels=("bad", "good"), target=("bad",))
    assert (found.sensitivity.value, found.specificity.value, found.raw.value) == pytest.approx((0.9, 0.8, 0.4))
    assert found.rogan_gladen.value == pytest.approx(0.2 / 0.7)
    assert found.rogan_gladen.low < 0.2 / 0.7 < found.rogan_gladen.high
    assert found.prediction_powered.value is not None


@pytest.mark.slow
def test_corrected_rates_hold_the_truth():
    """True rate 20%, Se .85, Sp .9, 150 labelled and 1,000 unlabelled: both intervals hold in 93% to 97% of 1,500 cases."""
    rng = rng_for("imperfect")
    held = {"rogan_gladen": 0, "ppi": 0}
    times = 1500
    for _ in range(times):
        truth = rng.random(1150) < 0.2
        said = np.where(truth, rng.random(1150) < 0.85, rng.random(1150) < 0.1).astype(float)
        gold, judged, rest = truth[:150].astype(float), said[:150], said[150:]
        bad, good = judged[gold == 1].mean(), 1 - judged[gold == 0].mean()
        errors = (binomial(rest.mean(), 1000), binomial(bad, gold.sum()), binomial(good, (gold == 0).sum()))
        for name, found in (
            ("rogan_gladen", rogan_gladen(rest.mean(), bad, specificity=good, errors=errors, n=1000)),
            ("ppi", ppi_mean(gold, judged, unlabelled=rest)),
        ):
            held[name] += found.low <= 0.2 <= found.high
    assert all(0.93 <= count / times <= 0.97 for count in held.values()), held
