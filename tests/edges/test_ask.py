"""Asking: every (record, repeat) once, keyed by what was asked, kept at once, resumed without a lost or double call."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from eva.edges.ask import ask_all, ask_all_sync, ask_pairs, run_sync
from eva.edges.clients import open_client
from eva.edges.clients.contract import RecordFailure, Transient
from eva.edges.clients.scripted import ScriptedClient
from eva.edges.store import ReplyStore
from eva.errors import CredentialsError, ModelError, QuotaError
from eva.types import Failure, ModelSpec, Reply, Request
from tests.stub_server import Stub, running_stub
from tests.stub_server.samples import labels, make_request, make_requests, quick_limits, stub_spec

SCRIPTED = ModelSpec(name="scripted", kind="scripted", id="scripted", free=True, concurrency=4, max_attempts=3)


def run(
    stub: Stub, requests: tuple[Request, ...], repeats: int, store: ReplyStore, **changes: Any
) -> tuple[Reply, ...]:
    spec = stub_spec(stub.url, **changes)
    return ask_all_sync(requests, repeats, client=open_client(spec), spec=spec, store=store, limits=quick_limits(spec))


def by_record(replies: tuple[Reply, ...]) -> dict[str, Reply]:
    return {reply.record_id: reply for reply in replies}


def test_results_are_in_the_order_of_records_and_repeats_whatever_arrives_first(tmp_path: Path) -> None:
    with running_stub({"r0": "slow:0.3", "r2": "slow:0.1"}) as stub, ReplyStore(tmp_path / "s") as store:
        replies = run(stub, make_requests(5), 2, store)
    assert [(reply.record_id, reply.repeat) for reply in replies] == [(f"r{n}", k) for n in range(5) for k in (0, 1)]
    assert all(json.loads(reply.text or "")["explanation"] == f"stub on {reply.record_id}" for reply in replies)


def test_a_second_run_asks_nothing_and_more_repeats_ask_for_the_new_ones_only(tmp_path: Path) -> None:
    """C36: the repeat is part of the key; raising seeds from 3 to 5 pays for 2 more."""
    with running_stub() as stub, ReplyStore(tmp_path / "s") as store:
        first = run(stub, make_requests(4), 3, store)
        assert stub.total == 12
        again = run(stub, make_requests(4), 3, store)
        assert stub.total == 12
        assert labels(again) == labels(first)
        assert all(reply.cached for reply in again)
        more = run(stub, make_requests(4), 5, store)
        assert stub.total == 20
        assert [reply.cached for reply in more] == [True, True, True, False, False] * 4
        assert set(stub.seeds) == {(f"r{n}", seed) for n in range(4) for seed in (1, 2, 3, 4, 5)}


def test_only_failed_calls_are_asked_again(tmp_path: Path) -> None:
    """C41: errors are kept apart and never served; the next run asks exactly for what failed."""
    with running_stub({"r1": "500*3,ok", "r7": "500*3,ok"}) as stub, ReplyStore(tmp_path / "s") as store:
        first = run(stub, make_requests(10), 1, store)
        assert [reply.error for reply in first if reply.error] == [Failure.PROVIDER, Failure.PROVIDER]
        assert stub.total == 8 + 2 * 3
        second = run(stub, make_requests(10), 1, store)
        assert stub.total == 8 + 2 * 3 + 2
        assert not [reply for reply in second if reply.error]
        assert len(store.errors(make_request("r1").digest, 0)) == 1


@pytest.mark.parametrize(
    ("plan", "failure", "attempts"),
    [
        ("ok", None, 1),
        ("429:0.01*2,ok", None, 3),
        ("503,ok", None, 2),
        ("408,ok", None, 2),
        ("reset,ok", None, 2),
        ("html,ok", None, 2),
        ("html500,ok", None, 2),
        ("cut,ok", None, 2),
        ("badjson,ok", None, 2),
        ("error200,ok", None, 2),
        ("500", Failure.PROVIDER, 3),
        ("429:0.01", Failure.PROVIDER, 3),
        ("html", Failure.PROVIDER, 3),
        ("reset", Failure.PROVIDER, 3),
        ("huge", Failure.PROVIDER, 1),
        ("400", Failure.BAD_REQUEST, 1),
        ("422", Failure.BAD_REQUEST, 1),
        ("413", Failure.TOO_LONG, 1),
        ("context", Failure.TOO_LONG, 1),
        ("filter", Failure.FILTERED, 1),
        ("empty", None, 1),
        ("nochoices", None, 1),
        ("truncated", None, 1),
        ("filtered", None, 1),
    ],
)
def test_each_fate_of_a_record_takes_the_exact_number_of_calls(
    tmp_path: Path, plan: str, failure: Failure | None, attempts: int
) -> None:
    """C46, C47: transient ones up to max_attempts, final ones once; the other records are unaffected."""
    with running_stub({"r1": plan}) as stub, ReplyStore(tmp_path / "s") as store:
        replies = by_record(run(stub, make_requests(3), 1, store))
    assert replies["r1"].error == failure
    assert replies["r1"].attempts == attempts
    assert dict(stub.counts) == {"r0": 1, "r1": attempts, "r2": 1}
    assert replies["r0"].error is None
    assert replies["r2"].error is None


def test_silence_ends_with_the_time_out_of_the_call(tmp_path: Path) -> None:
    with running_stub({"r0": "silence"}) as stub, ReplyStore(tmp_path / "s") as store:
        replies = by_record(run(stub, make_requests(2), 1, store, timeout_s=0.2, max_attempts=2))
    assert replies["r0"].error == Failure.PROVIDER
    assert "no answer within 0.2 s" in replies["r0"].error_text
    assert stub.counts["r0"] == 2


@pytest.mark.parametrize(
    ("plan", "error"),
    [("badkey", CredentialsError), ("403", CredentialsError), ("nomodel", ModelError), ("404", ModelError),
     ("quota", QuotaError), ("402", QuotaError), ("redirect", ModelError), ("429:99999", QuotaError)],
)  # fmt: skip
def test_what_no_call_can_survive_stops_the_run_within_one_wave(
    tmp_path: Path, plan: str, error: type[ModelError]
) -> None:
    """Authentication, unknown model, quota: at most `concurrency` calls, no retry, the provider's words kept."""
    plans = {f"r{number}": plan for number in range(200)}
    with running_stub(plans, latency_s=0.02) as stub, ReplyStore(tmp_path / "s") as store:
        with pytest.raises(error) as caught:
            run(stub, make_requests(200), 3, store)
        assert stub.total <= 8
    assert type(caught.value) is error
    assert "sk-stub" not in str(caught.value)


