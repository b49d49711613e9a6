"""Hosted models through litellm: one attempt a call, its errors as ours, what it makes of parameters. No network."""

from __future__ import annotations

import asyncio
import time
from dataclasses import replace
from pathlib import Path

import pytest

from eva.edges.ask import ask_all_sync
from eva.edges.clients import open_client
from eva.edges.clients.providers import check_parameters, missing_keys, provider_of
from eva.edges.store import ReplyStore
from eva.errors import CredentialsError, ModelError, QuotaError
from eva.types import Failure, ModelSpec, Reply
from tests.stub_server import Stub, running_stub
from tests.stub_server.samples import SCHEMA, make_request, make_requests, quick_limits, stub_spec

CONTRACT = {"type": "json_schema", "json_schema": {"name": "reply", "schema": SCHEMA, "strict": True}}


@pytest.fixture(autouse=True)
def _key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STUB_KEY", "sk-canary-1234567890")


def spec_at(stub: Stub, **changes: object) -> ModelSpec:
    return stub_spec(
        stub.url, **{"kind": "litellm", "id": "openai/stub", "key_env": "STUB_KEY", "timeout_s": 60.0, **changes}
    )


def run(stub: Stub, count: int, *, store: ReplyStore | None = None, **changes: object) -> dict[str, Reply]:
    spec = spec_at(stub, **changes)
    replies = ask_all_sync(
        make_requests(count), 1, client=open_client(spec), spec=spec, store=store, limits=quick_limits(spec)
    )
    return {reply.record_id: reply for reply in replies}


def test_one_attempt_a_call_and_each_error_has_our_meaning(tmp_path: Path) -> None:
    """C46: litellm's and the SDK's own retries are off, so that the counts are exact."""
    fates = [
        ("ok", None, 1), ("429:0.01*2,ok", None, 3), ("500", Failure.PROVIDER, 3), ("context", Failure.TOO_LONG, 1),
        ("filter", Failure.FILTERED, 1), ("400", Failure.BAD_REQUEST, 1), ("reset,ok", None, 2), ("cut,ok", None, 2),
        ("html500,ok", None, 2), ("html,ok", None, 2), ("503:0.01,ok", None, 2), ("408,ok", None, 2),
        ("badjson,ok", None, 2), ("error200,ok", None, 2),
    ]  # fmt: skip
    with (
        running_stub({f"r{n}": plan for n, (plan, _, _) in enumerate(fates)}) as stub,
        ReplyStore(tmp_path / "s") as store,
    ):
        replies = run(stub, len(fates), store=store)
        for number, (plan, failure, attempts) in enumerate(fates):
            assert (plan, replies[f"r{number}"].error, stub.counts[f"r{number}"]) == (plan, failure, attempts)
        assert stub.keys == {"Bearer sk-canary-1234567890"}
        total = stub.total
        again = run(stub, len(fates), store=store)
        assert stub.total > total  # only the failed ones
        assert again["r0"].cached
        assert stub.counts["r0"] == 1


def test_replies_keep_finish_reason_tool_calls_reasoning_and_usage() -> None:
    plans = {"r0": "truncated", "r1": "filtered", "r2": "toolcall", "r3": "reasoning"}
    with running_stub(plans) as stub:
        replies = run(stub, 4)
    assert [replies[f"r{n}"].finish_reason for n in range(2)] == ["length", "content_filter"]
    assert replies["r2"].text is None
    assert replies["r2"].tool_arguments is not None
    assert replies["r3"].reasoning == "let me think"
    assert replies["r0"].usage.cached_tokens is not None
    assert replies["r0"].client.startswith("litellm ")


@pytest.mark.parametrize(
    ("plan", "error"),
    [("badkey", CredentialsError), ("nomodel", ModelError), ("quota", QuotaError), ("402", QuotaError)],
)
def test_what_no_call_can_survive_stops_the_run(plan: str, error: type[ModelError]) -> None:
    with running_stub({f"r{n}": plan for n in range(50)}) as stub:
        with pytest.raises(error) as caught:
            run(stub, 50)
        assert stub.total <= 8
    assert type(caught.value) is error
    assert "sk-" not in str(caught.value)


def test_retry_after_reaches_the_retry_layer() -> None:
    with running_stub({"r0": "429:0.4,ok"}) as stub:
        start = time.monotonic()
        run(stub, 1)
        assert time.monotonic() - start >= 0.4
        assert stub.total == 2


def test_a_rating_without_hearing_is_a_failure(tmp_path: Path) -> None:
    """C96: the usage says that the sound was dropped on the way."""
    sound = tmp_path / "a.mp3"
    sound.write_bytes(b"sound")
    requests = [replace(make_request(record), audio_path=str(sound)) for record in ("r0", "r1")]
    with running_stub({"r0": "deaf"}) as stub:
        spec = spec_at(stub, audio=True)
        replies = ask_all_sync(requests, 1, client=open_client(spec), spec=spec, store=None)
        assert stub.bodies[0]["messages"][1]["content"][1]["type"] == "input_audio"
    assert [reply.error for reply in replies] == [Failure.NO_AUDIO, None]


def model(model_id: str) -> ModelSpec:
    return ModelSpec(name="m", kind="litellm", id=model_id)


