"""One cheap look before paid work: can this model be asked like this, and what will really be sent? No network."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urlsplit

from eva.edges.budget import Estimate, estimate
from eva.edges.price_table import facts_of, table
from eva.edges.pricing import check_price, price_source
from eva.edges.secrets import know_key_variable
from eva.errors import ConfigError, CredentialsError
from eva.types import ModelSpec

__all__ = ["Estimate", "Preflight", "estimate", "prepare"]

OURS = (
    "model",
    "messages",
    "stream",
    "n",
    "response_format",
    "seed",
    "api_key",
    "api_base",
    "timeout",
    "num_retries",
    "max_retries",
    "drop_params",
)
"""Not to be set in `model.params`: the run sets them, or they would change what a reply is."""
PROBE_SCHEMA = {
    "type": "json_schema",
    "json_schema": {
        "name": "reply",
        "strict": True,
        "schema": {
            "type": "object",
            "properties": {"rating": {"type": "integer"}},
            "required": ["rating"],
            "additionalProperties": False,
        },
    },
}
CONTRACT = (
    "response_format", "output_format", "response_json_schema", "response_schema", "response_mime_type",
    "format", "json_mode", "tools", "tool_choice",
)  # fmt: skip
"""Where providers are told the reply contract: said as `Preflight.structured`, not among the parameters."""
Structured = Literal["json_schema", "grammar", "tool_call", "none"]


@dataclass(frozen=True)
class Preflight:
    """What will really be sent, and what a reader of the run should know."""

    spec: ModelSpec
    """The model as it will be asked: without what was dropped. The client and the identity are made from this one."""
    sent: Mapping[str, Any]
    """Parameters by the names that reach the provider."""
    structured: Structured
    """How the reply contract is enforced: the provider's JSON schema, a grammar, an emulating tool call, not at all."""
    seed_sent: bool
    dropped: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    price: str = "unknown"
    """Where the price comes from."""
    notes: tuple[str, ...] = field(default=())


def prepare(spec: ModelSpec, judge_modality: str = "text", *, will_ask: bool = True) -> Preflight:
    """Check a model before the first call.

    `will_ask=False` (every reply is stored) leaves the key unchecked. Raises ConfigError for settings and parameters
    that cannot work, CredentialsError for a missing key, ModelError for an unknown provider.
    """
    _check_numbers(spec)
    _check_params(spec)
    check_price(spec)
    if judge_modality == "audio" and not spec.audio:
        raise ConfigError(
            f"this judge hears sound, and model {spec.name!r} does not. Choose a model that does (gemini-3-flash,"
            " gemini-3-pro), or say model.audio=true if this one can."
        )
    know_key_variable(spec.key_env)
    if will_ask:
        _check_key(spec)
    if spec.kind == "litellm":
        return _prepare_provider(spec, will_ask=will_ask)
    if spec.kind == "endpoint":
        _check_address(spec)
    if spec.path is not None and not Path(spec.path).is_file():
        raise ConfigError(f"model.path={spec.path}: there is no such file")
    sends = spec.kind in ("local", "endpoint")
    structured: Structured = "none"
    if spec.structured_output and sends:
        structured = "grammar" if spec.kind == "local" else "json_schema"
    return Preflight(
        spec=spec,
        sent=dict(spec.params) if sends else {},
        structured=structured,
        seed_sent=spec.send_seed and sends,
        warnings=_warnings(spec),
        price=price_source(spec),
    )


def _prepare_provider(spec: ModelSpec, *, will_ask: bool) -> Preflight:
    from eva.edges.clients.providers import check_parameters, missing_keys

    asked: dict[str, Any] = dict(spec.params)
    if spec.send_seed:
        asked["seed"] = 1
    if spec.structured_output:
        asked["response_format"] = PROBE_SCHEMA
    if will_ask and spec.key_env is None and (missing := missing_keys(spec)):
        raise CredentialsError(
            f"model {spec.name!r} needs its key in {', '.join(missing)}, or name another: model.key_env=…"
        )
    check = check_parameters(spec, asked)
    refused = [name for name in check.refused if name not in spec.allow_dropped]
    if refused:
        raise ConfigError(
            f"model {spec.name!r} does not take {', '.join(refused)}: {check.refused[refused[0]]} Leave it out,"
            f" or allow that it is dropped: model.allow_dropped=[{','.join(sorted({*spec.allow_dropped, *refused}))}]"
        )
    structured = _structured(check.sent) if spec.structured_output else "none"
    _check_thinking(spec, check.sent, structured)
    effective = replace(
        spec,
        params={name: value for name, value in spec.params.items() if name not in check.refused},
        send_seed=spec.send_seed and "seed" not in check.refused,
        structured_output=spec.structured_output and "response_format" not in check.refused,
    )
    warnings = [f"{name} is not sent: {reason}" for name, reason in check.refused.items()]
    if structured == "tool_call":
        warnings.append("JSON schema is emulated by a tool call; the reply is read from its arguments")
    return Preflight(
        spec=effective,
        sent={name: value for name, value in check.sent.items() if name not in CONTRACT and name != "seed"},
        structured=structured,
        seed_sent=effective.send_seed,
        dropped=tuple(sorted(check.refused)),
        warnings=(*warnings, *_warnings(effective)),
        price=price_source(effective),
    )


