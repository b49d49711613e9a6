"""Money before it is spent: a run's estimate, and a guard that stops before the call that would exceed `max_usd`."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass

from eva.edges.price_table import MILLION, Price, facts_of
from eva.edges.pricing import price_for
from eva.edges.store import ReplyStore
from eva.errors import BudgetError
from eva.types import ModelSpec, Reply, Request

LOW_OUTPUT, HIGH_OUTPUT = 60, 4000
"""Tokens written, where nothing says more: the shortest verdict; a limit that the provider sets."""
OUTPUT_LIMITS = ("max_tokens", "max_completion_tokens", "max_output_tokens")
"""Parameters that limit what a call may write."""
ROUNDING = 1e-9
"""USD: sums of many small costs must not stop a run by a rounding error."""
AUDIO_TOKENS = 20_000
"""Tokens of a sound at most (ten minutes at 32 a second)."""


@dataclass(frozen=True)
class Estimate:
    """What a run would take. Costs are None where the price is unknown."""

    calls: int
    stored: int
    """Replies that are in the store already: no call, no cost."""
    input_tokens: tuple[int, int]
    output_tokens: tuple[int, int]
    cost_usd: tuple[float, float] | None

    def text(self) -> str:
        """One line for the terminal."""
        reads, writes = (f"{low:,}–{high:,}" for low, high in (self.input_tokens, self.output_tokens))
        cost = "unknown" if self.cost_usd is None else f"${self.cost_usd[0]:.2f}–${self.cost_usd[1]:.2f}"
        return f"{self.calls:,} calls ({self.stored:,} stored), {reads} tokens to read, {writes} to write, cost {cost}"


def estimate(
    requests: Sequence[Request], repeats: int, spec: ModelSpec, *, store: ReplyStore | None = None
) -> Estimate:
    """Calls, tokens and cost, low and high, of asking all `requests` `repeats` times; stored replies are left out."""
    reads, writes, costs = [0, 0], [0, 0], [0.0, 0.0]
    calls = stored = 0
    priced = True
    for request in requests:
        low, high = input_range(request)
        price = price_for(spec, input_tokens=high)
        priced = priced and price is not None
        there = sum(_is_stored(store, request, repeat) for repeat in range(repeats)) if store is not None else 0
        stored, count = stored + there, repeats - there
        calls += count
        for side, (read, written) in enumerate(((low, _least_output(spec)), (high, _most_output(spec)))):
            reads[side] += count * read
            writes[side] += count * written
            costs[side] += count * (_cost(price, read, written) if price is not None else 0.0)
    return Estimate(
        calls=calls,
        stored=stored,
        input_tokens=(reads[0], reads[1]),
        output_tokens=(writes[0], writes[1]),
        cost_usd=(costs[0], costs[1]) if priced else None,
    )


def input_range(request: Request) -> tuple[int, int]:
    """Prompt tokens, low and high: in ASCII six to two bytes a token, in other scripts nine to one."""
    size = plain = 0
    for message in request.messages:
        text = str(message.get("content", ""))
        size += len(text.encode("utf-8", "replace"))
        plain += sum(map(str.isascii, text)) if not text.isascii() else len(text)
    sound = AUDIO_TOKENS if request.audio_path is not None else 0
    return plain // 6 + (size - plain) // 9 + 1, plain // 2 + (size - plain) + 16 + sound


class Budget:
    """Holds back the most that each call in flight may cost; a call begins only where that fits under `max_usd`."""

    def __init__(self, spec: ModelSpec, max_usd: float | None) -> None:
        self._spec = spec
        self._max = max_usd
        self.spent = 0.0
        self._held = 0.0
        self._changed = asyncio.Condition()

    def check(self) -> None:
        """Raises BudgetError where a limit is set that cannot be guarded, since the price is unknown."""
        if self._max is not None and price_for(self._spec) is None:
            raise BudgetError(
                f"max_usd={self._max:g} cannot be guarded: the price of {self._spec.id!r} is unknown. Give it as"
                " model.price='{input: …, output: …}' (USD per million tokens), or leave max_usd out."
            )

    @asynccontextmanager
    async def hold(self, request: Request) -> AsyncIterator[None]:
        """Wait until the call's highest cost fits beside those in flight. Raises BudgetError where it never will."""
        if self._max is None:
            yield
            return
        most = self._most(request)
        async with self._changed:
            await self._changed.wait_for(lambda: self._held == 0 or self._fits(most))
            if not self._fits(most):
                raise BudgetError(
                    f"max_usd={self._max:g}: {self.spent:.4f} USD are spent, the next call may cost up to {most:.4f}."
                    " Replies so far are kept; raise max_usd (or lower model.params.max_tokens) and run it again."
                )
            self._held += most
        try:
            yield
        finally:
            async with self._changed:
                self._held = max(0.0, self._held - most)
                self._held = 0.0 if self._held < 1e-12 else self._held
                self._changed.notify_all()

    def spend(self, request: Request, reply: Reply) -> None:
        """Book a reply: its cost, or the most that it can have cost where the provider gave no counts."""
        if self._max is not None and reply.error is None:
            self.spent += self._most(request) if reply.cost_usd is None else reply.cost_usd

    def _fits(self, most: float) -> bool:
        return self._max is None or self.spent + self._held + most <= self._max + ROUNDING

    def _most(self, request: Request) -> float:
        high = input_range(request)[1]
        price = price_for(self._spec, input_tokens=high)
        return 0.0 if price is None else _cost(price, high, _most_output(self._spec))


def _cost(price: Price, read: int, written: int) -> float:
    dearest = max(price.input, price.audio_input or 0.0)
    return (read * dearest + written * max(price.output, price.reasoning)) / MILLION


def _most_output(spec: ModelSpec) -> int:
    """The limit that is sent; else what the model can write at most, as far as that is known. A limit of -1 or 0 is none."""
    for name in OUTPUT_LIMITS:
        limit = spec.params.get(name)
        if isinstance(limit, int) and not isinstance(limit, bool) and limit > 0:
            return limit
    listed = (facts_of(spec.id) or {}).get("max_output_tokens") if spec.kind == "litellm" else None
    known = [number for number in (listed, spec.context_tokens) if isinstance(number, int) and number > 0]
    return min(known) if known else HIGH_OUTPUT


def _least_output(spec: ModelSpec) -> int:
    return min(LOW_OUTPUT, _most_output(spec))


def _is_stored(store: ReplyStore, request: Request, repeat: int) -> bool:
    return store.get(request.digest, repeat) is not None
