"""Does the JSON example in a prompt keep the contract that the reply is checked against?"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import jsonschema

from eva.judges import unit_of
from eva.prompts.lint import Finding
from eva.replies.json_values import json_values
from eva.types import CompiledPrompt, JudgeSpec, Record

_FENCE = re.compile(r"```(?:json)?\n(.*?)```", re.DOTALL)


def lint_example(compiled: CompiledPrompt, judge: JudgeSpec) -> list[Finding]:
    """Findings on the fenced JSON examples of a prompt: not JSON, or not the reply contract."""
    schema = unit_of(judge).schema(judge, Record(record_id="example", cluster="example", events=()), max_chars=None)
    return [
        Finding(compiled.judge, compiled.version, compiled.language, path, "example", message)
        for path, text in compiled.parts.items()
        for block in _FENCE.findall(text)
        for message in _problems(block, schema)
    ]


def _problems(block: str, schema: dict[str, Any]) -> Iterator[str]:
    values = json_values(block)
    if not values.whole:
        yield f"the example is not one JSON value: {block.strip()[:60]!r}"
        return
    value = values.found[0].value
    if isinstance(value, list) and schema.get("type") == "object" and len(schema["properties"]) == 1:
        value = {next(iter(schema["properties"])): value}  # a list alone is read the same
    for error in jsonschema.Draft202012Validator(schema).iter_errors(value):
        place = "/".join(str(part) for part in error.absolute_path)
        yield f"the example does not keep the reply contract at {place or 'its top'}: {error.message[:200]}"
