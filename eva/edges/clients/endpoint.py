"""Any OpenAI-compatible server, asked directly through aiohttp: a tenth of the CPU that an SDK takes per call."""

from __future__ import annotations

import asyncio
import json
import os
import time
from collections.abc import Mapping
from typing import Any

import aiohttp

from eva.edges.clients.answer import reply_from
from eva.edges.clients.contract import RecordFailure, Transient
from eva.edges.clients.payload import chat_body
from eva.edges.clients.refusals import clean, error_for, retry_after
from eva.edges.secrets import know_key_variable, redact
from eva.errors import ConfigError, CredentialsError
from eva.types import Failure, ModelSpec, Reply, Request

LARGEST_ANSWER = 32 * 2**20
"""Bytes. A server that sends more than this for one verdict is broken; reading on would only eat memory."""


class EndpointClient:
    """One connection pool per event loop; opened at the first call, closed by `close()`."""

    def __init__(self, spec: ModelSpec) -> None:
        if not spec.api_base:
            raise ConfigError(f"model {spec.name!r} (kind {spec.kind}) needs model.api_base=http://host:port/v1")
        self._spec = spec
        self._url = spec.api_base.rstrip("/") + "/chat/completions"
        self._headers = {"Content-Type": "application/json", **_authorization(spec)}
        self._session: aiohttp.ClientSession | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self.library = f"aiohttp {aiohttp.__version__}"

    def body(self, request: Request, repeat: int) -> dict[str, Any]:
        """What is sent, as JSON-ready values."""
        return {"model": self._spec.id, **chat_body(request, repeat, self._spec)}

    async def ask(self, request: Request, repeat: int) -> Reply:
        """One POST. See `Client.ask`."""
        return await self.send(self.body(request, repeat), request, repeat)

    async def send(self, values: Mapping[str, Any], request: Request, repeat: int) -> Reply:
        """POST a body; the answer as the reply to `request`. Raises what `Client.ask` raises."""
        body = json.dumps(values).encode("ascii")
        start = time.perf_counter()
        try:
            status, headers, data = await self._post(body)
        except TimeoutError as error:
            raise Transient(f"no answer within {self._spec.timeout_s:g} s") from error
        except (aiohttp.ClientError, OSError) as error:
            raise Transient(clean(f"connection: {type(error).__name__}: {error}")) from error
        if status != 200:
            raise error_for(status, _words(data), retry_after=retry_after(headers))
        return reply_from(_answer(data), request, repeat, latency_s=time.perf_counter() - start, client=self.library)

    async def _post(self, body: bytes) -> tuple[int, dict[str, str], bytes]:
        session = await self._open()
        async with session.post(self._url, data=body, headers=self._headers, allow_redirects=False) as response:
            data = bytearray()
            async for chunk in response.content.iter_any():
                data += chunk
                if len(data) > LARGEST_ANSWER:
                    raise RecordFailure(Failure.PROVIDER, f"the answer is larger than {LARGEST_ANSWER} bytes")
            return response.status, dict(response.headers), bytes(data)

    async def _open(self) -> aiohttp.ClientSession:
        loop = asyncio.get_running_loop()
        if self._session is None or self._session.closed or self._loop is not loop:
            # The limits above decide how many calls run at once; the pool must not be a second, silent limit.
            connector = aiohttp.TCPConnector(limit=0)
            timeout = aiohttp.ClientTimeout(total=self._spec.timeout_s)
            self._session = aiohttp.ClientSession(connector=connector, timeout=timeout)
            self._loop = loop
        return self._session

    async def close(self) -> None:
        """Close the pool; the next call opens another."""
        if self._session is not None and not self._session.closed:
            await self._session.close()
        self._session = None


def _authorization(spec: ModelSpec) -> dict[str, str]:
    if spec.key_env is None:
        return {}
    know_key_variable(spec.key_env)
    key = os.environ.get(spec.key_env, "").strip()
    if not key:
        raise CredentialsError(
            f"model {spec.name!r} needs its key in the environment variable {spec.key_env}, which is not set"
        )
    return {"Authorization": f"Bearer {key}"}


def _words(data: bytes) -> str:
    """The error's text: the message of a JSON error, else the body."""
    text = data[:200_000].decode("utf-8", "replace")
    try:
        error = json.loads(text)
    except (ValueError, RecursionError):
        return text or "no text"
    inner = error.get("error", error) if isinstance(error, dict) else error
    if isinstance(inner, dict):
        known = [str(inner[key]) for key in ("type", "code", "message", "detail") if inner.get(key)]
        return " ".join(known) or text
    return str(inner)


def _answer(data: bytes) -> dict[str, Any]:
    """The answer's JSON object. A cut or foreign body (a proxy's page) is a broken transfer: worth another attempt."""
    text = data.decode("utf-8", "replace")
    try:
        answer = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise Transient(f"the answer is not JSON: {_head(text)!r}") from error
    if not isinstance(answer, dict) or not ({"choices", "error"} & set(answer)):
        raise Transient(f"the answer is no chat completion: {_head(text)!r}")
    return answer


def _head(text: str) -> str:
    """The first words, cut only once they hold no key that a cut could make unknown."""
    return redact(text[:2_000])[:80]
