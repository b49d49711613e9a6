"""`python -m eva comment`: what it would write, without writing."""

from __future__ import annotations

from pathlib import Path

import pytest

from eva.__main__ import main
from eva.report import machine
from tests.report import made


def dry_run(folder: Path, *judges: str) -> int:
    """One comparison file a judge."""
    files = []
    for judge in judges:
        files.append(folder / f"{judge}.json")
        files[-1].write_text(machine.to_json([made.pair(judge)]), encoding="utf-8")
    return main(["comment", "--pr", "7", "--dry-run", *map(str, files)])


def test_every_comparison_can_be_made_again(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Under "How to reproduce" stands the command of each, not of the first alone."""
    assert dry_run(tmp_path, "faithfulness", "conciseness") == 0
    text = capsys.readouterr().out

    assert text.startswith("<!-- eva-report:judges -->\n\n## 2 judges · prompt `v1` → `v2`\n")
    for judge in ("faithfulness", "conciseness"):
        assert f"python -m eva compare {judge}-v1-0a1b2c {judge}-v2-0a1b2c\n" in text


def test_nothing_run_says_why(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["comment", "--pr", "7", "--dry-run", "--not-run", "no credentials", "--judges", "faithfulness"]) == 0
    assert "were not run: `no credentials`" in capsys.readouterr().out
