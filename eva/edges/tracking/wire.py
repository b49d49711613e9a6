"""An item's trace in MLflow's own dictionary form (3.17), as plain data: what both writers of traces start from."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from eva.edges.tracking.items import ItemTrace, Opinion, preview, trace_id

KIND = "EVALUATOR"


@dataclass(frozen=True)
class Target:
    """Where the traces of one run belong."""

    experiment_id: str
    run_id: str
    """MLflow's id of the parent run."""
    eva_run_id: str
    judge: str
    model: str
    finished_ms: int
    prompt: tuple[str, int] | None = None
    """Name and version in the registry."""


@dataclass(frozen=True)
class WireOpinion:
    assessment_id: str
    name: str
    kind: str
    value: Any
    source_type: str
    source_id: str
    rationale: str | None
    metadata: Mapping[str, str]
    created_ms: int
    updated_ms: int


@dataclass(frozen=True)
class WireTrace:
    trace_id: str
    experiment_id: str
    name: str
    request_time_ms: int
    duration_ms: int
    state: str
    request_preview: str
    response_preview: str
    tags: Mapping[str, str]
    metadata: Mapping[str, str]
    tokens: tuple[int, int] | None
    cost_usd: float | None
    prompt: tuple[str, int] | None
    """Name and version in the registry."""
    span: Mapping[str, Any]
    """The one span in `Span.to_dict` form."""
    span_hex: str
    span_type: str
    opinions: tuple[WireOpinion, ...]


def wire(traces: Sequence[ItemTrace], target: Target) -> list[WireTrace]:
    """The traces, timed so that `newest first` is dataset order and ids are the same however often this is called."""
    return [_wire(trace, target, at=target.finished_ms - place) for place, trace in enumerate(traces)]


def _wire(trace: ItemTrace, target: Target, *, at: int) -> WireTrace:
    key = trace_id(target.run_id, trace.item_id)
    duration = round(1000 * (trace.seconds or 0.0))
    metadata = {"mlflow.sourceRun": target.run_id, "eva.run_id": target.eva_run_id}
    if trace.tokens is not None:
        metadata["mlflow.trace.tokenUsage"] = json.dumps(_usage(trace.tokens))
    if trace.cost_usd is not None:
        metadata["mlflow.trace.cost"] = json.dumps({"total_cost": trace.cost_usd})
    tags = dict(trace.tags)
    if target.prompt is not None:
        tags["mlflow.linkedPrompts"] = linked_prompts(*target.prompt)
    return WireTrace(
        trace_id=key,
        experiment_id=target.experiment_id,
        name=target.judge,
        request_time_ms=at,
        duration_ms=duration,
        state="OK" if trace.ok else "ERROR",
        request_preview=preview(trace.request),
        response_preview=preview(trace.response),
        tags=tags,
        metadata=metadata,
        tokens=trace.tokens,
        cost_usd=trace.cost_usd,
        prompt=target.prompt,
        span=_span(trace, target, key=key, at=at, duration=duration),
        span_hex=_span_id(key).hex(),
        span_type=KIND,
        opinions=tuple(_opinion(opinion, target, key=key, at=at) for opinion in trace.opinions),
    )


def blank_trace(
    key: str, experiment_id: str, *, name: str, request: str, shown: str, tags: Mapping[str, str], at: int
) -> WireTrace:
    """A trace that shows a request and nothing that was said about it: for blind review."""
    return WireTrace(
        trace_id=key,
        experiment_id=experiment_id,
        name=name,
        request_time_ms=at,
        duration_ms=0,
        state="OK",
        request_preview=shown,
        response_preview="",
        tags=tags,
        metadata={},
        tokens=None,
        cost_usd=None,
        prompt=None,
        span=_root(key, name, at=at, duration=0, ok=True, attributes={"mlflow.spanInputs": request}),
        span_hex=_span_id(key).hex(),
        span_type=KIND,
        opinions=(),
    )


def lines_kept(text: str) -> str:
    """The pages show text as Markdown, which joins lines; two blanks at a line's end keep them apart."""
    return text.replace("\n", "  \n")


def linked_prompts(name: str, version: int) -> str:
    """The value of the tag `mlflow.linkedPrompts` on runs and traces."""
    return json.dumps([{"name": name, "version": str(version)}])


