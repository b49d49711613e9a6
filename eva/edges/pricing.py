"""What calls cost, from token counts and a price. Unknown is None and never 0."""

from __future__ import annotations

from eva.edges.price_table import MILLION, Price, listed_price, table_version
from eva.errors import ConfigError
from eva.types import ModelSpec, Reply, Usage

PRICE_KEYS = ("input", "output", "cached_input", "audio_input")


def cost_usd(spec: ModelSpec, reply: Reply) -> float | None:
    """The cost of a reply in USD; 0.0 for a free model, None where price or usage is unknown."""
    if spec.free:
        return 0.0
    price = price_for(spec, input_tokens=reply.usage.input_tokens or 0)
    return None if price is None else cost_of(reply.usage, price)


def price_for(spec: ModelSpec, *, input_tokens: int = 0) -> Price | None:
    """`model.price` where it is set, else the listed price; None where neither is known. Prices in USD per million."""
    if spec.free:
        return Price(input=0.0, output=0.0, cached_input=0.0, audio_input=0.0, reasoning=0.0)
    if spec.price is not None:
        own = spec.price
        check_price(spec)
        return Price(
            input=own["input"],
            output=own["output"],
            cached_input=own.get("cached_input", own["input"]),
            audio_input=own.get("audio_input"),
            reasoning=own["output"],
        )
    if spec.kind != "litellm":
        return None
    tier = spec.params.get("service_tier")
    return listed_price(spec.id, tier=None if tier is None else str(tier), input_tokens=input_tokens)


def price_source(spec: ModelSpec) -> str:
    """Where the price comes from, in words for a run's record."""
    if spec.free:
        return "free"
    if spec.price is not None:
        return "model.price"
    return f"{table_version()}'s table" if price_for(spec) is not None else "unknown"


def check_price(spec: ModelSpec) -> None:
    """Raises ConfigError for a `model.price` with missing or unknown entries, or amounts that are none."""
    price = spec.price or {}
    missing = [key for key in ("input", "output") if key not in price]
    unknown = [key for key in price if key not in PRICE_KEYS]
    wrong = [key for key in price if not 0 <= price[key] < float("inf")]  # a NaN would be under every budget
    if spec.price is not None and (missing or unknown or wrong):
        raise ConfigError(
            f"model.price of {spec.name!r}: USD per million tokens, {{input: …, output: …, cached_input: …}}"
            f" (missing: {', '.join(missing) or 'none'}; unknown: {', '.join(unknown) or 'none'}"
            f"; no amount: {', '.join(wrong) or 'none'})"
        )


def cost_of(usage: Usage, price: Price) -> float | None:
    """USD for token counts. Cached and audio tokens are part of the input, reasoning tokens part of the output."""
    if usage.input_tokens is None or usage.output_tokens is None:
        return None
    audio = min(usage.audio_tokens or 0, usage.input_tokens)
    cached = min(usage.cached_tokens or 0, usage.input_tokens - audio)
    if audio and price.audio_input is None:
        return None
    reasoning = min(usage.reasoning_tokens or 0, usage.output_tokens)
    paid = (usage.input_tokens - cached - audio) * price.input + cached * price.cached_input
    paid += audio * (price.audio_input or 0.0)
    paid += (usage.output_tokens - reasoning) * price.output + reasoning * price.reasoning
    return paid / MILLION
