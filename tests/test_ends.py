"""How a run ends: exit codes 0, 1, 2 and 130, the state it leaves, and MLflow's status to match."""

from __future__ import annotations

import json
import signal
import sqlite3
import time
from contextlib import closing
from pathlib import Path

import pytest

from eva.edges.runs import RunFolder
from eva.edges.store import ReplyStore
from eva.edges.tracking import log_run
from eva.edges.tracking.spec import TrackingSpec
from eva.measuring import compare_runs, unlike
from tests.small_runs import command, data_file, quick, run_here, runs_in, start
from tests.stub_server import running_stub


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    quick(monkeypatch)


def test_0_finished_and_1_where_more_failed_than_allowed(tmp_path: Path) -> None:
    data = data_file(tmp_path / "d.jsonl", 6)
    with running_stub({"r0": "500", "r1": "400"}) as stub:
        lax, _ = run_here(*command(stub.url, data))
        strict, finished = run_here(*command(stub.url, data, "max_failures=0.3"))

    assert (lax, strict) == (0, 1)
    assert finished is not None
    assert finished.folder.meta["status"] == "finished"
    assert finished.folder.summary["failures"] == {"bad_request": 1, "provider": 1}


@pytest.mark.parametrize(
    ("plan", "words"),
    [("badkey", "The provider refuses the key"), ("quota", "quota or credit is used up"), ("nomodel", "does not know this model")],
)  # fmt: skip
def test_2_within_one_wave_where_no_call_can_succeed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], plan: str, words: str
) -> None:
    """At most one call a worker, the provider's words without the key, and a run that says that it failed."""
    data = data_file(tmp_path / "d.jsonl", 60)
    with running_stub({f"r{n}": plan for n in range(60)}, latency_s=0.02) as stub:
        code, _ = run_here(*command(stub.url, data, "seeds=3", "model.concurrency=8"))
        assert 1 <= stub.total <= 8
    (meta,) = runs_in(tmp_path / "state")
    said = capsys.readouterr().err

    assert code == 2
    assert words in said
    assert "sk-stub" not in said + json.dumps(meta)
    assert meta["status"] == "failed"
    assert words in meta["error"]


def test_2_where_the_budget_is_reached_and_what_was_paid_for_stays(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data = data_file(tmp_path / "d.jsonl", 40)
    price = ("model.free=false", "model.price={input: 10, output: 10}", "model.params={max_tokens: 100}")
    with running_stub() as stub:
        code, _ = run_here(*command(stub.url, data, *price, "max_usd=0.3", "model.concurrency=2"))
        paid = stub.total
        assert 0 < paid < 40
        assert code == 2
        (meta,) = runs_in(tmp_path / "state")
        summary = json.loads((tmp_path / "state" / "runs" / meta["run_id"] / "summary.json").read_text("utf-8"))
        assert meta["status"] == "failed"
        assert summary["spend"]["calls"] == paid
        assert summary["spend"]["cost_usd"] <= 0.3
        assert "max_usd=0.3" in capsys.readouterr().err
        code, finished = run_here(*command(stub.url, data, *price, "model.concurrency=2"))
        assert (code, stub.total) == (0, 40)
    assert finished is not None
    assert finished.folder.summary["spend"]["cached"] == paid


def test_2_before_any_call_leaves_no_run(tmp_path: Path) -> None:
    data = data_file(tmp_path / "d.jsonl", 2)
    with running_stub() as stub:
        no_price, _ = run_here(*command(stub.url, data, "model.free=false", "max_usd=1"))
        no_key, _ = run_here(*command(stub.url, data, "model.key_env=EVA_TEST_KEY_THAT_IS_NOT_SET"))
        no_model, _ = run_here(*command(stub.url, data, "model.params={temperatur: 1}", "model.timeout_s=0"))
        assert stub.total == 0
    assert (no_price, no_key, no_model) == (2, 2, 2)
    assert not (tmp_path / "state" / "runs").exists()


def test_130_after_ctrl_c_and_the_same_command_goes_on(tmp_path: Path) -> None:
    """The whole program: what is in flight is finished and kept, the way on is said, nothing is asked twice."""
    data = data_file(tmp_path / "d.jsonl", 30)
    with running_stub(latency_s=0.15) as stub:
        line = command(stub.url, data, "seeds=2", "model.concurrency=4")
        process = start(*line)
        deadline = time.monotonic() + 120
        while stub.total < 8 and time.monotonic() < deadline:
            time.sleep(0.02)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=120)
        asked = stub.total
        assert process.returncode == 130
        assert b"goes on where this one stopped" in err
        assert b"Traceback" not in out + err
        assert 8 <= asked < 60
        with ReplyStore(tmp_path / "state" / "replies.sqlite") as store:
            assert store.query("SELECT count(*) FROM replies") == [(asked,)]
        code, finished = run_here(*line)
        assert (code, stub.total) == (0, 60)
    assert finished is not None
    first, second = runs_in(tmp_path / "state")
    assert (first["status"], second["status"]) == ("interrupted", "finished")
    notes = RunFolder(finished.folder.path.parent / first["run_id"]).summary["notes"]
    assert f"unfinished (interrupted): {asked} of 60 verdicts are there, and the numbers are of these alone" in notes


def test_no_comparison_uses_an_unfinished_run_without_saying_so(tmp_path: Path) -> None:
    """C44. As a baseline such a run is never chosen; named by hand, its state is said first."""
    data = data_file(tmp_path / "d.jsonl", 12)
    with running_stub({"r7": "badkey"}) as stub:
        code, _ = run_here(*command(stub.url, data, "model.concurrency=1"))
        assert code == 2
    with running_stub() as stub:
        _, after = run_here(*command(stub.url, data, "prompt=v2", "baseline=auto", "model.free=false"))
        assert after is not None
        assert after.baseline is None
    failed = RunFolder(tmp_path / "state" / "runs" / runs_in(tmp_path / "state")[0]["run_id"])
    assert "the before run is failed: some repeats are missing" in unlike(failed.meta, after.folder.meta)
    assert (
        "the before run is failed: some repeats are missing"
        in compare_runs(failed, after.folder, margin=0.03, limit_to_common=True).warnings
    )


def test_the_status_in_mlflow_is_how_the_run_ended(tmp_path: Path) -> None:
    """FINISHED, FAILED, KILLED: one store, one run of each kind, the last two without any or some verdicts."""
    data = data_file(tmp_path / "d.jsonl", 4)
    for plans in ({f"r{n}": "badkey" for n in range(4)}, {"r3": "badkey"}, {}):
        with running_stub(plans) as stub:
            run_here(*command(stub.url, data, "model.concurrency=1", f"name=end{len(plans)}"))
    metas = runs_in(tmp_path / "state")
    folders = [tmp_path / "state" / "runs" / meta["run_id"] for meta in metas]
    killed = folders[2] / "run.json"
    tracking = TrackingSpec().at(tmp_path)
    logged = [log_run(folder, tracking=tracking) for folder in folders]
    killed.write_text(killed.read_text("utf-8").replace('"status": "finished"', '"status": "interrupted"'), "utf-8")
    log_run(folders[2], tracking=tracking)
    assert tracking.sqlite_path is not None
    with closing(sqlite3.connect(tracking.sqlite_path)) as database:
        status = dict(database.execute("SELECT run_uuid, status FROM runs").fetchall())

    assert [meta["status"] for meta in metas] == ["failed", "failed", "finished"]
    assert [status[one.run_id] for one in logged] == ["FAILED", "FAILED", "KILLED"]
    assert "RUNNING" not in status.values()
