"""The one retry layer: who waits for what, how the shared back-off shrinks and grows, and what budgets per minute allow."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from eva.edges.ask import ask_all_sync
from eva.edges.clients import open_client
from eva.edges.clients.contract import Transient
from eva.edges.clients.scripted import ScriptedClient
from eva.edges.gate_of_calls import CallGate, Halt
from eva.edges.limits import Limits, MinuteBudget, expected_tokens
from eva.edges.store import ReplyStore
from eva.types import ModelSpec, Reply, Request, Usage
from tests.stub_server import running_stub
from tests.stub_server.samples import make_request, make_requests, quick_limits, stub_spec

SPEC = ModelSpec(name="s", kind="scripted", id="s", free=True, concurrency=8, max_attempts=4)


def test_a_storm_of_429_passes_and_every_record_is_answered(tmp_path: Path) -> None:
    """C46, scaled: only 20 answers a second, Retry-After, concurrency 50. All finish; refusals stay few."""
    with running_stub(per_second=20, retry_after_s=0.3) as stub, ReplyStore(tmp_path / "s") as store:
        spec = stub_spec(stub.url, concurrency=50, max_attempts=6)
        start = time.monotonic()
        replies = ask_all_sync(
            make_requests(80), 1, client=open_client(spec), spec=spec, store=store, limits=quick_limits(spec)
        )
        took = time.monotonic() - start
        refused = stub.total - 80
    assert [reply.error for reply in replies] == [None] * 80
    assert 2.9 <= took <= 12.0
    assert max(reply.attempts for reply in replies) <= 5
    assert refused <= 50 + 25 + 12 + 6 + 3 + 30  # halved at each burst, then one at a time


def test_a_refusal_makes_everybody_wait_and_halves_the_places_once_a_burst() -> None:
    halt = Halt()
    moments = [0.0]
    gate = CallGate(16, halt=halt, clock=lambda: moments[0])

    async def main() -> None:
        for _ in range(16):
            assert await gate.enter(attempt=1)
        epoch = gate.epoch
        for _ in range(16):
            gate.back_off(2.0, epoch=epoch)
            gate.leave()
        assert gate.limit == 8.0
        waiting = asyncio.create_task(gate.enter(attempt=1))
        await asyncio.sleep(0.01)
        assert not waiting.done()
        waiting.cancel()
        gate.back_off(2.0, epoch=gate.epoch)
        assert gate.limit == 4.0
        for _ in range(200):
            gate.grow()
        assert gate.limit == 16.0

    asyncio.run(main())


def test_a_pause_that_was_too_short_doubles_until_something_comes_through() -> None:
    """Else the same call, being first in the queue, is refused until it is given up."""
    moments = [0.0]
    gate = CallGate(1, halt=Halt(), clock=lambda: moments[0])
    opens = []
    for _ in range(4):
        gate.back_off(1.0, epoch=gate.epoch)
        opens.append(gate._open_at - moments[0])
        moments[0] = gate._open_at
    gate.grow()
    gate.back_off(1.0, epoch=gate.epoch)
    opens.append(gate._open_at - moments[0])
    assert opens == [1.0, 2.0, 4.0, 8.0, 1.0]


def test_calls_keep_the_distance_at_which_the_provider_let_them_through() -> None:
    moments = [0.0]
    gate = CallGate(8, halt=Halt(), clock=lambda: moments[0])
    for _ in range(10):
        gate.grow()
    moments[0] = 5.0
    gate.back_off(1.0, epoch=gate.epoch)
    assert gate.gap_s == 0.5
    for _ in range(23):
        gate.grow()
    assert 0.24 < gate.gap_s < 0.26
    for _ in range(300):
        gate.grow()
    assert gate.gap_s == 0.0


def test_places_never_fall_below_one() -> None:
    gate = CallGate(4, halt=Halt())
    for _ in range(10):
        gate.back_off(0.0, epoch=gate.epoch)
    assert gate.limit == 1.0


def test_calls_that_were_refused_most_often_go_first() -> None:
    gate = CallGate(1, halt=Halt())
    order: list[str] = []

    async def call(name: str, *, attempt: int) -> None:
        await gate.enter(attempt=attempt)
        order.append(name)
        await asyncio.sleep(0)
        gate.leave()

    async def main() -> None:
        await gate.enter(attempt=1)
        names = {"a": 1, "b": 1, "once refused": 2, "twice refused": 3, "once too": 2}
        tasks = [asyncio.create_task(call(name, attempt=attempt)) for name, attempt in names.items()]
        await asyncio.sleep(0.01)
        gate.leave()
        await asyncio.gather(*tasks)

    asyncio.run(main())
    assert order == ["twice refused", "once refused", "once too", "a", "b"]


def test_a_cancelled_caller_gives_its_place_back() -> None:
    gate = CallGate(1, halt=Halt())

    async def main() -> None:
        await gate.enter(attempt=1)
        waiting = asyncio.create_task(gate.enter(attempt=1))
        await asyncio.sleep(0.01)
        gate.leave()  # the place is handed to the waiting call …
        waiting.cancel()  # … which is cancelled before it runs
        await asyncio.gather(waiting, return_exceptions=True)
        assert gate.active == 0
        assert await asyncio.wait_for(gate.enter(attempt=1), 1.0)

    asyncio.run(main())


def test_a_halt_wakes_everybody_and_gives_no_place() -> None:
    async def main() -> list[bool]:
        halt = Halt()
        gate = CallGate(1, halt=halt)
        await gate.enter(attempt=1)
        tasks = [asyncio.create_task(gate.enter(attempt=1)) for _ in range(3)]
        sleeper = asyncio.create_task(halt.sleep(1000.0))
        await asyncio.sleep(0.01)
        halt.set()
        return [*await asyncio.gather(*tasks), await sleeper, await halt.sleep(0.0)]

    assert asyncio.run(main()) == [False] * 5


def delays_of(errors: list[Transient], **changes: object) -> list[float]:
    """What `Limits` would wait after each of these errors, attempt by attempt."""
    limits = Limits(replace(SPEC, **changes), rng=random.Random(7))  # type: ignore[arg-type]  # fields by name
    return [limits._delay(error, attempt) for attempt, error in enumerate(errors, start=1)]


def test_waits_are_jittered_over_a_doubling_span_up_to_a_minute() -> None:
    spans = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 60.0, 60.0]
    samples = [delays_of([Transient("x")] * 8)]
    limits = Limits(SPEC, rng=random.Random(1))
    for _ in range(300):
        samples.append([limits._delay(Transient("x"), attempt) for attempt in range(1, 9)])
    for place, span in enumerate(spans):
        drawn = [sample[place] for sample in samples]
        assert max(drawn) <= span
        assert max(drawn) > 0.9 * span
        assert min(drawn) < 0.1 * span


def test_retry_after_is_at_least_what_was_asked_for_and_little_more() -> None:
    for _ in range(50):
        (delay,) = delays_of([Transient("x", retry_after=20.0, limited=True)])
        assert 20.0 <= delay <= 22.0


def test_waiting_is_said_once_a_burst(caplog: pytest.LogCaptureFixture) -> None:
    """C46: a run that stands still must say why."""
    left = [Transient("rate limit", retry_after=0.05, limited=True) for _ in range(8)]
    client = ScriptedClient(SPEC, script=lambda request, repeat: left.pop() if left else "x")
    with caplog.at_level("INFO", logger="eva"):
        replies = ask_all_sync(make_requests(20), 1, client=client, spec=SPEC, store=None, limits=quick_limits(SPEC))
    assert [reply.error for reply in replies] == [None] * 20
    assert [record.getMessage() for record in caplog.records] == [
        "s refuses: all wait 0.1 s, then 4 at a time (rate limit)"
    ]


def test_a_time_out_slows_only_its_own_call() -> None:
    limits = quick_limits(SPEC)
    fate = {"r0": [Transient("slow"), Transient("slow")]}

    def script(request: Request, repeat: int) -> str | Exception:
        left = fate.get(request.record_id)
        return left.pop() if left else "x"

    client = ScriptedClient(SPEC, script=script)
    replies = ask_all_sync(make_requests(10), 1, client=client, spec=SPEC, store=None, limits=limits)
    assert [reply.attempts for reply in replies] == [3] + [1] * 9
    assert limits.gate.limit == 8.0
    assert limits.attempts == 12


def budget_waits(per_minute: int, clock: Callable[[], float], takes: list[float]) -> list[float]:
    budget = MinuteBudget(per_minute, clock)
    return [budget.take(units) for units in takes]


def test_no_minute_holds_more_than_the_budget() -> None:
    """Whatever the demand: calls are booked as they come and told when they may go."""
    for per_minute in (1, 7, 60, 500):
        moment = [0.0]
        budget = MinuteBudget(per_minute, lambda: moment[0])  # noqa: B023  # used inside this turn of the loop only
        started: list[float] = []
        for _ in range(4 * per_minute + 4):
            wait = budget.take(1)
            started.append(moment[0] + wait)
            moment[0] += wait
        for begin in started:
            assert sum(begin <= at < begin + 60.0 for at in started) <= per_minute
        assert started[-1] <= 60.0 * 4 * 1.25 + 130.0


def test_a_call_bigger_than_the_budget_waits_and_leaves_a_debt() -> None:
    moment = [0.0]
    budget = MinuteBudget(600, lambda: moment[0])
    assert budget.take(2000) == 0.0
    assert budget.take(1) > 120.0
    budget.take(-2000)
    assert budget.take(1) <= 1.0


def test_requests_per_minute_are_kept_by_a_run() -> None:
    """30 of 600 a minute are the burst of 60; the rest goes at nine a second."""
    spec = replace(SPEC, requests_per_minute=600)
    client = ScriptedClient(spec, script=lambda request, repeat: "x")
    start = time.monotonic()
    ask_all_sync(make_requests(69), 1, client=client, spec=spec, store=None)
    assert 0.8 <= time.monotonic() - start <= 5.0


def test_tokens_per_minute_are_corrected_by_what_was_used() -> None:
    spec = replace(SPEC, tokens_per_minute=10_000, params={"max_tokens": 900})
    answer = Reply(record_id="", repeat=0, digest="", text="x", usage=Usage(input_tokens=10, output_tokens=5))
    client = ScriptedClient(spec, script=lambda request, repeat: answer)
    assert expected_tokens(make_request("r1"), spec) > 900
    start = time.monotonic()
    ask_all_sync(make_requests(12), 1, client=client, spec=replace(spec, concurrency=1), store=None)
    assert time.monotonic() - start < 2.0  # as booked first, 12 × 900 tokens would take most of a minute
