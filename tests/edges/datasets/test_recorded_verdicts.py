"""Stored verdicts of other people's judges become rows of a run."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from eva.edges.datasets.recorded_verdicts import recorded_verdicts
from eva.edges.settings import load_judge
from eva.errors import DataError
from eva.judges.table import COLUMNS
from tests.edges.datasets.dataset_builders import write
from tests.edges.datasets.run_builders import write_conversation, write_manifest

CONCISENESS = load_judge("conciseness")
FAITHFULNESS = load_judge("faithfulness")
TURNS = load_judge("turn_judge")


def labels(table: pd.DataFrame) -> dict[str, str | None]:
    return dict(zip(table["item_id"], table["label"].fillna(table["failure"]), strict=True))


def test_plain_rows(tmp_path: Path) -> None:
    """Anyone's verdicts in our words; labels are read as a reply's; the table is that of a run and goes to Parquet."""
    rows = [
        {"record": "a", "turn": 1, "label": 3, "repeat": 0, "model": "m", "version": "v7", "text": "Hello."},
        {"record": "a", "turn": 1, "label": "2", "repeat": 1, "flags": ["verbosity_or_filler"], "reason": "Long."},
        {"record": "a", "turn": 2, "label": None},
        {"record": "b", "turn": 1, "label": "great", "language": "de", "domain": "hr", "cluster": "c"},
    ]
    found = recorded_verdicts(write(tmp_path, *rows), CONCISENESS)
    assert list(found.table.columns) == list(COLUMNS)
    assert list(found.table["label"].fillna("")) == ["3", "2", "not_applicable", ""]
    assert list(found.table["failure"].fillna("")) == ["", "", "", "off_scale"]
    assert found.table["turn_id"].dtype == "Int64"
    assert found.models == ("m",)
    assert found.versions == ("v7",)
    assert found.items[0] == {"item_id": "a#1", "record_id": "a", "title": "a#1", "request": "Hello."}
    found.table.to_parquet(tmp_path / "verdicts.parquet")
    assert len(pd.read_parquet(tmp_path / "verdicts.parquet")) == 4


def test_a_second_verdict_is_refused(tmp_path: Path) -> None:
    """One verdict an item and repeat; both places are named."""
    row = {"record": "a", "label": 3}
    with pytest.raises(DataError, match=r"line 2: a, repeat 0, has a verdict already \(line 1\)"):
        recorded_verdicts(write(tmp_path, row, row), FAITHFULNESS)


def test_what_is_no_verdict_is_refused(tmp_path: Path) -> None:
    """A misspelt field, a row of another kind, an empty folder."""
    with pytest.raises(DataError, match="field `rating`: is unknown"):
        recorded_verdicts(write(tmp_path, {"record": "a", "label": 3, "rating": 3}), FAITHFULNESS)
    with pytest.raises(DataError, match="is no recorded verdict"):
        recorded_verdicts(write(tmp_path, {"record": "a"}), FAITHFULNESS)
    with pytest.raises(DataError, match=r"field `scores\.kb_grounding`"):
        recorded_verdicts(write(tmp_path, {"run_dir": "r", "scores": {"kb_grounding": "01x"}}), TURNS)


def test_vectors_become_an_item_a_turn_and_dimension(tmp_path: Path) -> None:
    """A character a turn; the dimension that is copied from the input is no verdict."""
    row = {"run_dir": "runs/bench/r1", "scores": {"turn_taking": "00", "kb_grounding": "10"}, "judge_model": "m"}
    found = recorded_verdicts(write(tmp_path, row), TURNS)
    assert labels(found.table) == {"r1#0/kb_grounding": "true", "r1#1/kb_grounding": "false"}
    assert any("`turn_taking` are facts of the input" in note for note in found.notes)


def test_judged_files_of_run_folders(tmp_path: Path) -> None:
    """`claude_judged.jsonl` in each run's folder; a string is no boolean."""
    for name in ("r1", "r2"):
        (tmp_path / name).mkdir()
        row = {"turn": 3, "scores": {"tool_use_correct": name == "r1"}, "claude_reasoning": "Because."}
        write(tmp_path / name, row, name="claude_judged.jsonl")
    found = recorded_verdicts(tmp_path, TURNS)
    assert labels(found.table) == {"r1#3/tool_use_correct": "true", "r2#3/tool_use_correct": "false"}
    assert set(found.table["reason"]) == {"Because."}


