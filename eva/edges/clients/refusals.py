"""A provider's refusal → one of our errors: worth another attempt, this record only, or the end of the run."""

from __future__ import annotations

import re
import time
from collections.abc import Mapping
from datetime import UTC
from email.utils import parsedate_to_datetime

from eva.edges.clients.contract import RecordFailure, Transient
from eva.edges.secrets import redact
from eva.errors import CredentialsError, ModelError, QuotaError
from eva.replies.fields import one_line
from eva.types import Failure

LONGEST_LOOKED_AT = 200_000
"""Characters of an error that are searched for keys. Searched before it is cut: half a key is no shape that one knows."""
LONGEST_ERROR = 600
"""Characters of a provider's error that are kept: error bodies may echo a whole request, sound included."""
OWN_WORDS = 400
"""Characters at the head of an error in which the provider's own words are looked for: what follows may be an echo of
the
record, and a caller who says "insufficient quota" must not stop a run."""


def _any(*patterns: str) -> re.Pattern[str]:
    return re.compile("|".join(patterns), re.IGNORECASE)


QUOTA = _any(
    r"insufficient[_ ](quota|credits?)",
    r"exceeded your current quota",
    r"credit balance is too low",
    r"billing[_ ]hard[_ ]limit",
    r"out of credits",
)
CREDENTIALS = _any(
    r"(invalid|incorrect|missing|no)[_ ](x-)?api[_ -]?key",
    r"api key not valid",
    r"authentication[_ ]error",
    r"unauthenticated",
    r"PERMISSION_DENIED",
)
UNKNOWN_MODEL = _any(
    r"model[_ ]not[_ ]found",
    r"models?[ /][^\s]+ (is not found|does not exist|not found)",
    r"(unknown|no such|invalid) model",
    r"model .{0,80}does not exist",
    r"not a valid model",
    r"llm provider not provided",
)
BUSY = _any(r"\boverloaded(_error)?\b", r"rate[_ ]limit", r"too many requests")
"""Looked for only where no HTTP status speaks: an error that came with 200, which some libraries call 422."""
NO_STATUS = (0, 200, 422)
TOO_LONG = _any(
    r"(context|exceed_context)[_ ](length|window|size)",
    r"maximum context",
    r"(prompt|input) (is )?too long",
    r"too many (input )?tokens",
    r"tokens? .{0,30}exceeds?",
    r"input (tokens|length) .{0,40}exceed",
    r"exceeds? the (configured |maximum |model'?s? )?(limit|number) of .{0,12}tokens",
    r"request too large",
    r"longer than the model",
    r"string[_ ]above[_ ]max[_ ]length",
)
FILTERED = _any(
    r"content[_ ](filter|policy|management)",
    r"responsible ?ai",
    r"moderation",
    r"(was|been|input|content) flagged",
    r"safety (system|settings)",
    r"prohibited content",
    r"usage polic(y|ies)",
    r"recitation",
)


def error_for(status: int, text: str, *, retry_after: float | None = None) -> Exception:
    """The typed error of a refused call.

    `status` is the HTTP status (0 where there is none), `text` the provider's words. Quota before rate limit, since
    both come as 429; "too long" before "bad request", since both come as 400.
    """
    words, text = clean(text), text[:OWN_WORDS]
    said = f"{words} (HTTP {status})" if status else words
    if status == 402 or QUOTA.search(text):
        return QuotaError(f"The provider says that quota or credit is used up: {said}")
    if status in (408, 429) or status >= 500:
        return Transient(said, retry_after=retry_after, limited=status in (429, 503, 529))
    if status in NO_STATUS and BUSY.search(text):
        return Transient(said, retry_after=retry_after, limited=True)
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
    """A provider's words in one redacted line: no markup, no key, nothing that a terminal obeys, at most LONGEST_ERROR
    characters."""
    text = redact(text[:LONGEST_LOOKED_AT])
    if "<html" in text[:2000].lower() or "<!doctype" in text[:200].lower():
        text = "HTML page: " + re.sub(r"(?s)<(script|style).*?</\1>|<[^>]+>", " ", text[:20_000])
    line = one_line(redact(" ".join(text[:20_000].split())))
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
        moment = parsedate_to_datetime(low["retry-after"])
        # A date without a zone is in UTC, as all dates of HTTP are; Python would take it for local time.
        moment = moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)
        return max(0.0, moment.timestamp() - time.time())
    except (KeyError, ValueError, TypeError, OverflowError):
        return None


def http_status(code: object) -> int:
    """A status of HTTP that some library or body states as a number or its digits; 0 for anything else."""
    if isinstance(code, bool) or not isinstance(code, int | float | str):
        return 0
    try:
        status = int(code)
    except (ValueError, OverflowError):
        return 0
    return status if 100 <= status <= 599 else 0
