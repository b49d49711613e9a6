"""after − before of any statistic, paired by item: interval, permutation p, what could be seen, and the word for it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from eva.metrics import power
from eva.metrics.intervals import Ends, bootstrap, clustered_se, clustered_t
from eva.metrics.measures import TINY, Compute, Measure, over_repeats, ratio
from eva.metrics.paired import Basis, Paired, PairedMean
from eva.metrics.repeats import spread
from eva.metrics.results import Difference, Spread
from eva.metrics.verdict import word
from eva.metrics.votes import Floats

FEW_CHANGED = "{} of {} clusters changed: too few to resample"
TOO_FEW = f"{{}} cluster{{}}, fewer than {power.SHOWING}: no change of any size can be shown"


def difference(
    paired: Paired,
    measure: Measure,
    *,
    margin: float,
    counted: Floats,
    steps: float = 1.0,
    mean: PairedMean | None = None,
) -> Difference:
    """One statistic's change, with everything that a reader needs to judge it.

    Both sides are means over repeats of the repeats' own values, and so are all resamples and permutations; the
    difference is after − before exactly.

    Args:
        margin: differences below it do not matter, as a share (0.03 is 3 points).
        counted: (G,) items of each cluster that are in the statistic's denominator in both arms.
        steps: the range of the scale; margins of statistics in steps of the scale are multiplied by it.
        mean: where the statistic is a mean over items, its own sums: clustered t comes from them, and the exact bound
            where fewer than 5 clusters changed.
    """
    basis = Basis(paired, counted=counted, mean=mean, scale=steps if measure.unit == "score" else 1.0)
    spreads = spread(paired.before.values(measure.compute)), spread(paired.after.values(measure.compute))
    before, after = spreads[0].mean, spreads[1].mean
    found = _undefined(measure, basis, spreads=spreads)
    if before is None or after is None:
        return found
    value, ends = after - before, _ends(basis, measure.compute)
    estimate = basis.estimate(value, ends=replace(ends, note=_notes(ends.note, spreads)))
    p_value = _p_value(basis, measure.compute, seen=abs(value))
    same = _equivalent(basis, value, ends=ends, margin=margin * basis.scale)
    visible, why = _visible(basis, ends)
    needed, why_needed = (
        (None, why) if visible is None else power.items_needed(value, visible=visible, items=basis.items)
    )
    return replace(
        found,
        difference=estimate,
        p_value=p_value,
        smallest_visible=visible,
        visible_note=why,
        items_needed=needed,
        needed_note=why_needed,
        verdict=word(estimate, p_value=p_value, equivalent=same, higher_is_better=measure.higher_is_better),
        margin=margin * basis.scale,
        within_one_std=_within_one_std(spreads),
        difference_t=None if mean is None else clustered_t(mean.linear, repeats=paired.repeats),
        equivalent=same,
    )


def with_adjusted_p(found: Difference, p_adjusted: float | None, *, family: str) -> Difference:
    """The same difference as a member of a family: its verdict rests on the adjusted p."""
    verdict = word(
        found.difference, p_value=p_adjusted, equivalent=found.equivalent, higher_is_better=found.higher_is_better
    )
    return replace(found, p_adjusted=p_adjusted, family=family, verdict=verdict)


def _gap(paired: Paired, compute: Compute) -> Compute:
    before, after = (over_repeats(compute, tally.repeats) for tally in (paired.before, paired.after))

    def gap(sums: Floats) -> Floats:
        first, second = paired.split(sums)
        return after(second) - before(first)

    return gap


def _differing(paired: Paired) -> int:
    """Clusters whose sums differ in any column, an arm's repeats taken together."""
    return int((np.abs(paired.after.pooled() - paired.before.pooled()) > TINY).any(axis=1).sum())


def _ends(basis: Basis, compute: Compute) -> Ends:
    """Bootstrap ends. Under 5 changed clusters: for means, bounds on how many may change each way; else none."""
    if basis.mean is not None and basis.few and basis.clusters > 1:
        low, high = _bounds(basis, tail=0.025)
        return Ends(low, high, clustered_se(basis.mean.linear), f"exact bound, under {power.FEW} clusters changed")
    if basis.mean is None and _differing(basis.paired) < power.FEW and basis.clusters > 1:
        note = FEW_CHANGED.format(_differing(basis.paired), basis.clusters)
        return Ends(None, None, None, "", note)
    return bootstrap(basis.paired.resampled, _gap(basis.paired, compute), groups=basis.clusters)


