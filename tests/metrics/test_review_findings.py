"""Cases that a reviewer built against the statistics: unlike cluster sizes, lost arms, too few clusters."""

from __future__ import annotations

import pandas as pd

from eva.metrics.compare import compare
from eva.metrics.resample import rng_for
from eva.metrics.results import Comparison, Difference


def table(said: list[str | None], clusters: list[str]) -> pd.DataFrame:
    """One repeat, gold "2" everywhere; None is a truncated reply."""
    rows = [
        {
            "item_id": f"i{place:04}",
            "cluster": cluster,
            "gold": "2",
            "repeat": 0,
            "label": label,
            "failure": None if label else "truncated",
        }
        for place, (label, cluster) in enumerate(zip(said, clusters, strict=True))
    ]
    return pd.DataFrame(rows)


def compared(before: list[str | None], after: list[str | None], clusters: list[str]) -> Comparison:
    return compare(
        table(before, clusters),
        table(after, clusters),
        labels=("1", "2", "3"),
        values=(1.0, 2.0, 3.0),
        rng=rng_for("review"),
        margin=0.03,
        resamples=500,
        slices=(),
    )


def accuracy(comparison: Comparison) -> Difference:
    return next(found for found in comparison.differences if found.statistic == "accuracy")


def test_one_large_cluster_that_breaks_is_not_the_same() -> None:
    """200 of 399 items, all in one cluster of 200, become wrong: half of the data, whatever the number of clusters."""
    clusters = ["big"] * 200 + [f"c{place}" for place in range(199)]
    found = accuracy(compared(["2"] * 399, ["1"] * 200 + ["2"] * 199, clusters))

    assert found.difference.value is not None
    assert round(found.difference.value, 3) == -0.501
    assert found.verdict != "same"
    assert found.equivalent is False
    assert found.difference.low is not None
    assert found.difference.high is not None
    assert found.difference.low <= found.difference.value <= found.difference.high


def test_an_arm_that_lost_all_replies_is_worse_by_mcnemar_too() -> None:
    """120 of 137 right before, no verdict after: 2 · 0.5^120."""
    before: list[str | None] = ["2"] * 120 + ["1"] * 17
    clusters = [f"c{place}" for place in range(137)]
    comparison = compared(before, [None] * 137, clusters)

    assert comparison.counts.mcnemar_p is not None
    assert comparison.counts.mcnemar_p < 1e-30
    assert comparison.counts.undecided == 137


def test_five_clusters_can_show_no_change() -> None:
    """The sign-flip p of five clusters cannot get below 2/32."""
    clusters = [f"c{place}" for place in range(5)]
    found = accuracy(compared(["1"] * 5, ["2"] * 5, clusters))

    assert found.p_value == 2 / 32
    assert found.smallest_visible is None
    assert found.verdict == "cannot tell"
