"""The one redactor: keys, bearer headers, URL userinfo and query tokens become `[redacted]`, at every border.

Two nets. The values of the environment variables that models name as their key's place are replaced wherever they
stand; and shapes that only a credential has. Ordinary text that merely looks like a key (`task-1234`, a booking code,
a sha256, `sk-` alone) stays as it is: a record must not change because it was printed.
"""

from __future__ import annotations

import base64
import json
import os
import re
from collections.abc import Iterator
from functools import lru_cache
from urllib.parse import quote, quote_plus

MASK = "[redacted]"
SHORTEST_VALUE = 8
"""A key variable's value shorter than this is left alone: replacing `test` everywhere would ruin texts."""

KEY_VARIABLES: set[str] = {
    "OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY", "GOOGLE_API_KEY", "AZURE_API_KEY", "MISTRAL_API_KEY",
    "OPENROUTER_API_KEY", "GROQ_API_KEY", "DEEPSEEK_API_KEY", "TOGETHER_API_KEY", "XAI_API_KEY", "COHERE_API_KEY",
    "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "HF_TOKEN", "MLFLOW_TRACKING_TOKEN", "MLFLOW_TRACKING_PASSWORD",
}  # fmt: skip

# Every quantifier is bounded or possessive: what a provider sends may be megabytes of anything.
_HEADS = (
    # Authorization: Bearer …, x-api-key: …, "api_key": "…"
    r"\b(?:bearer|basic)\s{1,8}+",
    r"(?:x-api-key|x-goog-api-key|authorization|ocp-apim-subscription-key|x-amz-security-token|x-(?:auth|access)-token|private-token|\bapi[_-]?key)['\"]{0,2}+\s{0,4}+[:=]\s{0,4}+['\"]{0,2}+(?!bearer|basic)",
)
_AFTER_HEAD = re.compile(rf"(?i)({'|'.join(_HEADS)})([\w.~+/=-]{{8,4096}}+)")
_USERINFO = re.compile(r"(?i)(\b[a-z][a-z0-9+.-]{0,15}+://)([^\s/@'\"<>]{1,512}+)(?=@)")
_QUERY = re.compile(
    r"(?i)([?&](?:api[_-]?key|key|subscription-key|(?:access|auth|refresh|id)[_-]?token|token"
    r"|sig|signature|(?:client[_-]?)?secret|password|x-(?:amz|goog)-(?:signature|security-token|credential))=)"
    r"(?!\[redacted)([^\s&#'\"<>)\]]{1,4096}+)"
)
_PRIVATE_KEY = re.compile(r"(-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----)[^-]{1,20000}+")
_GIVEN_OUT = re.compile(
    r"(?<![\w-])("
    r"sk-[\w-]{16,512}+"
    r"|AIza[\w-]{30,64}+"
    r"|(?:gh[pousr]_|github_pat_|glpat-|hf_|xox[abprs]-|gsk_|xai-|r8_|pplx-)[\w-]{20,512}+"
    r"|(?:AKIA|ASIA)[A-Z0-9]{16}(?!\w)"
    r"|eyJ[\w-]{10,4096}+\.eyJ[\w-]{10,8192}+\.[\w-]{10,4096}+"
    r")"
)
_KEY_LIKE = re.compile(r"(?:^|_)(?:API_?KEY|KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIALS?)$", re.IGNORECASE)
LONGEST_WORD = 24
"""A value behind a header's name that is as long as this is taken for a credential even without a digit."""


def know_key_variable(name: str | None) -> None:
    """Add an environment variable whose value must never be shown (`model.key_env`)."""
    if name:
        KEY_VARIABLES.add(name)


def redact(text: str) -> str:
    """`text` without any credential. Idempotent; a text without one comes back unchanged. Time grows with the length."""
    text = without_known_keys(text)
    text = _AFTER_HEAD.sub(lambda match: match[1] + (MASK if _is_random(match[2]) else match[2]), text)
    text = _USERINFO.sub(lambda match: match[1] + MASK, text)
    text = _QUERY.sub(lambda match: match[1] + MASK, text)
    text = _PRIVATE_KEY.sub(lambda match: match[1] + MASK, text)
    return _GIVEN_OUT.sub(lambda match: MASK if _is_given_out(match[1]) else match[1], text)


def without_known_keys(text: str) -> str:
    """`text` without the values of key variables, all else untouched: for what models say, which is a record of its own."""
    if len(text) < SHORTEST_VALUE:  # holds none; looking through the environment is what costs
        return text
    for value in _known_values():
        text = text.replace(value, MASK)
    return text


def without_credentials(url: str) -> str:
    """An address without userinfo, query and fragment: what may be stored and compared."""
    bare = re.split(r"[?#]", url, maxsplit=1)[0]
    return re.sub(r"^([a-zA-Z][a-zA-Z0-9+.-]*://)[^/@]*@", r"\1", bare)


def _known_values() -> list[str]:
    """Values of key variables, as they stand and as URLs, JSON and base64 spell them; the longest first."""
    values = {os.environ.get(name, "").strip() for name in KEY_VARIABLES}
    # Whatever variable is named like a key may be one that a provider's library reads by itself.
    values |= {
        value.strip() for name, value in os.environ.items() if _KEY_LIKE.search(name) and _is_random(value.strip())
    }
    found: set[str] = set()
    for value in values:
        if len(value) >= SHORTEST_VALUE:
            found |= _spellings(value)
    return sorted(found, key=len, reverse=True)


@lru_cache(maxsize=256)
def _spellings(value: str) -> frozenset[str]:
    quoted = {quote(value, safe=""), quote_plus(value), quote(value)}
    small = {re.sub(r"%[0-9A-F]{2}", lambda match: match[0].lower(), text) for text in quoted}
    in_json = json.dumps(value)[1:-1]
    return frozenset({value, *quoted, *small, in_json, in_json.replace("/", "\\/"), *_in_base64(value)})


def _in_base64(value: str) -> Iterator[str]:
    """How base64 (a basic-auth header) spells the value behind any other text: one spelling for each of three offsets.

    The letters at both ends also hold bits of the neighbours, and are left out.
    """
    content = value.encode("utf-8", "surrogateescape")
    for offset in range(3):
        code = base64.b64encode(b"\0" * offset + content)
        whole = (offset + len(content)) * 8 // 6
        core = code[-(-offset * 8 // 6) : whole].decode("ascii")
        if len(core) >= SHORTEST_VALUE:
            yield core
            yield core.replace("+", "-").replace("/", "_")


def _is_random(word: str) -> bool:
    """`required` and `authentication` may follow a header's name in prose; a credential has a digit, or is long."""
    return any(map(str.isdigit, word)) or len(word) >= LONGEST_WORD


def _is_given_out(word: str) -> bool:
    """A letter, and a piece of eight or more with a digit: `sk-learn-2026-notes` is no key, `sk-proj-Ab3dEf6h…` is one."""
    pieces = re.split(r"[-_.]", word[3:])
    return any(map(str.isalpha, word[3:])) and any(
        len(piece) >= SHORTEST_VALUE and any(map(str.isdigit, piece)) for piece in pieces
    )
