"""No credential in anything that a run writes or prints, wherever it sat: planted, then looked for in every byte."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from eva.edges.clients.contract import Transient
from eva.edges.clients.endpoint import _answer
from eva.edges.compose import compose
from eva.edges.early import check_command_line
from eva.edges.settings import settings_from
from eva.errors import ConfigError
from eva.flow import validate
from tests.small_runs import ROOT, command, data_file, run_here, start
from tests.stub_server import running_stub

KEY = "canary/Of+a=plain;key that-no-shape-knows"
SHAPED = "sk-proj-C4n4ryC4n4ryC4n4ryC4n4ry"
USER = "canaryuser:canarypassword77"
QUERY = "canaryquerytoken88"
CANARIES = (KEY, SHAPED, USER, QUERY, "canarypassword77", KEY.replace("/", "%2F").replace("+", "%2B"))
ORDINARY = "The booking token is sk-12, the key phrase is brass-key-2026, task-force-1234-abcdef."
"""What only looks like a key: must be in the records of the run as it was said."""


def written(folder: Path) -> Iterator[tuple[str, str]]:
    """Every file below a folder as text; tables with their cells spelled out, since they are packed."""
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            yield path.name, path.read_bytes().decode("utf-8", "replace")
            if path.suffix == ".parquet":
                yield path.name, pd.read_parquet(path).to_json(force_ascii=False).replace("\\/", "/")


def leaks(texts: Iterator[tuple[str, str]]) -> list[tuple[str, str]]:
    """(where, canary) of everything that got out, JSON's spelling of it included."""
    return [
        (where, canary)
        for where, text in texts
        for canary in CANARIES
        if canary in text or json.dumps(canary)[1:-1] in text
    ]


