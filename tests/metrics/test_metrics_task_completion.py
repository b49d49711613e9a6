"""Eligibility first, status second: strict and lenient rates, counts, intervals by scenario."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd
import pytest

from eva.metrics.results_benchmarks import TaskCompletion
from eva.metrics.task_completion import Score, task_completion

Said = Mapping[str, list[str | None]]


def rows(said: Said, **columns: Mapping[str, str]) -> pd.DataFrame:
    """Record → what each repeat says (None: unreadable)."""
    made = [
        {
            "record_id": record,
            "item_id": record,
            "repeat": repeat,
            "label": label,
            "failure": None if label else "no_json",
            "cluster": columns.get("cluster", {}).get(record, record),
            "domain": columns.get("domain", {}).get(record, ""),
        }
        for record, labels in said.items()
        for repeat, label in enumerate(labels)
    ]
    names = ["record_id", "item_id", "repeat", "label", "failure", "cluster", "domain"]
    return pd.DataFrame(made, columns=names)


def score(first: Said, second: Said, score: Score = "eligible", **columns: Mapping[str, str]) -> TaskCompletion:
    return task_completion(
        rows(first),
        rows(second, **columns),
        rng=np.random.default_rng(3),
        score=score,
        models=columns.get("model"),
        resamples=500,
    )


ELIGIBLE: Said = {name: ["eligible"] for name in "abcd"}
STATUS: Said = {"a": ["success"], "b": ["success"], "c": ["model_failure"], "d": ["unverifiable"]}


def test_strict_and_lenient() -> None:
    """Unverifiable counts against in strict (2 of 4) and is left out in lenient (2 of 3); counts of each."""
    found = score(ELIGIBLE, STATUS).overall
    assert (found.strict.value, found.lenient.value) == (0.5, pytest.approx(2 / 3))
    assert (found.strict.n_items, found.lenient.n_items) == (4, 3)
    assert found.status == {"success": 2, "model_failure": 1, "unverifiable": 1}
    assert found.eligibility == {"eligible": 4}


def test_only_eligible_conversations_are_scored_unless_all_are() -> None:
    """A right call for a wrong request is no success; `all` scores it; the cross table shows it either way."""
    first: Said = {**ELIGIBLE, "a": ["participant_deviation"], "d": ["unverifiable"]}
    some, every = score(first, STATUS), score(first, STATUS, "all")

    assert (some.overall.scored, some.overall.strict.value) == (2, 0.5)
    assert (every.overall.scored, every.overall.strict.value) == (4, 0.5)
    assert some.overall.eligibility == {"eligible": 2, "participant_deviation": 1, "unverifiable": 1}
    assert some.both == every.both
    assert some.both["participant_deviation"] == {"success": 1}


def test_repeats_are_votes_for_eligibility_and_shares_of_success() -> None:
    """Two of three call it eligible; a tie is no majority; two of three successes are two thirds of one."""
    first: Said = {"a": ["eligible", "eligible", "unverifiable"], "b": ["eligible", "unverifiable"], "c": [None, None]}
    second: Said = {"a": ["success", "success", "model_failure"], "b": ["success"] * 3, "c": ["success"] * 3}
    found = score(first, second).overall

    assert found.eligibility == {"eligible": 1, "no majority": 1, "no verdict": 1}
    assert found.scored == 1
    assert found.strict.value == pytest.approx(2 / 3)
    assert found.status == {"success": pytest.approx(2 / 3), "model_failure": pytest.approx(1 / 3)}


def test_what_could_not_be_read_counts_against_in_strict() -> None:
    found = score({"a": ["eligible"], "b": ["eligible"]}, {"a": ["success"], "b": [None]}).overall
    assert (found.strict.value, found.lenient.value) == (0.5, 1.0)
    assert found.status == {"success": 1, "no verdict": 1}


def test_parts_and_intervals_by_scenario() -> None:
    """By domain and by model where there are several; twenty conversations of two scenarios are two clusters."""
    names = [f"r{n:02d}" for n in range(20)]
    first: Said = {name: ["eligible"] for name in names}
    second: Said = {name: ["success" if n % 4 else "model_failure"] for n, name in enumerate(names)}
    found = score(
        first,
        second,
        cluster={name: f"s{n % 2}" for n, name in enumerate(names)},
        domain=dict.fromkeys(names, "food"),
        model={name: ("x", "y")[n % 2] for n, name in enumerate(names)},
    )
    assert [(part.by, part.value, part.strict.value) for part in found.parts] == [
        ("model", "x", 0.5),
        ("model", "y", 1.0),
    ]
    assert found.overall.strict.n_clusters == 2
    assert found.overall.strict.low is not None
    assert found.overall.strict.high - found.overall.strict.low > 0.5  # type: ignore[operator]  # not None: said above


def test_conversations_of_one_judge_only_are_left_out_and_counted() -> None:
    found = score({"a": ["eligible"], "x": ["eligible"]}, {"a": ["success"], "y": ["success"], "z": ["success"]})
    assert found.overall.conversations == 1
    assert found.notes == ("1 conversations have no status verdict, 2 no eligibility verdict: left out",)


def test_nothing_in_common_has_no_rate() -> None:
    """None with a reason, never 0."""
    found = score({"a": ["eligible"]}, {"b": ["success"]}).overall
    assert found.strict.value is None
    assert found.strict.note == "no items"
    nobody = score({"a": ["unverifiable"]}, {"a": ["success"]}).overall
    assert (nobody.scored, nobody.strict.value, nobody.lenient.value) == (0, None, None)
