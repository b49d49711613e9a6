"""A plan → its replies: the paid part. Every reply is on disk when it arrives; what is there already is not asked again."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from eva.edges.ask import ask_all_sync, ask_pairs, pairs_of, run_sync
from eva.edges.clients import open_client
from eva.edges.limits import Limits
from eva.edges.progress import Progress
from eva.edges.provenance import ROOT
from eva.edges.settings import Settings
from eva.edges.store import ReplyStore
from eva.judges import unit_of
from eva.judges.plan import Plan
from eva.types import Reply, Request, Verdict


@dataclass(frozen=True)
class Asked:
    """The replies of a run, and what asking took."""

    replies: tuple[Reply, ...]
    """First asks, in plan order."""
    again: tuple[Reply, ...] = ()
    """Re-asks of unreadable replies: kept apart, never a verdict on record."""
    asks: Mapping[tuple[str, int], int] = field(default_factory=dict)
    interrupted: bool = False


def store_path(settings: Settings) -> Path:
    """Where replies are kept."""
    return (ROOT / settings.options.home).resolve() / "replies.sqlite"


def ask_plan(settings: Settings, plan: Plan) -> Asked:
    """Ask what is missing. Raises ModelError and its kin where the run cannot go on; replies so far are kept."""
    total = len(plan.requests) * settings.options.seeds
    stop = asyncio.Event()
    store = ReplyStore(store_path(settings))
    client = open_client(settings.model)
    with Progress(total, label=f"{plan.judge.name} {plan.prompt.version}") as progress:
        replies = ask_all_sync(
            by_rubric(plan.requests),
            settings.options.seeds,
            client=client,
            spec=settings.model,
            store=store,
            on_reply=progress,
            max_usd=settings.options.max_usd,
            stop=stop,
        )
    interrupted = len(replies) < len(pairs_of(plan.requests, settings.options.seeds))
    if interrupted or settings.options.on_unreadable == "keep":
        return Asked(replies=replies, interrupted=interrupted)
    again, asks = _ask_again(settings, plan, replies, store=store)
    return Asked(replies=replies, again=again, asks=asks)


def ask_stored(
    settings: Settings, plan: Plan, wanted: Mapping[tuple[str, int], str], *, home: Path
) -> tuple[Reply, ...]:
    """Replies that are there already, by (record id, repeat) → request digest; a recording is read from its file. No call."""
    if settings.model.kind == "recorded":
        requests = [request for request in plan.requests if any(record == request.record_id for record, _ in wanted)]
        repeats = max((repeat for _, repeat in wanted), default=-1) + 1
        client = open_client(settings.model)
        return ask_all_sync(requests, repeats, client=client, spec=settings.model, store=None)
    store = ReplyStore(home / "replies.sqlite")
    found = (store.get(digest, repeat) for (_, repeat), digest in wanted.items())
    return tuple(reply for reply in found if reply is not None)


def by_rubric(requests: Iterable[Request]) -> list[Request]:
    """Requests with the same rubric one after the other, so that a server that keeps a prompt's beginning reads it once."""
    groups: dict[str, list[Request]] = {}
    for request in requests:
        groups.setdefault(str(request.messages[0]["content"]), []).append(request)
    return [request for group in groups.values() for request in group]


def read_replies(plan: Plan, replies: Iterable[Reply]) -> list[Verdict]:
    """Verdicts of replies, one an item and repeat."""
    unit = unit_of(plan.judge)
    records = {record.record_id: record for record in plan.dataset.records}
    return [verdict for reply in replies for verdict in unit.read(plan.judge, records[reply.record_id], reply=reply)]


def _unreadable(plan: Plan, replies: Iterable[Reply]) -> list[Reply]:
    """Replies of which an item got no label, provider failures aside: those were retried already."""
    return [
        reply
        for reply in replies
        if reply.error is None and any(verdict.failure is not None for verdict in read_replies(plan, [reply]))
    ]


def _ask_again(
    settings: Settings, plan: Plan, replies: tuple[Reply, ...], *, store: ReplyStore
) -> tuple[tuple[Reply, ...], dict[tuple[str, int], int]]:
    """Ask unreadable replies again, at most `ask_again` times; every ask is stored under its own number."""
    requests: dict[str, Request] = {request.record_id: request for request in plan.requests}
    kept: list[Reply] = []
    asks: dict[tuple[str, int], int] = {}
    open_ones = _unreadable(plan, replies)
    for number in range(1, settings.options.ask_again + 1):
        if not open_ones:
            break
        pairs = [(requests[reply.record_id], reply.repeat) for reply in open_ones]
        client = open_client(settings.model)

        async def main(pairs: list[tuple[Request, int]] = pairs, number: int = number) -> tuple[Reply, ...]:
            try:
                return await ask_pairs(
                    pairs,
                    client=client,  # noqa: B023  # awaited before the next turn of the loop
                    spec=settings.model,
                    store=store,
                    max_usd=settings.options.max_usd,
                    limits=Limits(settings.model),
                    ask=number,
                )
            finally:
                await client.close()  # noqa: B023  # as above

        new = run_sync(main)
        kept += new
        asks |= {(reply.record_id, reply.repeat): number for reply in new}
        open_ones = _unreadable(plan, new)
    return tuple(kept), asks
