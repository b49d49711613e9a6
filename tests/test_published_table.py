"""The table of the pull request that this bench was asked for, from ServiceNow/eva's own label files and recorded replies.

The published figures fit exactly one count of right answers a repeat; replies with those counts must print the same table, and
honest statistics must say about it what they can.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from eva.comparing import compared, rendered
from eva.edges.compose import compose
from eva.edges.datasets import DatasetSpec, load_dataset
from eva.edges.settings import settings_from
from eva.flow import Finished, validate
from tests.recordings import other, write


def run(judge: str, version: str, replies: Path, *, data: Path, home: Path, repeats: int) -> Finished:
    own = (
        f"judge={judge}",
        f"prompt={version}",
        f"seeds={repeats}",
        "model=recorded",
        f"model.path={replies}",
        f"dataset=eva_{judge}",
        f"dataset.path={data}",
        f"home={home}",
        "tracking=none",
        "baseline=none",
    )
    finished = validate(settings_from(compose(own)), overrides=own, say=lambda text: None)
    assert finished is not None
    return finished


def record_replies(dataset: Any, right: list[int], offset: int = 0) -> Iterable[dict[str, Any]]:
    """`right[k]` records of repeat k get their label, the others another one."""
    for place, record in enumerate(dataset.records):
        gold = record.labels["record"][0].label
        for repeat, count in enumerate(right):
            label = gold if (place + offset) % len(dataset.records) < count else other(gold)
            yield {"record": record.record_id, "repeat": repeat, "text": json.dumps({"rating": int(label)})}


def turn_replies(dataset: Any, right: list[int]) -> Iterable[dict[str, Any]]:
    place = 0
    for record in dataset.records:
        turns = [(int(key.removeprefix("turn:")), labels[0].label) for key, labels in record.labels.items()]
        for repeat, count in enumerate(right):
            entries = [
                {
                    "turn_id": turn,
                    "explanation": "",
                    "failure_modes": [],
                    "rating": int(gold if place + n < count else other(gold)),
                }
                for n, (turn, gold) in enumerate(turns)
            ]
            yield {"record": record.record_id, "repeat": repeat, "text": json.dumps(entries)}
        place += len(turns)


def test_faithfulness_before_and_after(shared_data: Path, tmp_path: Path) -> None:
    """96, 96, 96 and 93, 96, 96 of 137: the difference is not a regression that this set could show."""
    data = shared_data / "eva" / "faithfulness.jsonl"
    dataset = load_dataset(DatasetSpec(reader="eva_faithfulness", path=str(data), name="f"))
    arms = [
        run(
            "faithfulness",
            version,
            write(tmp_path / f"{version}.jsonl", record_replies(dataset, right)),
            data=data,
            home=tmp_path,
            repeats=3,
        )
        for version, right in (("v1", [96, 96, 96]), ("v2", [93, 96, 96]))
    ]
    before, after = (finished.folder for finished in arms)
    page = rendered([compared(before, after, margin=0.03)], "markdown")

    assert after.summary["dataset"]["items"] == 137
    assert after.summary["dataset"]["classes"] == {"1": 57, "2": 28, "3": 52}
    assert [repeat["n_correct"] for repeat in after.summary["repeats"]] == [93, 96, 96]
    assert "70.07% ± 0.00%" in page
    assert "69.34% ± 1.26%" in page
    assert "cannot tell" in page


def test_conciseness_over_turns(shared_data: Path, tmp_path: Path) -> None:
    """437, 444, 446 of 479 turns in 100 conversations."""
    data = shared_data / "eva" / "conciseness.jsonl"
    dataset = load_dataset(DatasetSpec(reader="eva_conciseness", path=str(data), name="c"))
    replies = write(tmp_path / "r.jsonl", turn_replies(dataset, [437, 444, 446]))
    summary = run("conciseness", "v1", replies, data=data, home=tmp_path, repeats=3).folder.summary

    assert (summary["dataset"]["items"], summary["dataset"]["clusters"]) == (479, 100)
    assert summary["dataset"]["classes"] == {"1": 93, "2": 49, "3": 337}
    assert [repeat["n_correct"] for repeat in summary["repeats"]] == [437, 444, 446]
    assert f"{summary['accuracy']['mean']:.2%} ± {summary['accuracy']['std']:.2%}" == "92.35% ± 0.99%"
    assert summary["baselines"]["majority"]["accuracy"] == pytest.approx(337 / 479)
