"""What calls cost: from counts and prices, with cached tokens and tiers priced as such, and unknown never 0."""

from __future__ import annotations

from typing import Any

import pytest

from eva.edges import price_table
from eva.edges.price_table import Price, facts_of, listed_price, table
from eva.edges.pricing import check_price, cost_of, cost_usd, price_for, price_source
from eva.errors import ConfigError
from eva.types import ModelSpec, Reply, Usage

PRICE = Price(input=2.0, output=10.0, cached_input=0.5, audio_input=4.0, reasoning=20.0)


def model(**changes: Any) -> ModelSpec:
    return ModelSpec(**{"name": "m", "kind": "litellm", "id": "openai/gpt-5.2", **changes})


def reply(usage: Usage, *, cached: bool = False) -> Reply:
    return Reply(record_id="r", repeat=0, digest="d", usage=usage, cached=cached)


@pytest.mark.parametrize(
    ("usage", "usd"),
    [
        (Usage(1_000_000, 0), 2.0),
        (Usage(0, 1_000_000), 10.0),
        (Usage(1_000_000, 0, cached_tokens=900_000), 0.2 + 0.45),
        (Usage(1_000_000, 0, cached_tokens=5_000_000), 0.5),
        (Usage(0, 1_000_000, reasoning_tokens=400_000), 6.0 + 8.0),
        (Usage(1_000_000, 0, audio_tokens=250_000), 1.5 + 1.0),
        (Usage(None, 5), None),
        (Usage(5, None), None),
        (Usage(), None),
    ],
)
def test_counts_are_priced_by_their_kind(usage: Usage, usd: float | None) -> None:
    """C59: 27,146 of 27,147 tokens cached is not 27,147 tokens at the full rate."""
    assert cost_of(usage, PRICE) == (None if usd is None else pytest.approx(usd))


def test_sound_without_a_price_for_it_is_unknown() -> None:
    price = Price(input=2.0, output=10.0, cached_input=0.5, audio_input=None, reasoning=10.0)
    assert cost_of(Usage(10, 10, audio_tokens=5), price) is None
    assert cost_of(Usage(10, 10), price) is not None


def test_an_unknown_model_costs_unknown_and_a_free_one_nothing() -> None:
    """C58."""
    counts = reply(Usage(100, 100))
    assert cost_usd(model(id="openai/of-tomorrow"), counts) is None
    assert cost_usd(model(kind="endpoint", id="gpt-5.2"), counts) is None
    assert cost_usd(model(id="openai/of-tomorrow", free=True), counts) == 0.0
    assert price_source(model(id="openai/of-tomorrow")) == "unknown"


def test_the_configs_price_comes_before_the_table() -> None:
    own = model(price={"input": 1.0, "output": 2.0})
    assert cost_usd(own, reply(Usage(1_000_000, 1_000_000, cached_tokens=500_000))) == pytest.approx(3.0)
    assert price_source(own) == "model.price"


@pytest.mark.parametrize(
    "price",
    [
        {"input": 1.0}, {"input": 1.0, "output": 2.0, "out": 1.0}, {"input": -1.0, "output": 2.0},
        {"input": float("nan"), "output": 2.0}, {"input": 1.0, "output": float("inf")},
        {"input": 1.0, "output": 2.0, "cached_input": float("nan")},
    ],
)  # fmt: skip
def test_a_price_that_cannot_be_meant_is_refused(price: dict[str, float]) -> None:
    with pytest.raises(ConfigError, match=r"model\.price"):
        check_price(model(price=price))


ROW = {
    "litellm_provider": "openai", "input_cost_per_token": 2e-6, "output_cost_per_token": 1e-5,
    "cache_read_input_token_cost": 2e-7, "input_cost_per_token_flex": 1e-6, "output_cost_per_token_flex": 5e-6,
    "cache_read_input_token_cost_flex": 1e-7, "input_cost_per_token_above_200k_tokens": 4e-6,
    "output_cost_per_token_above_200k_tokens": 2e-5,
}  # fmt: skip


@pytest.fixture
def listed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(price_table, "table", lambda: {"m-1": ROW})


@pytest.mark.usefixtures("listed")
def test_tiers_and_long_prompts_have_their_own_prices() -> None:
    assert listed_price("openai/m-1", tier=None, input_tokens=10) == Price(2.0, 10.0, pytest.approx(0.2), None, 10.0)
    assert listed_price("openai/m-1", tier="flex", input_tokens=10) == Price(1.0, 5.0, pytest.approx(0.1), None, 5.0)
    long = listed_price("openai/m-1", tier="default", input_tokens=200_001)
    assert long is not None
    assert (long.input, long.output) == (4.0, 20.0)


@pytest.mark.usefixtures("listed")
def test_a_tier_without_a_price_is_unknown_and_not_the_usual_price() -> None:
    assert listed_price("openai/m-1", tier="priority", input_tokens=10) is None
    assert listed_price("openai/m-1", tier="scale", input_tokens=10) is None
    assert price_for(model(id="openai/m-1", params={"service_tier": "flex"})) == Price(
        1.0, 5.0, pytest.approx(0.1), None, 5.0
    )


@pytest.mark.usefixtures("listed")
def test_a_row_is_not_taken_for_another_providers_model() -> None:
    assert facts_of("m-1") is ROW
    assert facts_of("openai/m-1") is ROW
    assert facts_of("groq/m-1") is None


def test_the_real_table_knows_the_models_that_have_a_file() -> None:
    if not table():
        pytest.skip("litellm is not installed here")
    for model_id in (
        "openai/gpt-5.2",
        "anthropic/claude-opus-4-6",
        "anthropic/claude-sonnet-4-6",
        "gemini/gemini-3-flash-preview",
    ):
        price = listed_price(model_id, tier=None, input_tokens=1000)
        assert price is not None
        assert 0 < price.cached_input < price.input < price.output
