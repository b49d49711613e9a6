"""What a comparison of two arms hands out. Import these names from `eva.metrics.results`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from eva.metrics.results_base import Ceiling, Estimate, FlipKind, LabelShift, Spread, VerdictWord


@dataclass(frozen=True)
class Difference:
    """after − before of one statistic, paired by item."""

    statistic: str
    before: float | None
    """Mean over repeats of the repeat's own value: the mean of `before_spread`. Intervals and permutations are of the same
    mean, and `difference.value` is after − before exactly."""
    after: float | None
    difference: Estimate
    p_value: float | None
    """Sign-flip permutation by cluster."""
    smallest_visible: float | None
    """The smallest change that this dataset can show (80% power, 5% two-sided)."""
    items_needed: int | None
    """Items like these that would show the observed difference."""
    verdict: VerdictWord
    margin: float | None = None
    within_one_std: bool | None = None
    """|difference| of run means ≤ the larger run-to-run std: the criterion of old, printed for comparison only."""
    p_adjusted: float | None = None
    """Over the family that this difference belongs to (slices); the verdict word then rests on it."""
    higher_is_better: bool | None = True
    difference_t: Estimate | None = None
    """The second opinion where the statistic is a mean over items: clustered t."""
    equivalent: bool | None = None
    """Two one-sided tests say |change| < margin. Beside `verdict`: a small change can be both real and within it."""
    before_spread: Spread | None = None
    """The same statistic per repeat of the before arm, on the items that it is compared on: mean, run-to-run std."""
    after_spread: Spread | None = None
    family: str = ""
    """How p_adjusted was made: `Holm over 3` or `Benjamini–Hochberg over 12`."""
    visible_note: str = ""
    """Why `smallest_visible` is None: `5 clusters, fewer than 6: no change of any size can be shown`."""
    needed_note: str = ""
    """Why `items_needed` is None: `no difference was seen`, `more than 10,000,000 items`."""


@dataclass(frozen=True)
class Flip:
    """An item whose modal verdict differs between the arms."""

    item_id: str
    kind: FlipKind
    gold: str | None
    before: str | None
    """Modal label; None where there is none (tie, no verdict)."""
    after: str | None
    before_votes: Mapping[str, int]
    """Label or failure kind -> repeats."""
    after_votes: Mapping[str, int]
    severity: float
    """Sort key: how far the vote shares moved away from gold; worst first."""


@dataclass(frozen=True)
class FlipCounts:
    fixed: int
    broken: int
    moved: int
    undecided: int
    up: int
    down: int
    unchanged: int
    mcnemar_p: float | None
    """Exact, on modal labels."""


@dataclass(frozen=True)
class NoiseFloor:
    """What moves when nothing changed: expected between two single repeats of one arm, set against before–after."""

    before: Estimate
    """Expected share of items that differ between two repeats of the before arm."""
    after: Estimate
    between: Estimate
    """Expected share that differ between one repeat of each arm."""
    excess: Estimate
    """between − mean of the two floors, by paired cluster bootstrap."""
    up: float | None
    down: float | None
    """Moves before -> after, expected number of items, one repeat each; None off ordinal scales."""
    floor_up: float | None
    floor_down: float | None
    """The same between two repeats of one arm, mean of the arms that have two; None where neither has."""


@dataclass(frozen=True)
class FlagDifference:
    flag: str
    before_items: float
    after_items: float
    before_clusters: float
    after_clusters: float
    difference: Estimate
    """Of the rate over items."""
    before_precision: float | None = None
    after_precision: float | None = None
    before_recall: float | None = None
    after_recall: float | None = None
    p_value: float | None = None
    """Sign-flip permutation by cluster."""
    p_adjusted: float | None = None
    """Benjamini–Hochberg over all flags."""
    verdict: VerdictWord = "not measured"


@dataclass(frozen=True)
class SliceDifference:
    by: str
    value: str
    n_items: int
    """Items of the part that are in the statistic's denominator in both arms."""
    n_clusters: int
    difference: Difference


@dataclass(frozen=True)
class Comparison:
    """All that two arms say about one change."""

    n_items: int
    """Common items."""
    n_clusters: int
    only_before: int
    only_after: int
    differences: tuple[Difference, ...]
    """Headline first: accuracy, macro_f1, then the rest; without gold: mean_score first."""
    flips: tuple[Flip, ...]
    counts: FlipCounts
    floor: NoiseFloor
    flags: tuple[FlagDifference, ...] = ()
    slices: tuple[SliceDifference, ...] = ()
    ceiling: Ceiling | None = None
    warnings: tuple[str, ...] = ()
    """Ways in which the arms are unlike, in words; shown at the top."""
    shift: LabelShift | None = None
    """Did the distribution of labels move from before to after?"""
