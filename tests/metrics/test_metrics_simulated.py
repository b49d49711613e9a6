"""Do the intervals hold what they promise? Simulated judges at the sizes of the real sets, fixed seeds. Slow."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from eva.metrics.arm import gold_estimates
from eva.metrics.headline import all_differences
from eva.metrics.intervals import wilson
from eva.metrics.matrix import VerdictMatrix
from eva.metrics.measures import macro_f1
from eva.metrics.pairing import Pair
from eva.metrics.resample import rng_for

pytestmark = pytest.mark.slow

N, K, ACCURACY = 137, 3, 0.84
RESAMPLES = 1000


def chances(rng, size, firm):
    """Per item the chance that a repeat is right: `firm` of the items 0 or 1, the others in between; mean 0.84."""
    fixed = (rng.random(size) < ACCURACY).astype(float)
    return np.where(rng.random(size) < firm, fixed, rng.beta(8 * ACCURACY, 8 * (1 - ACCURACY), size))


def arm(rng, chance, gold, clusters=None):
    """Verdicts of a 0/1 judge that is right with each item's chance."""
    right = rng.random((chance.size, K)) < chance[:, None]
    said = np.where(right, gold[:, None], 1 - gold[:, None])
    places = np.arange(chance.size) if clusters is None else clusters
    return VerdictMatrix(("0", "1"), (0.0, 1.0), tuple(f"{i:04}" for i in range(chance.size)), places, gold, said)


def two_arms(rng, change):
    """A prompt that re-rolls 24% of the items and truly lifts accuracy by `change`."""
    gold = rng.integers(0, 2, N)
    before = chances(rng, N, firm=0.5)
    after = np.where(rng.random(N) < 0.24, chances(rng, N, firm=0.5), before)
    after = np.where(rng.random(N) < change / (1 - ACCURACY), 1.0, after)
    one, two = arm(rng, before, gold), arm(rng, after, gold)
    return Pair(before=one, after=two, items=None, only_before=0, only_after=0, warnings=())


def words(change, times, only=("accuracy", "macro_f1"), repeats=(K, K)):
    """How often each verdict is given for a true change, from so many repeats before and after."""
    rng = rng_for(f"true change {change}")
    found = {name: Counter() for name in only}
    for _ in range(times):
        pair = two_arms(rng, change)
        arms = [
            replace(one, verdicts=one.verdicts[:, :k])
            for one, k in zip((pair.before, pair.after), repeats, strict=True)
        ]
        pair = replace(pair, before=arms[0], after=arms[1])
        for one in all_differences(pair, margin=0.03, rng=rng, resamples=RESAMPLES, only=only):
            found[one.statistic][one.verdict] += 1
    return {name: {word: count / times for word, count in counts.items()} for name, counts in found.items()}


@pytest.mark.parametrize("firm", [0.0, 0.5, 0.9])
def test_coverage_of_accuracy_and_macro_f1(firm):
    """95% intervals of a jittery, a middling and a very consistent judge hold the truth in 93% to 97% of the cases."""
    rng = rng_for(f"coverage {firm}")
    truth = float(macro_f1(np.array([[ACCURACY, 1 - ACCURACY, 0], [1 - ACCURACY, ACCURACY, 0]])))
    held = Counter()
    times = 1000
    for _ in range(times):
        found = gold_estimates(arm(rng, chances(rng, N, firm), rng.integers(0, 2, N)), rng=rng, resamples=RESAMPLES)
        for name, value in (("accuracy", ACCURACY), ("accuracy_t", ACCURACY), ("macro_f1", truth)):
            held[name] += found[name].low <= value <= found[name].high
    for name, count in held.items():
        assert 0.93 <= count / times <= 0.97, (name, count / times)


@pytest.mark.parametrize(("shared", "naive_at_most"), [(0.05, 0.95), (0.4, 0.80)])
def test_coverage_with_clusters(shared, naive_at_most):
    """100 conversations of 2 to 7 turns, `shared` of them all right or all wrong: 91% to 97%; turn by turn far less.

    An accuracy of 92% over 100 clusters is skewed: clustered t reaches 91% to 94% here, too.
    """
    rng = rng_for(f"clusters {shared}")
    held, naive, times, truth = 0, 0, 1000, 0.92
    for _ in range(times):
        clusters = np.repeat(np.arange(100), rng.integers(2, 8, 100))
        alike = (rng.random(100) < shared)[clusters]
        right = np.where(alike, (rng.random(100) < truth)[clusters], rng.random(clusters.size) < truth)
        matrix = arm(rng, right.astype(float), rng.integers(0, 2, right.size), clusters)
        found = gold_estimates(matrix, rng=rng, resamples=RESAMPLES)["accuracy"]
        held += found.low <= truth <= found.high
        apart = wilson(found.value, right.size)
        naive += apart[0] <= truth <= apart[1]
    assert 0.91 <= held / times <= 0.97, held / times
    assert naive / times <= naive_at_most, naive / times


def test_false_alarms():
    """No true change, 24% of the items re-rolled: `better` or `worse` in 3% to 7% of the cases."""
    for name, shares in words(0.0, 1500).items():
        alarms = shares.get("better", 0) + shares.get("worse", 0)
        assert 0.03 <= alarms <= 0.07, (name, alarms)
        assert shares["cannot tell"] > 0.8, shares


def test_false_alarms_of_unlike_repeats():
    """Three repeats before and one after: a mean over repeats of a curved statistic is still no better or worse."""
    for name, shares in words(0.0, 800, ("accuracy", "macro_f1", "kappa"), (3, 1)).items():
        alarms = shares.get("better", 0) + shares.get("worse", 0)
        assert 0.03 <= alarms <= 0.07, (name, alarms)


def test_true_changes_are_seen_as_often_as_promised():
    """True changes of 2, 4, 8 points: seen ever more often, hardly ever as `worse`; 8 points nearly always."""
    better = {}
    for change in (0.02, 0.04, 0.08):
        shares = words(change, 400, only=("accuracy",))["accuracy"]
        better[change] = shares.get("better", 0)
        assert shares.get("worse", 0) <= 0.02
    assert 0.05 < better[0.02] < 0.3
    assert 0.25 < better[0.04] < 0.6
    assert better[0.08] > 0.85
