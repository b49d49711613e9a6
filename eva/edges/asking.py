"""A plan → its replies: the paid part. Every reply is on disk when it arrives; what is there already is not asked again."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from eva.edges.ask import ask_all_sync, pairs_of, run_asking
from eva.edges.asking_again import Passing, ask_again, read_replies
from eva.edges.budget import Budget
from eva.edges.clients import open_client
from eva.edges.limits import Limits
from eva.edges.progress import Progress
from eva.edges.provenance import ROOT
from eva.edges.settings import Settings
from eva.edges.store import ReplyStore
from eva.errors import ModelError
from eva.judges.plan import Plan
from eva.types import Failure, Reply, Request, Verdict

__all__ = ["Asked", "ask_plan", "ask_stored", "read_replies", "store_path"]


LOST = frozenset({Failure.PROVIDER, Failure.NOT_RECORDED})
"""Kinds that say nothing about the judge: no reply came."""


@dataclass(frozen=True)
class Asked:
    """The replies of a run, and what asking took."""

    replies: tuple[Reply, ...]
    """First asks, in plan order."""
    again: tuple[Reply, ...] = ()
    """Re-asks of unreadable replies: kept apart, never a verdict on record."""
    asks: Mapping[tuple[str, int], int] = field(default_factory=dict)
    """(record id, repeat) → how often it was asked again."""
    second: tuple[Verdict, ...] = ()
    """What asking again gave for items without a verdict: shown beside the first verdicts, never in their place."""
    second_asks: Mapping[tuple[str, int], int] = field(default_factory=dict)
    """(item id, repeat) → the number of the re-ask that gave `second`."""
    interrupted: bool = False
    error: ModelError | None = None
    """What ended the run before all was asked; `replies` are those that had come by then."""


def store_path(settings: Settings) -> Path:
    """Where replies are kept."""
    return (ROOT / settings.options.home).resolve() / "replies.sqlite"


def ask_plan(settings: Settings, plan: Plan) -> Asked:
    """Ask what is missing. Where the run cannot go on (credentials, quota, budget), the error is in the result.

    Raises StoreError where replies cannot be kept, what `open_client` raises, and ModelError where not one call could be sent.
    """
    limits = Limits(settings.model)
    stop = asyncio.Event()
    client = open_client(settings.model)
    pairs = pairs_of(by_shared_beginning(plan.requests), settings.options.seeds)
    came: list[Reply] = []
    came_again: list[Reply] = []

    async def main(store: ReplyStore) -> Asked:
        budget = Budget(settings.model, settings.options.max_usd)
        passing = Passing(client, settings.model, store, budget, limits, stop)
        with Progress(len(pairs), label=f"{plan.judge.name} {plan.prompt.version}") as progress:

            def on_reply(reply: Reply) -> None:
                came.append(reply)
                progress(reply)

            replies = await passing.ask(pairs, on_reply=on_reply)
        if len(replies) < len(pairs):
            return Asked(replies=replies, interrupted=True)
        if settings.options.on_unreadable == "keep":
            return Asked(replies=replies)
        again = await ask_again(passing, plan, replies, at_most=settings.options.ask_again, on_reply=came_again.append)
        return Asked(replies, again.replies, again.asks, again.verdicts, again.item_asks, interrupted=stop.is_set())

    with ReplyStore(store_path(settings)) as store:
        try:
            asked = run_asking(lambda: main(store), client=client, stop=stop)
            return replace(asked, error=none_came(settings, plan, asked))
        except ModelError as error:
            if not limits.attempts:
                raise
            return Asked(replies=tuple(came), again=tuple(came_again), error=error)


def none_came(settings: Settings, plan: Plan, asked: Asked) -> ModelError | None:
    """A run in which nothing was answered has measured no judge: it failed, and no comparison may use it."""
    if asked.interrupted or not asked.replies or any(reply.error not in LOST for reply in asked.replies):
        return None
    first = asked.replies[0]
    if first.error is Failure.NOT_RECORDED:
        return ModelError(
            f"no row of {settings.model.path} fits: rows name a record by its id in this dataset, such as "
            f"{plan.requests[0].record_id!r}, and a repeat from 0."
        )
    return ModelError(
        f"none of {len(asked.replies)} calls was answered. The first said: {first.error_text or 'nothing'}"
    )


def ask_stored(
    settings: Settings, plan: Plan, wanted: Mapping[tuple[str, int], str], *, home: Path
) -> tuple[Reply, ...]:
    """Replies that are there already, by (record id, repeat) → request digest; a recording is read from its file. No call."""
    if settings.model.kind == "recorded":
        requests = [request for request in plan.requests if any(record == request.record_id for record, _ in wanted)]
        repeats = max((repeat for _, repeat in wanted), default=-1) + 1
        client = open_client(settings.model)
        return ask_all_sync(requests, repeats, client=client, spec=settings.model, store=None)
    with ReplyStore(home / "replies.sqlite") as store:
        found = {record: store.get(digest, record[1]) for record, digest in wanted.items()}
    return tuple(replace(reply, record_id=record) for (record, _), reply in found.items() if reply is not None)


def by_shared_beginning(requests: Iterable[Request]) -> list[Request]:
    """Requests that begin alike one after the other (rubric, then agent), so that a kept prompt prefix is read once."""
    return sorted(requests, key=lambda request: tuple(str(message["content"]) for message in request.messages))
