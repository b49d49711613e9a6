"""Requests and models for tests against the stub."""

from __future__ import annotations

import hashlib
import json
import random
from collections.abc import Sequence
from typing import Any

from eva.edges.limits import Limits
from eva.types import ModelSpec, Request

SCHEMA = {
    "type": "object",
    "properties": {"rating": {"type": "integer", "enum": [1, 2, 3]}, "explanation": {"type": "string"}},
    "required": ["rating", "explanation"],
    "additionalProperties": False,
}


def make_request(record: str, *, text: str = "", schema: dict[str, Any] | None = None) -> Request:
    """A request whose prompt names its record, as the stub looks for it."""
    messages = (
        {"role": "system", "content": "Rate the conversation from 1 to 3."},
        {"role": "user", "content": f"record={record} {text}"},
    )
    digest = hashlib.sha256(json.dumps([messages, schema]).encode()).hexdigest()
    return Request(record_id=record, messages=messages, digest=digest, response_schema=schema)


def make_requests(count: int) -> tuple[Request, ...]:
    """r0, r1, …"""
    return tuple(make_request(f"r{number}") for number in range(count))


def stub_spec(url: str, **changes: Any) -> ModelSpec:
    """An endpoint model at the stub, quick to give up."""
    values: dict[str, Any] = {
        "name": "stub", "kind": "endpoint", "id": "stub", "api_base": url, "concurrency": 8, "timeout_s": 20.0,
        "max_attempts": 3, "send_seed": True, "params": {"max_tokens": 100},
    }  # fmt: skip
    return ModelSpec(**{**values, **changes})


def quick_limits(spec: ModelSpec, **changes: Any) -> Limits:
    """Limits that wait milliseconds where real ones wait seconds."""
    return Limits(spec, first_backoff_s=0.01, rng=random.Random(0), **changes)


def labels(replies: Sequence[Any]) -> list[tuple[str, int, str | None]]:
    """What a run is about: (record, repeat, text)."""
    return [(reply.record_id, reply.repeat, reply.text) for reply in replies]
