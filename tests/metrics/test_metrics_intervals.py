"""Intervals against their oracles, and where there is none."""

from __future__ import annotations

import numpy as np
import pytest
import statsmodels.api as sm
from scipy import stats
from statsmodels.stats.proportion import proportion_confint

from eva.metrics.intervals import bootstrap, clustered_se, clustered_t, estimate, rate_estimate, wilson
from eva.metrics.measures import ratio
from eva.metrics.resample import flip_signs, resample_clusters, rng_for
from eva.metrics.tallies import item_tally


@pytest.mark.parametrize(("k", "n"), [(0, 5), (5, 5), (1, 10), (115, 137), (479, 500)])
def test_wilson_equals_scipy_and_statsmodels(k, n):
    """Wilson's score interval as scipy and statsmodels give it, ends at 0 and 1 included."""
    expected = stats.binomtest(k, n).proportion_ci(method="wilson")
    assert wilson(k / n, n) == pytest.approx((expected.low, expected.high), abs=1e-12)
    assert wilson(k / n, n) == pytest.approx(proportion_confint(k, n, method="wilson"), abs=1e-12)


def test_wilson_by_hand():
    """115 of 137: centre (0.8394 + 0.01402) / 1.02804 = 0.8302, so 76.9 to 89.1 (the table of the statistics notes)."""
    low, high = wilson(115 / 137, 137)
    assert (round(low, 3), round(high, 3)) == (0.769, 0.891)
    assert wilson(0.5, 0) is None


def test_clustered_se_equals_statsmodels():
    """The standard error of a mean with unequal clusters equals OLS with cluster-robust covariance."""
    rng = np.random.default_rng(0)
    group = np.repeat(np.arange(25), rng.integers(1, 7, 25))
    y = rng.random(group.size) + 0.5 * rng.random(25)[group]
    sums = np.column_stack([np.bincount(group, weights=y), np.bincount(group)])
    fit = sm.OLS(y, np.ones((y.size, 1))).fit(cov_type="cluster", cov_kwds={"groups": group, "use_correction": True})
    # statsmodels' correction is G/(G−1)·(n−1)/(n−k) with k = 1: the second factor is 1
    assert clustered_se(sums) == pytest.approx(fit.bse[0])


def test_clusters_widen_the_error():
    """5 conversations of 10 turns, all right in 3, all wrong in 2: SE 0.245; 0.07 if the turns were apart."""
    sums = np.array([[10, 10]] * 3 + [[0, 10]] * 2, dtype=float)
    # residuals 4, 4, 4, −6, −6: squares 120; × 5/4 = 150; root 12.247; / 50
    assert clustered_se(sums) == pytest.approx(0.24495, abs=1e-5)


def test_unclustered_t_equals_scipy():
    """Clusters of one item: the ordinary t interval."""
    y = np.random.default_rng(1).random(40)
    found = clustered_t(np.column_stack([y, np.ones(40)]), repeats=3)
    expected = stats.ttest_1samp(y, 0).confidence_interval()
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high))


@pytest.mark.parametrize("seed", range(3))
def test_bootstrap_is_near_scipy(seed):
    """BCa ends of a mean over 80 clusters lie within a tenth of the width of scipy's."""
    y = np.random.default_rng(seed).exponential(size=80)
    found = bootstrap(resample_clusters(np.column_stack([y, np.ones(80)]), resamples=20_000, rng=rng_for("a")), ratio)
    expected = stats.bootstrap((y,), np.mean, n_resamples=20_000, rng=np.random.default_rng(7)).confidence_interval
    width = expected.high - expected.low
    assert found.low == pytest.approx(expected.low, abs=0.1 * width)
    assert found.high == pytest.approx(expected.high, abs=0.1 * width)
    assert found.se == pytest.approx(y.std(ddof=0) / np.sqrt(80), rel=0.05)


def test_both_ways_of_drawing_agree():
    """Many unlike clusters are drawn one by one, few kinds by multinomial: the same spread of the mean."""
    rng = np.random.default_rng(0)
    y = rng.random(1500)
    unlike = resample_clusters(np.column_stack([y, np.ones(1500)]), resamples=4000, rng=rng_for("b"))
    few = resample_clusters(np.column_stack([np.round(y, 1), np.ones(1500)]), resamples=4000, rng=rng_for("b"))
    assert (len(unlike.times), len(few.times)) == (1500, 11)
    for found in (unlike, few):
        assert ratio(found.draws).std() == pytest.approx(y.std() / np.sqrt(1500), rel=0.06)
        np.testing.assert_array_equal(found.draws[:, 1], 1500)


def test_one_cluster_and_none_give_no_interval():
    """One cluster: the value with a note. No cluster: None with a note. Never a width of 0."""
    one = estimate(
        resample_clusters(np.array([[3.0, 4.0]]), resamples=50, rng=rng_for("c")), ratio, n_items=4, repeats=3
    )
    assert (one.value, one.low, one.high, one.n_clusters) == (0.75, None, None, 1)
    assert "1 cluster" in one.note
    none = estimate(resample_clusters(np.zeros((0, 2)), resamples=50, rng=rng_for("c")), ratio, n_items=0, repeats=3)
    assert (none.value, none.low, none.n_clusters) == (None, None, 0)
    assert none.note


def test_all_right_is_not_certain():
    """137 of 137: the bootstrap has no width; Wilson says 97.3% to 100%."""
    sums = np.ones((137, 2))
    found = rate_estimate(resample_clusters(sums, resamples=200, rng=rng_for("d")), ratio, sums=sums, repeats=3)
    assert (found.value, found.high) == (1.0, 1.0)
    assert found.low == pytest.approx(0.9727, abs=1e-4)
    assert "Wilson" in found.method


def test_sign_flips_are_exact_for_few_clusters():
    """Five clusters fixed, none broken: 2 of 32 sign patterns are as extreme, p = 0.0625."""
    before, after = np.zeros((40, 1)), np.zeros((40, 1))
    after[:5] = 1
    flips = flip_signs(item_tally(before), item_tally(after), resamples=100, rng=rng_for("e"))
    gaps = flips.gaps(lambda sums: sums[..., 0])
    assert flips.exact
    assert gaps.size == 32
    assert (np.abs(gaps) >= 5).mean() == 0.0625


def test_random_sign_flips_have_the_right_spread():
    """200 clusters that differ by ±1: the flipped sum has standard deviation sqrt(200)."""
    after = np.random.default_rng(0).choice([-1.0, 1.0], (200, 1))
    for scale in (np.ones((200, 1)), np.linspace(0.5, 1.5, 200)[:, None]):  # two kinds of cluster, 200 kinds
        arms = item_tally(np.zeros((200, 1))), item_tally(after * scale)
        flips = flip_signs(*arms, resamples=5000, rng=rng_for("f"))
        gaps = flips.gaps(lambda sums: sums[..., 0])
        assert gaps.std() == pytest.approx(np.sqrt((scale**2).sum()), rel=0.05)


def test_the_same_text_gives_the_same_numbers():
    """rng_for is a function of its text and of nothing else."""
    assert rng_for("run").random() == rng_for("run").random()
    assert rng_for("run").random() != rng_for("other").random()
