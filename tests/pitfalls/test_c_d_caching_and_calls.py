"""Sections C and D of the list: what is kept, resumed and counted; limits and several jobs at once."""

from __future__ import annotations

import ast
import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from eva.edges import runs
from eva.edges.identity import model_identity
from eva.edges.runs import RunFolder
from eva.errors import StoreError
from eva.prompts.compile import compile_prompt
from eva.prompts.request import build_request
from eva.rereading import reread
from eva.types import ModelSpec
from tests.factories import FAITHFULNESS
from tests.small_runs import ROOT, command, data_file, quick, run_here
from tests.stub_server import running_stub

EVA = ROOT / "eva"


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    quick(monkeypatch)


def alternating(record: str, body: dict[str, Any]) -> str:
    """1, 3, 1, 3, … by repeat (seeds count from 1)."""
    return json.dumps({"rating": 1 if body["seed"] % 2 else 3, "evidence": "x"})


def test_c36_repeats_are_asked_for_and_replayed_as_they_were(tmp_path: Path) -> None:
    """Four repeats of a judge that alternates: four calls a record and a spread; again: no call and the same numbers."""
    data = data_file(tmp_path / "d.jsonl", 3)
    with running_stub(answer=alternating) as stub:
        _, first = run_here(*command(stub.url, data, "seeds=4"))
        assert stub.total == 12
        _, again = run_here(*command(stub.url, data, "seeds=4"))
        assert stub.total == 12
    assert first is not None
    assert again is not None
    assert [repeat["n_correct"] for repeat in first.folder.summary["repeats"]] == [1, 1, 1, 1]
    assert first.summary.noise.self_agreement.value == pytest.approx(1 / 3)
    assert first.folder.summary["repeats"] == again.folder.summary["repeats"]
    assert again.folder.summary["spend"]["calls"] == 0
    assert again.folder.summary["spend"]["cached"] == 12


def digest(**changes: Any) -> str:
    spec = ModelSpec(name="m", kind="litellm", id="x", api_base="http://h/v1", params={"temperature": 1})
    spec = replace(spec, **{key: value for key, value in changes.items() if key in {"params", "api_base"}})
    compiled = compile_prompt(
        {
            "release": {"name": "v1"}, "order": ["role"], "sections": {"role": changes.get("system", "You judge.")},
            "user": "{{ conversation }}\n",
        },
        FAITHFULNESS,
        language={"code": "en", "name": "English"},
    )  # fmt: skip
    return build_request(
        compiled,
        {"conversation": "x"},
        record_id="r",
        model_identity=model_identity(spec),
        response_schema=None,
        audio_sha256=changes.get("audio"),
    ).digest


@pytest.mark.parametrize(
    "changes",
    [
        {"params": {"temperature": 1, "extra_body": {"num_ctx": 9}}}, {"params": {"temperature": 1, "reasoning_effort": "low"}},
        {"params": {"temperature": 1, "metadata": {"a": 1}}}, {"api_base": "http://other/v1"}, {"system": "You judge!"},
        {"audio": "a" * 64},
    ],
)  # fmt: skip
def test_c37_whatever_is_sent_is_in_the_key(changes: dict[str, Any]) -> None:
    assert digest(**changes) != digest()


def test_c38_no_cache_but_ours() -> None:
    """litellm's cache is off and never used, so that its hit path and what that imports do not matter."""
    texts = {path: path.read_text(encoding="utf-8") for path in EVA.rglob("*.py")}

    assert "litellm.cache = None" in texts[EVA / "edges" / "clients" / "providers.py"]
    assert not [path for path, text in texts.items() if "caching=True" in text or "litellm.caching" in text]


def test_c40_a_word_in_the_prompt_misses_and_a_new_reader_asks_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`"2"` is not read by the old reader; the new one reads the stored answers again, without a call."""
    data = data_file(tmp_path / "d.jsonl", 3)
    with running_stub(answer=lambda record, body: '{"rating": "2", "evidence": "x"}') as stub:
        with monkeypatch.context() as old:
            old.setattr("eva.replies.labels._as_text", lambda value: None if isinstance(value, str) else str(value))
            _, first = run_here(*command(stub.url, data))
        assert first is not None
        assert first.folder.summary["failures"] == {"off_scale": 3}
        found = reread(RunFolder(first.folder.path), home=tmp_path / "state")
        assert stub.total == 3
        assert [(change.before, change.after) for change in found.changed] == [("failure off_scale", "2")] * 3
        run_here(*command(stub.url, data, "prompt.sections.role=Judge it."))
        assert stub.total == 6


def test_c41_a_second_run_asks_exactly_for_what_failed(tmp_path: Path) -> None:
    """Two of ten time out; unreadable answers stay, and are not paid for twice."""
    data = data_file(tmp_path / "d.jsonl", 10)
    plans = {"r3": "slow:5*2,ok", "r7": "slow:5*2,ok", "r5": "truncated"}
    with running_stub(plans) as stub:
        _, first = run_here(*command(stub.url, data, "model.timeout_s=0.5"))
        assert stub.total == 8 + 2 * 2
        _, second = run_here(*command(stub.url, data, "model.timeout_s=0.5"))
        assert stub.total == 8 + 2 * 2 + 2
    assert first is not None
    assert second is not None
    assert first.folder.summary["failures"] == {"provider": 2, "truncated": 1}
    assert second.folder.summary["failures"] == {"truncated": 1}


def test_c43_leftovers_beside_the_results_count_as_nothing(tmp_path: Path) -> None:
    """Copies and backups of runs, of their tables, and of data are no repeats and no runs."""
    data = data_file(tmp_path / "d.jsonl", 3)
    with running_stub() as stub:
        _, finished = run_here(*command(stub.url, data))
    assert finished is not None
    path = finished.folder.path
    for name in (f"{path.name} (copy)", f"{path.name}.bak", f"0{path.name}"):
        shutil.copytree(path, path.parent / name)
    for name in ("verdicts (copy).parquet", "verdicts.parquet.bak", "verdicts_1.parquet"):
        shutil.copy(path / "verdicts.parquet", path / name)
    (path.parent / "half").mkdir()

    assert [run.run_id for run in runs.all_runs(tmp_path / "state")] == [path.name]
    assert len(RunFolder(path).verdicts) == 3


def test_c43_a_damaged_run_does_not_stand_in_the_way_of_others(tmp_path: Path) -> None:
    for name, text in (("good-1", '{"run_id": "good-1", "created": "1"}'), ("bad-1", '{"run_id": "ba')):
        (tmp_path / "runs" / name).mkdir(parents=True)
        (tmp_path / "runs" / name / "run.json").write_text(text, encoding="utf-8")

    assert [run.run_id for run in runs.all_runs(tmp_path)] == ["good-1"]
    with pytest.raises(StoreError, match="cannot be read"):
        _ = RunFolder(tmp_path / "runs" / "bad-1").meta


def test_c49_nothing_leans_on_mlflow_s_active_run() -> None:
    """Explicit run ids throughout: the fluent calls, whose run depends on the thread, do not occur."""
    fluent = {
        "start_run",
        "active_run",
        "log_metric",
        "log_metrics",
        "log_param",
        "log_params",
        "set_tag",
        "set_experiment",
    }
    found = []
    for path in (EVA / "edges" / "tracking").glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "mlflow":
                found += [f"{path.name}: mlflow.{node.attr}"] if node.attr in fluent else []

    assert found == []