def metric(**details: Any) -> dict[str, Any]:
    return {"score": 1.0, "details": details, "version": "v0.3", "prompt_hash": "060e3f1f9e7a"}


def test_metrics_json_of_conversation_judges(tmp_path: Path) -> None:
    """Rating, flagged dimensions with their evidence; an error is a failure; a missing metric is counted."""
    dimensions = {
        "hallucination": {"flagged": True, "rating": 2, "evidence": "A fee."},
        "violating_policies": {"flagged": False, "rating": 3, "evidence": "None."},
    }
    run = tmp_path / "run"
    write_conversation(run, "1", metrics={"faithfulness": metric(rating=2, explanation={"dimensions": dimensions})})
    write_conversation(run, "2", metrics={"faithfulness": {"error": "Failed to parse judge response", "score": 0.0}})
    write_conversation(run, "3")
    write_manifest(run, ["1", "2", "3"])
    found = recorded_verdicts(tmp_path, FAITHFULNESS)
    assert labels(found.table) == {"run.1": "2", "run.2": "no_json"}
    first = found.table.iloc[0]
    assert list(first["flags"]) == ["hallucination"]
    assert first["reason"] == "hallucination: A fee."
    assert json.loads(first["dimensions"]) == {"hallucination": "2", "violating_policies": "3"}
    assert first["language"] == "de"
    assert found.versions == ("v0.3 060e3f1f9e7a",)
    assert any("have no verdict of faithfulness (run.3)" in note for note in found.notes)


def test_metrics_json_of_turn_judges(tmp_path: Path) -> None:
    """A verdict a turn; null is not applicable on this scale; a turn that is missing was skipped."""
    run = tmp_path / "run"
    details = metric(
        per_turn_ratings={"0": 3, "1": None},
        per_turn_explanations={"0": "Short."},
        per_turn_failure_modes={"0": []},
    )
    write_conversation(run, "1", metrics={"conciseness": details})
    write_conversation(
        run,
        "2",
        metrics={
            "conciseness": metric(per_turn_ratings={"1": 1}, per_turn_failure_modes={"1": ["verbosity_or_filler"]})
        },
    )
    write_manifest(run, ["1", "2"])
    found = recorded_verdicts(run, CONCISENESS)
    assert labels(found.table) == {"run.1#0": "3", "run.1#1": "not_applicable", "run.2#0": "skipped", "run.2#1": "1"}
    assert list(found.table["flags"].iloc[3]) == ["verbosity_or_filler"]


def test_the_real_vectors(shared_data: Path) -> None:
    """26 speech conversations, 780 turns: 112 tool, 170 instruction and 11 knowledge failures; turn taking apart."""
    found = recorded_verdicts(shared_data / "turn_judge" / "judged_score_vectors_gemini_live.jsonl", TURNS)
    failures = found.table[found.table["label"] == "false"].groupby("dimension").size().to_dict()
    assert failures == {"tool_use_correct": 112, "instruction_following": 170, "kb_grounding": 11}
    assert len(found.table) == 3 * 780
    assert found.table["cluster"].nunique() == 26
    assert set(found.table["domain"]) == {"Clever Chatter", "Gemini 3.1 Flash Live Preview"}


def test_the_real_judged_turns(shared_data: Path) -> None:
    """225 judged answers to turn 12: 74 pass; 27 examples with reasons and two judge models."""
    folder = shared_data / "turn_judge"
    found = recorded_verdicts(folder / "turn12_judged_gemma4_31b.head225.jsonl", TURNS)
    tools = found.table[found.table["dimension"] == "tool_use_correct"]
    assert (len(tools), int((tools["label"] == "true").sum())) == (225, 74)
    examples = recorded_verdicts(folder / "judged_turn_examples_with_reasoning.jsonl", TURNS)
    assert examples.models == ("claude-opus-4-5", "claude-sonnet-4-20250514")
    assert (examples.table["reason"] != "").all()
