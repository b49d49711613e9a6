"""Power, equivalence, McNemar, adjusted p-values, verdict words: published figures and oracles."""

from __future__ import annotations

import numpy as np
import pytest
from statsmodels.stats.contingency_tables import mcnemar
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.power import TTestPower

from eva.metrics.power import equivalence_p, items_needed, mcnemar_p, most_that_may_change, smallest_visible
from eva.metrics.results import VERDICT_MEANINGS, Estimate
from eva.metrics.slices import adjust, benjamini_hochberg, hide_small, holm, slice_masks
from eva.metrics.verdict import word


@pytest.mark.parametrize(
    ("n", "differ", "points"), [(100, 0.05, 6.3), (137, 0.1, 7.6), (137, 0.15, 9.3), (300, 0.1, 5.1), (1000, 0.2, 4.0)]
)
def test_smallest_visible_change_of_the_table(n, differ, points):
    """SE = sqrt(share that differs / n); 2.8 of it is the table of the statistics notes."""
    assert 100 * smallest_visible(np.sqrt(differ / n), clusters=n) == pytest.approx(points, abs=0.06)


def test_smallest_visible_change_equals_statsmodels_power():
    """At the smallest visible change a paired t test has 80% power."""
    visible = smallest_visible(1 / np.sqrt(137), clusters=137)
    assert TTestPower().power(visible, nobs=137, alpha=0.05) == pytest.approx(0.8, abs=0.002)


def test_few_clusters_promise_less():
    """t with 4 degrees in place of z: 3.72 standard errors in place of 2.80; one cluster shows nothing."""
    assert smallest_visible(1.0, clusters=5) == pytest.approx(2.776 + 0.941, abs=0.001)
    assert smallest_visible(1.0, clusters=1) is None
    assert smallest_visible(0.0, clusters=50) is None


def test_items_needed_by_hand():
    """A change of half of what 137 items show needs 4 × 137 items; a number that nobody can use is None, with why."""
    assert items_needed(0.032, visible=0.064, items=137) == (548, "")
    for noise in (0.0, 1e-17, -3e-10):  # 1e-17 would need 5.6e33 items
        assert items_needed(noise, visible=0.064, items=137) == (None, "no difference was seen")
    assert items_needed(0.0001, visible=0.01, items=1000) == (10_000_000, "")
    assert items_needed(0.00009, visible=0.01, items=1000) == (None, "more than 10,000,000 items")
    assert items_needed(0.1, visible=0.01, items=0) == (None, "no items")


def test_equivalence_example():
    """Δ = 0, SE 2, margin 3: p = .068, cannot tell; SE 1: t = 3, shown."""
    assert equivalence_p(0.0, se=2.0, margin=3.0, clusters=137) == pytest.approx(0.068, abs=0.001)
    assert equivalence_p(0.0, se=1.0, margin=3.0, clusters=137) < 0.05
    assert equivalence_p(2.9, se=1.0, margin=3.0, clusters=137) > 0.4
    assert equivalence_p(0.0, se=1.0, margin=0.0, clusters=137) is None


@pytest.mark.parametrize(
    ("fixed", "broken", "p"),
    [(12, 4, 0.077), (9, 3, 0.15), (15, 5, 0.041), (6, 0, 0.031), (5, 0, 0.0625), (9, 4, 0.27), (0, 0, 1.0)],
)
def test_exact_mcnemar(fixed, broken, p):
    """The hand-worked cases, and statsmodels."""
    assert mcnemar_p(fixed, broken) == pytest.approx(p, abs=0.005)
    assert mcnemar_p(fixed, broken) == pytest.approx(mcnemar([[0, broken], [fixed, 0]], exact=True).pvalue)


def test_bound_where_nothing_changed():
    """0 of 137: 1 − 0.025^(1/137) = 2.66%; all of 3: 100%."""
    assert most_that_may_change(0, clusters=137, tail=0.025) == pytest.approx(1 - 0.025 ** (1 / 137))
    assert most_that_may_change(3, clusters=3, tail=0.025) == 1.0


@pytest.mark.parametrize(("own", "theirs"), [(holm, "holm"), (benjamini_hochberg, "fdr_bh")])
def test_adjusted_p_equals_statsmodels(own, theirs):
    """Holm and Benjamini–Hochberg as statsmodels gives them; missing p-values stay missing and do not count."""
    p = np.random.default_rng(0).random(24) ** 3
    assert own(p.tolist()) == pytest.approx(multipletests(p, method=theirs)[1])
    assert own([0.01, None, 0.04]) == (own([0.01, 0.04])[0], None, own([0.01, 0.04])[1])
    assert own([]) == ()


def test_families_say_how_they_were_adjusted():
    """Languages gate (Holm), rules explore (Benjamini–Hochberg)."""
    assert adjust([0.01, 0.5], by="language")[1] == "Holm over 2"
    assert adjust([0.01, None], by="rule")[1] == "Benjamini–Hochberg over 1"


@pytest.mark.parametrize(
    ("low", "high", "p", "same", "good", "expected"),
    [
        (0.01, 0.05, 0.01, False, True, "better"),
        (0.01, 0.05, 0.01, False, False, "worse"),
        (-0.05, -0.01, 0.01, False, True, "worse"),
        (0.01, 0.05, 0.01, False, None, "moved"),
        (0.01, 0.05, 0.06, False, True, "cannot tell"),
        (-0.01, 0.05, 0.01, False, True, "cannot tell"),
        (-0.01, 0.02, 0.4, True, True, "same"),
        (None, None, None, None, True, "cannot tell"),
    ],
)
def test_verdict_words(low, high, p, same, good, expected):
    """Shown needs interval and permutation test; same needs the two one-sided tests; else one cannot tell."""
    value = 0.0 if low is None else (low + high) / 2
    found = word(Estimate(value, low, high), p_value=p, equivalent=same, higher_is_better=good)
    assert found == expected
    assert VERDICT_MEANINGS[found]
    assert word(Estimate(None), p_value=p, equivalent=same, higher_is_better=good) == "not measured"


def test_hidden_points():
    """Nine items hide the point, ten do not."""
    assert hide_small(Estimate(0.5, 0.2, 0.8, n_items=9)).value is None
    assert hide_small(Estimate(0.5, 0.2, 0.8, n_items=9)).low == 0.2
    assert hide_small(Estimate(0.5, 0.2, 0.8, n_items=10)).value == 0.5


def test_unknown_slices_are_refused():
    """The error lists the families that exist."""
    with pytest.raises(ValueError, match="there are language"):
        next(slice_masks(None, None, by="colour"))
