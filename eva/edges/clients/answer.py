"""An OpenAI-shaped chat answer → Reply, raw; or the typed error that an error answer stands for."""

from __future__ import annotations

import re
import time
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

from eva.edges.clients.contract import RecordFailure, Transient
from eva.edges.secrets import redact
from eva.errors import CredentialsError, ModelError, QuotaError
from eva.types import Failure, Reply, Request, Usage

LONGEST_ERROR = 600
"""Characters of a provider's error that are kept: error bodies may echo a whole request, sound included."""
OWN_WORDS = 400
"""Characters at the head of an error in which the provider's own words are looked for: what follows may be an echo of
the
record, and a caller who says "insufficient quota" must not stop a run."""


def _any(*patterns: str) -> re.Pattern[str]:
    return re.compile("|".join(patterns), re.IGNORECASE)


QUOTA = _any(
    r"insufficient[_ ](quota|credits?)", r"exceeded your current quota", r"credit balance is too low",
    r"billing[_ ]hard[_ ]limit", r"out of credits",
)  # fmt: skip
CREDENTIALS = _any(
    r"invalid[_ ]api[_ ]key", r"incorrect api key", r"api key not valid", r"authentication[_ ]error",
    r"unauthenticated", r"PERMISSION_DENIED", r"invalid x-api-key", r"missing api key", r"no api key",
)  # fmt: skip
UNKNOWN_MODEL = _any(
    r"model[_ ]not[_ ]found", r"models?[ /][^\s]+ (is not found|does not exist|not found)",
    r"unknown model", r"no such model", r"model .{0,80}does not exist", r"invalid model", r"not a valid model", r"llm provider not provided",
)  # fmt: skip
TOO_LONG = _any(
    r"context[_ ]length", r"context[_ ]window", r"context[_ ]size", r"maximum context", r"prompt is too long",
    r"input (is )?too long", r"too many (input )?tokens", r"tokens? .{0,30}exceeds?", r"input tokens exceed",
    r"exceeds? the (configured |maximum |model'?s? )?(limit|number) of .{0,12}tokens",
    r"request too large", r"longer than the model", r"exceed_context_size", r"string[_ ]above[_ ]max[_ ]length", r"input length .{0,40}exceed",
)  # fmt: skip
FILTERED = _any(
    r"content[_ ](filter|policy|management)", r"responsible ?ai", r"content_policy_violation",
    r"moderation", r"(was|been|input|content) flagged", r"safety (system|settings)", r"prohibited content", r"usage polic(y|ies)", r"recitation",
)  # fmt: skip


def error_for(status: int, text: str, *, retry_after: float | None = None) -> Exception:
    """The typed error of a refused call.

    `status` is the HTTP status (0 where there is none), `text` the provider's words. Quota before rate limit, since
    both come as 429; "too long" before "bad request", since both come as 400.
    """
    words, text = clean(text), text[:OWN_WORDS]
    said = f"{words} (HTTP {status})" if status else words
    if status == 402 or QUOTA.search(text):
        return QuotaError(f"The provider says that quota or credit is used up: {said}")
    if status == 429 or status in (408, 409, 425) or status >= 500:
        return Transient(said, retry_after=retry_after, limited=status in (429, 503, 529))
    if FILTERED.search(text):
        return RecordFailure(Failure.FILTERED, said)
    if status in (401, 403) or CREDENTIALS.search(text):
        return CredentialsError(f"The provider refuses the key: {said}")
    if status == 413 or TOO_LONG.search(text):
        return RecordFailure(Failure.TOO_LONG, said)
    if status in (404, 405) or UNKNOWN_MODEL.search(text):
        return ModelError(f"The provider does not know this model or address: {said}")
    if 300 <= status < 400:
        return ModelError(
            f"The server redirects, which is not followed; set model.api_base to the final address: {said}"
        )
    return RecordFailure(Failure.BAD_REQUEST, said)


def clean(text: str) -> str:
    """A provider's words in one redacted line: no markup, no key, at most LONGEST_ERROR characters."""
    if "<html" in text[:2000].lower() or "<!doctype" in text[:200].lower():
        text = "HTML page: " + re.sub(r"(?s)<(script|style).*?</\1>|<[^>]+>", " ", text[:20_000])
    line = redact(" ".join(text[:20_000].split()))
    return line if len(line) <= LONGEST_ERROR else line[:LONGEST_ERROR] + " …"


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds from `Retry-After` (seconds or a date) or `retry-after-ms`; None where neither can be read."""
    low = {str(key).lower(): value for key, value in headers.items()}
    for name, factor in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        try:
            seconds = float(low[name]) * factor
        except (KeyError, ValueError):
            continue
        return max(0.0, seconds) if seconds == seconds and seconds != float("inf") else None
    try:
        return max(0.0, parsedate_to_datetime(low["retry-after"]).timestamp() - time.time())
    except (KeyError, ValueError, TypeError):
        return None


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
    return Reply(
        record_id=request.record_id,
        repeat=repeat,
        digest=request.digest,
        text=content or refusal,
        tool_arguments=_tool_arguments(message),
        reasoning=_text(message.get("reasoning_content")) or _text(message.get("reasoning")),
        finish_reason="refusal" if refusal and not content else _optional(choice.get("finish_reason")),
        model=_optional(answer.get("model")),
        usage=usage_from(answer.get("usage")),
        latency_s=round(latency_s, 6),
        created=now(),
        client=client,
    )


def usage_from(usage: Any) -> Usage:
    """Token counts; what is absent or not a number is None."""
    if not isinstance(usage, Mapping):
        return Usage()
    prompt = usage.get("prompt_tokens_details")
    output = usage.get("completion_tokens_details")
    prompt = prompt if isinstance(prompt, Mapping) else {}
    output = output if isinstance(output, Mapping) else {}
    return Usage(
        input_tokens=_count(usage.get("prompt_tokens", usage.get("input_tokens"))),
        output_tokens=_count(usage.get("completion_tokens", usage.get("output_tokens"))),
        cached_tokens=_count(prompt.get("cached_tokens", usage.get("cached_tokens"))),
        reasoning_tokens=_count(output.get("reasoning_tokens", usage.get("reasoning_tokens"))),
        audio_tokens=_count(prompt.get("audio_tokens", usage.get("audio_tokens"))),
    )


def now() -> str:
    """The time, UTC, ISO 8601, to the millisecond."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")


def _status_in(error: Any) -> int:
    code = error.get("code", error.get("status")) if isinstance(error, Mapping) else None
    try:
        return int(code)  # type: ignore[arg-type]  # whatever a server put there; what int() refuses is caught below
    except (TypeError, ValueError):
        return 0


def _words_in(error: Any) -> str:
    if not isinstance(error, Mapping):
        return str(error)
    return " ".join(str(error[key]) for key in ("type", "code", "message") if error.get(key))


def _text(content: Any) -> str | None:
    """Content as text: a string, or the text parts of a list."""
    if isinstance(content, list):
        parts = [part.get("text") for part in content if isinstance(part, Mapping)]
        content = "".join(part for part in parts if isinstance(part, str))
    return content if isinstance(content, str) else None


def _tool_arguments(message: Mapping[str, Any]) -> str | None:
    calls = message.get("tool_calls")
    call = calls[0] if isinstance(calls, list) and calls else None
    function = call.get("function") if isinstance(call, Mapping) else message.get("function_call")
    arguments = function.get("arguments") if isinstance(function, Mapping) else None
    return arguments if isinstance(arguments, str) else None


def _count(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def _optional(value: Any) -> str | None:
    return value if isinstance(value, str) and value else None
