"""Request + model + repeat → the body of an OpenAI-shaped chat call. The same for every kind that sends one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from eva.edges.clients.sound import sound_part
from eva.types import ModelSpec, Request

BASE_SEED = 0


def chat_body(request: Request, repeat: int, spec: ModelSpec) -> dict[str, Any]:
    """Messages, parameters, seed and reply contract, as JSON-ready values; `model` is left to the client."""
    body: dict[str, Any] = {"messages": messages(request), **spec.params}
    if spec.send_seed:
        body["seed"] = BASE_SEED + repeat + 1
    if spec.structured_output and request.response_schema is not None:
        schema = bounded(request.response_schema, spec.bounded_strings)
        body["response_format"] = {
            "type": "json_schema",
            "json_schema": {"name": "reply", "schema": schema, "strict": True},
        }
    return body


def messages(request: Request) -> list[dict[str, Any]]:
    """The request's messages; its sound, if it has one, becomes a part of the last."""
    rows = [dict(message) for message in request.messages]
    if request.audio_path is not None:
        last = rows[-1]
        last["content"] = [{"type": "text", "text": last["content"]}, sound_part(request)]
    return rows


def bounded(schema: Mapping[str, Any], limit: int | None) -> dict[str, Any]:
    """The schema with `maxLength` on every string that has none and is no enumeration; unchanged without a limit."""
    if limit is None:
        return dict(schema)
    return {key: _bounded_value(value, limit) for key, value in _with_length(schema, limit).items()}


def _with_length(schema: Mapping[str, Any], limit: int) -> dict[str, Any]:
    kind = schema.get("type")
    is_string = kind == "string" or (isinstance(kind, list) and "string" in kind)
    if is_string and not {"maxLength", "enum", "const", "pattern"} & set(schema):
        return {**schema, "maxLength": limit}
    return dict(schema)


def _bounded_value(value: Any, limit: int) -> Any:
    if isinstance(value, Mapping):
        return bounded(value, limit)
    if isinstance(value, (list, tuple)):
        return [_bounded_value(part, limit) for part in value]
    return value
