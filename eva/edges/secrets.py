"""The one redactor: keys, bearer headers, URL userinfo and query tokens become `[redacted]`, at every border.

Two nets. The values of the environment variables that models name as their key's place are replaced wherever they
stand; and shapes that only a credential has. Ordinary text that merely looks like a key (`task-1234`, a booking code,
a sha256, `sk-` alone) stays as it is: a record must not change because it was printed.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable

MASK = "[redacted]"
SHORTEST_VALUE = 8
"""A key variable's value shorter than this is left alone: replacing `test` everywhere would ruin texts."""

KEY_VARIABLES: set[str] = {
    "OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY", "GOOGLE_API_KEY", "AZURE_API_KEY", "MISTRAL_API_KEY",
    "OPENROUTER_API_KEY", "GROQ_API_KEY", "DEEPSEEK_API_KEY", "TOGETHER_API_KEY", "XAI_API_KEY", "COHERE_API_KEY",
    "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "HF_TOKEN", "MLFLOW_TRACKING_TOKEN", "MLFLOW_TRACKING_PASSWORD",
}  # fmt: skip

_SHAPES = (
    # Authorization: Bearer …, x-api-key: …, "api_key": "…"
    re.compile(r"(?i)(\b(?:bearer|basic)\s+)(?=[\w.~+/=-]*\d)[\w.~+/=-]{12,}"),
    re.compile(
        r"(?i)((?:x-api-key|api-key|x-goog-api-key|authorization)['\"]?\s*[:=]\s*['\"]?)(?!bearer|basic)[\w.~+/=-]{8,}"
    ),
    re.compile(r"(?i)(\bapi[_-]?key['\"]?\s*[:=]\s*['\"]?)(?=[\w.~+/-]*\d)[\w.~+/-]{12,}"),
    # scheme://user:password@host
    re.compile(r"(?i)(\b[a-z][a-z0-9+.-]*://)[^\s/@'\"<>]+(?=@)"),
    # ?key=…&token=…
    re.compile(
        r"(?i)([?&](?:api[_-]?key|key|access[_-]?token|auth[_-]?token|token|sig|signature|secret|password)=)[^\s&#'\"<>)\]]+"
    ),
    # keys that providers give out: a fixed head and a long tail with a digit and letters
    re.compile(r"()\bsk-(?:ant-|proj-|or-|svcacct-)?(?=[\w-]*\d)(?=[\w-]*[A-Za-z])[\w-]{16,}"),
    re.compile(r"()\bAIza[\w-]{30,}"),
    re.compile(
        r"()\b(?:gh[pousr]_[A-Za-z0-9]{30,}|github_pat_\w{30,}|glpat-[\w-]{20,}|hf_[A-Za-z]{30,}|xox[abprs]-[\w-]{20,})"
    ),
    re.compile(r"()\b(?:gsk_[A-Za-z0-9]{30,}|xai-[A-Za-z0-9]{30,}|r8_[A-Za-z0-9]{30,}|pplx-[A-Za-z0-9]{30,})"),
    re.compile(r"()\b(?:AKIA|ASIA)[A-Z0-9]{16}\b"),
    re.compile(r"()\beyJ[\w-]{10,}\.eyJ[\w-]{10,}\.[\w-]{10,}"),
)


def know_key_variable(name: str | None) -> None:
    """Add an environment variable whose value must never be shown (`model.key_env`)."""
    if name:
        KEY_VARIABLES.add(name)


def redact(text: str) -> str:
    """`text` without any credential. Idempotent; a text without one comes back unchanged."""
    for value in _known_values():
        text = text.replace(value, MASK)
    for shape in _SHAPES:
        text = shape.sub(lambda match: match.group(1) + MASK, text)
    return text


def without_credentials(url: str) -> str:
    """An address without userinfo, query and fragment: what may be stored and compared."""
    bare = re.split(r"[?#]", url, maxsplit=1)[0]
    return re.sub(r"^([a-zA-Z][a-zA-Z0-9+.-]*://)[^/@]*@", r"\1", bare)


def _known_values() -> Iterable[str]:
    values = {os.environ.get(name, "") for name in KEY_VARIABLES}
    return sorted((value for value in values if len(value) >= SHORTEST_VALUE), key=len, reverse=True)
