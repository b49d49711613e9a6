"""The embedded model: llama.cpp inside this process, on 127.0.0.1, asked like any other endpoint.

One server per file and context for the life of the process: the jobs of a sweep share it, and its kept prefix. It
starts at the first call, so that a run whose replies are all stored needs neither weights nor server.
"""

from __future__ import annotations

import asyncio
import atexit
import contextlib
import json
import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from threading import Lock
from typing import Any

from eva.edges.clients.endpoint import EndpointClient
from eva.edges.clients.weights import default_weights
from eva.errors import ModelError
from eva.types import ModelSpec, Reply, Request

CONTEXT = 8192
MOST_THREADS = 8
KEPT_PREFIX_MIB = 256
"""llama.cpp's own default is 8 GiB."""

_servers: dict[tuple[str, str, int], Any] = {}
_starting = Lock()


class LocalClient(EndpointClient):
    """An endpoint whose server is ours. Calls go one at a time: a second slot would have to read the rubric itself."""

    def __init__(self, spec: ModelSpec) -> None:
        if spec.path:
            check_gguf(Path(spec.path))
        super().__init__(replace(spec, api_base="http://127.0.0.1:0/v1", key_env=None))
        self._file = spec.path
        self._started = False

    async def ask(self, request: Request, repeat: int) -> Reply:
        """See `Client.ask`. Raises ModelError where the weights or the runtime are missing."""
        if not self._started:
            address = await asyncio.to_thread(self._start)
            self._url = f"{address}/v1/chat/completions"
            self._started = True
        return await super().ask(request, repeat)

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
    params.cache_ram_mib = KEPT_PREFIX_MIB
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
