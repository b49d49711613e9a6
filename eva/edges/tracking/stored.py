"""What is read back from MLflow, as plain data: nothing outside `client.py` sees an MLflow object."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class StoredRun:
    """One MLflow run."""

    run_id: str
    name: str
    status: str
    start_ms: int
    tags: Mapping[str, str]
    params: Mapping[str, str]
    metrics: Mapping[str, float]
    experiment_id: str = ""


@dataclass(frozen=True)
class StoredOpinion:
    """One assessment as it lies in MLflow, ours or a person's."""

    name: str
    kind: str
    """expectation or feedback."""
    value: Any
    source_type: str
    source_id: str
    rationale: str
    metadata: Mapping[str, str]
    created_ms: int
    updated_ms: int
    valid: bool
    """False where a later one overrides it."""
    overrides: str | None
    assessment_id: str


@dataclass(frozen=True)
class StoredTrace:
    """One trace with its assessments."""

    trace_id: str
    experiment_id: str
    run_id: str | None
    tags: Mapping[str, str]
    request: str
    response: str
    opinions: tuple[StoredOpinion, ...]


@dataclass(frozen=True)
class StoredPrompt:
    """One version in the prompt registry."""

    name: str
    version: int
    tags: Mapping[str, str]


def by_person(opinion: StoredOpinion) -> bool:
    """Added by somebody, or one of ours that somebody edited; not one that a later opinion overrides."""
    ours = "eva.run_id" in opinion.metadata
    edited = opinion.updated_ms != opinion.created_ms
    return opinion.valid and opinion.value is not None and (edited if ours else opinion.source_type == "HUMAN")


def run_of(run: Any) -> StoredRun:
    """From an MLflow `Run`."""
    info, data = run.info, run.data
    return StoredRun(
        run_id=info.run_id,
        name=info.run_name or "",
        status=info.status,
        start_ms=info.start_time,
        tags=dict(data.tags),
        params=dict(data.params),
        metrics=dict(data.metrics),
        experiment_id=info.experiment_id,
    )


def trace_of(info: Any) -> StoredTrace:
    """From an MLflow `TraceInfo`."""
    return StoredTrace(
        trace_id=info.trace_id,
        experiment_id=info.experiment_id,
        run_id=info.trace_metadata.get("mlflow.sourceRun"),
        tags=dict(info.tags),
        request=info.request_preview or "",
        response=info.response_preview or "",
        opinions=tuple(_opinion(row) for row in info.assessments),
    )


def _opinion(row: Any) -> StoredOpinion:
    held = row.expectation if row.expectation is not None else row.feedback
    return StoredOpinion(
        name=row.name,
        kind="expectation" if row.expectation is not None else "feedback",
        value=None if held is None else held.value,
        source_type=row.source.source_type,
        source_id=row.source.source_id or "",
        rationale=row.rationale or "",
        metadata=dict(row.metadata or {}),
        created_ms=row.create_time_ms,
        updated_ms=row.last_update_time_ms,
        valid=row.valid is not False,
        overrides=row.overrides,
        assessment_id=row.assessment_id or "",
    )