def _structured(sent: Mapping[str, Any]) -> Structured:
    if "tools" in sent:
        return "tool_call"
    return "json_schema" if any(name in sent for name in CONTRACT) else "none"


def _check_thinking(spec: ModelSpec, sent: Mapping[str, Any], structured: Structured) -> None:
    """A forced tool call and thinking exclude each other (the provider answers 400, or drops the thinking silently)."""
    if structured == "tool_call" and ("thinking" in sent or "reasoning_effort" in sent):
        raise ConfigError(
            f"model {spec.name!r}: thinking does not go with a JSON schema that is emulated by a tool call. Either"
            " model.structured_output=false, or leave thinking and reasoning_effort out of model.params."
        )


def _check_numbers(spec: ModelSpec) -> None:
    least = {
        "concurrency": 1,
        "max_attempts": 1,
        "requests_per_minute": 1,
        "tokens_per_minute": 1,
        "bounded_strings": 1,
        "context_tokens": 16,
    }
    for name, bound in least.items():
        value = getattr(spec, name)
        if value is not None and value < bound:
            raise ConfigError(f"model.{name}={value}: must be at least {bound}")
    if not spec.timeout_s > 0:
        raise ConfigError(f"model.timeout_s={spec.timeout_s:g}: must be more than 0")


def _check_params(spec: ModelSpec) -> None:
    wrong = [name for name in spec.params if name in OURS]
    if wrong:
        raise ConfigError(f"model.params of {spec.name!r} must not hold {', '.join(wrong)}: the run sets them")
    headers = spec.params.get("extra_headers") or {}
    secret = [name for name in headers if re.search(r"(?i)auth|key|token|cookie", str(name))]
    if secret:
        raise ConfigError(
            f"model.params.extra_headers holds {', '.join(secret)}: no config takes a key; use model.key_env"
        )


def _check_key(spec: ModelSpec) -> None:
    if spec.key_env is not None and not os.environ.get(spec.key_env, "").strip():
        raise CredentialsError(
            f"model {spec.name!r} needs its key in the environment variable {spec.key_env}, which is not set."
            " Without a key: model=local, or model=recorded model.path=…"
        )


def _check_address(spec: ModelSpec) -> None:
    parts = urlsplit(spec.api_base or "")
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ConfigError(f"model {spec.name!r} needs model.api_base=http://host:port/v1")
    if parts.username or parts.password or parts.query:
        raise ConfigError("model.api_base must not hold a user, a password or a query; keys come from model.key_env")


def _warnings(spec: ModelSpec) -> tuple[str, ...]:
    found: list[str] = []
    if re.search(r"(?i)(^|[-_/:~@])latest($|[-_:])", spec.id):
        found.append(f"{spec.id} is an alias that moves: scores may change though nothing here did")
    elif spec.kind == "litellm" and (dated := _snapshot(spec.id)):
        found.append(f"{spec.id} is an alias; its newest dated snapshot is {dated}")
    if spec.kind == "litellm" and facts_of(spec.id) is None and not spec.free and spec.price is None:
        found.append(f"{spec.id} is not in the price table: its cost is unknown (model.price says it)")
    parts = urlsplit(spec.api_base or "")
    if parts.scheme == "http" and spec.key_env and parts.hostname not in ("localhost", "127.0.0.1", "::1"):
        found.append(f"the key in {spec.key_env} goes to {parts.hostname} without encryption (http)")
    if spec.kind == "local" and spec.concurrency > 1:
        found.append("the embedded model answers one call at a time; model.concurrency is not used")
    if spec.send_seed and spec.kind in ("local", "endpoint") and spec.params.get("temperature") == 0:
        found.append("temperature 0 and a seed: repeats will be copies of each other")
    return tuple(found)


def _snapshot(model_id: str) -> str | None:
    """The newest dated name of an alias (`gpt-5.2` → `gpt-5.2-2025-12-11`), where the price table lists one."""
    name = model_id.rpartition("/")[2]
    dated = re.compile(re.escape(name) + r"-(\d{8}|\d{4}-\d{2}-\d{2})$")
    return max((key for key in table() if dated.match(key)), default=None)
