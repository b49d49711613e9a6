"""What the benchmarks' own scores hand out: task completion of speech-to-speech models, and the turn benchmark."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from eva.metrics.results_base import Estimate


@dataclass(frozen=True)
class Completion:
    """Task completion on all conversations, or on those of one domain or model under test."""

    by: str
    """`all`, `domain` or `model`."""
    value: str
    conversations: int
    eligibility: Mapping[str, int]
    """Label → conversations; `no verdict` and `no majority` among them."""
    scored: int
    status: Mapping[str, float]
    """Of the scored: label → conversations, mean over repeats; `no verdict` among them."""
    strict: Estimate
    """Success over all scored: unverifiable, and what could not be read, counts against."""
    lenient: Estimate
    """Success over success and failure: what could not be verified or read is left out."""


@dataclass(frozen=True)
class TaskCompletion:
    """Both judges' verdicts put together."""

    score: str
    """`eligible` or `all`: which conversations are scored."""
    overall: Completion
    parts: tuple[Completion, ...]
    """By domain and by model, where there are several."""
    both: Mapping[str, Mapping[str, float]]
    """Eligibility → status → conversations, whether scored or not."""
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class BenchmarkScores:
    """The turn benchmark on all conversations of one model under test, or on all together."""

    model: str
    """Empty for all together."""
    conversations: int
    turns: int
    """Scripted turns of all conversations: the denominator of every rate."""
    missing: float
    """Of these, turns that were never judged: they count as failed in every dimension."""
    strict: Estimate
    """Share of turns that pass in every scored dimension."""
    any_error: Estimate
    errors: Mapping[str, Estimate]
    """Dimension → share of turns that fail in it."""
    counts: Mapping[str, float]
    """Dimension → failed turns, mean over repeats; `any_error` among them."""
    turn_taking: Estimate
    """Share of turns whose timing failed, over turns with a timing: apart, never in `strict`."""
    reached_end: Estimate
    """Share of conversations with a verdict on the last scripted turn."""


@dataclass(frozen=True)
class TurnBenchmark:
    dimensions: tuple[str, ...]
    scripted: int
    """Turns of the script."""
    overall: BenchmarkScores
    models: tuple[BenchmarkScores, ...]
    """Best strict rate first; empty where there is one model."""
    runs: Mapping[str, float]
    """Conversation → its strict pass rate."""
    notes: tuple[str, ...] = ()
