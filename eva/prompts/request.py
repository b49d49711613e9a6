"""Compiled prompt + record → request: values put in once, and a digest over everything that can change the answer."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from eva.errors import PromptError
from eva.prompts.blocks import block
from eva.prompts.template import PLACEHOLDER
from eva.types import CompiledPrompt, JudgeSpec, Request

DIGEST_VERSION = 1
"""Raised when what is sent changes although no input did; makes old stored replies miss."""


def fill_user(compiled: CompiledPrompt, values: Mapping[str, str]) -> str:
    """The user message: each `{{ name }}` line becomes the record's block, in one pass."""
    return PLACEHOLDER.sub(lambda match: block(match.group(1), values[match.group(1)]), compiled.user)


def record_values(judge: JudgeSpec, found: Mapping[str, str | None], *, record_id: str) -> dict[str, str]:
    """Text for each of the judge's variables: the record's own, or the text declared to stand for it.

    Raises PromptError that lists what the record lacks and no default covers.
    """
    values: dict[str, str] = {}
    missing: list[str] = []
    for name in judge.variables:
        text = found.get(name)
        if text is None or not text.strip():
            text = judge.optional.get(name)
        if text is None:
            missing.append(name)
        else:
            values[name] = text
    if missing:
        raise PromptError(
            f"record {record_id!r} has no {', '.join(missing)}, which judge {judge.name!r} needs. Add it to the record's context, "
            f"or declare under `optional:` in conf/judge/{judge.name}.yaml what shall stand for it."
        )
    return values


def build_request(
    compiled: CompiledPrompt,
    values: Mapping[str, str],
    *,
    record_id: str,
    model_identity: Mapping[str, Any],
    response_schema: Mapping[str, Any] | None,
    audio_sha256: str | None = None,
    audio_path: str | None = None,
) -> Request:
    """One request. `model_identity` holds the model's id and every parameter sent; never paths, keys, limits or time-outs."""
    messages = (
        {"role": "system", "content": compiled.system},
        {"role": "user", "content": fill_user(compiled, values)},
    )
    identity = {
        "version": DIGEST_VERSION,
        "messages": messages,
        "model": dict(model_identity),
        # As text: the order of a schema's properties is the order in which a constrained model answers.
        "schema": None if response_schema is None else json.dumps(response_schema),
        "audio": audio_sha256,
    }
    return Request(
        record_id=record_id,
        messages=messages,
        digest=digest_of(identity),
        response_schema=response_schema,
        audio_sha256=audio_sha256,
        audio_path=audio_path,
    )


def digest_of(value: Any) -> str:
    """sha256 of canonical JSON: keys sorted, no blanks, ASCII; the same on every machine."""
    text = json.dumps(value, sort_keys=True, ensure_ascii=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(text.encode("ascii")).hexdigest()