def test_parameters_that_a_model_does_not_take_are_named() -> None:
    """C52, C53: a seed for Anthropic, a temperature while OpenAI reasons."""
    claude = check_parameters(model("anthropic/claude-opus-4-6"), {"seed": 1, "max_tokens": 100})
    assert set(claude.refused) == {"seed"}
    assert claude.sent["max_tokens"] == 100
    gpt = check_parameters(model("openai/gpt-5.2"), {"temperature": 0, "reasoning_effort": "medium", "seed": 1})
    assert set(gpt.refused) == {"temperature"}
    assert "reasoning" in gpt.refused["temperature"]
    assert gpt.sent["seed"] == 1
    assert not check_parameters(model("openai/gpt-5.2"), {"temperature": 0}).refused


def test_an_emulated_contract_can_be_told_from_a_native_one() -> None:
    """C54."""
    params = {"response_format": CONTRACT, "reasoning_effort": "high", "max_tokens": 20000}
    assert "tools" in check_parameters(model("anthropic/claude-3-7-sonnet-20250219"), params).sent
    assert "tools" not in check_parameters(model("anthropic/claude-opus-4-6"), params).sent


def test_an_unknown_provider_is_an_error_of_ours() -> None:
    with pytest.raises(ModelError, match="provider/name"):
        provider_of(model("nonsense"))


def test_missing_keys_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MISTRAL_API_KEY", raising=False)
    assert missing_keys(model("mistral/mistral-large-latest")) == ("MISTRAL_API_KEY",)


def test_a_request_arrives_byte_for_byte() -> None:
    text = 'It\'s < $5 & "fine" {{transcript}} ${HOME} é 確 \u2028'
    with running_stub() as stub:
        spec = spec_at(stub, structured_output=True)
        request = make_request("r1", text=text, schema=SCHEMA)
        ask_all_sync((request,), 1, client=open_client(spec), spec=spec, store=None)
        body = stub.bodies[0]
    assert body["messages"] == [dict(message) for message in request.messages]
    assert body["response_format"]["json_schema"]["schema"] == SCHEMA
    assert body["seed"] == 1


@pytest.mark.parametrize(("model_id", "base"), [("openai/stub", "/v1"), ("anthropic/claude-stub", "")])
def test_no_redirect_carries_the_key_or_the_record_to_another_host(model_id: str, base: str) -> None:
    """C93: httpx would hand `x-api-key` on; the run stops and says what to set, as it does for `endpoint`."""
    with running_stub({}) as other:
        elsewhere = other.url.replace("127.0.0.1", "localhost")
        with running_stub({"r0": "redirect"}, redirect_to=elsewhere) as stub:
            address = stub.url.removesuffix("/v1") + base
            with pytest.raises(ModelError, match=r"redirects, which is not followed.*HTTP 307"):
                run(stub, 1, id=model_id, api_base=address, send_seed=False)
            assert any("sk-canary-1234567890" in key for key in stub.secrets)
        assert (other.total, other.secrets) == (0, set())


def test_what_others_send_through_httpx_still_follows_redirects() -> None:
    import httpx

    from eva.edges.clients.providers import library

    library()
    with running_stub({}) as other, running_stub({"r0": "redirect"}, redirect_to=other.url) as stub:
        body = {"model": "m", "messages": [{"role": "user", "content": "record=r0"}]}
        with httpx.Client(follow_redirects=True) as client:
            assert client.post(f"{stub.url}/chat/completions", json=body).status_code == 200
        assert other.total == 1


def test_an_answer_that_drips_ends_at_the_time_out() -> None:
    """The time-out is one of the call, not of the pause between two pieces."""
    with running_stub({"r0": "ok", "r1": "drip:20"}) as stub:
        run(stub, 1)  # litellm is imported
        start = time.monotonic()
        replies = run(stub, 2, timeout_s=0.6, max_attempts=2)
        assert time.monotonic() - start < 8
    assert (replies["r0"].error, replies["r1"].error) == (None, Failure.PROVIDER)
    assert stub.counts["r1"] == 2


def test_a_busy_server_is_heard_with_its_wait_whatever_class_litellm_makes_of_it() -> None:
    """C46: 503 and 529 slow everybody down and say for how long, as 429 does."""
    from eva.edges.clients.contract import Transient
    from eva.edges.clients.providers import library, typed_error

    plans = {"r0": "503:7", "r1": "529:7", "r2": "busy200", "r3": "odd200"}
    found = []
    with running_stub(plans) as stub:
        client = open_client(spec_at(stub))

        async def ask() -> None:
            for request in make_requests(4):
                try:
                    await client.ask(request, 0)
                except Exception as error:  # what each becomes is what is looked at
                    found.append(error)
            await client.close()

        asyncio.run(ask())
    assert [type(error).__name__ for error in found] == ["Transient", "Transient", "Transient", "RecordFailure"]
    assert [(e.retry_after, e.limited) for e in found if isinstance(e, Transient)] == [
        (7.0, True),
        (7.0, True),
        (None, True),
    ]
    assert isinstance(typed_error(library().Timeout("m", "m", "p")), Transient)


def test_a_count_that_was_not_told_is_unknown_and_not_nought() -> None:
    """C58: litellm fills it up with 0, and the reply would seem to be free."""
    with running_stub({"r0": "uncounted"}) as stub:
        reply = run(stub, 1, price={"input": 1.0, "output": 1.0})["r0"]
    assert reply.usage.input_tokens is not None
    assert (reply.usage.output_tokens, reply.cost_usd) == (None, None)