def test_replies_that_came_before_the_end_are_kept(tmp_path: Path) -> None:
    with running_stub({"r5": "badkey"}) as stub, ReplyStore(tmp_path / "s") as store:
        with pytest.raises(CredentialsError):
            run(stub, make_requests(10), 1, store, concurrency=1)
        assert [store.get(make_request(f"r{number}").digest, 0) is not None for number in range(10)] == [True] * 5 + [
            False
        ] * 5


def test_the_circuit_opens_when_nothing_answers(tmp_path: Path) -> None:
    """A dead server does not cost 2,000 × 6 attempts."""
    plans = {f"r{number}": "500" for number in range(300)}
    with running_stub(plans) as stub, ReplyStore(tmp_path / "s") as store:
        with pytest.raises(ModelError, match="in a row"):
            run(stub, make_requests(300), 1, store)
        assert stub.total <= (20 + 8) * 3


def test_a_stop_begins_no_call_and_keeps_those_in_flight(tmp_path: Path) -> None:
    """C44: after Ctrl-C the calls in flight are finished and stored; the rest is simply not there."""
    stop = asyncio.Event()
    client = ScriptedClient(SCRIPTED, script=lambda request, repeat: "x", latency_s=0.05)
    seen: list[Reply] = []

    def on_reply(reply: Reply) -> None:
        seen.append(reply)
        if len(seen) == 6:
            stop.set()

    with ReplyStore(tmp_path / "s") as store:
        replies = ask_all_sync(
            make_requests(50), 1, client=client, spec=SCRIPTED, store=store, on_reply=on_reply, stop=stop
        )
        assert len(replies) == len(seen) == len(client.asked)
        assert 6 <= len(replies) <= 6 + SCRIPTED.concurrency
        rest = ScriptedClient(SCRIPTED, script=lambda request, repeat: "x")
        assert len(ask_all_sync(make_requests(50), 1, client=rest, spec=SCRIPTED, store=store)) == 50
        assert len(rest.asked) == 50 - len(replies)


