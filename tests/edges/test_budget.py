"""Money before it is spent: what an estimate says, and that a budget stops before the call that would exceed it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from eva.edges.ask import ask_all_sync
from eva.edges.budget import estimate, input_range
from eva.edges.clients.contract import RecordFailure
from eva.edges.clients.scripted import ScriptedClient
from eva.edges.price_table import facts_of
from eva.edges.store import ReplyStore
from eva.errors import BudgetError
from eva.types import Failure, ModelSpec, Reply, Request, Usage
from tests.stub_server.samples import make_request, make_requests

PRICE = {"input": 0.0, "output": 10_000.0}
"""One cent a written token: easy sums."""


def model(**changes: Any) -> ModelSpec:
    values: dict[str, Any] = {
        "name": "m", "kind": "scripted", "id": "m", "params": {"max_tokens": 10}, "price": PRICE, "concurrency": 4,
    }  # fmt: skip
    return ModelSpec(**{**values, **changes})


def writes(tokens: int | None) -> Any:
    usage = Usage(input_tokens=50, output_tokens=tokens)
    return lambda request, repeat: Reply(record_id="", repeat=0, digest="", text="x", usage=usage)


def run(spec: ModelSpec, client: ScriptedClient, count: int, store: ReplyStore | None, usd: float) -> tuple[Reply, ...]:
    return ask_all_sync(make_requests(count), 1, client=client, spec=spec, store=store, max_usd=usd)


def test_no_call_begins_that_could_exceed_the_budget(tmp_path: Path) -> None:
    """Each call may cost 0.10 and costs 0.05: of 1.00, nineteen fit (0.95 spent, 0.05 left is not enough for another)."""
    spec = model()
    client = ScriptedClient(spec, script=writes(5), latency_s=0.001)
    with ReplyStore(tmp_path / "s") as store:
        with pytest.raises(BudgetError, match="max_usd=1"):
            run(spec, client, 100, store, 1.0)
        assert len(client.asked) == 19
        assert store.query("SELECT count(*) FROM replies") == [(19,)]
        # The same command again: stored replies are free, so the next nineteen come.
        with pytest.raises(BudgetError):
            run(spec, client, 100, store, 1.0)
        assert len(client.asked) == 38


def test_calls_in_flight_count_with_the_most_they_can_cost(tmp_path: Path) -> None:
    spec = model(concurrency=50)
    client = ScriptedClient(spec, script=writes(10), latency_s=0.01)
    with pytest.raises(BudgetError):
        run(spec, client, 100, None, 1.0)
    assert len(client.asked) == 10


def test_a_run_that_fits_is_not_stopped() -> None:
    spec = model()
    client = ScriptedClient(spec, script=writes(10))
    assert len(run(spec, client, 10, None, 1.0)) == 10


def test_a_reply_without_counts_is_booked_at_its_highest() -> None:
    spec = model(concurrency=1)
    client = ScriptedClient(spec, script=writes(None))
    with pytest.raises(BudgetError):
        run(spec, client, 100, None, 0.35)
    assert len(client.asked) == 3


def test_failures_cost_nothing() -> None:
    spec = model()
    client = ScriptedClient(spec, script=lambda request, repeat: RecordFailure(Failure.BAD_REQUEST, "no"))
    assert len(run(spec, client, 30, None, 0.2)) == 30


def test_an_unpriced_model_is_refused_before_the_first_call() -> None:
    spec = model(price=None)
    client = ScriptedClient(spec, script=writes(1))
    with pytest.raises(BudgetError, match=r"model\.price"):
        run(spec, client, 3, None, 1.0)
    assert client.asked == []


def test_a_free_model_needs_no_guard() -> None:
    spec = model(price=None, free=True)
    assert len(run(spec, ScriptedClient(spec, script=writes(1)), 3, None, 0.0)) == 3


def test_the_estimate_counts_calls_that_are_not_stored(tmp_path: Path) -> None:
    spec = model()
    with ReplyStore(tmp_path / "s") as store:
        ask_all_sync(make_requests(2), 3, client=ScriptedClient(spec, script=writes(5)), spec=spec, store=store)
        found = estimate(make_requests(4), 3, spec, store=store)
    assert (found.calls, found.stored) == (6, 6)
    assert found.output_tokens == (60, 60)
    assert found.cost_usd == pytest.approx((0.6, 0.6))
    assert "6 calls (6 stored)" in found.text()


def test_an_estimate_without_a_price_says_unknown() -> None:
    found = estimate(make_requests(2), 1, model(price=None))
    assert found.cost_usd is None
    assert "cost unknown" in found.text()


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("The assistant told the caller that the flight leaves at nine. " * 40, 480),
        ("1 2 3 4 " * 100, 400),
        ("यह परीक्षण है। " * 60, 360),
    ],
)
def test_the_range_holds_the_real_number_of_tokens(text: str, tokens: int) -> None:
    """Counts of common tokenizers, rounded: about twelve for this English sentence, six for this Hindi one."""
    low, high = input_range(make_request("r", text=text))
    assert low <= tokens <= high


def test_the_kind_of_request_does_not_matter_for_the_estimate() -> None:
    request: Request = make_request("r")
    assert estimate((request,), 2, model()).calls == 2


@pytest.mark.parametrize("limit", [-1, 0, True, None, "many"])
def test_a_limit_that_limits_nothing_does_not_open_the_budget(limit: object) -> None:
    """-1 is "no limit" to several servers: taken as a number, a call's highest cost would fall below nought."""
    price = {"input": 0.0, "output": 1.0}
    unlimited = model(price=price, params={"max_tokens": limit})
    found = estimate(make_requests(1), 1, unlimited)
    assert found.output_tokens == (60, 4000)
    assert found.cost_usd == (pytest.approx(60e-6), pytest.approx(4000e-6))


def test_without_a_limit_the_most_that_the_model_writes_is_held_back() -> None:
    listed = model(kind="litellm", id="openai/gpt-5.2", price={"input": 0.0, "output": 1.0}, params={})
    most = facts_of("openai/gpt-5.2")["max_output_tokens"]  # type: ignore[index]  # it is listed
    assert most > 4000
    assert estimate(make_requests(1), 1, listed).output_tokens == (60, most)
    small = model(price={"input": 0.0, "output": 1.0}, params={}, context_tokens=8192)
    assert estimate(make_requests(1), 1, small).output_tokens == (60, 8192)
    named = model(price={"input": 0.0, "output": 1.0}, params={"max_output_tokens": 70}, context_tokens=8192)
    assert estimate(make_requests(1), 1, named).output_tokens == (60, 70)
