"""An OpenAI-shaped chat answer → Reply, raw."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from eva.edges.clients.refusals import error_for, http_status
from eva.edges.secrets import without_known_keys
from eva.replies.fields import one_line
from eva.types import Reply, Request, Usage


def reply_from(answer: Mapping[str, Any], request: Request, repeat: int, *, latency_s: float, client: str) -> Reply:
    """The reply in an answer, as it came. An answer without choices is an empty reply, not an error.

    Raises what `error_for` gives where the answer carries an error in place of choices (some routers send it with 200).
    """
    error = answer.get("error")
    if error and not answer.get("choices"):
        raise error_for(_status_in(error), _words_in(error))
    choices = answer.get("choices")
    choice = choices[0] if isinstance(choices, list) and choices and isinstance(choices[0], Mapping) else {}
    message = choice.get("message")
    message = message if isinstance(message, Mapping) else {}
    content, refusal = _text(message.get("content")), _text(message.get("refusal"))
    usage = usage_from(answer.get("usage"))
    text = refusal if refusal and not content else content
    arguments = _tool_arguments(message)
    if usage.output_tokens == 0 and (text or arguments):
        usage = replace(usage, output_tokens=None)  # a count that was not told, filled up with 0 on the way
    return Reply(
        record_id=request.record_id,
        repeat=repeat,
        digest=request.digest,
        text=text,
        tool_arguments=arguments,
        reasoning=_text(message.get("reasoning_content")) or _text(message.get("reasoning")),
        finish_reason="refusal" if refusal and not content else _optional(choice.get("finish_reason")),
        model=_optional(answer.get("model")),
        usage=usage,
        latency_s=round(latency_s, 6),
        created=now(),
        client=client,
    )


def usage_from(usage: Any) -> Usage:
    """Token counts; what is absent or not a number is None. No prompt has 0 tokens: such a count was not told."""
    if not isinstance(usage, Mapping):
        return Usage()
    prompt = usage.get("prompt_tokens_details")
    output = usage.get("completion_tokens_details")
    prompt = prompt if isinstance(prompt, Mapping) else {}
    output = output if isinstance(output, Mapping) else {}
    return Usage(
        input_tokens=_count(usage.get("prompt_tokens", usage.get("input_tokens"))) or None,
        output_tokens=_count(usage.get("completion_tokens", usage.get("output_tokens"))),
        cached_tokens=_count(prompt.get("cached_tokens", usage.get("cached_tokens"))),
        reasoning_tokens=_count(output.get("reasoning_tokens", usage.get("reasoning_tokens"))),
        audio_tokens=_count(prompt.get("audio_tokens", usage.get("audio_tokens"))),
    )


def now() -> str:
    """The time, UTC, ISO 8601, to the millisecond."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")


def _status_in(error: Any) -> int:
    return http_status(error.get("code", error.get("status"))) if isinstance(error, Mapping) else 0


def _words_in(error: Any) -> str:
    if not isinstance(error, Mapping):
        return str(error)
    return " ".join(str(error[key]) for key in ("type", "code", "message") if error.get(key))


def _text(content: Any) -> str | None:
    """Content as text: a string, or the text parts of a list."""
    if isinstance(content, list):
        parts = [part.get("text") for part in content if isinstance(part, Mapping)]
        content = "".join(part for part in parts if isinstance(part, str))
    # A gateway that echoes its headers as an answer must not put the key into the store.
    return without_known_keys(content) if isinstance(content, str) else None


def _tool_arguments(message: Mapping[str, Any]) -> str | None:
    calls = message.get("tool_calls")
    call = calls[0] if isinstance(calls, list) and calls else None
    function = call.get("function") if isinstance(call, Mapping) else message.get("function_call")
    arguments = function.get("arguments") if isinstance(function, Mapping) else None
    return without_known_keys(arguments) if isinstance(arguments, str) else None


def _count(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def _optional(value: Any) -> str | None:
    """A name: it goes into file names, tables and terminals, so half and control characters are spelled out."""
    if not isinstance(value, str) or not value:
        return None
    return without_known_keys(one_line(value[:200]))
