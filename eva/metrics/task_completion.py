"""Task completion of speech-to-speech models: eligibility of the conversation first, the final tool call's status second."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from eva.metrics.intervals import rate_estimate
from eva.metrics.resample import resample_clusters
from eva.metrics.results_base import Estimate
from eva.metrics.results_benchmarks import Completion, TaskCompletion
from eva.metrics.tallies import means_by_cluster
from eva.metrics.votes import NO_VERDICT, modal_of, said_by

ELIGIBLE: Final = "eligible"
SUCCESS: Final = "success"
FAILURE: Final = "model_failure"
RESAMPLES: Final = 10_000

Score = Literal["eligible", "all"]


@dataclass(frozen=True)
class _Table:
    """One row a conversation that both judges were asked about."""

    records: tuple[str, ...]
    clusters: NDArray[np.int64]
    eligibility: NDArray[np.object_]
    """The modal verdict by name (`eva.metrics.votes.modal_of`)."""
    shares: Mapping[str, NDArray[np.float64]]
    """Status label, NO_VERDICT among them → share of the conversation's repeats."""
    repeats: int
    groups: Mapping[str, NDArray[np.object_]]
    """`domain` and `model` of each conversation."""


def task_completion(
    eligibility: pd.DataFrame,
    status: pd.DataFrame,
    *,
    rng: np.random.Generator,
    score: Score = "eligible",
    models: Mapping[str, str] | None = None,
    resamples: int = RESAMPLES,
) -> TaskCompletion:
    """Put both judges' verdict rows together by conversation.

    Args:
        eligibility, status: verdict rows of the two judges (one item a conversation), any number of repeats.
        score: `eligible` scores conversations that most repeats of the first judge call eligible, `all` every one.
        models: record id → model under test.

    Strict rate: mean over scored conversations of the share of repeats that say success. Lenient: of success among
    success and failure, over conversations with either. Intervals are by scenario (`cluster`). A reply that could not
    be read counts like `unverifiable`: against in strict, left out in lenient. Conversations that one judge only was
    asked about are left out, and counted in the notes.
    """
    table, notes = _table(eligibility, status, models=models or {})
    chosen = np.ones(len(table.records), np.bool_) if score == "all" else table.eligibility == ELIGIBLE
    everything = np.ones(len(table.records), np.bool_)
    overall = _completion(table, everything, chosen=chosen, by="all", value="", rng=rng, resamples=resamples)
    parts = [
        _completion(table, column == value, chosen=chosen, by=by, value=value, rng=rng, resamples=resamples)
        for by, column in table.groups.items()
        for value in sorted(set(column) - {""})
        if len(set(column)) > 1
    ]
    return TaskCompletion(score=score, overall=overall, parts=tuple(parts), both=_both(table), notes=notes)


def _table(
    eligibility: pd.DataFrame, status: pd.DataFrame, *, models: Mapping[str, str]
) -> tuple[_Table, tuple[str, ...]]:
    first, second = _by_record(eligibility), _by_record(status)
    records = sorted(set(first) & set(second))
    facts = status.drop_duplicates("record_id").set_index("record_id").loc[records]
    said = [second[record] for record in records]
    names = sorted({name or NO_VERDICT for labels in said for name in labels} | {SUCCESS, FAILURE})
    _, clusters = np.unique(facts["cluster"].astype(str).to_numpy(dtype=object), return_inverse=True)
    domains = facts["domain"].fillna("").astype(str) if "domain" in facts else pd.Series("", index=facts.index)
    table = _Table(
        records=tuple(records),
        clusters=clusters.astype(np.int64),
        eligibility=np.array([modal_of(first[record])[0] for record in records], dtype=object),
        shares={name: np.array([_share(labels, name) for labels in said], np.float64) for name in names},
        repeats=int(status["repeat"].nunique()),
        groups={
            "domain": domains.to_numpy(dtype=object),
            "model": np.array([models.get(record, "") for record in records], dtype=object),
        },
    )
    lost = (len(set(first) - set(second)), len(set(second) - set(first)))
    notes = (
        (f"{lost[0]} conversations have no status verdict, {lost[1]} no eligibility verdict: left out",)
        if any(lost)
        else ()
    )
    return table, notes


def _by_record(rows: pd.DataFrame) -> dict[str, list[str | None]]:
    """Record → what each repeat says; None for a failure."""
    found: dict[str, list[str | None]] = {}
    cells: Any = zip(rows["record_id"], rows["label"], rows["failure"], strict=True)
    for record, label, failure in cells:
        found.setdefault(str(record), []).append(said_by(label, failure))
    return found


def _share(said: Sequence[str | None], name: str) -> float:
    return said.count(None if name == NO_VERDICT else name) / len(said)


def _completion(
    table: _Table,
    inside: NDArray[np.bool_],
    *,
    chosen: NDArray[np.bool_],
    by: str,
    value: str,
    rng: np.random.Generator,
    resamples: int,
) -> Completion:
    scored = inside & chosen
    success, failure = table.shares[SUCCESS], table.shares[FAILURE]
    decided = success + failure
    lenient = np.divide(success, decided, out=np.zeros_like(success), where=decided > 0)
    means = means_by_cluster(
        [("strict", success, scored), ("lenient", lenient, scored & (decided > 0))], table.clusters
    )
    resampled = resample_clusters(means.sums, resamples=resamples, rng=rng)

    def rate(name: str) -> Estimate:
        return rate_estimate(resampled, means.compute(name), sums=means.of(name), repeats=table.repeats)

    return Completion(
        by=by,
        value=value,
        conversations=int(inside.sum()),
        eligibility=dict(sorted(Counter(table.eligibility[inside]).items())),
        scored=int(scored.sum()),
        status={name: float(share[scored].sum()) for name, share in table.shares.items() if share[scored].any()},
        strict=rate("strict"),
        lenient=rate("lenient"),
    )


def _both(table: _Table) -> Mapping[str, Mapping[str, float]]:
    return {
        label: {
            name: float(share[table.eligibility == label].sum())
            for name, share in table.shares.items()
            if share[table.eligibility == label].any()
        }
        for label in sorted(set(table.eligibility))
    }
