"""The direct path: what goes over the wire, and what comes back of it."""

from __future__ import annotations

import asyncio

import pytest

from eva.edges.clients import open_client
from eva.edges.clients.contract import Transient
from eva.errors import ConfigError, CredentialsError, ModelError
from eva.types import ModelSpec, Reply
from tests.stub_server import running_stub
from tests.stub_server.samples import SCHEMA, make_request, stub_spec


def ask(spec: ModelSpec, *, repeat: int = 0, record: str = "r1") -> Reply:
    async def main() -> Reply:
        client = open_client(spec)
        try:
            return await client.ask(make_request(record, schema=SCHEMA, text="é 確"), repeat)
        finally:
            await client.close()

    return asyncio.run(main())


def test_a_call_carries_model_parameters_seed_contract_and_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STUB_KEY", " sk-canary-1234567890 ")
    with running_stub(model="stub-2026") as stub:
        reply = ask(stub_spec(stub.url + "/", key_env="STUB_KEY", structured_output=True), repeat=2)
        body = stub.bodies[0]
        assert stub.keys == {"Bearer sk-canary-1234567890"}
    assert (body["model"], body["seed"], body["max_tokens"]) == ("stub", 3, 100)
    assert body["response_format"]["json_schema"]["schema"] == SCHEMA
    assert body["messages"][1]["content"] == "record=r1 é 確"
    assert (reply.model, reply.repeat, reply.finish_reason) == ("stub-2026", 2, "stop")
    assert reply.usage.input_tokens is not None
    assert reply.latency_s is not None
    assert reply.client.startswith("aiohttp ")


def test_without_a_key_variable_no_key_is_sent() -> None:
    with running_stub() as stub:
        ask(stub_spec(stub.url))
        assert stub.keys == {""}


def test_a_missing_key_or_address_is_said_before_any_call(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("STUB_KEY", raising=False)
    with running_stub() as stub:
        with pytest.raises(CredentialsError, match="STUB_KEY"):
            ask(stub_spec(stub.url, key_env="STUB_KEY"))
        with pytest.raises(ConfigError, match="api_base"):
            ask(stub_spec(""))
        assert stub.total == 0


def test_nobody_at_home_is_worth_another_attempt() -> None:
    with pytest.raises(Transient, match="connection"):
        ask(stub_spec("http://127.0.0.1:9/v1"))


def test_surrogates_and_control_characters_come_through() -> None:
    with running_stub({"r1": "surrogate"}) as stub:
        reply = ask(stub_spec(stub.url))
    assert reply.text is not None
    assert reply.text.endswith("\ud83d\x00")


def test_retry_after_is_handed_on() -> None:
    with running_stub({"r1": "429:1.5"}) as stub, pytest.raises(Transient) as caught:
        ask(stub_spec(stub.url))
    assert caught.value.retry_after == 1.5
    assert caught.value.limited


@pytest.mark.parametrize(
    ("plan", "words"),
    [
        ("garbled", "content-encoding"),
        ("deep", r"\[\[\["),
        ("busy200", "Overloaded"),
        ("drip:20", "no answer within 0.5 s"),
    ],
)
def test_broken_transfers_are_worth_another_attempt(plan: str, words: str) -> None:
    with running_stub({"r1": plan}) as stub, pytest.raises(Transient, match=words):
        ask(stub_spec(stub.url, timeout_s=0.5))


def test_no_redirect_is_followed() -> None:
    with running_stub({}) as other, running_stub({"r1": "redirect"}, redirect_to=other.url) as stub:
        with pytest.raises(ModelError, match="redirects, which is not followed"):
            ask(stub_spec(stub.url))
        assert other.total == 0
