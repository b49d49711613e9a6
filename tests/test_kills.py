"""Whole runs killed at random moments: after the same command again every (record, repeat) once, the numbers digit for digit."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from eva.edges.runs import RunFolder, all_runs
from eva.edges.store import ReplyStore
from eva.edges.store_care import verify
from tests.small_runs import ROOT, data_file
from tests.stub_server import running_stub

RECORDS, REPEATS = 12, 2
OF_THE_ASKING = ["latency_s", "cached", "cost_usd"]


@pytest.mark.parametrize("kills", [6, pytest.param(1000, marks=[pytest.mark.slow, pytest.mark.timeout(3600)])])
def test_random_kills_lose_and_change_nothing(tmp_path: Path, kills: int) -> None:
    data = data_file(tmp_path / "d.jsonl", RECORDS)
    with running_stub(latency_s=0.03) as stub:
        script = [sys.executable, "-m", "tests.kill_runs", stub.url, str(data), str(tmp_path), str(kills), "7"]
        done = subprocess.run(script, cwd=ROOT, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        rounds = [json.loads(line) for line in done.stdout.splitlines()]
        total = sum(found["kills"] for found in rounds)
        # What was in flight at a kill was sent twice, and nothing else was.
        assert RECORDS * REPEATS * len(rounds) <= stub.total <= RECORDS * REPEATS * len(rounds) + total * 4

    assert total >= kills
    whole = finished(Path(rounds[0]["home"]))
    for found in rounds:
        home = Path(found["home"])
        with ReplyStore(home / "replies.sqlite") as store:
            assert verify(store).whole
            rows = store.query("SELECT record_id, repeat, count(*) FROM replies GROUP BY 1, 2")
        assert sorted(rows) == sorted((f"r{n}", k, 1) for n in range(RECORDS) for k in range(REPEATS))
        run = finished(home)
        table = run.verdicts
        assert Counter(zip(table["item_id"], table["repeat"], strict=True)).most_common(1)[0][1] == 1
        assert table.drop(columns=OF_THE_ASKING).equals(whole.verdicts.drop(columns=OF_THE_ASKING))
        assert numbers(run) == numbers(whole)


def finished(home: Path) -> RunFolder:
    """The newest run of a state folder; earlier ones may have been killed after they were complete."""
    run = all_runs(home)[-1]
    assert run.meta["status"] == "finished"
    return run


def numbers(run: RunFolder) -> dict[str, Any]:
    return {key: value for key, value in run.summary.items() if key not in {"run_id", "spend"}}
