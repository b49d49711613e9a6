"""`python -m eva gate`: the exit code, and the rule that decided, from a comparison file."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from eva.__main__ import main
from eva.report import machine
from tests.report import made


def gate(
    folder: Path,
    *settings: str,
    side: str = "after",
    failures: dict[str, int] | None = None,
    verdicts: int = 411,
    **meta: Any,
) -> int:
    """The exit code on a pair of which one side's run.json says `meta`; no drop is asked for."""
    pair = made.pair()
    arm = getattr(pair, side)
    summary = arm.summary if failures is None else replace(arm.summary, failures=failures)
    readings = {"verdicts": verdicts, "readable_first": verdicts}
    pair = replace(pair, **{side: replace(arm, meta={**arm.meta, **meta}, summary=summary, readings=readings)})
    file = folder / "comparison.json"
    file.write_text(machine.to_json([pair]), encoding="utf-8")
    return main(["gate", str(file), "gate.largest_drop={}", *settings, "--home", str(folder)])


def test_the_gate_passes_a_whole_run(tmp_path: Path) -> None:
    assert gate(tmp_path, lost=0) == 0


@pytest.mark.parametrize("side", ["before", "after"])
def test_lost_calls_cannot_be_told(side: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Exit 2, with the rule's name and the number."""
    assert gate(tmp_path, side=side, lost=2) == 2
    assert f"cannot tell  lost calls: 2 calls of the {side} run got no reply" in capsys.readouterr().out


def test_a_run_from_before_calls_were_counted_is_judged_by_its_verdicts(tmp_path: Path) -> None:
    """`provider` is no reply at all; `no_json` is a reply."""
    assert gate(tmp_path, failures={"provider": 1}) == 2
    assert gate(tmp_path, failures={"no_json": 1}) == 0


def test_a_failed_rule_fails_and_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert gate(tmp_path, "+gate.floor.accuracy=0.99", lost=0) == 1
    assert capsys.readouterr().out.startswith("faithfulness: fail, decided by floor of accuracy\n")
    assert gate(tmp_path, "+gate.floor.accuracy=0.99", lost=1) == 2


def test_what_is_no_comparison_breaks_the_check(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Neither pass nor fail: 3."""
    (tmp_path / "x.json").write_text("{}", encoding="utf-8")

    assert main(["gate", str(tmp_path / "x.json"), "--home", str(tmp_path)]) == 3
    assert "the check itself broke" in capsys.readouterr().err


def test_missing_verdicts_are_seen_without_the_run_folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The comparison says how many there are: 410 of 411."""
    assert gate(tmp_path, verdicts=411) == 0
    assert gate(tmp_path, verdicts=410) == 2
    assert "complete: 1 verdict missing" in capsys.readouterr().out
