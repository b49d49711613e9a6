"""kill -9 at any moment, then the same command: every (record, repeat) once, and the same replies as without a kill."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from eva.edges.ask import ask_all_sync
from eva.edges.clients import open_client
from eva.edges.store import ReplyStore
from eva.edges.store_care import verify
from tests.stub_server import Stub, running_stub
from tests.stub_server.samples import labels, make_requests, stub_spec

ROOT = Path(__file__).resolve().parents[2]
RECORDS, REPEATS = 60, 3
RUN = f"""
import sys
from eva.edges.ask import ask_all_sync
from eva.edges.clients import open_client
from eva.edges.store import ReplyStore
from tests.stub_server.samples import make_requests, stub_spec
spec = stub_spec(sys.argv[1])
with ReplyStore(sys.argv[2]) as store:
    print("ready", flush=True)
    ask_all_sync(make_requests({RECORDS}), {REPEATS}, client=open_client(spec), spec=spec, store=store)
"""


def kill_and_resume(stub: Stub, path: Path, *, kills: int, rng: random.Random) -> None:
    for _ in range(kills):
        process = subprocess.Popen([sys.executable, "-c", RUN, stub.url, str(path)], cwd=ROOT, stdout=subprocess.PIPE)
        assert process.stdout is not None
        process.stdout.readline()
        time.sleep(rng.uniform(0.0, 0.25))
        process.send_signal(signal.SIGKILL)
        process.wait(30)
        process.stdout.close()


@pytest.mark.parametrize("kills", [3, pytest.param(60, marks=pytest.mark.slow)])
def test_a_killed_run_resumes_with_every_reply_once(tmp_path: Path, kills: int) -> None:
    path = tmp_path / "replies.sqlite"
    with running_stub(latency_s=0.02) as stub:
        spec = stub_spec(stub.url)
        kill_and_resume(stub, path, kills=kills, rng=random.Random(kills))
        with ReplyStore(path) as store:
            replies = ask_all_sync(make_requests(RECORDS), REPEATS, client=open_client(spec), spec=spec, store=store)
            assert verify(store).whole
            rows = store.query("SELECT record_id, repeat, count(*) FROM replies GROUP BY 1, 2")
        # What was in flight at a kill was sent twice, and nothing else was.
        assert stub.total <= RECORDS * REPEATS + kills * spec.concurrency
    assert sorted(rows) == sorted((f"r{n}", k, 1) for n in range(RECORDS) for k in range(REPEATS))
    with running_stub() as stub:
        spec = stub_spec(stub.url)
        whole = ask_all_sync(make_requests(RECORDS), REPEATS, client=open_client(spec), spec=spec, store=None)
    assert labels(replies) == labels(whole)


def test_ctrl_c_keeps_what_is_in_flight_and_a_second_one_interrupts_at_once(tmp_path: Path) -> None:
    """C44: exit code and words are the caller's; here: what is stored, and that the process ends."""
    path = tmp_path / "replies.sqlite"
    with running_stub({f"r{n}": "slow:0.4" for n in range(RECORDS)}) as stub:
        process = subprocess.Popen([sys.executable, "-c", RUN, stub.url, str(path)], cwd=ROOT, stdout=subprocess.PIPE)
        assert process.stdout is not None
        process.stdout.readline()
        while stub.in_flight < 8:
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        assert process.wait(30) == 0
        process.stdout.close()
        with ReplyStore(path) as store:
            assert store.query("SELECT count(*) FROM replies") == [(stub.total,)]
        assert stub.total == 8

        process = subprocess.Popen(
            [sys.executable, "-c", RUN, stub.url, str(path)], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        while stub.total < 16:
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        time.sleep(0.1)
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=30)
        assert process.returncode != 0
        assert b"KeyboardInterrupt" in errors
