"""The embedded model: llama.cpp inside this process, on 127.0.0.1, asked like any other endpoint.

One server per file and context for the life of the process: the jobs of a sweep share it. It starts at the first call, so
that a run whose replies are all stored needs neither weights nor server.

Same seed, same text, whatever was asked before: by itself llama.cpp does not give that, since a prompt that is read in
other pieces (because a part of it was kept) has slightly other values. So each record is led up to the same way: the
rubric is read whole and alone, then the record onto it, and only then the repeats are asked. A run that is killed and
resumed equals one that was not.
"""

from __future__ import annotations

import asyncio
import atexit
import contextlib
import json
import os
import time
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from threading import Lock
from typing import Any

from eva.edges.clients.endpoint import EndpointClient
from eva.edges.clients.payload import messages
from eva.edges.clients.weights import default_weights
from eva.errors import ModelError
from eva.types import ModelSpec, Reply, Request, Usage

CONTEXT = 8192
MOST_THREADS = 8

_servers: dict[tuple[str, str, int], Any] = {}
_starting = Lock()
_last_read: dict[str, str] = {}
"""Server address -> the prompt that it holds now."""


class LocalClient(EndpointClient):
    """An endpoint whose server is ours. Calls go one at a time: a second slot would have to read the rubric itself."""

    def __init__(self, spec: ModelSpec) -> None:
        if spec.path:
            check_gguf(Path(spec.path))
        super().__init__(replace(spec, api_base="http://127.0.0.1:0/v1", key_env=None))
        self._file = spec.path
        self._started = False

    async def ask(self, request: Request, repeat: int) -> Reply:
        """See `Client.ask`. Raises ModelError where the weights or the runtime are missing.

        `cached_tokens` of the reply is the part of the prompt that was not read for it, the leading up included.
        """
        if not self._started:
            self._url = f"{await asyncio.to_thread(self._start)}/v1/chat/completions"
            self._started = True
        start = time.perf_counter()
        kept = await self._lead_up(request, repeat)
        spent = time.perf_counter() - start
        reply = await super().ask(request, repeat)
        usage = reply.usage if kept is None else replace(reply.usage, cached_tokens=kept)
        return replace(reply, usage=usage, latency_s=round((reply.latency_s or 0.0) + spent, 6))

    async def _lead_up(self, request: Request, repeat: int) -> int | None:
        """Have the server hold this prompt, read in the same pieces as ever; the tokens kept from before, None if all."""
        rows = messages(request)
        prompt, rubric = json.dumps(rows), json.dumps(rows[:-1])
        held = _last_read.pop(self._url, "")
        if held != prompt:
            same_rubric = len(rows) > 1 and held.startswith(rubric[:-1] + ",")
            if len(rows) > 1:
                await self._read(request, repeat, rows[:-1], keep=same_rubric)
            usage = await self._read(request, repeat, rows, keep=len(rows) > 1)
            kept = usage.cached_tokens if same_rubric else 0
        else:
            kept = None
        # Noted once it is read: after an error the next call leads up anew.
        _last_read[self._url] = prompt
        return kept

    async def _read(self, request: Request, repeat: int, rows: list[dict[str, Any]], *, keep: bool) -> Usage:
        """Let the server read a prompt; `keep` what it holds of it, else read all."""
        body = {"model": self._spec.id, "messages": rows, "max_tokens": 1, "cache_prompt": keep}
        return (await self.send(body, request, repeat)).usage

    def body(self, request: Request, repeat: int) -> dict[str, Any]:
        """As for any endpoint, but with the contract as a grammar: no blanks are generated, which halves the tokens."""
        body = super().body(request, repeat)
        schema = body.pop("response_format", None)
        if schema is not None:
            body["grammar"] = grammar(schema["json_schema"]["schema"])
        return body

    def _start(self) -> str:
        path = Path(self._file) if self._file else default_weights()
        server = running_server(path, self._spec.context_tokens or CONTEXT, alias=self._spec.id)
        self.library = f"xllamacpp {_version()}"
        return str(server.listening_address)


def grammar(schema: Mapping[str, Any]) -> str:
    """`schema` as a llama.cpp llguidance grammar, without optional blanks; keys come in the schema's order."""
    tight = {"x-guidance": {"whitespace_flexible": False}, **schema}
    return f"%llguidance {{}}\nstart: %json {json.dumps(tight)}"


def check_gguf(path: Path) -> None:
    """Raises ModelError unless `path` is a GGUF file."""
    try:
        with path.open("rb") as file:
            head = file.read(4)
    except OSError as error:
        raise ModelError(f"model.path={path}: {error.strerror}") from error
    if head != b"GGUF":
        raise ModelError(f"model.path={path} is not a GGUF file (it begins with {head!r})")


def running_server(path: Path, context: int, *, alias: str) -> Any:
    """The process's server for this file, context and name, started if need be. Raises ModelError where it cannot."""
    key = (str(path.resolve()), alias, context)
    with _starting:
        if key not in _servers:
            # One model in memory at a time: a sweep over models would add them up otherwise.
            stop_servers()
            _servers[key] = _new_server(path, context, alias=alias)
        return _servers[key]


def stop_servers() -> None:
    """Stop what runs; the next call starts again. Called at exit, before the interpreter takes the library away."""
    _servers.clear()
    _last_read.clear()


atexit.register(stop_servers)


def _new_server(path: Path, context: int, *, alias: str) -> Any:
    # Read when the runtime is loaded. Without it waiting threads spin; on busy cores generation falls to a thirtieth.
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")
    try:
        import xllamacpp
    except ImportError as error:
        raise ModelError(
            "model=local needs xllamacpp (pip install xllamacpp), a processor with AVX2, and libgomp.so.1"
            f" (Debian: libgomp1): {error}"
        ) from error
    params = xllamacpp.CommonParams()
    params.model.path = str(path)
    params.model_alias = {alias}
    params.n_ctx = context
    params.n_parallel = 1  # n_ctx is divided between slots, and each slot reads the prefix itself
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = _threads()
    params.cache_ram_mib = 0  # prompts brought back from there were read in other pieces
    params.verbosity = 0
    params.ui = False
    try:
        return xllamacpp.Server(params)
    except Exception as error:  # the extension raises plain RuntimeError and bare Exception for every cause
        raise ModelError(f"llama.cpp cannot load {path}: {error}") from error


def _threads() -> int:
    with contextlib.suppress(AttributeError):  # not on every system
        return max(1, min(MOST_THREADS, len(os.sched_getaffinity(0))))
    return max(1, min(MOST_THREADS, os.cpu_count() or 1))


def _version() -> str:
    from importlib.metadata import version

    return version("xllamacpp")
