"""Request + model + repeat → the body of an OpenAI-shaped chat call. The same for every kind that sends one."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from eva.edges.clients.contract import RecordFailure
from eva.types import Failure, ModelSpec, Request

BASE_SEED = 0
AUDIO_FORMATS = {".wav": "wav", ".mp3": "mp3", ".flac": "flac", ".ogg": "ogg", ".m4a": "m4a"}
LARGEST_AUDIO = 50 * 2**20
"""Bytes. Providers drop or refuse larger inline sound; better our words than a rating without hearing."""


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
        last["content"] = [{"type": "text", "text": last["content"]}, _sound(request)]
    return rows


def _sound(request: Request) -> dict[str, Any]:
    """The audio part. Raises RecordFailure where the file is absent, empty, too big, or not the digested one."""
    path = Path(request.audio_path or "")
    kind = AUDIO_FORMATS.get(path.suffix.lower())
    if kind is None:
        raise _bad_sound(path, f"is of no known kind; there are: {', '.join(sorted(AUDIO_FORMATS))}")
    try:
        data = path.read_bytes()
    except OSError as error:
        raise _bad_sound(path, f"cannot be read: {error.strerror}") from error
    if not data:
        raise _bad_sound(path, "is empty")
    if len(data) > LARGEST_AUDIO:
        raise _bad_sound(path, f"holds {len(data)} bytes; at most {LARGEST_AUDIO} are sent")
    if request.audio_sha256 is not None and hashlib.sha256(data).hexdigest() != request.audio_sha256:
        raise _bad_sound(path, "has changed since the run began")
    return {"type": "input_audio", "input_audio": {"data": base64.b64encode(data).decode("ascii"), "format": kind}}


def _bad_sound(path: Path, what: str) -> RecordFailure:
    return RecordFailure(Failure.BAD_REQUEST, f"audio file {path.name} {what}")


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
