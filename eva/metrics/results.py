"""What metrics hand out: no bare numbers. Everything here becomes strict JSON by `dataclasses.asdict`.

Shares are in [0, 1]; an undefined number is None with the reason in `note`, never NaN and never 0.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from eva.metrics.results_base import Ceiling, Estimate, FlipKind, LabelShift, Spread, VerdictWord
from eva.metrics.results_compared import (
    Comparison,
    Difference,
    FlagDifference,
    Flip,
    FlipCounts,
    NoiseFloor,
    SliceDifference,
)
from eva.metrics.verdict import VERDICT_MEANINGS

__all__ = [
    "VERDICT_MEANINGS",
    "Baseline",
    "Ceiling",
    "ClassScores",
    "Comparison",
    "Difference",
    "Estimate",
    "FlagDifference",
    "FlagScores",
    "Flip",
    "FlipCounts",
    "FlipKind",
    "LabelShift",
    "Noise",
    "NoiseFloor",
    "RepeatScores",
    "Slice",
    "SliceDifference",
    "Spread",
    "Summary",
    "VerdictWord",
]


@dataclass(frozen=True)
class ClassScores:
    label: str
    support: int
    """Gold items of this class (per repeat)."""
    predicted: int
    precision: float | None
    recall: float | None
    f1: float | None
    """None where the class has no gold items: left out of the macro average."""


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
    """How many classes of the scale the macro average is over: those with gold items."""
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
    """Items of the part; each estimate has its own denominator, by which its point is hidden."""
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
    """Its value is `accuracy.mean`; cluster bootstrap of the mean over repeats, as all intervals here."""
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
    ceiling: Ceiling | None = None
    drift: LabelShift | None = None
    """People against judge: is the judge lenient or harsh? None without gold labels."""