def _bounds(basis: Basis, *, tail: float) -> tuple[float, float]:
    """Ends of what may change each way, as shares of items; they always hold the change that was seen."""
    up, down = basis.changed()
    clusters, scale = basis.effective_clusters(), basis.scale
    seen = 0.0 if basis.mean is None else float(ratio(basis.mean.linear.sum(axis=0)))
    return (
        min(seen, -scale * power.most_that_may_change(down, clusters=clusters, tail=tail)),
        max(seen, scale * power.most_that_may_change(up, clusters=clusters, tail=tail)),
    )


def _notes(note: str, spreads: tuple[Spread, Spread]) -> str:
    """With the repeats that have no value, which the means leave out."""
    found = [note] if note else []
    for name, one in zip(("before", "after"), spreads, strict=True):
        lost = sum(value is None for value in one.values)
        if lost:
            found.append(f"undefined in {lost} of {len(one.values)} repeats {name}, which are left out")
    return "; ".join(found)


def _undefined(measure: Measure, basis: Basis, *, spreads: tuple[Spread, Spread]) -> Difference:
    sides = zip(("before", "after"), spreads, strict=True)
    where = " and ".join(name for name, one in sides if one.mean is None)
    why = f"{where}: {measure.undefined}"
    return Difference(
        statistic=measure.name,
        before=spreads[0].mean,
        after=spreads[1].mean,
        difference=basis.estimate(None, ends=Ends(None, None, None, "", why)),
        p_value=None,
        smallest_visible=None,
        items_needed=None,
        verdict="not measured",
        higher_is_better=measure.higher_is_better,
        before_spread=spreads[0],
        after_spread=spreads[1],
        visible_note=why,
        needed_note=why,
    )


def _p_value(basis: Basis, compute: Compute, *, seen: float) -> float | None:
    """Share of sign patterns whose change is at least as large; +1 above and below where patterns were drawn.

    A pattern in which the statistic is undefined counts as larger. None under 2 clusters.
    """
    if basis.clusters < 2:
        return None
    gaps = np.abs(basis.paired.flips.gaps(compute))
    as_large = int((~(gaps < seen - TINY)).sum())
    return as_large / gaps.size if basis.paired.flips.exact else (as_large + 1) / (gaps.size + 1)


def _equivalent(basis: Basis, value: float, *, ends: Ends, margin: float) -> bool | None:
    if basis.clusters < 2 or margin <= 0:
        return None
    if abs(value) > margin:
        return False
    if basis.few:
        low, high = _bounds(basis, tail=0.05)
        return -margin < low and high < margin
    if not ends.se:
        return None
    p = power.equivalence_p(value, se=ends.se, margin=margin, clusters=basis.clusters)
    return None if p is None else p <= power.ALPHA


def _visible(basis: Basis, ends: Ends) -> tuple[float | None, str]:
    """The smallest visible change, or None and why."""
    if basis.clusters < power.SHOWING:  # 2^-(5-1): no pattern of signs of five clusters has p ≤ .05
        return None, TOO_FEW.format(basis.clusters, "" if basis.clusters == 1 else "s")
    if basis.few:
        return min(1.0, power.SHOWING / basis.effective_clusters()) * basis.scale, ""
    se = clustered_se(basis.mean.linear) if basis.mean is not None else ends.se
    visible = power.smallest_visible(se, clusters=basis.clusters) if se else None
    return visible, "" if visible is not None else (ends.note or "no standard error")


def _within_one_std(spreads: tuple[Spread, Spread]) -> bool | None:
    """|difference of run means| ≤ the larger run-to-run std; None where neither arm has a std."""
    if spreads[0].mean is None or spreads[1].mean is None:
        return None
    stds = [arm.std for arm in spreads if arm.std is not None]
    return abs(spreads[1].mean - spreads[0].mean) <= max(stds) if stds else None
