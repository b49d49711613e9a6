"""after − before of any statistic, paired by item: interval, permutation p, what could be seen, and the word for it."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from eva.metrics import power
from eva.metrics.intervals import Ends, bootstrap, clustered_se, clustered_t
from eva.metrics.measures import TINY, Compute, Measure, to_optional
from eva.metrics.resample import Resampled, SignFlips, flip_signs, resample_clusters
from eva.metrics.results import Difference, Estimate, Spread
from eva.metrics.verdict import word
from eva.metrics.votes import Floats

FEW_CHANGED = "{} of {} clusters changed: too few to resample"


@dataclass(frozen=True)
class Paired:
    """Both arms' column sums per cluster, over the same items, resampled together and with arms swapped."""

    before: Floats
    """(G, F)"""
    after: Floats
    resampled: Resampled
    """Of the 2·F columns, before then after."""
    flips: SignFlips
    n_items: int
    repeats: int
    """The smaller number of the two arms."""


def pair_up(
    before: Floats, after: Floats, *, n_items: int, repeats: int, resamples: int, rng: np.random.Generator
) -> Paired:
    """Resample both arms' sums (G, F) by cluster, all repeats and both arms of a cluster together."""
    both = np.concatenate([before, after], axis=1)
    return Paired(
        before=before,
        after=after,
        resampled=resample_clusters(both, resamples=resamples, rng=rng),
        flips=flip_signs(before, after, resamples=resamples, rng=rng),
        n_items=n_items,
        repeats=repeats,
    )


def difference(
    paired: Paired,
    measure: Measure,
    *,
    margin: float,
    steps: float = 1.0,
    arms: tuple[Floats, Floats] | None = None,
    spreads: tuple[Spread, Spread] | None = None,
) -> Difference:
    """One statistic's change, with everything that a reader needs to judge it.

    Args:
        margin: differences below it do not matter, as a share (0.03 is 3 points).
        steps: the range of the scale; margins of statistics in steps of the scale are multiplied by it.
        arms: where the statistic is a mean over items, its own (G, 2) cluster sums in both arms: clustered t comes
            from them, and the exact bound where fewer than 5 clusters changed.
        spreads: the statistic per repeat of both arms, for the criterion of old.
    """
    gap = _gap(measure.compute, paired.before.shape[1])
    before, after = (to_optional(measure.compute(sums.sum(axis=0))) for sums in (paired.before, paired.after))
    found = _undefined(measure, before, after=after, paired=paired, spreads=spreads)
    if before is None or after is None:
        return found
    scale = steps if measure.unit == "score" else 1.0
    value, ends = after - before, _ends(paired, gap, arms=arms, scale=scale)
    estimate, p_value = _estimate(paired, value, ends=ends), _p_value(paired, measure.compute)
    same = _equivalent(paired, value, ends=ends, arms=arms, margin=margin * scale, scale=scale)
    visible = _visible(paired, ends, arms=arms, scale=scale)
    return replace(
        found,
        difference=estimate,
        p_value=p_value,
        smallest_visible=visible,
        items_needed=None if visible is None else power.items_needed(value, visible=visible, items=paired.n_items),
        verdict=word(estimate, p_value=p_value, equivalent=same, higher_is_better=measure.higher_is_better),
        margin=margin * scale,
        within_one_std=_within_one_std(spreads),
        difference_t=None if arms is None else clustered_t(_paired_sums(arms), repeats=paired.repeats),
        equivalent=same,
    )


def with_adjusted_p(found: Difference, p_adjusted: float | None, *, family: str) -> Difference:
    """The same difference as a member of a family: its verdict rests on the adjusted p."""
    verdict = word(
        found.difference, p_value=p_adjusted, equivalent=found.equivalent, higher_is_better=found.higher_is_better
    )
    return replace(found, p_adjusted=p_adjusted, family=family, verdict=verdict)


def _gap(compute: Compute, width: int) -> Compute:
    return lambda sums: compute(sums[..., width:]) - compute(sums[..., :width])


def _paired_sums(arms: tuple[Floats, Floats]) -> Floats:
    """(G, 2): sum of the item differences and number of items."""
    before, after = arms
    return np.column_stack([after[:, 0] - before[:, 0], before[:, 1]])


def _changed(arms: tuple[Floats, Floats]) -> tuple[int, int, int]:
    """Clusters that went up, that went down, and all that have items."""
    sums = _paired_sums(arms)
    return int((sums[:, 0] > TINY).sum()), int((sums[:, 0] < -TINY).sum()), int((sums[:, 1] > 0).sum())


def _differing(paired: Paired) -> int:
    """Clusters whose sums differ in any column."""
    return int((np.abs(paired.after - paired.before) > TINY).any(axis=1).sum())


def _few(arms: tuple[Floats, Floats] | None) -> bool:
    return arms is not None and sum(_changed(arms)[:2]) < power.FEW


