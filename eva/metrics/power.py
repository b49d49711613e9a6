"""What a dataset can show: smallest visible change, items needed, sameness within a margin."""

from __future__ import annotations

import math
from typing import Final

from scipy.special import bdtr, betaincinv, stdtr, stdtrit

from eva.metrics.measures import TINY

ALPHA: Final = 0.05
POWER: Final = 0.8
MOST_ITEMS: Final = 10_000_000
FEW: Final = 5
"""With fewer clusters than this changed, resampling knows too little: exact bounds are used."""
SHOWING: Final = 6
"""The fewest clusters that can show a change when all go one way: 2·(1/2)^6 = 0.031, but 2·(1/2)^5 = 0.0625."""


def smallest_visible(se: float, *, clusters: int) -> float | None:
    """The true change that is called with 80% power at 5% two-sided: (t_{0.975} + t_{0.80})·SE with G − 1 degrees.

    For single runs of 0/1 items SE = sqrt(share of items that differ / n). None under 2 clusters. Source: Miller 2024
    (arXiv 2411.00640), with t in place of z, so that few clusters promise less.
    """
    if clusters < 2 or se <= 0:
        return None
    return float((stdtrit(clusters - 1, 1 - ALPHA / 2) + stdtrit(clusters - 1, POWER)) * se)


def items_needed(difference: float, *, visible: float, items: int) -> tuple[int | None, str]:
    """Items like these that would show a change of this size, items·(visible / |difference|)²; or None and why.

    None where the difference is numeric noise (a number of items without a meaning), or the items are more than ten
    million: no such set will be made.
    """
    if items == 0:
        return None, "no items"
    if abs(difference) < TINY:
        return None, "no difference was seen"
    needed = items * (visible / abs(difference)) ** 2
    return (math.ceil(needed), "") if needed <= MOST_ITEMS else (None, f"more than {MOST_ITEMS:,} items")


def equivalence_p(difference: float, *, se: float, margin: float, clusters: int) -> float | None:
    """Two one-sided t tests of |true change| ≥ margin: the larger p. None without a positive margin, SE or 2 clusters.

    Example: no difference, SE 2, margin 3, 137 clusters: t = 1.5, p = 0.068: cannot tell. Source: Schuirmann 1987.
    """
    if margin <= 0 or se <= 0 or clusters < 2:
        return None
    above = stdtr(clusters - 1, -(difference + margin) / se)
    below = stdtr(clusters - 1, (difference - margin) / se)
    return float(max(above, below))


def most_that_may_change(changed: int, *, clusters: int, tail: float) -> float:
    """Upper end of Clopper & Pearson's interval for the share of clusters that change, `changed` of `clusters` seen.

    0 of 137 at a tail of 2.5%: 1 − 0.025^(1/137) = 2.7%.
    """
    return 1.0 if changed >= clusters else float(betaincinv(changed + 1, clusters - changed, 1 - tail))


def mcnemar_p(fixed: int, broken: int) -> float:
    """Exact McNemar: 2·P(Bin(fixed + broken, ½) ≤ the smaller), at most 1; 1 where nothing was fixed or broken."""
    return min(1.0, 2 * float(bdtr(min(fixed, broken), fixed + broken, 0.5)))
