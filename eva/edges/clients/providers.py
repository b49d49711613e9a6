"""All hosted providers, through litellm. The only module that imports it: at the first use, which takes seconds.

litellm's own retries, cache, cost look-ups and price download are off: retries are ours, replies are ours, prices are
read from its table as data (`eva/edges/price_table.py`).
"""

from __future__ import annotations

import asyncio
import gc
import logging
import os
import time
from collections.abc import Mapping
from contextvars import ContextVar
from dataclasses import dataclass
from functools import lru_cache
from importlib.metadata import version
from typing import Any

from eva.edges.clients.answer import reply_from
from eva.edges.clients.contract import RecordFailure, Transient
from eva.edges.clients.payload import chat_body
from eva.edges.clients.refusals import clean, error_for, http_status, retry_after
from eva.edges.secrets import know_key_variable
from eva.errors import CredentialsError, ModelError
from eva.types import Failure, ModelSpec, Reply, Request

_REDIRECTS: ContextVar[list[int] | None] = ContextVar("redirects", default=None)
"""Redirects that a call of ours met; None where it is no call of ours: what else the process sends is left alone."""


class ProviderClient:
    """One attempt per call through `litellm.acompletion`."""

    def __init__(self, spec: ModelSpec) -> None:
        self._spec = spec
        self._litellm: Any = None
        self._opening = asyncio.Lock()
        self.library = ""

    async def ask(self, request: Request, repeat: int) -> Reply:
        """See `Client.ask`."""
        async with self._opening:  # the first calls come together: one of them opens it
            if self._litellm is None:
                self._litellm = await asyncio.to_thread(library)
                self.library = f"litellm {version('litellm')}"
        arguments = {**chat_body(request, repeat, self._spec), **connection(self._spec)}
        start = time.perf_counter()
        redirects: list[int] = []
        _REDIRECTS.set(redirects)
        try:
            # litellm's own time-out is one between two pieces of an answer: one that drips would never end.
            async with asyncio.timeout(self._spec.timeout_s):
                answer = await self._litellm.acompletion(model=self._spec.id, **arguments)
        except Exception as error:  # litellm's errors have no common base; each is mapped to one of ours
            raise error_for(redirects[0], "") if redirects else typed_error(error) from error
        latency = time.perf_counter() - start
        reply = reply_from(answer.model_dump(), request, repeat, latency_s=latency, client=self.library)
        if request.audio_path is not None and reply.usage.audio_tokens == 0:
            raise RecordFailure(Failure.NO_AUDIO, "the provider counted no audio tokens: it did not hear the sound")
        return reply

    async def close(self) -> None:
        """Close litellm's clients of this loop: left open they warn, and fail on the next job's loop."""
        if self._litellm is not None:
            await self._litellm.close_litellm_async_clients()


@lru_cache(maxsize=1)
def library() -> Any:
    """litellm, imported quietly and offline. Raises ModelError where it is not installed."""
    os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"  # else the import asks the network for prices
    os.environ.setdefault("LITELLM_MODE", "PRODUCTION")  # else it loads a .env file of the working folder
    try:
        import litellm
    except ImportError as error:
        raise ModelError(f"models of kind litellm need it: pip install litellm ({error})") from error
    litellm.suppress_debug_info = True
    litellm.telemetry = False
    litellm.drop_params = False
    litellm.modify_params = False
    litellm.cache = None
    # Its warnings are about its proxy and its logging; errors come to us as exceptions.
    for name in ("LiteLLM", "LiteLLM Router", "LiteLLM Proxy"):
        logging.getLogger(name).setLevel(logging.ERROR)
    _without_costs()
    _without_redirects()
    # Some 3,000 modules that never go: looked through at each full collection, they would cost a tenth of every call.
    gc.collect()
    gc.freeze()
    return litellm


def _without_costs() -> None:
    """Turn off litellm's cost look-up, a fifth of each call's CPU: costs are ours (`eva/edges/pricing.py`).

    There is no public switch; where a litellm has no such method, nothing is turned off and nothing else changes.
    """
    from litellm.litellm_core_utils import litellm_logging

    if hasattr(litellm_logging.Logging, "response_cost_calculator"):
        litellm_logging.Logging.response_cost_calculator = lambda self, *args, **named: None


