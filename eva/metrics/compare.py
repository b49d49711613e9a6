"""Two arms of one judge: what a change did, and how sure we are."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from eva.metrics.ceiling import ceiling
from eva.metrics.flips import find_flips
from eva.metrics.frame import matrix_from_rows
from eva.metrics.headline import all_differences
from eva.metrics.noise import noise_floor
from eva.metrics.pairing import Pair, align, pair_arms
from eva.metrics.parts import flag_differences, slice_differences
from eva.metrics.results import Comparison
from eva.metrics.shift import arms_shift
from eva.metrics.slices import FAMILIES
from eva.metrics.summary import RESAMPLES


def compare(
    before: pd.DataFrame,
    after: pd.DataFrame,
    *,
    labels: Sequence[str],
    values: Sequence[float] | None,
    rng: np.random.Generator,
    margin: float,
    resamples: int = RESAMPLES,
    slices: Sequence[str] = FAMILIES,
    rerun: pd.DataFrame | None = None,
) -> Comparison:
    """Compare two arms from their verdict rows (columns in `eva.metrics.frame`), item by item on the common items.

    Args:
        labels, values: the judge's scale, worst first; values None off ordinal scales.
        rng: all randomness comes from here (`rng_for(both identities)`): same rows, same numbers.
        margin: changes below it do not matter, as a share (0.03 is 3 points); times the range for scores.
        resamples: of the headline; slices take at most 2,000.
        slices: families, of `eva.metrics.slices.FAMILIES`.
        rerun: verdict rows of the before arm's prompt once more: the A/A floor is then taken between the two runs.

    Arms may have unlike numbers of repeats; repeats are never paired. Works without gold labels (mean score first).
    No common item: everything is None or empty, and a warning says so. Raises DataError where rows contradict the scale.
    """
    pair = pair_arms(before, after, labels=labels, values=values)
    again = None if rerun is None else align(matrix_from_rows(rerun, labels, values), pair.before)
    flips, counts = find_flips(before, after, pair=pair)
    return Comparison(
        **_sizes(pair),
        differences=all_differences(pair, margin=margin, rng=rng, resamples=resamples),
        flips=flips,
        counts=counts,
        floor=noise_floor(pair, rng=rng, resamples=resamples, rerun=again),
        flags=flag_differences(before, after, pair=pair, rng=rng, resamples=resamples),
        slices=slice_differences(pair, families=slices, margin=margin, rng=rng, resamples=resamples),
        ceiling=ceiling(pair.items, pair.after, rng=rng, resamples=resamples),
        warnings=pair.warnings,
        shift=arms_shift(pair),
    )


def _sizes(pair: Pair) -> dict[str, int]:
    return {
        "n_items": pair.before.n_items,
        "n_clusters": pair.before.n_clusters,
        "only_before": pair.only_before,
        "only_after": pair.only_after,
    }
