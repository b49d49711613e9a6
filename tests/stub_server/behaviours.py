"""What the stub can do to a request, and the short notation for it.

A plan is a list of steps, one per attempt; the last step holds for all further attempts: `429:0.5*2,ok` refuses twice
(Retry-After: 0.5), then answers. Steps:

    ok              answer                        slow:2          answer after 2 s
    429 429:1.5     rate limit (Retry-After)      503:1           any status, with Retry-After
    401 402 403 404 408 413 500 …                 that status with an OpenAI-like error
    context filter nomodel quota badkey           the 400s and 429s that providers word so
    html html500    a proxy's page with 200 / 500 reset           the connection is torn down
    silence         no answer for ten minutes     cut             half of a JSON body, connection closed
    truncated       finish_reason "length"        filtered        content null, finish_reason "content_filter"
    echo            400 with the caller's Authorization header in its words
    deaf            an answer whose usage counts 0 audio tokens
    drip:3          one blank every 0.1 s for 3 s, then the answer
    garbled deep    bytes that are no gzip though they say so; an error 500 that is nested 100,000 deep
    empty nochoices toolcall reasoning huge badjson surrogate error200 busy200 odd200 redirect uncounted
"""

from __future__ import annotations

import re
from dataclasses import dataclass

ERRORS: dict[str, tuple[int, dict[str, object]]] = {
    "context": (
        400,
        {"code": "context_length_exceeded", "message": "This model's maximum context length is 8192 tokens."},
    ),
    "filter": (400, {"code": "content_filter", "message": "The response was filtered by content management policy."}),
    "nomodel": (404, {"code": "model_not_found", "message": "The model `m` does not exist."}),
    "quota": (429, {"code": "insufficient_quota", "message": "You exceeded your current quota."}),
    "badkey": (401, {"code": "invalid_api_key", "message": "Incorrect API key provided: sk-stubsecret1234567890abcd."}),
    "400": (400, {"code": "invalid_value", "message": "Unknown parameter: 'foo'."}),
}


@dataclass(frozen=True)
class Step:
    """One attempt's fate: what, and a number (seconds, of waiting or of Retry-After)."""

    name: str
    seconds: float | None = None


def parse_plan(text: str) -> tuple[Step, ...]:
    """`429:0.5*2,ok` → three steps. Raises ValueError for what is not a step."""
    steps: list[Step] = []
    for part in text.split(","):
        match = re.fullmatch(r"([a-z0-9]+)(?::([0-9.]+))?(?:\*(\d+))?", part.strip())
        if match is None:
            raise ValueError(f"not a step: {part!r}")
        step = Step(match.group(1), float(match.group(2)) if match.group(2) else None)
        steps += [step] * int(match.group(3) or 1)
    return tuple(steps)


def error_body(name: str) -> tuple[int, dict[str, object]]:
    """(status, JSON body) of a refusal."""
    if name in ERRORS:
        status, error = ERRORS[name]
        return status, {"error": {"type": "error", **error}}
    return int(name), {"error": {"type": "error", "code": name, "message": f"stub says {name}"}}
