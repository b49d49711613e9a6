"""The benchmarks' own scores from runs: both speech-to-speech judges put together; the turn benchmark over its script."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from eva.__main__ import main
from eva.benchmarks import benchmark_of, completion_of, configured_score
from eva.edges.runs import RunFolder
from eva.errors import ComparisonError, DataError
from tests.flow_runs import Run, call, home, run, write_lines

__all__ = ["home", "run"]  # fixtures

CALLS = [f"call-{n}" for n in range(8)]
DIMENSIONS = ("turn_taking", "tool_use_correct", "instruction_following", "kb_grounding")


def label_reply(record: str, field: str, label: str) -> dict[str, Any]:
    return {"record": record, "text": json.dumps({field: label, f"{field}_rationale": "why"})}


@pytest.fixture
def completion(run: Run, tmp_path: Path) -> tuple[RunFolder, RunFolder]:
    """Eight calls to two models in two scenarios: six eligible; of these three succeed and one cannot be verified."""
    rows = [
        call(
            name,
            ["Done."],
            cluster=f"scenario-{n // 2}",
            domain="food",
            context={
                "scenario": "Order two wraps.",
                "required_calls": [{"name": "order", "count": 1}],
                "model_under_test": ("model-x", "model-y")[n % 2],
            },
        )
        for n, name in enumerate(CALLS)
    ]
    data = write_lines(tmp_path / "calls.jsonl", rows)
    eligible = ["eligible"] * 6 + ["participant_deviation", "unverifiable"]
    status = ["success", "success", "success", "unverifiable", "model_failure", "model_failure", "success", "success"]
    found = [
        run(
            f"judge={judge}", "task=rescore", data=data,
            replies=[label_reply(name, field, label) for name, label in zip(CALLS, labels, strict=True)],
        )
        for judge, field, labels in (
            ("participant_eligibility", "participant_eligibility", eligible),
            ("task_completion_tool_call", "task_completion_tool_call_status", status),
        )
    ]  # fmt: skip
    return found[0], found[1]


def test_only_eligible_conversations_are_scored(completion: tuple[RunFolder, RunFolder], home: Path) -> None:
    """Three of six strict, three of five lenient; with all, five of eight; models told apart by the data."""
    found = completion_of(*completion, score="eligible")
    every = completion_of(*completion, score="all")

    assert (found.overall.scored, found.overall.strict.value, found.overall.lenient.value) == (6, 0.5, 0.6)
    assert (every.overall.scored, every.overall.strict.value) == (8, 5 / 8)
    assert {part.value: part.strict.value for part in found.parts} == {"model-x": 2 / 3, "model-y": 1 / 3}
    assert found.overall.strict.n_clusters == 3
    assert configured_score(completion[1]) == "eligible"


def test_the_command_prints_rates_and_counts(
    completion: tuple[RunFolder, RunFolder], home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ids = [one.run_id for one in completion]
    picture = tmp_path / "rates.svg"
    assert main(["task-completion", *ids, "--home", str(home), "--format", "markdown", "--plot", str(picture)]) == 0
    text = capsys.readouterr().out
    assert "6 of 8 conversations scored" in text
    assert "`model-x`" in text
    assert picture.read_bytes().startswith(b"<?xml")
    assert main(["task-completion", *ids, "--home", str(home), "--format", "json", "--score", "all"]) == 0
    assert json.loads(capsys.readouterr().out)["overall"]["scored"] == 8
    with pytest.raises(SystemExit):
        main(["task-completion", ids[1], ids[0], "--home", str(home)])
    assert "a run of participant_eligibility is wanted" in capsys.readouterr().err


def golden(turns: int) -> list[dict[str, Any]]:
    return [{"turn_id": turn, "golden": "Yes.", "expected_calls": []} for turn in range(1, turns + 1)]


def judgments(record: str, turns: int, *, bad: dict[int, str]) -> dict[str, Any]:
    """All turns judged; `bad` names the dimension that a turn fails in."""
    final = [
        {"turn": turn, "reasoning": "why", **{name: bad.get(turn) != name for name in DIMENSIONS}}
        for turn in range(1, turns + 1)
    ]
    return {"record": record, "text": json.dumps({"final_judgments": final})}


@pytest.fixture
def benchmark(run: Run, tmp_path: Path) -> RunFolder:
    """Two models, two conversations each over four scripted turns; one stopped after its second, with failed timing."""
    rows = [
        call(
            name,
            ["Yes."] * (2 if n == 3 else 4),
            domain=("good", "bad")[n % 2],
            context={"golden_turns": golden(4), **({"turn_taking_failures": {"2": ["overlap"]}} if n == 3 else {})},
        )
        for n, name in enumerate(CALLS[:4])
    ]
    replies = [
        judgments(CALLS[0], 4, bad={}),
        judgments(CALLS[1], 4, bad={2: "instruction_following"}),
        judgments(CALLS[2], 4, bad={}),
        judgments(CALLS[3], 2, bad={}),
    ]
    data = write_lines(tmp_path / "calls.jsonl", rows)
    return run("judge=turn_judge", "task=rescore", data=data, replies=replies)


def test_a_run_is_scored_over_its_whole_script(benchmark: RunFolder, home: Path) -> None:
    """The turns that were never reached count against the model that stopped; timing is told apart."""
    found = benchmark_of([benchmark.run_id], home=home)

    assert found.scripted == 4
    assert [(part.model, part.strict.value) for part in found.models] == [("good", 1.0), ("bad", 5 / 8)]
    bad = found.models[1]
    assert (bad.turns, bad.missing) == (8, 2)
    assert {name: rate.value for name, rate in bad.errors.items()} == {
        "tool_use_correct": 2 / 8,
        "instruction_following": 3 / 8,
        "kb_grounding": 2 / 8,
    }
    assert bad.turn_taking.value == 1 / 8
    assert found.runs[CALLS[3]] == 0.5


def test_runs_and_recorded_verdicts_together(
    benchmark: RunFolder, home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Another's recorded vectors beside a run of ours; a conversation in two places is refused."""
    vectors = write_lines(
        tmp_path / "vectors.jsonl",
        [
            {"run_dir": "runs/other", "cohort": "third", "scores": dict.fromkeys(DIMENSIONS, "01111")},
        ],
    )
    found = benchmark_of([benchmark.run_id, str(vectors)], home=home)
    assert {part.model for part in found.models} == {"good", "bad", "third"}
    assert "1 turns are not in the script and do not count" in found.notes
    command = ["turn-benchmark", benchmark.run_id, "--home", str(home)]
    assert main([*command, "--plot", str(tmp_path / "p.png"), "--full"]) == 0
    assert "Strict pass rate 81.25%" in capsys.readouterr().out
    assert (tmp_path / "p.png").read_bytes().startswith(b"\x89PNG")
    assert main([*command, "--out", str(tmp_path / "b.html"), "--format", "html"]) == 0
    with pytest.raises(DataError, match="call-0 stands in"):
        benchmark_of([benchmark.run_id, str(benchmark.path)], home=home)
    with pytest.raises(SystemExit):
        main([*command, "--plot", "p.gif"])


def test_runs_of_other_judges_are_refused(completion: tuple[RunFolder, RunFolder], home: Path) -> None:
    with pytest.raises(ComparisonError, match="a run of turn_judge is wanted here"):
        benchmark_of([completion[0].run_id], home=home)
