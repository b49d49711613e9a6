"""`python -m eva show`: a run that did not come to its end says so before anything else."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from eva.__main__ import main
from eva.edges.runs import RunFolder, write_json
from tests.flow_runs import Run, home, run, write_lines

__all__ = ["home", "run"]  # fixtures

RECORDS = 3


@pytest.fixture
def folder(run: Run, tmp_path: Path) -> RunFolder:
    """Three labelled conversations, two repeats; one reply of the six cannot be read, one breaks the judge's rule."""
    rows = [
        {
            "record_id": f"r{n}",
            "events": [
                {"turn_id": 1, "type": "user", "text": "Hello?"},
                {"turn_id": 1, "type": "assistant", "text": "Hi."},
            ],
            "labels": [{"item": "record", "label": n + 1, "annotator": "test"}],
        }
        for n in range(RECORDS)
    ]
    replies = [{"record": f"r{n}", "repeat": repeat, "text": reply(n + 1)} for n in range(RECORDS) for repeat in (0, 1)]
    replies[0]["text"] = "I would rather not say."
    replies[-1]["text"] = reply(3, overall=1)
    data = write_lines(tmp_path / "data.jsonl", rows)
    return run("judge=faithfulness", "prompt=v1", "seeds=2", "baseline=none", replies=replies, data=data)


def reply(rating: int, *, overall: int | None = None) -> str:
    names = (
        "fabricating_tool_parameters",
        "misrepresenting_tool_result",
        "violating_policies",
        "failing_to_disambiguate",
        "hallucination",
    )
    dimensions = {name: {"evidence": "", "flagged": rating < 3, "rating": rating} for name in names}
    return json.dumps({"rating": overall or rating, "dimensions": dimensions})


def shown(folder: RunFolder, capsys: pytest.CaptureFixture[str], **meta: Any) -> str:
    write_json(folder.path / "run.json", {**folder.meta, **meta})
    capsys.readouterr()
    assert main(["show", folder.run_id, "--home", str(folder.path.parent.parent)]) == 0
    return " ".join(capsys.readouterr().out.split())


@pytest.mark.parametrize("status", ["interrupted", "failed"])
def test_an_unfinished_run_says_so_first(status: str, folder: RunFolder, capsys: pytest.CaptureFixture[str]) -> None:
    """Status, how many of how many verdicts, and how it goes on."""
    text = shown(folder, capsys, status=status, repeats=4)
    how = {"interrupted": "was interrupted", "failed": "failed"}[status]

    assert f"(3 items) This run {how}: 6 of 12 verdicts are there. All its numbers are of these alone." in text
    assert "The same command goes on where it stopped: python run.py" in text


def test_a_finished_run_shows_unreadable_verdicts_and_broken_rules_apart(
    folder: RunFolder, capsys: pytest.CaptureFixture[str]
) -> None:
    """One verdict could not be read; the reply that contradicts itself has a verdict and both labels."""
    text = shown(folder, capsys)

    assert "This run" not in text.partition("Statistic")[0]
    assert "No verdict because Verdicts" in text
    assert "no_json 1" in text
    assert "overall_is_not_the_rule 1 3 1" in text
    assert "Accuracy, unreadable counts as wrong 83.33%" in text
    assert "Accuracy among readable 100.00%" in text