@pytest.fixture
def key(monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("EVA_CANARY_KEY", KEY)
    return "model.key_env=EVA_CANARY_KEY"


def test_a_key_that_is_used_is_nowhere_afterwards(
    tmp_path: Path, key: str, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """C93: provider errors that echo headers and URLs, an answer that echoes the key; folder, store, MLflow, terminal."""
    monkeypatch.setattr("eva.flow.begin_trivial", lambda plan: lambda: None)
    data = data_file(tmp_path / "d.jsonl", 9, text=ORDINARY)
    said: list[str] = []

    def answer(record: str, body: dict[str, Any]) -> str:
        explanation = f"Authorization: Bearer {KEY}" if record == "r1" else ORDINARY
        return json.dumps({"rating": 2, "evidence": explanation, "explanation": explanation})

    tracking = (
        "tracking=local",
        f"tracking.uri=sqlite:///{tmp_path}/ml/mlflow.db",
        f"tracking.artifacts={tmp_path}/ml/a",
    )
    plans = {"r2": "echo", "r3": "echo", "r4": "html500", "r5": "error200"}
    with running_stub(plans, answer=answer) as stub:
        code, finished = run_here(*command(stub.url, data, key, *tracking, "seeds=2"), said=said)
        assert any(KEY in header for header in stub.keys)  # it was really sent
    with running_stub({f"r{n}": "badkey" for n in range(9)}) as stub:
        stopped, _ = run_here(*command(stub.url, data, key, "model.id=other", *tracking), said=said)
    out, err = capfd.readouterr()

    assert (code, stopped) == (0, 2)
    assert finished is not None
    assert finished.folder.summary["failures"]["bad_request"] == 4
    assert finished.published.logged is not None
    assert leaks(written(tmp_path)) == []
    assert leaks(iter([("out", out), ("err", err), *(("said", text) for text in said)])) == []
    assert ORDINARY in (finished.folder.path / "records.jsonl").read_text("utf-8")
    names = {name for name, _ in written(tmp_path)}
    assert names >= {"replies.sqlite", "mlflow.db", "run.json", "report.html", "verdicts.parquet", "config.yaml"}


HIDDEN_IN = {
    "userinfo": {"api_base": f"http://{USER}@127.0.0.1:9/v1"},
    "query": {"api_base": f"http://127.0.0.1:9/v1?key={QUERY}"},
    "a parameter": {"params": {"extra_body": {"api_key": "canarypassword77"}}},
    "a header": {"params": {"extra_headers": {"Authorization": f"Bearer {SHAPED}"}}},
    "a list": {"params": {"stop": ["x", SHAPED]}},
    "an id": {"id": SHAPED},
    "the key itself": {"key_env": "EVA_CANARY_KEY", "params": {"user": KEY}},
}


@pytest.mark.parametrize("where", HIDDEN_IN)
def test_a_key_in_a_config_file_is_refused_before_anything_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, where: str
) -> None:
    monkeypatch.setenv("EVA_CANARY_KEY", KEY)
    data = data_file(tmp_path / "d.jsonl", 2)
    config = compose(command("http://127.0.0.1:9/v1", data))
    config["model"] |= HIDDEN_IN[where]
    with pytest.raises(ConfigError) as caught:
        validate(settings_from(config), say=print)

    assert leaks(iter([("error", str(caught.value))])) == []
    assert [path.name for path in tmp_path.iterdir()] == ["d.jsonl"]


@pytest.mark.parametrize(
    "override",
    [
        f"+model.params.api_key={SHAPED}", "+model.params.api_key=canarypassword77", f"model.api_base=http://{USER}@h/v1",
        f"model.api_base=http://h/v1?token={QUERY}", f"name={SHAPED}", "name=${oc.env:OPENAI_API_KEY}",
        f"+{SHAPED}=1", f"tracking.uri=postgresql://{USER}@h/db",
    ],
)  # fmt: skip
def test_a_key_on_the_command_line_is_refused_without_being_repeated(override: str) -> None:
    """C79: before Hydra composes, and writes, anything."""
    with pytest.raises(ConfigError) as caught:
        check_command_line([override])

    assert leaks(iter([("error", str(caught.value))])) == []
    assert "credential" in str(caught.value)


@pytest.mark.parametrize(
    "override", ["name=sk-12", "model.key_env=MY_API_KEY", "+model.params.max_tokens=9", "seeds=3"]
)
def test_an_ordinary_override_passes(override: str) -> None:
    check_command_line([override])


def test_the_whole_program_refuses_it_too(tmp_path: Path) -> None:
    """C79, from outside: nothing on the terminal, nothing in the folder of the run."""
    process = start(f"+model.params.api_key={SHAPED}", f"home={tmp_path}")
    out, err = process.communicate(timeout=60)

    assert process.returncode == 2
    assert leaks(iter([("out", out.decode()), ("err", err.decode())])) == []
    assert list(tmp_path.iterdir()) == []


BROKEN = """
import sys
import eva.flow, eva.job
def broken(settings, **rest):
    url = "http://{user}@host/x?key={query}"
    raise RuntimeError("Client error for url " + url + " with {key} and {shaped}")
eva.job.validate = broken
sys.argv = ["run.py", "model=scripted", "tracking=none", "home={home}", "model.key_env=EVA_CANARY_KEY"]
import runpy
runpy.run_path("run.py", run_name="__main__")
"""


def test_a_traceback_is_shown_without_it(tmp_path: Path) -> None:
    """C93: a fault of ours is shown whole, credentials aside, and has an exit code of its own."""
    code = BROKEN.format(user=USER, query=QUERY, key=KEY, shaped=SHAPED, home=tmp_path)
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=ROOT,
        env={**os.environ, "EVA_CANARY_KEY": KEY},
        capture_output=True,
        text=True,
        timeout=120,
    )
    shown = done.stderr.replace(code, "")

    assert done.returncode == 3
    assert "RuntimeError: Client error for url" in shown
    assert leaks(iter([("out", done.stdout), ("err", shown)])) == []


def test_a_cut_does_not_let_half_a_key_through(monkeypatch: pytest.MonkeyPatch) -> None:
    """Words are cut after they are masked, never before."""
    from eva.edges.secrets import know_key_variable

    monkeypatch.setenv("EVA_CANARY_KEY", KEY)
    know_key_variable("EVA_CANARY_KEY")
    for head in range(30, 81, 5):
        with pytest.raises(Transient) as caught:
            _answer(b"x" * head + KEY.encode())
        assert KEY[:10] not in str(caught.value)