def test_a_stop_wakes_those_that_wait_for_another_attempt(tmp_path: Path) -> None:
    stop = asyncio.Event()

    def script(request: Request, repeat: int) -> Exception:
        stop.set()
        return Transient("busy", retry_after=500.0)

    with ReplyStore(tmp_path / "s") as store:
        client = ScriptedClient(SCRIPTED, script=script)
        replies = ask_all_sync(make_requests(3), 1, client=client, spec=SCRIPTED, store=store, stop=stop)
    assert replies == ()


def test_concurrency_is_bounded_and_reached() -> None:
    client = ScriptedClient(SCRIPTED, script=lambda request, repeat: "x", latency_s=0.01)
    ask_all_sync(make_requests(30), 1, client=client, spec=SCRIPTED, store=None)
    assert client.most_in_flight == SCRIPTED.concurrency


def test_the_local_model_is_asked_record_by_record_one_at_a_time() -> None:
    """The repeats of a record follow each other, so that its prompt is still in the server's cache."""
    spec = replace(SCRIPTED, kind="local", concurrency=8)
    client = ScriptedClient(spec, script=lambda request, repeat: "x", latency_s=0.001)
    ask_all_sync(make_requests(3), 3, client=client, spec=spec, store=None)
    assert client.asked == [(f"r{n}", k) for n in range(3) for k in range(3)]
    assert client.most_in_flight == 1


def test_records_of_equal_text_share_one_call_and_get_one_answer(tmp_path: Path) -> None:
    """Else an interrupted and an uninterrupted run could differ: the store knows digests, not records."""
    same = make_request("r0")
    twin = replace(same, record_id="twin")
    client = ScriptedClient(SCRIPTED, script=lambda request, repeat: f"answer {repeat}")
    with ReplyStore(tmp_path / "s") as store:
        replies = ask_all_sync((same, twin), 2, client=client, spec=SCRIPTED, store=store)
        assert [(r.record_id, r.repeat, r.cached) for r in replies] == [
            ("r0", 0, False), ("r0", 1, False), ("twin", 0, True), ("twin", 1, True)
        ]  # fmt: skip
        assert replies[0].text == replies[2].text
        assert replies[0].text != replies[1].text
        again = ask_all_sync((same, twin), 2, client=client, spec=SCRIPTED, store=store)
        assert [r.text for r in again] == [r.text for r in replies]


def test_two_runs_in_one_process_leave_no_open_connection(tmp_path: Path) -> None:
    """C48: a client is closed on the loop that used it, and may be used again on the next."""
    with running_stub() as stub:
        spec = stub_spec(stub.url)
        client = open_client(spec)
        for repeat in range(2):
            with ReplyStore(tmp_path / f"s{repeat}") as store:
                assert len(ask_all_sync(make_requests(3), 1, client=client, spec=spec, store=store)) == 3
        assert stub.total == 6


def test_asking_works_where_a_loop_already_runs(tmp_path: Path) -> None:
    """A notebook."""

    async def cell() -> int:
        client = ScriptedClient(SCRIPTED, script=lambda request, repeat: "x")
        with ReplyStore(tmp_path / "s") as store:
            return len(ask_all_sync(make_requests(3), 1, client=client, spec=SCRIPTED, store=store))

    assert asyncio.run(cell()) == 3


def test_a_re_ask_is_stored_under_its_own_number_with_another_seed(tmp_path: Path) -> None:
    """C31: the first reply stays on record; the second has another seed, else it would be the same text."""
    request = make_request("r0")
    with running_stub() as stub, ReplyStore(tmp_path / "s") as store:
        spec = stub_spec(stub.url)
        client = open_client(spec)
        (first,) = ask_all_sync((request,), 1, client=client, spec=spec, store=store)

        async def again() -> tuple[Reply, ...]:
            try:
                return await ask_pairs([(request, 0)], client=client, spec=spec, store=store, ask=1)
            finally:
                await client.close()

        (second,) = run_sync(again)
        assert (second.repeat, second.ask) == (0, 1)
        assert set(stub.seeds) == {("r0", 1), ("r0", 1001)}
        stored = store.get(request.digest, 0)
        assert stored is not None
        assert stored.text == first.text
        kept = store.get(request.digest, 0, ask=1)
        assert kept is not None
        assert kept.text == second.text


