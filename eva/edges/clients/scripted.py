"""A model made of code: answers from a function or a table, and counts what it was asked. For tests and dry walks."""

from __future__ import annotations

import asyncio
import json
import random
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from eva.types import ModelSpec, Reply, Request, Usage

Answer = str | Reply | Exception
Script = Callable[[Request, int], Answer] | Mapping[tuple[str, int], Answer]


class ScriptedClient:
    """Answers by `script`: a function of (request, repeat), or a table by (record id, repeat).

    An answer is a text, a Reply (its record, repeat and digest are filled in), or an exception to raise. Without a
    script, `model.params.text` is the answer to everything; without that too, a made-up reply that fits the request's
    schema, drawn from (digest, repeat), so that a whole run can be walked without a model.
    """

    def __init__(self, spec: ModelSpec, *, script: Script | None = None, latency_s: float | None = None) -> None:
        self._spec = spec
        self._script = script
        self._latency_s = float(spec.params.get("latency_s", 0.0)) if latency_s is None else latency_s
        self.asked: list[tuple[str, int]] = []
        """Every attempt in order: (record id, repeat)."""
        self.in_flight = 0
        self.most_in_flight = 0

    @property
    def counts(self) -> Counter[tuple[str, int]]:
        """Attempts by (record id, repeat)."""
        return Counter(self.asked)

    async def ask(self, request: Request, repeat: int) -> Reply:
        """The scripted answer. Raises what the script holds."""
        self.asked.append((request.record_id, repeat))
        self.in_flight += 1
        self.most_in_flight = max(self.most_in_flight, self.in_flight)
        try:
            await asyncio.sleep(self._latency_s)
        finally:
            self.in_flight -= 1
        answer = self._answer(request, repeat)
        if isinstance(answer, Exception):
            raise answer
        if isinstance(answer, Reply):
            return replace(answer, record_id=request.record_id, repeat=repeat, digest=request.digest)
        return Reply(
            record_id=request.record_id,
            repeat=repeat,
            digest=request.digest,
            text=answer,
            finish_reason="stop",
            model=self._spec.id,
            usage=Usage(input_tokens=_words(request), output_tokens=len(answer.split())),
            latency_s=self._latency_s,
            client="scripted",
        )

    async def close(self) -> None:
        """Nothing to give back."""

    def _answer(self, request: Request, repeat: int) -> Answer:
        if callable(self._script):
            return self._script(request, repeat)
        if self._script is not None:
            return self._script[(request.record_id, repeat)]
        if "text" in self._spec.params:
            return str(self._spec.params["text"])
        if request.response_schema is None:
            return "no schema, no script"
        # Seeded by the request, so that the same run gives the same replies on every machine.
        return json.dumps(made_up(request.response_schema, random.Random(f"{request.digest}/{repeat}")))


def made_up(schema: Mapping[str, Any], rng: random.Random) -> Any:
    """A value that fits `schema` (the part of JSON Schema that judges' reply contracts use)."""
    if "const" in schema:
        return schema["const"]
    if "enum" in schema:
        return rng.choice(list(schema["enum"]))
    for key in ("anyOf", "oneOf"):
        if key in schema:
            return made_up(rng.choice(list(schema[key])), rng)
    kind = schema.get("type", "object" if "properties" in schema else "string")
    kind = rng.choice(list(kind)) if isinstance(kind, list) else kind
    if kind == "object":
        return {name: made_up(part, rng) for name, part in schema.get("properties", {}).items()}
    if kind == "array":
        return _made_up_array(schema, rng)
    simple: dict[str, Any] = {
        "boolean": rng.random() < 0.5,
        "integer": rng.randint(0, 3),
        "number": rng.random(),
        "null": None,
    }
    return simple.get(kind, "made up"[: schema.get("maxLength", 20)])


def _made_up_array(schema: Mapping[str, Any], rng: random.Random) -> list[Any]:
    rows = [made_up(part, rng) for part in schema.get("prefixItems", ())]
    items = schema.get("items")
    if isinstance(items, Mapping):
        least = max(0, schema.get("minItems", 0) - len(rows))
        rows += [made_up(items, rng) for _ in range(least)]
    return rows


def _words(request: Request) -> int:
    return sum(len(str(message.get("content", "")).split()) for message in request.messages)
