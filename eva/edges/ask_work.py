"""The work behind `ask`: which pairs are stored, and the workers that ask for the rest and keep what arrives."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from eva.edges.budget import Budget
from eva.edges.clients.contract import Client
from eva.edges.limits import Limits
from eva.edges.pricing import cost_usd
from eva.edges.store import ReplyStore
from eva.errors import EvaError
from eva.types import ModelSpec, Reply, Request

Pair = tuple[Request, int]
OnReply = Callable[[Reply], None]
Key = tuple[str, int]

REASK_STEP = 1000
"""A re-ask uses the seed of repeat + 1000 × ask: the same seed would give the same unreadable reply."""


class Work:
    """One pass over pairs. `found` is keyed by the pair's place, never by order of arrival."""

    def __init__(
        self,
        pairs: Sequence[Pair],
        *,
        client: Client,
        spec: ModelSpec,
        store: ReplyStore | None,
        on_reply: OnReply | None,
        limits: Limits,
        budget: Budget,
        ask: int,
    ) -> None:
        self.limits = limits
        self.fatal: EvaError | None = None
        self._pairs = pairs
        self._client = client
        self._spec = spec
        self._budget = budget
        # Recorded replies lie in a file already, by record id: two records of equal text may hold different ones.
        self._recorded = spec.kind == "recorded"
        self._store = None if self._recorded else store
        self._on_reply = on_reply or (lambda reply: None)
        self._ask = ask
        self._found: dict[int, Reply] = {}

    def replies(self) -> tuple[Reply, ...]:
        """What was found, in the order of the pairs."""
        return tuple(self._found[place] for place in sorted(self._found))

    def serve_stored(self) -> dict[Key, list[int]]:
        """Hand on what the store holds; the places of the other pairs, by what they ask for."""
        missing: dict[Key, list[int]] = {}
        for place, (request, repeat) in enumerate(self._pairs):
            stored = self._store.get(request.digest, repeat, self._ask) if self._store is not None else None
            if stored is not None:
                self._keep(place, replace(stored, record_id=request.record_id))
            else:
                missing.setdefault(self._key(request, repeat), []).append(place)
        return missing

    def check_store(self) -> None:
        """Raises StoreError where replies could not be kept once they are paid for."""
        if self._store is not None:
            self._store.check_writable()

    async def run(self, missing: dict[Key, list[int]]) -> None:
        """Ask for all that is missing; `fatal` says afterwards why it ended early."""
        todo = iter(list(missing.values()))
        workers = min(self.limits.workers, len(missing))
        tasks = [asyncio.create_task(self._worker(todo)) for _ in range(workers)]
        try:
            await asyncio.gather(*tasks)
        finally:
            # Reached early only by a bug or by a cancelled run: no worker may outlive the pass.
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def _worker(self, todo: Iterator[list[int]]) -> None:
        for places in todo:
            if self.limits.halt.is_set():
                return
            try:
                await self._answer(places)
            except EvaError as error:
                # The first cause counts; those in flight often fail the same way.
                self.fatal = self.fatal or error
                self.limits.halt.set()
                return

    async def _answer(self, places: list[int]) -> None:
        request, repeat = self._pairs[places[0]]
        async with self._budget.hold(request):
            reply = await self.limits.call(self._client, request, repeat + REASK_STEP * self._ask)
            if reply is None:
                return
            cost = cost_usd(self._spec, reply) if reply.error is None else None
            reply = replace(reply, repeat=repeat, ask=self._ask, cost_usd=cost)
            self._budget.spend(request, reply)
        if self._store is not None:
            reply = self._store.put(reply)
        self._keep(places[0], reply)
        for place in places[1:]:
            same = replace(reply, record_id=self._pairs[place][0].record_id, cached=reply.error is None)
            self._keep(place, same)

    def _keep(self, place: int, reply: Reply) -> None:
        self._found[place] = reply
        self._on_reply(reply)

    def _key(self, request: Request, repeat: int) -> Key:
        return (request.record_id if self._recorded else request.digest, repeat)
