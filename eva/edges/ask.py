"""Requests × repeats → replies: served from the store where they are, else asked, stored at once, and handed on."""

from __future__ import annotations

import asyncio
import contextlib
import signal
import threading
from collections.abc import Callable, Coroutine, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from eva.edges.ask_work import OnReply, Pair, Work
from eva.edges.budget import Budget
from eva.edges.clients.contract import Client
from eva.edges.limits import Limits
from eva.edges.store import ReplyStore
from eva.types import ModelSpec, Reply, Request

T = TypeVar("T")


def pairs_of(requests: Sequence[Request], repeats: int) -> tuple[Pair, ...]:
    """Every request with every repeat, the repeats of a record one after the other: its prompt stays cached."""
    return tuple((request, repeat) for request in requests for repeat in range(repeats))


async def ask_all(
    requests: Sequence[Request],
    repeats: int,
    *,
    client: Client,
    spec: ModelSpec,
    store: ReplyStore | None,
    on_reply: OnReply | None = None,
    max_usd: float | None = None,
    stop: asyncio.Event | None = None,
    limits: Limits | None = None,
) -> tuple[Reply, ...]:
    """One reply per (record, repeat), in the order of `pairs_of`, whatever the order of arrival. See `ask_pairs`."""
    return await ask_pairs(
        pairs_of(requests, repeats),
        client=client,
        spec=spec,
        store=store,
        on_reply=on_reply,
        max_usd=max_usd,
        stop=stop,
        limits=limits,
    )


async def ask_pairs(
    pairs: Sequence[Pair],
    *,
    client: Client,
    spec: ModelSpec,
    store: ReplyStore | None,
    on_reply: OnReply | None = None,
    max_usd: float | None = None,
    stop: asyncio.Event | None = None,
    limits: Limits | None = None,
    budget: Budget | None = None,
    ask: int = 0,
) -> tuple[Reply, ...]:
    """A reply per pair: stored ones first (`cached`), then new ones, each on disk before `on_reply` sees it.

    `budget` in place of `max_usd` where several passes share one.

    Failures of single records are replies with `error`. Once `stop` is set no call begins; those in flight are
    finished and kept, and pairs without a reply are absent from the result. Pairs of equal digest and repeat are
    asked once.

    Raises ModelError and its kin (credentials, quota, budget) where the run cannot go on, after the calls in flight are
    kept; StoreError where replies could not be kept, before the first call if that can be seen.
    """
    budget = budget or Budget(spec, max_usd)
    limits = limits or Limits(spec)
    work = Work(pairs, client=client, spec=spec, store=store, on_reply=on_reply, limits=limits, budget=budget, ask=ask)
    missing = work.serve_stored()
    if missing:
        budget.check()
        work.check_store()
    watcher = asyncio.create_task(limits.halt.follow(stop)) if stop is not None else None
    # One turn of the loop, so that a stop that is set already is seen before the first call.
    await asyncio.sleep(0)
    try:
        await work.run(missing)
    finally:
        if watcher is not None:
            watcher.cancel()
    if work.fatal is not None:
        raise work.fatal
    return work.replies()


def ask_all_sync(
    requests: Sequence[Request],
    repeats: int,
    *,
    client: Client,
    spec: ModelSpec,
    store: ReplyStore | None,
    on_reply: OnReply | None = None,
    max_usd: float | None = None,
    stop: asyncio.Event | None = None,
    limits: Limits | None = None,
) -> tuple[Reply, ...]:
    """`ask_all` on a loop of its own; the client's connections are closed before that loop ends.

    In the main thread the first Ctrl-C sets `stop` (the caller sees it there), the second interrupts at once. May be
    called where a loop already runs (a notebook): the work then goes to a thread.
    """
    stop = stop or asyncio.Event()

    async def main() -> tuple[Reply, ...]:
        return await ask_all(
            requests,
            repeats,
            client=client,
            spec=spec,
            store=store,
            on_reply=on_reply,
            max_usd=max_usd,
            stop=stop,
            limits=limits,
        )

    return run_asking(main, client=client, stop=stop)


def run_asking(main: Callable[[], Coroutine[Any, Any, T]], *, client: Client, stop: asyncio.Event) -> T:
    """Run what asks on a loop of its own, with Ctrl-C as in `ask_all_sync`; the client is closed before the loop ends."""

    async def guarded() -> T:
        with _interrupts(stop):
            try:
                return await main()
            finally:
                await client.close()

    return run_sync(guarded)


def run_sync(main: Callable[[], Coroutine[Any, Any, T]]) -> T:
    """Run `main` on a new loop: here, or in a thread where this thread has a running loop already."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(main())
    with ThreadPoolExecutor(max_workers=1) as pool:
        return pool.submit(lambda: asyncio.run(main())).result()


@contextlib.contextmanager
def _interrupts(stop: asyncio.Event) -> Iterator[None]:
    """Ctrl-C sets `stop` once, then has its usual meaning again."""
    loop = asyncio.get_running_loop()

    def first() -> None:
        stop.set()
        loop.remove_signal_handler(signal.SIGINT)

    try:
        if threading.current_thread() is not threading.main_thread():
            raise NotImplementedError
        loop.add_signal_handler(signal.SIGINT, first)
    except (
        NotImplementedError
    ):  # another thread, or a system without signal handlers in loops: Ctrl-C interrupts at once
        yield
        return
    try:
        yield
    finally:
        loop.remove_signal_handler(signal.SIGINT)
