"""The trivial baseline beside the calls: the same numbers from a process of its own, and whatever becomes of that process."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest

from eva import aside
from eva.edges.compose import compose
from eva.edges.settings import settings_from
from eva.flow import plan_run
from eva.judges.plan import Plan
from eva.metrics.trivial import trivial_baseline


@pytest.fixture(scope="module")
def plan() -> Plan:
    return plan_run(settings_from(compose(["judge=conciseness"])))


def test_a_process_of_its_own_gives_the_same_numbers(plan: Plan, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(aside, "WORTH_A_PROCESS", 1)
    started: list[Any] = []
    popen = subprocess.Popen
    monkeypatch.setattr(subprocess, "Popen", lambda *args, **named: started.append(args) or popen(*args, **named))
    found = aside.begin_trivial(plan)()

    assert len(started) == 1
    assert found == trivial_baseline(**aside.trivial_input(plan) or {})
    assert found is not None
    assert 0 < (found.accuracy or 0) < 1


def test_a_process_that_dies_costs_time_and_no_number(
    plan: Plan, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(aside, "WORTH_A_PROCESS", 1)
    dead = tmp_path / "python"
    dead.write_text("#!/bin/sh\nexit 7\n")
    dead.chmod(0o755)
    monkeypatch.setattr(aside.sys, "executable", str(dead))

    assert aside.begin_trivial(plan)() == trivial_baseline(**aside.trivial_input(plan) or {})


def test_small_sets_start_nothing(plan: Plan, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(subprocess, "Popen", lambda *args, **named: pytest.fail("a process was started"))

    assert len((aside.trivial_input(plan) or {})["texts"]) < aside.WORTH_A_PROCESS
    assert aside.begin_trivial(plan)() is not None


def test_without_labels_there_is_nothing_to_fit(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    path.write_text('{"record_id": "c1", "events": [{"turn_id": 1, "type": "assistant", "text": "Hi."}]}\n')
    overrides = ["judge=conciseness", "task=rescore", "dataset=file", f"dataset.path={path}"]

    assert aside.begin_trivial(plan_run(settings_from(compose(overrides))))() is None