def _ends(paired: Paired, gap: Compute, *, arms: tuple[Floats, Floats] | None, scale: float) -> Ends:
    """Bootstrap ends. Under 5 changed clusters: for means, bounds on how many may change each way; else none."""
    if arms is not None and _few(arms) and paired.resampled.n_clusters > 1:
        low, high = _bounds(arms, scale=scale, tail=0.025)
        return Ends(low, high, clustered_se(_paired_sums(arms)), f"exact bound, under {power.FEW} clusters changed")
    if arms is None and _differing(paired) < power.FEW and paired.resampled.n_clusters > 1:
        note = FEW_CHANGED.format(_differing(paired), paired.resampled.n_clusters)
        return Ends(None, None, None, "", note)
    return bootstrap(paired.resampled, gap)


def _bounds(arms: tuple[Floats, Floats], *, scale: float, tail: float) -> tuple[float, float]:
    """Ends of what may change each way, as shares of items; they always hold the change that was seen.

    Clusters of unlike sizes count as n² / Σ n_g² equal ones (Kish): one cluster with half of the items is half of the data.
    """
    up, down, _ = _changed(arms)
    sums = _paired_sums(arms)
    clusters = _effective_clusters(sums)
    seen = scale * float(sums[:, 0].sum() / sums[:, 1].sum())
    return (
        min(seen, -scale * power.most_that_may_change(down, clusters=clusters, tail=tail)),
        max(seen, scale * power.most_that_may_change(up, clusters=clusters, tail=tail)),
    )


def _effective_clusters(sums: Floats) -> int:
    return max(1, int(sums[:, 1].sum() ** 2 / (sums[:, 1] ** 2).sum()))


def _estimate(paired: Paired, value: float, *, ends: Ends) -> Estimate:
    return Estimate(
        value,
        ends.low,
        ends.high,
        n_items=paired.n_items,
        n_clusters=paired.resampled.n_clusters,
        repeats=paired.repeats,
        method=f"paired, {ends.method}" if ends.method else "",
        note=ends.note,
    )


def _undefined(
    measure: Measure,
    before: float | None,
    *,
    after: float | None,
    paired: Paired,
    spreads: tuple[Spread, Spread] | None,
) -> Difference:
    where = " and ".join(name for name, number in (("before", before), ("after", after)) if number is None)
    nothing = _estimate(paired, 0.0, ends=Ends(None, None, None, "", f"{where}: {measure.undefined}"))
    return Difference(
        statistic=measure.name,
        before=before,
        after=after,
        difference=replace(nothing, value=None),
        p_value=None,
        smallest_visible=None,
        items_needed=None,
        verdict="not measured",
        higher_is_better=measure.higher_is_better,
        before_spread=spreads[0] if spreads else None,
        after_spread=spreads[1] if spreads else None,
    )


def _p_value(paired: Paired, compute: Compute) -> float | None:
    """Share of sign patterns whose change is at least as large; +1 above and below where patterns were drawn.

    A pattern in which the statistic is undefined counts as larger. None under 2 clusters.
    """
    if paired.resampled.n_clusters < 2:
        return None
    seen = abs(float(compute(paired.after.sum(axis=0)) - compute(paired.before.sum(axis=0))))
    gaps = np.abs(compute(paired.flips.after) - compute(paired.flips.before))
    as_large = int((~(gaps < seen - TINY)).sum())
    return as_large / gaps.size if paired.flips.exact else (as_large + 1) / (gaps.size + 1)


def _equivalent(
    paired: Paired,
    value: float,
    *,
    ends: Ends,
    arms: tuple[Floats, Floats] | None,
    margin: float,
    scale: float,
) -> bool | None:
    clusters = paired.resampled.n_clusters
    if clusters < 2 or margin <= 0:
        return None
    if abs(value) > margin:
        return False
    if arms is not None and _few(arms):
        low, high = _bounds(arms, scale=scale, tail=0.05)
        return -margin < low and high < margin
    if not ends.se:
        return None
    p = power.equivalence_p(value, se=ends.se, margin=margin, clusters=clusters)
    return None if p is None else p <= power.ALPHA


def _visible(paired: Paired, ends: Ends, *, arms: tuple[Floats, Floats] | None, scale: float) -> float | None:
    clusters = paired.resampled.n_clusters
    if clusters < power.SHOWING:  # 2^-(5-1): no pattern of signs of five clusters has p ≤ .05
        return None
    if arms is not None and _few(arms):
        return min(1.0, power.SHOWING / _effective_clusters(_paired_sums(arms))) * scale
    se = clustered_se(_paired_sums(arms)) if arms is not None else ends.se
    return power.smallest_visible(se, clusters=clusters) if se else None


def _within_one_std(spreads: tuple[Spread, Spread] | None) -> bool | None:
    """|difference of run means| ≤ the larger run-to-run std; None where neither arm has a std."""
    if spreads is None or spreads[0].mean is None or spreads[1].mean is None:
        return None
    stds = [arm.std for arm in spreads if arm.std is not None]
    return abs(spreads[1].mean - spreads[0].mean) <= max(stds) if stds else None
