"""Differences of parts: slices, each family with adjusted p-values, and flags."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pandas as pd

from eva.metrics import flags
from eva.metrics.differences import difference, with_adjusted_p
from eva.metrics.flags import FlagTable
from eva.metrics.headline import all_differences
from eva.metrics.measures import Measure
from eva.metrics.paired import Paired, PairedMean, pair_up
from eva.metrics.pairing import Pair, take_pair
from eva.metrics.results import Difference, FlagDifference, SliceDifference
from eva.metrics.slices import MIN_ITEMS, SLICE_RESAMPLES, adjust, benjamini_hochberg, hide_small, slice_masks
from eva.metrics.tallies import Means, item_tally

STATISTICS = ("accuracy", "mean_score")
"""What slices compare: agreement where there is gold, and the score with or without."""


def slice_differences(
    pair: Pair, *, families: Sequence[str], margin: float, rng: np.random.Generator, resamples: int
) -> tuple[SliceDifference, ...]:
    """Accuracy and mean score of every slice; p adjusted over the slices of one family and statistic.

    Verdict words rest on the adjusted p. Under 10 items points are hidden (None), intervals never.
    """
    found: list[SliceDifference] = []
    few = min(resamples, SLICE_RESAMPLES)
    for by in families:
        parts = [
            SliceDifference(by, value, one.difference.n_items, one.difference.n_clusters, one)
            for value, mask in slice_masks(pair.items, pair.after, by=by)
            for part in (take_pair(pair, mask),)
            for one in all_differences(part, margin=margin, rng=rng, resamples=few, only=_statistics(pair))
        ]
        for statistic in _statistics(pair):
            found += _family([part for part in parts if part.difference.statistic == statistic], by=by)
    return tuple(found)


def flag_differences(
    before: pd.DataFrame, after: pd.DataFrame, *, pair: Pair, rng: np.random.Generator, resamples: int
) -> tuple[FlagDifference, ...]:
    """Every flag before and after on the common items: items, clusters, rate, and precision and recall against people.

    The rate is over items with a verdict in both arms. p by sign flips, adjusted over all flags (Benjamini–Hochberg).
    """
    names = tuple(sorted({*flags.flag_names(before), *flags.flag_names(after)}))
    if not names:
        return ()
    one = flags.flag_table(before, pair.before, names=names, items=pair.items)
    two = flags.flag_table(after, pair.after, names=names, items=pair.items)
    counted = (one.answered > 0) & (two.answered > 0)
    sums = [flags.flag_means(table, counted, clusters=pair.before.clusters) for table in (one, two)]
    paired = pair_up(
        item_tally(sums[0].sums),
        item_tally(sums[1].sums),
        repeats=min(pair.before.n_repeats, pair.after.n_repeats),
        resamples=resamples,
        rng=rng,
    )
    rates = [_flag_rate(paired, name, before=sums[0], after=sums[1]) for name in names]
    adjusted = benjamini_hochberg([rate.p_value for rate in rates])
    found = [with_adjusted_p(rate, p, family="") for rate, p in zip(rates, adjusted, strict=True)]
    return tuple(_flag(place, rate, tables=(one, two), pair=pair) for place, rate in enumerate(found))


def _statistics(pair: Pair) -> tuple[str, ...]:
    gold = bool((pair.before.gold >= 0).any())
    return tuple(name for name in STATISTICS if (gold if name == "accuracy" else pair.before.values is not None))


def _family(parts: Sequence[SliceDifference], *, by: str) -> list[SliceDifference]:
    adjusted, how = adjust([part.difference.p_value for part in parts], by=by)
    return [
        replace(part, difference=_hidden(with_adjusted_p(part.difference, p, family=how)))
        for part, p in zip(parts, adjusted, strict=True)
    ]


def _hidden(found: Difference) -> Difference:
    if found.difference.n_items >= MIN_ITEMS:
        return found
    second = None if found.difference_t is None else hide_small(found.difference_t)
    return replace(
        found,
        before=None,
        after=None,
        difference=hide_small(found.difference),
        difference_t=second,
        before_spread=None,
        after_spread=None,
    )


def _flag_rate(paired: Paired, name: str, *, before: Means, after: Means) -> Difference:
    measure = Measure(f"flag={name}/rate", before.compute(name), None)
    sums, later = before.of(name), after.of(name)
    change = np.column_stack([later[:, 0] - sums[:, 0], sums[:, 1]])
    return difference(paired, measure, margin=0.0, counted=sums[:, 1], mean=PairedMean(change, change))


def _flag(place: int, rate: Difference, *, tables: tuple[FlagTable, FlagTable], pair: Pair) -> FlagDifference:
    one, two = tables
    (precision, recall), (precision_after, recall_after) = (flags.precision_recall(table, place) for table in tables)
    return FlagDifference(
        flag=one.names[place],
        before_items=float(one.items(pair.before.n_repeats)[place]),
        after_items=float(two.items(pair.after.n_repeats)[place]),
        before_clusters=float(one.clusters[place]),
        after_clusters=float(two.clusters[place]),
        difference=rate.difference,
        before_precision=precision,
        after_precision=precision_after,
        before_recall=recall,
        after_recall=recall_after,
        p_value=rate.p_value,
        p_adjusted=rate.p_adjusted,
        verdict=rate.verdict,
    )
