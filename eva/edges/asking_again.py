"""Asking again where a reply gave an item no verdict: off by default, at most n times, counted and kept apart.

The first verdict stays on record whatever comes of it. Judges of turns are asked for the missing turns only.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from eva.edges.ask import ask_pairs
from eva.edges.ask_work import OnReply, Pair
from eva.edges.budget import Budget
from eva.edges.clients.contract import Client
from eva.edges.limits import Limits
from eva.edges.store import ReplyStore
from eva.judges import unit_of
from eva.judges.again import WORTH_ASKING_AGAIN, narrowed
from eva.judges.plan import Plan
from eva.types import Item, ModelSpec, Reply, Verdict

Key = tuple[str, int]
"""(record id, repeat)."""


@dataclass(frozen=True)
class Passing:
    """What several passes of one run share: one client, one budget, one set of limits, one stop."""

    client: Client
    spec: ModelSpec
    store: ReplyStore
    budget: Budget
    limits: Limits
    stop: asyncio.Event

    async def ask(
        self, pairs: Sequence[Pair], *, on_reply: OnReply | None = None, number: int = 0
    ) -> tuple[Reply, ...]:
        """One pass; `number` is that of the ask, 0 the first. Raises what `ask_pairs` raises."""
        return await ask_pairs(
            pairs,
            client=self.client,
            spec=self.spec,
            store=self.store,
            on_reply=on_reply,
            stop=self.stop,
            limits=self.limits,
            budget=self.budget,
            ask=number,
        )


@dataclass(frozen=True)
class Again:
    """What asking again took and gave."""

    replies: tuple[Reply, ...]
    asks: Mapping[Key, int]
    verdicts: tuple[Verdict, ...]
    """The last word on each item that had none: a label, or why there is still none."""
    item_asks: Mapping[Key, int]
    """(item id, repeat) → the number of the ask that its verdict here comes from."""


def read_replies(plan: Plan, replies: Iterable[Reply]) -> list[Verdict]:
    """Verdicts of replies, one an item and repeat."""
    unit = unit_of(plan.judge)
    records = {record.record_id: record for record in plan.dataset.records}
    return [verdict for reply in replies for verdict in unit.read(plan.judge, records[reply.record_id], reply=reply)]


async def ask_again(
    passing: Passing, plan: Plan, replies: Sequence[Reply], *, at_most: int, on_reply: OnReply | None = None
) -> Again:
    """Ask for the items without a verdict, at most `at_most` times; each ask is stored under its own number.

    `on_reply` sees each reply when it came: what is there where an error ends the asking.
    """
    kept: list[Reply] = []
    asks: dict[Key, int] = {}
    last: dict[tuple[str, int], Verdict] = {}
    item_asks: dict[tuple[str, int], int] = {}
    missing = _missing(plan, replies, wanted={key: plan.items[key[0]] for key in _keys(replies)})
    for number in range(1, at_most + 1):
        if not missing or passing.stop.is_set():
            break
        new = await passing.ask(_pairs(plan, missing, spec=passing.spec), on_reply=on_reply, number=number)
        kept += new
        asks |= dict.fromkeys(_keys(new), number)
        for verdict in _verdicts(plan, new, missing):
            last[verdict.item_id, verdict.repeat] = verdict
            item_asks[verdict.item_id, verdict.repeat] = number
        missing = _missing(plan, new, wanted=missing)
    return Again(tuple(kept), asks, tuple(last.values()), item_asks)


def _keys(replies: Iterable[Reply]) -> list[Key]:
    return [(reply.record_id, reply.repeat) for reply in replies]


def _pairs(plan: Plan, missing: Mapping[Key, tuple[Item, ...]], *, spec: ModelSpec) -> list[Pair]:
    requests = {request.record_id: request for request in plan.requests}
    records = {record.record_id: record for record in plan.dataset.records}
    return [
        (narrowed(plan.judge, records[record], requests[record], items=items, max_chars=spec.bounded_strings), repeat)
        for (record, repeat), items in missing.items()
    ]


def _verdicts(plan: Plan, replies: Iterable[Reply], wanted: Mapping[Key, tuple[Item, ...]]) -> list[Verdict]:
    """What replies say about the wanted items, and about no other."""
    ids = {(item.item_id, repeat) for (_, repeat), items in wanted.items() for item in items}
    return [verdict for verdict in read_replies(plan, replies) if (verdict.item_id, verdict.repeat) in ids]


def _missing(
    plan: Plan, replies: Iterable[Reply], *, wanted: Mapping[Key, tuple[Item, ...]]
) -> dict[Key, tuple[Item, ...]]:
    """Of the wanted items those without a verdict, by record and repeat. Errors were retried already and are left alone."""
    read = [reply for reply in replies if reply.error is None]
    open_ones = {
        (verdict.item_id, verdict.repeat)
        for verdict in _verdicts(plan, read, wanted)
        if verdict.failure in WORTH_ASKING_AGAIN
    }
    found = {key: tuple(item for item in items if (item.item_id, key[1]) in open_ones) for key, items in wanted.items()}
    return {key: items for key, items in found.items() if items}
