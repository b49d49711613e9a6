"""The turn benchmark's rates: fixed denominators, timing apart, whole conversations resampled."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from eva.edges.datasets.recorded_verdicts import recorded_verdicts
from eva.edges.settings import load_judge
from eva.errors import DataError
from eva.metrics.results_benchmarks import TurnBenchmark
from eva.metrics.summary import summarise
from eva.metrics.turn_benchmark import turn_benchmark

TOOL, FOLLOW, KNOW, TIMING = "tool_use_correct", "instruction_following", "kb_grounding", "turn_taking"
SCORED = (TOOL, FOLLOW, KNOW)
WORDS = {"1": "true", "0": "false", "n": "not_applicable"}


def rows(said: Mapping[str, Mapping[str, str]], *, models: Mapping[str, str] | None = None) -> pd.DataFrame:
    """Conversation → dimension → a sign a turn: 1, 0, n (not applicable), x (unreadable), blank (no row)."""
    made = [
        {
            "record_id": record.split("@")[0],
            "turn_id": turn,
            "dimension": dimension,
            "repeat": int(record.partition("@")[2] or 0),
            "label": WORDS.get(sign),
            "domain": (models or {}).get(record, ""),
        }
        for record, dimensions in said.items()
        for dimension, signs in dimensions.items()
        for turn, sign in enumerate(signs)
        if sign != " "
    ]
    return pd.DataFrame(made).astype({"turn_id": "Int64"})


def score(
    said: Mapping[str, Mapping[str, str]],
    turns: range | None = range(4),
    models: Mapping[str, str] | None = None,
) -> TurnBenchmark:
    return turn_benchmark(
        rows(said, models=models), dimensions=SCORED, turns=turns, rng=np.random.default_rng(5), resamples=300
    )


def test_a_turn_passes_where_no_dimension_fails() -> None:
    """Not applicable passes; timing is told apart and fails nothing."""
    found = score({"a": {TOOL: "n101", FOLLOW: "1001", KNOW: "1111", TIMING: "0111"}}).overall

    assert found.counts == {TOOL: 1, FOLLOW: 2, KNOW: 0, "any_error": 2}
    assert (found.strict.value, found.any_error.value) == (0.5, 0.5)
    assert found.errors[KNOW].value == 0.0
    assert (found.turn_taking.value, found.turn_taking.n_items) == (0.25, 4)


def test_a_conversation_that_stopped_early_is_judged_over_the_whole_script() -> None:
    """One good turn of four is a quarter, not all; what was never reached fails every dimension."""
    found = score({"a": {TOOL: "1", FOLLOW: "1", KNOW: "1"}, "b": {TOOL: "1111", FOLLOW: "1111", KNOW: "1111"}})

    assert (found.overall.turns, found.overall.missing) == (8, 3)
    assert found.overall.strict.value == 5 / 8
    assert found.overall.errors[KNOW].value == 3 / 8
    assert found.runs == {"a": 0.25, "b": 1.0}
    assert found.overall.reached_end.value == 0.5
    assert found.overall.turn_taking.value is None


def test_what_could_not_be_read_fails_and_is_counted() -> None:
    found = score({"a": {TOOL: "1x11", FOLLOW: "1111", KNOW: "1111"}})
    assert found.overall.strict.value == 0.75
    assert found.notes == ("1 verdicts could not be read and count as failed",)


def test_without_a_script_the_turns_that_any_conversation_has_count() -> None:
    said = {"a": {TOOL: "11", FOLLOW: "11", KNOW: "11"}, "b": {TOOL: "111", FOLLOW: "111", KNOW: "111"}}
    found = score(said, turns=None)
    assert (found.scripted, found.overall.strict.value) == (3, 5 / 6)
    assert found.notes == ("no script was given: its 3 turns are those that any conversation has",)
    assert score(said, turns=range(2)).notes == ("1 turns are not in the script and do not count",)


def test_repeats_of_the_judge_are_averaged() -> None:
    """A turn that fails in one of two repeats is half a failure; errors of one repeat belong together."""
    found = score(
        {"a": {TOOL: "1111", FOLLOW: "0111", KNOW: "1111"}, "a@1": {TOOL: "0111", FOLLOW: "1111", KNOW: "1111"}}
    )
    assert found.overall.counts == {TOOL: 0.5, FOLLOW: 0.5, KNOW: 0, "any_error": 1}
    assert (found.overall.conversations, found.overall.strict.repeats) == (1, 2)


def test_models_best_first_with_intervals_over_conversations() -> None:
    """Each model's own conversations; an interval that a single conversation cannot have."""
    rng = np.random.default_rng(1)
    said, models = {}, {}
    for n in range(30):
        good = 0.95 if n % 2 else 0.6
        said[f"r{n}"] = {name: "".join("1" if rng.random() < good else "0" for _ in range(4)) for name in SCORED}
        models[f"r{n}"] = "good" if n % 2 else "bad"
    said["only"], models["only"] = dict.fromkeys(SCORED, "1111"), "once"
    found = score(said, models=models)

    assert [part.model for part in found.models] == ["once", "good", "bad"]
    once, good, bad = found.models
    assert once.strict.low is None
    assert good.strict.low is not None
    assert bad.strict.high is not None
    assert bad.strict.low < bad.strict.value < bad.strict.high < good.strict.low  # type: ignore[operator]  # ends exist
    assert "cluster bootstrap" in bad.strict.method
    assert good.errors[KNOW].n_clusters == 15


