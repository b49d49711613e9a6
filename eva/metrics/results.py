"""What metrics hand out: no bare numbers. Everything here becomes strict JSON by `dataclasses.asdict`.

Shares are in [0, 1]; an undefined number is None with the reason in `note`, never NaN and never 0.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

VerdictWord = Literal["better", "worse", "same", "cannot tell", "moved", "not measured"]
FlipKind = Literal["fixed", "broken", "moved", "undecided", "up", "down"]


@dataclass(frozen=True)
class Estimate:
    """A number with what it rests on."""

    value: float | None
    low: float | None = None
    high: float | None = None
    """Ends of the 95% interval (level in `level`)."""
    n_items: int = 0
    n_clusters: int = 0
    repeats: int = 0
    method: str = ""
    level: float = 0.95
    note: str = ""


@dataclass(frozen=True)
class Spread:
    """Mean and run-to-run sample std (ddof = 1) of one number over repeats. Says how noisy the judge is, no more."""

    mean: float | None
    std: float | None
    """None with one repeat."""
    values: tuple[float | None, ...] = ()


@dataclass(frozen=True)
class ClassScores:
    label: str
    support: int
    """Gold items of this class (per repeat)."""
    predicted: int
    precision: float | None
    recall: float | None
    f1: float | None
    """None where the class has neither gold nor predicted items: left out of the macro average."""


@dataclass(frozen=True)
class RepeatScores:
    """The numbers of one repeat, as scikit-learn defines them."""

    repeat: int
    n: int
    """Items with a gold label that this repeat was asked for: the denominator."""
    n_correct: int
    accuracy: float | None
    macro_f1: float | None
    macro_classes: int
    """How many classes of the scale the macro average is over."""
    coverage: float | None
    """Share of the n with a label of the scale."""
    accuracy_readable: float | None
    """Among the readable only: the second number, never the headline."""
    per_class: tuple[ClassScores, ...]
    confusion: tuple[tuple[int, ...], ...]
    """Rows: gold labels, worst first. Columns: judge labels, worst first, then `no verdict`."""
    kappa: float | None = None
    weighted_kappa: float | None = None
    mae: float | None = None
    bias: float | None = None
    mean_score: float | None = None
    """Mean numeric label over all items with a label, gold or not; ordinal scales only."""


@dataclass(frozen=True)
class Baseline:
    """What a judge must beat."""

    name: str
    accuracy: float | None
    macro_f1: float | None
    note: str = ""


@dataclass(frozen=True)
class Noise:
    """How a judge agrees with itself over its repeats."""

    stability: Estimate
    """Mean over items of the share of repeats with the modal verdict."""
    self_agreement: Estimate
    """Chance that two repeats of an item agree, failures included."""
    alpha: float | None
    """Krippendorff's alpha between repeats (ordinal on ordinal scales)."""
    unstable_items: int
    """Items whose repeats differ."""


@dataclass(frozen=True)
class FlagScores:
    """One flag (failure mode, dimension) against labelled flags where they exist."""

    flag: str
    items: float
    """Items flagged, mean over repeats."""
    clusters: float
    rate: Estimate
    labelled: int | None = None
    precision: float | None = None
    recall: float | None = None


@dataclass(frozen=True)
class Slice:
    """The numbers of one part."""

    by: str
    """language, domain, class, rule, split, cluster size."""
    value: str
    n_items: int
    n_clusters: int
    accuracy: Estimate
    macro_f1: Estimate
    mean_score: Estimate


@dataclass(frozen=True)
class Summary:
    """All that one arm's numbers say."""

    labels: tuple[str, ...]
    n_items: int
    n_labelled: int
    n_clusters: int
    repeats: tuple[RepeatScores, ...]
    accuracy: Spread
    macro_f1: Spread
    accuracy_interval: Estimate
    """Item first, cluster bootstrap."""
    accuracy_interval_t: Estimate
    """The second opinion: clustered t."""
    macro_f1_interval: Estimate
    mean_score: Estimate
    per_class: tuple[ClassScores, ...]
    """Mean over repeats."""
    confusion: tuple[tuple[float, ...], ...]
    """Mean over repeats; last column: no verdict."""
    kappa: Estimate
    weighted_kappa: Estimate
    mae: Estimate
    bias: Estimate
    coverage: Estimate
    accuracy_readable: float | None
    failures: Mapping[str, int]
    """By kind, all repeats together."""
    failures_by_class: Mapping[str, Mapping[str, int]]
    failures_by_language: Mapping[str, Mapping[str, int]]
    over_answered: int
    """Verdicts with a label for items that people call not applicable, all repeats together."""
    noise: Noise
    baselines: tuple[Baseline, ...]
    flags: tuple[FlagScores, ...] = ()
    slices: tuple[Slice, ...] = ()
    broken_rules: Mapping[str, int] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Difference:
    """after − before of one statistic, paired by item."""

    statistic: str
    before: float | None
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
    higher_is_better: bool | None = True


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
    by_repeat: tuple[Mapping[str, float], ...] = ()


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
    up: float
    down: float
    """Moves before -> after, expected number of items, one repeat each."""
    floor_up: float
    floor_down: float


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


@dataclass(frozen=True)
class SliceDifference:
    by: str
    value: str
    n_items: int
    n_clusters: int
    difference: Difference


@dataclass(frozen=True)
class Ceiling:
    """What people reach among themselves, where items carry two labels."""

    items: int
    human_human: Estimate
    judge_human: Estimate
    kappa_human_human: float | None
    alt_test: Mapping[str, float] | None = None
    """winning_rate, advantage_probability, annotators, epsilon; None below 30 items or with one annotator."""


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