def _span_id(key: str) -> bytes:
    return hashlib.sha256(key.encode()).digest()[:8]


def _usage(tokens: tuple[int, int]) -> dict[str, int]:
    return {"input_tokens": tokens[0], "output_tokens": tokens[1], "total_tokens": sum(tokens)}


def _span(trace: ItemTrace, target: Target, *, key: str, at: int, duration: int) -> dict[str, Any]:
    answer = {"label": trace.response, **trace.said}
    # The model's name is ours, not `mlflow.llm.model`: with that one MLflow imports litellm (4 s) to guess a cost.
    attributes: dict[str, Any] = {
        "mlflow.spanInputs": lines_kept(trace.request),
        "mlflow.spanOutputs": answer,
        "eva.model": target.model,
    }
    if trace.tokens is not None:
        attributes["mlflow.chat.tokenUsage"] = _usage(trace.tokens)
    return _root(key, target.judge, at=at, duration=duration, ok=trace.ok, attributes=attributes)


def _root(key: str, name: str, *, at: int, duration: int, ok: bool, attributes: Mapping[str, Any]) -> dict[str, Any]:
    """One root span in `Span.to_dict` form: ids in base64, attribute values dumped as JSON."""
    every = {"mlflow.traceRequestId": key, "mlflow.spanType": KIND, **attributes}
    return {
        "trace_id": base64.b64encode(bytes.fromhex(key.removeprefix("tr-"))).decode(),
        "span_id": base64.b64encode(_span_id(key)).decode(),
        "parent_span_id": None,
        "name": name,
        "start_time_unix_nano": at * 1_000_000,
        "end_time_unix_nano": (at + duration) * 1_000_000,
        "events": [],
        "status": {"code": "STATUS_CODE_OK" if ok else "STATUS_CODE_ERROR", "message": ""},
        "attributes": {name: json.dumps(value, ensure_ascii=False) for name, value in every.items()},
        "links": [],
    }


def _opinion(opinion: Opinion, target: Target, *, key: str, at: int) -> WireOpinion:
    digest = hashlib.sha256(f"{key}/{opinion.name}/{opinion.source_id}".encode()).hexdigest()
    return WireOpinion(
        assessment_id=f"a-{digest[:32]}",
        name=opinion.name,
        kind=opinion.kind,
        value=opinion.value,
        source_type=opinion.source_type,
        source_id=opinion.source_id,
        rationale=opinion.rationale or None,
        metadata={"mlflow.assessment.sourceRunId": target.run_id, "eva.run_id": target.eva_run_id},
        created_ms=at,
        updated_ms=at,
    )


def info_dict(trace: WireTrace) -> dict[str, Any]:
    """The trace without its span, in `TraceInfo.to_dict` form: what the public client takes."""
    return {
        "trace_id": trace.trace_id,
        "trace_location": {"type": "MLFLOW_EXPERIMENT", "mlflow_experiment": {"experiment_id": trace.experiment_id}},
        "request_time": _moment(trace.request_time_ms),
        "execution_duration_ms": trace.duration_ms,
        "state": trace.state,
        "request_preview": trace.request_preview,
        "response_preview": trace.response_preview,
        "trace_metadata": dict(trace.metadata),
        "tags": {**trace.tags, "mlflow.traceName": trace.name},
        "assessments": [_opinion_dict(opinion, trace.trace_id) for opinion in trace.opinions],
    }


def _opinion_dict(opinion: WireOpinion, key: str) -> dict[str, Any]:
    given = {
        "assessment_id": opinion.assessment_id,
        "assessment_name": opinion.name,
        "trace_id": key,
        "source": {"source_type": opinion.source_type, "source_id": opinion.source_id},
        "create_time": _moment(opinion.created_ms),
        "last_update_time": _moment(opinion.updated_ms),
        opinion.kind: {"value": opinion.value},
        "metadata": dict(opinion.metadata),
    }
    return given | ({"rationale": opinion.rationale} if opinion.rationale and opinion.kind == "feedback" else {})


def _moment(ms: int) -> str:
    return datetime.fromtimestamp(ms / 1000, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
