"""Replies from a JSONL file, by record id and repeat: a published run replayed, another tool's output measured."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from eva.edges.clients.answer import usage_from
from eva.edges.clients.contract import RecordFailure
from eva.errors import ConfigError, DataError
from eva.types import Failure, ModelSpec, Reply, Request, Usage

FIELDS = {
    "record",
    "repeat",
    "text",
    "usage",
    "model",
    "finish_reason",
    "error",
    "tool_arguments",
    "reasoning",
    "latency_s",
}
USAGE_FIELDS = ("input_tokens", "output_tokens", "cached_tokens", "reasoning_tokens", "audio_tokens")


class RecordedClient:
    """Rows `{"record": "…", "repeat": 0, "text": "…"}`; optional `usage`, `model`, `finish_reason`, `error`, …."""

    def __init__(self, spec: ModelSpec) -> None:
        if not spec.path:
            raise ConfigError(f"model {spec.name!r} (kind recorded) needs model.path=replies.jsonl")
        self._file = Path(spec.path)
        self._id = spec.id
        self._rows = read_rows(self._file)

    async def ask(self, request: Request, repeat: int) -> Reply:
        """The row of this record and repeat. Raises RecordFailure where there is none or it holds an error."""
        row = self._rows.get((request.record_id, repeat))
        if row is None:
            raise RecordFailure(
                Failure.NOT_RECORDED, f"{self._file.name} has no reply for {request.record_id!r}, repeat {repeat}"
            )
        if row.get("error"):
            raise RecordFailure(_failure(row["error"]), str(row["error"]))
        return Reply(
            record_id=request.record_id,
            repeat=repeat,
            digest=request.digest,
            text=row.get("text"),
            tool_arguments=row.get("tool_arguments"),
            reasoning=row.get("reasoning"),
            finish_reason=row.get("finish_reason"),
            model=row.get("model") or self._id,
            usage=_usage(row.get("usage")),
            latency_s=row.get("latency_s"),
            client="recorded",
        )

    async def close(self) -> None:
        """Nothing to give back."""


def read_rows(path: Path) -> dict[tuple[str, int], dict[str, Any]]:
    """All rows by (record, repeat). Raises DataError for a file that is absent, a broken line, a duplicate."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise DataError(f"cannot be read: {error.strerror}", file=str(path)) from error
    except UnicodeDecodeError as error:
        raise DataError(f"is not UTF-8 (byte {error.start})", file=str(path)) from error
    rows: dict[tuple[str, int], dict[str, Any]] = {}
    lines: dict[tuple[str, int], int] = {}
    # Split at "\n" only: U+2028 and U+0085 inside a reply are text.
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        row = _row(line, str(path), number)
        key = (row["record"], row["repeat"])
        if key in lines:
            raise DataError(
                f"record {key[0]!r}, repeat {key[1]} stands here and on line {lines[key]}", file=str(path), line=number
            )
        rows[key], lines[key] = row, number
    if not rows:
        raise DataError("holds no reply", file=str(path))
    return rows


def _row(line: str, file: str, number: int) -> dict[str, Any]:
    try:
        row = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise DataError(f"is not JSON: {error}", file=file, line=number) from error
    if not isinstance(row, dict):
        raise DataError(f"is no JSON object: {line[:80]}", file=file, line=number)
    unknown = sorted(set(row) - FIELDS)
    if unknown:
        raise DataError(
            f"has unknown fields: {', '.join(unknown)}; known: {', '.join(sorted(FIELDS))}", file=file, line=number
        )
    if isinstance(row.get("record"), int) and not isinstance(row["record"], bool):
        row["record"] = str(row["record"])
    if not isinstance(row.get("record"), str) or not row["record"]:
        raise DataError("must name a record", file=file, line=number, field="record")
    repeat = row.setdefault("repeat", 0)
    if not isinstance(repeat, int) or isinstance(repeat, bool) or repeat < 0:
        raise DataError(f"must be 0, 1, 2, …, not {repeat!r}", file=file, line=number, field="repeat")
    for field in ("text", "tool_arguments", "reasoning", "model", "finish_reason"):
        if not isinstance(row.get(field), str | None):
            raise DataError(f"must be a text or null, not {row[field]!r}", file=file, line=number, field=field)
    if not any(field in row for field in ("text", "error", "tool_arguments")):
        raise DataError("must hold `text`, `tool_arguments` or `error`", file=file, line=number)
    return row


def _usage(usage: Any) -> Usage:
    """Our own field names, or the provider's (`prompt_tokens`, …)."""
    read = usage_from(usage)
    if not isinstance(usage, Mapping):
        return read
    own = {name: usage[name] for name in USAGE_FIELDS if isinstance(usage.get(name), int)}
    return Usage(**{name: own.get(name, getattr(read, name)) for name in USAGE_FIELDS})


def _failure(error: Any) -> Failure:
    """The failure that an `error` names, else "provider"."""
    try:
        return Failure(str(error))
    except ValueError:
        return Failure.PROVIDER
