"""What calls cost. Unknown is None and never 0."""

from __future__ import annotations

from collections.abc import Mapping

from eva.types import ModelSpec, Reply, Usage

MILLION = 1_000_000


def cost_usd(spec: ModelSpec, reply: Reply) -> float | None:
    """The cost of a reply in USD; 0.0 for a free model, None where price or usage is unknown."""
    if spec.free:
        return 0.0
    if spec.price is None:
        return None
    return price_of(reply.usage, spec.price)


def price_of(usage: Usage, price: Mapping[str, float]) -> float | None:
    """USD for `usage` at `price` (USD per million: input, output, cached_input); cached input falls back to input."""
    if usage.input_tokens is None or usage.output_tokens is None:
        return None
    cached = min(usage.cached_tokens or 0, usage.input_tokens)
    fresh = usage.input_tokens - cached
    paid_in = fresh * price["input"] + cached * price.get("cached_input", price["input"])
    return (paid_in + usage.output_tokens * price["output"]) / MILLION
