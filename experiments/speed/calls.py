"""How close to ideal are our calls? `python experiments/speed/calls.py` (about ten minutes; `--quick`: one).

2,000 calls at 64 at a time against a stub of fixed latency (200 ms and 2 s), each contestant in a process of its own:

    bare aiohttp     workers that post a body and read the answer: what Python can do
    ours, direct     eva.edges.ask on an endpoint, each reply stored in SQLite as it arrives
    bare litellm     workers that await litellm.acompletion, its retries off
    ours, litellm    eva.edges.ask on a litellm model, each reply stored

Ideal is calls / concurrency × latency; since 2,000 calls are 31 waves and a quarter of one, nobody gets above 0.977, and
the last column compares with whole waves. Imports are timed apart; everything else (opening the store, connections) counts.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import math
import os
import resource
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

CONTESTANTS = ("bare aiohttp", "ours, direct", "bare litellm", "ours, litellm")
ENVIRONMENT = {"STUB_KEY": "x", "LITELLM_LOCAL_MODEL_COST_MAP": "True", "LITELLM_MODE": "PRODUCTION"}
TEXT = "user: I would like to change my booking. assistant: Of course, which one? " * 20


@dataclass(frozen=True)
class Setting:
    """One race."""

    calls: int
    concurrency: int
    latency_s: float

    @property
    def ideal_s(self) -> float:
        return self.calls / self.concurrency * self.latency_s

    @property
    def waves_s(self) -> float:
        return math.ceil(self.calls / self.concurrency) * self.latency_s


@contextmanager
def stub(latency_s: float) -> Iterator[str]:
    """A stub server in a process of its own; its /v1 address."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [sys.executable, "-m", "tests.stub_server", "--port", str(port), "--latency", str(latency_s)]
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE)
    try:
        assert process.stdout is not None
        process.stdout.readline()
        time.sleep(0.5)
        yield f"http://127.0.0.1:{port}/v1"
    finally:
        process.terminate()
        process.wait(10)


async def workers(setting: Setting, call: Callable[[int], Awaitable[None]]) -> None:
    """`concurrency` workers over `calls` numbers: the plainest loop there is."""
    numbers = iter(range(setting.calls))

    async def work() -> None:
        for number in numbers:
            await call(number)

    await asyncio.gather(*(work() for _ in range(setting.concurrency)))


def messages(number: int) -> list[dict[str, str]]:
    """A prompt of some 1,500 characters."""
    return [{"role": "system", "content": "Rate from 1 to 3."}, {"role": "user", "content": f"record=r{number} {TEXT}"}]


async def bare_aiohttp(setting: Setting, url: str) -> None:
    import aiohttp

    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as session:

        async def call(number: int) -> None:
            body = {"model": "stub", "messages": messages(number), "seed": 1}
            async with session.post(f"{url}/chat/completions", json=body) as response:
                await response.json()

        await workers(setting, call)


async def bare_litellm(setting: Setting, url: str) -> None:
    import litellm

    async def call(number: int) -> None:
        await litellm.acompletion(
            model="openai/stub",
            api_base=url,
            api_key="x",
            messages=messages(number),
            seed=1,
            num_retries=0,
            max_retries=0,
        )

    await workers(setting, call)
    await litellm.close_litellm_async_clients()


async def ours(setting: Setting, url: str, *, kind: str) -> None:
    from eva.edges.ask import ask_all
    from eva.edges.clients import open_client
    from eva.edges.store import ReplyStore
    from eva.types import ModelSpec, Request

    spec = ModelSpec(
        name="stub", kind=kind, id="stub" if kind == "endpoint" else "openai/stub", api_base=url, key_env="STUB_KEY",
        send_seed=True, concurrency=setting.concurrency,
    )  # fmt: skip
    requests = [Request(f"r{n}", tuple(messages(n)), digest=f"{n:064x}") for n in range(setting.calls)]
    client = open_client(spec)
    with tempfile.TemporaryDirectory() as folder, ReplyStore(Path(folder) / "replies.sqlite") as store:
        replies = await ask_all(requests, 1, client=client, spec=spec, store=store)
        await client.close()
    assert sum(reply.error is None for reply in replies) == setting.calls, replies[0]


def race(contestant: str, setting: Setting, url: str) -> dict[str, float]:
    """Run one contestant in this process."""
    start = time.perf_counter()
    if contestant == "bare litellm":
        import litellm

        litellm.suppress_debug_info = True
    if contestant == "ours, litellm":
        from eva.edges.clients.providers import library

        library()
    if "aiohttp" in contestant or "direct" in contestant:
        import aiohttp  # noqa: F401  # timed: its import is this contestant's start-up
    if "ours" in contestant:
        import eva.edges.ask
        import eva.edges.clients.endpoint  # noqa: F401  # as above
    started = time.perf_counter()
    cpu = time.process_time()
    runs = {
        "bare aiohttp": lambda: bare_aiohttp(setting, url),
        "ours, direct": lambda: ours(setting, url, kind="endpoint"),
        "bare litellm": lambda: bare_litellm(setting, url),
        "ours, litellm": lambda: ours(setting, url, kind="litellm"),
    }
    asyncio.run(runs[contestant]())
    wall = time.perf_counter() - started
    return {
        "start_up_s": started - start,
        "wall_s": wall,
        "ideal_over_actual": setting.ideal_s / wall,
        "waves_over_actual": setting.waves_s / wall,
        "cpu_ms_per_call": (time.process_time() - cpu) / setting.calls * 1000,
        "peak_mib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }


def main() -> None:
    """Run all contestants at each latency and print a Markdown table."""
    parser = argparse.ArgumentParser(description="Calls against a stub: ours beside bare aiohttp and bare litellm.")
    parser.add_argument("--calls", type=int, default=2000)
    parser.add_argument("--concurrency", type=int, default=64)
    parser.add_argument("--latency", type=float, nargs="+", default=[0.2, 2.0], help="seconds")
    parser.add_argument("--quick", action="store_true", help="200 ms only")
    parser.add_argument("--only", choices=CONTESTANTS, nargs="+", default=list(CONTESTANTS))
    parser.add_argument("--race", choices=CONTESTANTS, help=argparse.SUPPRESS)
    parser.add_argument("--url", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.race:
        setting = Setting(args.calls, args.concurrency, args.latency[0])
        print(json.dumps(race(args.race, setting, args.url)))
        return
    print(f"{args.calls} calls, {args.concurrency} at a time, {os.cpu_count()} cores\n")
    print("| latency | contestant | ideal / actual | wall s | CPU ms a call | peak MiB | start-up s | waves / actual |")
    print("|---|---|---|---|---|---|---|---|")
    for latency in args.latency[:1] if args.quick else args.latency:
        with stub(latency) as url:
            for contestant in args.only:
                command = [sys.executable, __file__, "--race", contestant, "--url", url, "--latency", str(latency)]
                command += ["--calls", str(args.calls), "--concurrency", str(args.concurrency)]
                done = subprocess.run(
                    command, cwd=ROOT, capture_output=True, text=True, check=True, env={**os.environ, **ENVIRONMENT}
                )
                found = json.loads(done.stdout.splitlines()[-1])
                print(
                    f"| {latency:g} s | {contestant} | {found['ideal_over_actual']:.3f} | {found['wall_s']:.2f} "
                    f"| {found['cpu_ms_per_call']:.2f} | {found['peak_mib']:.0f} | {found['start_up_s']:.2f} "
                    f"| {found['waves_over_actual']:.3f} |",
                    flush=True,
                )


if __name__ == "__main__":
    main()
