"""Distributions from scipy.special against their oracles in scipy.stats, and what importing the metrics may not cost."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from scipy import stats

from eva.metrics import ceiling, intervals, power
from eva.metrics.slices import benjamini_hochberg, benjamini_yekutieli

SLOW = ("scipy.stats", "sklearn", "statsmodels", "matplotlib")


def test_importing_the_metrics_loads_nothing_slow():
    """scipy.stats and scikit-learn take half a second and more: they load where they are used, if at all."""
    code = f"import sys, eva.metrics.compare, eva.metrics.trivial; print([n for n in {SLOW!r} if n in sys.modules])"
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert said.stdout.strip() == "[]"


@pytest.mark.parametrize("clusters", [2, 3, 6, 20, 137, 100_000])
def test_t_quantiles(clusters):
    """Smallest visible change and equivalence p as scipy.stats.t gives them."""
    t = stats.t(clusters - 1)
    assert power.smallest_visible(0.02, clusters=clusters) == pytest.approx(0.02 * (t.ppf(0.975) + t.ppf(0.8)))
    expected = max(t.sf((0.01 + 0.03) / 0.02), t.cdf((0.01 - 0.03) / 0.02))
    assert power.equivalence_p(0.01, se=0.02, margin=0.03, clusters=clusters) == pytest.approx(expected)


@pytest.mark.parametrize("groups", [2, 5, 50, 1000])
def test_levels_of_the_widened_interval(groups):
    """Φ(∓t·sqrt(G / (G − 1))): Hesterberg's levels."""
    z = stats.t.ppf(0.975, groups - 1) * np.sqrt(groups / (groups - 1))
    assert intervals._levels(groups, 0.95) == pytest.approx(stats.norm.cdf([-z, z]))


@pytest.mark.parametrize(("changed", "clusters"), [(0, 1), (0, 137), (4, 137), (3, 10)])
def test_clopper_pearson(changed, clusters):
    """The upper end of scipy's exact interval."""
    expected = stats.binomtest(changed, clusters).proportion_ci(0.95, method="exact").high
    assert power.most_that_may_change(changed, clusters=clusters, tail=0.025) == pytest.approx(expected)


@pytest.mark.parametrize(("fixed", "broken"), [(0, 1), (1, 0), (9, 4), (6, 6), (7, 6), (500, 430), (120, 0)])
def test_mcnemar_is_the_exact_binomial_test(fixed, broken):
    """2·P(Bin ≤ the smaller), at most 1; no overflow for hundreds."""
    assert power.mcnemar_p(fixed, broken) == pytest.approx(stats.binomtest(fixed, fixed + broken).pvalue)
    assert power.mcnemar_p(0, 0) == 1.0


@pytest.mark.parametrize("seed", range(4))
def test_false_discovery_control(seed):
    """Benjamini–Hochberg and Benjamini–Yekutieli as scipy gives them, ties and ones included."""
    p = np.round(np.random.default_rng(seed).random(12) ** 2, 1)
    assert benjamini_hochberg(p.tolist()) == pytest.approx(stats.false_discovery_control(p, method="bh"))
    assert benjamini_yekutieli(p.tolist()) == pytest.approx(stats.false_discovery_control(p, method="by"))
    assert (benjamini_hochberg([None]), benjamini_yekutieli([])) == ((None,), ())


def test_one_sided_t():
    """scipy's one-sample t test, greater; without spread the sign decides."""
    gaps = np.random.default_rng(1).choice([-1.0, 0.0, 1.0], 40) + 0.1
    assert ceiling._one_sided(gaps) == pytest.approx(stats.ttest_1samp(gaps, 0, alternative="greater").pvalue)
    assert (ceiling._one_sided(np.full(3, 0.1)), ceiling._one_sided(np.full(3, -0.1))) == (0.0, 1.0)
