"""Spread over repeats, stability, self-agreement, Krippendorff's alpha."""

from __future__ import annotations

import krippendorff
import numpy as np
import pytest

from eva.metrics.alpha import krippendorff_alpha
from eva.metrics.frame import matrix_from_rows
from eva.metrics.repeats import noise, self_agreement, spread, stability
from eva.metrics.resample import rng_for
from eva.metrics.votes import modal, votes

SCALE = ("1", "2", "3")


def test_std_is_the_sample_std():
    """1.0, 0.5, 0.5: mean 2/3, std sqrt((1/9 + 1/36 + 1/36) / 2) = 0.2887 (ddof = 1), not 0.2357."""
    found = spread([1.0, 0.5, 0.5])
    assert found.mean == pytest.approx(2 / 3)
    assert found.std == pytest.approx(0.288675, abs=1e-6)


def test_one_repeat_has_no_spread():
    """One repeat: std None. Several that agree: 0.0. None at all: mean None."""
    assert spread([0.7]).std is None
    assert spread([0.7, 0.7]).std == 0.0
    assert (spread([]).mean, spread([None]).mean, spread([None, 0.5]).std) == (None, None, None)


@pytest.mark.parametrize(
    ("counts", "n", "printed"),
    [
        ([96, 96, 96], 137, "70.07% ± 0.00%"),
        ([93, 96, 96], 137, "69.34% ± 1.26%"),
        ([437, 444, 446], 479, "92.35% ± 0.99%"),
    ],
)
def test_published_table(counts, n, printed):
    """The accuracies of the published pull request come out to the digit."""
    found = spread([count / n for count in counts])
    assert f"{found.mean:.2%} ± {found.std:.2%}" == printed


def test_stability_and_self_agreement_by_hand(make_rows):
    """Votes 3, 2+1, 1+1+1 of 3: stability 1, 2/3, 1/3; pairs that agree 3/3, 1/3, 0/3. Failures count as a verdict."""
    said = [["1", "2", "1"], ["1", "2", "2"], ["1", "!empty", "!no_json"]]
    counted = votes(matrix_from_rows(make_rows(["1"] * 3, said), SCALE, None))
    assert stability(counted) == pytest.approx([1, 2 / 3, 1 / 3])
    assert self_agreement(counted) == pytest.approx([1, 1 / 3, 0])
    assert modal(counted).tolist() == [0, 1, -4]


def test_two_failures_of_unlike_kind_are_one_modal_verdict(make_rows):
    """no_json and empty against one label: the modal verdict is `no verdict`."""
    counted = votes(matrix_from_rows(make_rows(["1"], [["1"], ["!empty"], ["!no_json"]]), SCALE, None))
    assert modal(counted).tolist() == [-1]


def test_noise_of_one_repeat_is_undefined(make_rows):
    """With one repeat nothing can be said about agreement with oneself; the note says so."""
    matrix = matrix_from_rows(make_rows(["1", "2"], [["1", "2"]]), SCALE, (1, 2, 3))
    found = noise(matrix, rng=rng_for("x"), resamples=100)
    assert (found.stability.value, found.self_agreement.value, found.alpha) == (None, None, None)
    assert "1 repeat" in found.stability.note


@pytest.mark.parametrize("level", ["nominal", "ordinal"])
@pytest.mark.parametrize("seed", range(6))
def test_alpha_equals_krippendorff(level, seed):
    """Equal to the `krippendorff` package on data with missing ratings and unlike numbers of raters."""
    rng = np.random.default_rng(seed)
    ratings = rng.integers(0, 4, (5, 30)).astype(float)
    ratings[:, :20] = np.where(rng.random((5, 20)) < 0.7, ratings[0, :20], ratings[:, :20])
    ratings[rng.random(ratings.shape) < 0.25] = np.nan
    counts = np.stack([(ratings == value).sum(axis=0) for value in range(4)], axis=1)
    expected = krippendorff.alpha(value_counts=counts, value_domain=[0, 1, 2, 3], level_of_measurement=level)
    assert krippendorff_alpha(counts, level=level) == pytest.approx(expected)


def test_alpha_without_variation_or_pairs_is_undefined():
    """One label throughout, or no unit with two ratings: None."""
    assert krippendorff_alpha(np.array([[3, 0], [2, 0]]), level="nominal") is None
    assert krippendorff_alpha(np.array([[1, 0], [0, 1]]), level="ordinal") is None
