"""What the difference of two arms is made of: both arms' sums, resampled and swapped together, and what counts in it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from eva.metrics import power
from eva.metrics.intervals import Ends
from eva.metrics.measures import TINY
from eva.metrics.resample import Resampled, SignFlips, flip_signs, resample_clusters
from eva.metrics.results import Estimate
from eva.metrics.tallies import Tally
from eva.metrics.votes import Floats


@dataclass(frozen=True)
class Paired:
    """Both arms' sums per cluster, over the same items, resampled together and with arms swapped."""

    before: Tally
    after: Tally
    resampled: Resampled
    """Of all columns, before then after."""
    flips: SignFlips
    repeats: int
    """The smaller number of the two arms."""

    def split(self, sums: Floats) -> tuple[Floats, Floats]:
        """Columns (…, before and after) as those of each arm."""
        width = self.before.sums.shape[1]
        return sums[..., :width], sums[..., width:]


@dataclass(frozen=True)
class PairedMean:
    """after − before of a statistic that is a mean over the same items in both arms, as (G, 2): total, items."""

    by_item: Floats
    """Item first: which clusters changed, and which way."""
    linear: Floats
    """Its ratio is the difference exactly, its clustered SE that of the difference (`Cells.linear_sums`)."""


def pair_up(before: Tally, after: Tally, *, repeats: int, resamples: int, rng: np.random.Generator) -> Paired:
    """Resample both arms' sums by cluster, all repeats and both arms of a cluster together."""
    both = np.concatenate([before.sums, after.sums], axis=1)
    return Paired(
        before=before,
        after=after,
        resampled=resample_clusters(both, resamples=resamples, rng=rng),
        flips=flip_signs(before, after, resamples=resamples, rng=rng),
        repeats=repeats,
    )


@dataclass(frozen=True)
class Basis:
    """What one statistic's difference rests on."""

    paired: Paired
    counted: Floats
    mean: PairedMean | None
    scale: float

    @property
    def items(self) -> int:
        return round(float(self.counted.sum()))

    @property
    def clusters(self) -> int:
        """Those with a counted item: the statistic's own number, whose t and whose signs are used."""
        return int((self.counted > 0).sum())

    def changed(self) -> tuple[int, int]:
        """Clusters that went up and that went down, item first."""
        totals = np.zeros(0) if self.mean is None else self.mean.by_item[:, 0]
        return int((totals > TINY).sum()), int((totals < -TINY).sum())

    @property
    def few(self) -> bool:
        return self.mean is not None and sum(self.changed()) < power.FEW

    def effective_clusters(self) -> int:
        """Clusters of unlike sizes count as n² / Σ n_g² equal ones (Kish): one with half of the items is half of the data."""
        return max(1, int(self.counted.sum() ** 2 / (self.counted**2).sum())) if self.items else 1

    def estimate(self, value: float | None, *, ends: Ends) -> Estimate:
        return Estimate(
            value,
            ends.low,
            ends.high,
            n_items=self.items,
            n_clusters=self.clusters,
            repeats=self.paired.repeats,
            method=f"paired, {ends.method}" if ends.method else "",
            note=ends.note,
        )
