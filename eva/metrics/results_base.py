"""What results of one arm and of two arms share."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
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
class Ceiling:
    """What people reach among themselves, where items carry two labels."""

    items: int
    human_human: Estimate
    judge_human: Estimate
    kappa_human_human: float | None
    alt_test: Mapping[str, float] | None = None
    """winning_rate, advantage_probability, annotators, epsilon; None below 30 items or with one annotator."""


@dataclass(frozen=True)
class LabelShift:
    """Whether the distribution of labels differs: before and after, or people and judge."""

    labels: tuple[str, ...]
    before: tuple[float, ...]
    """Share of each label (people, where judge and people are compared); empty without items."""
    after: tuple[float, ...]
    statistic: float | None
    """Stuart–Maxwell's chi-square, clusters as wholes."""
    degrees: int
    p_value: float | None
    n_items: int
    note: str = ""
