"""The words for what a difference means: chosen here, explained here, printed with their meaning everywhere."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from eva.metrics.results_base import Estimate, VerdictWord

ALPHA: Final = 0.05

VERDICT_MEANINGS: Final[Mapping[VerdictWord, str]] = {
    "better": "the 95% interval of the change lies on the good side of 0, and the permutation test agrees (p ≤ 0.05)",
    "worse": "the 95% interval of the change lies on the bad side of 0, and the permutation test agrees (p ≤ 0.05)",
    "moved": "the change is not chance (interval off 0, p ≤ 0.05), and neither direction is better by itself",
    "same": "two one-sided tests say that the change is smaller than the margin, either way (p ≤ 0.05)",
    "cannot tell": "this dataset shows neither a change nor that it is within the margin; not the same as no change",
    "not measured": "the statistic is undefined in one of the two runs",
}


def word(
    difference: Estimate, *, p_value: float | None, equivalent: bool | None, higher_is_better: bool | None
) -> VerdictWord:
    """The verdict on one difference.

    A change counts as shown when its interval leaves 0 out *and* the permutation p is at most 0.05: the bootstrap
    alone calls "five fixed, none broken" a change, the exact test (p = 0.0625) does not. `equivalent` says whether
    |change| is shown to be below the margin; a change that is both shown and within the margin is named by its
    direction. Without an interval or a p nothing is shown.
    """
    if difference.value is None:
        return "not measured"
    if difference.low is None or difference.high is None or p_value is None:
        return "cannot tell"
    if p_value <= ALPHA and (difference.low > 0 or difference.high < 0):
        if higher_is_better is None:
            return "moved"
        return "better" if (difference.value > 0) == higher_is_better else "worse"
    return "same" if equivalent else "cannot tell"