def test_no_error_at_all_still_has_an_interval() -> None:
    """Where all resamples agree, Wilson's over conversations: ten without a mistake are not certainty."""
    found = score({f"r{n}": dict.fromkeys(SCORED, "1111") for n in range(10)}).overall
    assert found.strict.value == 1.0
    assert found.strict.low == pytest.approx(0.722, abs=0.001)


def test_rows_of_another_judge_are_refused() -> None:
    with pytest.raises(DataError, match="no run of the turn benchmark"):
        score({"a": {"rating": "111"}})


def test_recorded_vectors_give_the_recorded_totals(shared_data: Path) -> None:
    """780 turns of 26 speech conversations: 241 timing, 112 tool, 170 instruction, 11 knowledge failures."""
    judge = load_judge("turn_judge")
    everything = replace(judge, options={**judge.options, "passthrough": []})
    file = shared_data / "turn_judge" / "judged_score_vectors_gemini_live.jsonl"
    table = recorded_verdicts(file, everything).table
    found = turn_benchmark(table, dimensions=SCORED, turns=range(30), rng=np.random.default_rng(1), resamples=300)
    vectors = [json.loads(line)["scores"] for line in file.read_text(encoding="utf-8").splitlines()]
    strict = sum(all(one[name][turn] == "1" for name in SCORED) for one in vectors for turn in range(30))

    assert (found.overall.conversations, found.overall.turns, found.overall.missing) == (26, 780, 0)
    assert {name: found.overall.counts[name] for name in SCORED} == {TOOL: 112, FOLLOW: 170, KNOW: 11}
    assert found.overall.turn_taking.value == pytest.approx(241 / 780)
    assert found.overall.strict.value == pytest.approx(strict / 780)
    assert sum(part.turns for part in found.models) == 780
    assert found.overall.strict.low is not None
    assert found.overall.reached_end.value == 1.0


def test_recorded_agreement_with_the_mechanical_scorer(shared_data: Path) -> None:
    """Stated as data: 897 of 900. Its totals as gold and verdicts give that accuracy; the turns that lie here all agree."""
    folder = shared_data / "turn_judge"
    lines = (folder / "adjudications_and_agreement.jsonl").read_text(encoding="utf-8").splitlines()
    stated = next(row for row in map(json.loads, lines) if row["kind"] == "mechanical_vs_judge")
    pairs = [
        (f"c{n}#{turn}", "true", "true" if n < agree else "false")
        for turn, (agree, of) in stated["by_turn"].items()
        for n in range(of)
    ]
    assert (stated["agree"], stated["n"]) == (897, 900)
    assert _agreement(pairs) == (897, 900)

    judged = (folder / "turn12_judged_gemma4_31b.head225.jsonl").read_text(encoding="utf-8").splitlines()
    here = [
        (
            row["run_dir"],
            str(row["mechanical_category"] == "correct_tool_and_arguments").lower(),
            str(row["judge_scores"][TOOL]).lower(),
        )
        for row in map(json.loads, judged)
    ]
    assert _agreement(here) == (225, 225)


def _agreement(pairs: list[tuple[str, str, str]]) -> tuple[int, int]:
    """(agreeing, all) as a run's summary counts them, mechanical scorer as gold."""
    table = pd.DataFrame(
        [
            {"item_id": item, "cluster": item.split("#")[0], "gold": gold, "repeat": 0, "label": said, "failure": None}
            for item, gold, said in pairs
        ]
    )
    found = summarise(
        table, labels=("false", "true"), values=None, repeats=1, rng=np.random.default_rng(1), resamples=200, slices=()
    )
    return found.repeats[0].n_correct, found.repeats[0].n