def _without_redirects() -> None:
    """Let no call of ours follow a redirect: httpx hands `x-api-key` and the whole record on to any other host.

    litellm has no switch for it, and its providers build their clients in several places; calls of others are left alone.
    """
    import httpx

    follow, follow_sync = httpx.AsyncClient.send, httpx.Client.send

    async def send(self: Any, request: Any, **named: Any) -> Any:
        if (met := _REDIRECTS.get()) is None:
            return await follow(self, request, **named)
        answer = await follow(self, request, **{**named, "follow_redirects": False})
        met += [answer.status_code] if answer.has_redirect_location else []
        return answer

    def send_sync(self: Any, request: Any, **named: Any) -> Any:
        if (met := _REDIRECTS.get()) is None:
            return follow_sync(self, request, **named)
        answer = follow_sync(self, request, **{**named, "follow_redirects": False})
        met += [answer.status_code] if answer.has_redirect_location else []
        return answer

    for kind, method in ((httpx.AsyncClient, send), (httpx.Client, send_sync)):
        setattr(kind, "send", method)  # noqa: B010  # an assignment is refused by mypy, and is meant


def connection(spec: ModelSpec) -> dict[str, Any]:
    """Where and how to call: never part of a digest. Raises CredentialsError where the named variable is not set."""
    know_key_variable(spec.key_env)
    arguments: dict[str, Any] = {"timeout": spec.timeout_s, "num_retries": 0, "max_retries": 0, "no-log": True}
    if spec.api_base is not None:
        arguments["api_base"] = spec.api_base
    if spec.key_env is not None:
        key = os.environ.get(spec.key_env, "").strip()
        if not key:
            raise CredentialsError(
                f"model {spec.name!r} needs its key in the environment variable {spec.key_env}, which is not set"
            )
        arguments["api_key"] = key
    return arguments


def typed_error(error: Exception) -> Exception:
    """One of our errors for one of litellm's: by HTTP status and words, since its classes overlap."""
    if isinstance(error, (TimeoutError, asyncio.TimeoutError)) or type(error).__name__ in (
        "Timeout",
        "APITimeoutError",
    ):
        return Transient(clean(str(error)) or "time-out")
    if type(error).__name__ == "APIConnectionError":
        return Transient(clean(str(error)))
    status = getattr(error, "status_code", None)
    if status is None:
        # Not a provider's refusal but a fault in between, over this request: kept and counted, the others go on.
        return RecordFailure(Failure.PROVIDER, clean(f"{type(error).__name__}: {error}"))
    headers = getattr(getattr(error, "response", None), "headers", None) or getattr(
        error, "litellm_response_headers", None
    )
    return error_for(http_status(status), str(error), retry_after=retry_after(headers or {}))


@dataclass(frozen=True)
class ParameterCheck:
    """What litellm makes of a model's parameters."""

    refused: Mapping[str, str]
    """Parameter -> the reason, in litellm's words."""
    sent: Mapping[str, Any]
    """What reaches the provider, by the provider's own names."""


def check_parameters(spec: ModelSpec, params: Mapping[str, Any]) -> ParameterCheck:
    """Which of `params` this model takes, and what they become. No network. Raises ModelError for no known provider."""
    model, provider = provider_of(spec)
    accepted: dict[str, Any] = {}
    refused: dict[str, str] = {}
    # What switches reasoning goes first: whether a temperature is taken depends on it.
    for name in sorted(params, key=lambda key: (key not in ("reasoning_effort", "thinking"), key)):
        try:
            _mapped(model, provider, {**accepted, name: params[name]})
        except Exception as error:  # litellm raises a class of its own per provider; the words say which parameter
            refused[name] = clean(str(error))
        else:
            accepted[name] = params[name]
    mapped = _mapped(model, provider, accepted)
    sent = {key: value for key, value in mapped.items() if key != "stream" and value not in (None, {}, [])}
    return ParameterCheck(refused=refused, sent=sent)


def provider_of(spec: ModelSpec) -> tuple[str, str]:
    """(model, provider) as litellm splits the id. Raises ModelError where it knows no such provider."""
    try:
        model, provider, *_ = library().get_llm_provider(spec.id, api_base=spec.api_base)
    except Exception as error:  # litellm raises BadRequestError here, which is about no request
        raise ModelError(
            f"model.id={spec.id!r}: litellm knows no such provider. An id reads provider/name, as in openai/gpt-5.2."
        ) from error
    return str(model), str(provider)


def missing_keys(spec: ModelSpec) -> tuple[str, ...]:
    """Environment variables that this provider needs and that are not set, as far as litellm knows."""
    found = library().validate_environment(spec.id)
    return tuple(str(name) for name in found.get("missing_keys", ()))


def _mapped(model: str, provider: str, params: Mapping[str, Any]) -> dict[str, Any]:
    from litellm.utils import get_optional_params

    mapped: dict[str, Any] = get_optional_params(model=model, custom_llm_provider=provider, drop_params=False, **params)
    return mapped