def test_a_bug_in_a_client_is_not_swallowed(tmp_path: Path) -> None:
    client = ScriptedClient(SCRIPTED, script={("r0", 0): "x"})
    with ReplyStore(tmp_path / "s") as store, pytest.raises(KeyError):
        ask_all_sync(make_requests(2), 1, client=client, spec=SCRIPTED, store=store)


def test_an_error_without_words_is_still_an_error(tmp_path: Path) -> None:
    """C42: an empty error text must not read as success."""
    client = ScriptedClient(SCRIPTED, script=lambda request, repeat: RecordFailure(Failure.BAD_REQUEST, ""))
    with ReplyStore(tmp_path / "s") as store:
        (reply,) = ask_all_sync(make_requests(1), 1, client=client, spec=SCRIPTED, store=store)
        assert reply.error == Failure.BAD_REQUEST
        assert reply.error_text
        assert store.get(reply.digest, 0) is None


@pytest.mark.parametrize("kind", ["endpoint", "litellm"])
def test_no_key_reaches_the_store_or_the_caller(tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """C93: a provider that quotes our headers and addresses; the key has no shape of its own."""
    canary = "quite plain words as a key"
    monkeypatch.setenv("STUB_KEY", canary)
    heard: list[Reply] = []
    with running_stub({"r0": "echo", "r1": "echo,ok"}) as stub:
        spec = stub_spec(stub.url, kind=kind, id="openai/stub", key_env="STUB_KEY")
        with ReplyStore(tmp_path / "s") as store:
            client = open_client(spec)
            ask_all_sync(make_requests(3), 2, client=client, spec=spec, store=store, on_reply=heard.append)
        assert stub.keys == {f"Bearer {canary}"}
    assert [reply.error for reply in heard].count(Failure.BAD_REQUEST) == 3
    written = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    for secret in (canary, "p4ssw0rd", "AIza"):
        assert secret.encode() not in written
        assert secret not in repr(heard)
    assert b"cannot parse headers" in written


def test_two_processes_at_one_run_see_the_same_replies(tmp_path: Path) -> None:
    """Both ask, since neither knew of the other; the reply that came first counts for both."""
    client = ScriptedClient(SCRIPTED, script=lambda request, repeat: "ours")
    with ReplyStore(tmp_path / "s") as theirs, ReplyStore(tmp_path / "s") as store:
        original = client.ask

        async def ask(request: Request, repeat: int) -> Reply:
            reply = await original(request, repeat)
            theirs.put(replace(reply, text="theirs"))
            return reply

        client.ask = ask  # type: ignore[method-assign]  # the other process, at the worst moment
        (reply,) = ask_all_sync(make_requests(1), 1, client=client, spec=SCRIPTED, store=store)
    assert (reply.text, reply.cached) == ("theirs", False)


def test_a_reply_is_on_disk_before_anybody_hears_of_it(tmp_path: Path) -> None:
    path = tmp_path / "s"
    client = ScriptedClient(SCRIPTED, script=lambda request, repeat: "x")

    def on_reply(reply: Reply) -> None:
        with ReplyStore(path) as other:
            assert other.get(reply.digest, reply.repeat) is not None

    with ReplyStore(path) as store:
        assert len(ask_all_sync(make_requests(4), 2, client=client, spec=SCRIPTED, store=store, on_reply=on_reply)) == 8


def test_ask_all_runs_on_a_loop_of_the_caller(tmp_path: Path) -> None:
    async def main() -> tuple[Reply, ...]:
        client = ScriptedClient(SCRIPTED, script=lambda request, repeat: "x")
        with ReplyStore(tmp_path / "s") as store:
            return await ask_all(make_requests(2), 2, client=client, spec=SCRIPTED, store=store)

    assert len(asyncio.run(main())) == 4
