"""From a run to a reviewer's label in MLflow and back into the next run, by the commands that a user would type."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from eva.__main__ import main
from eva.edges.compose import compose
from eva.edges.runs import RunFolder
from eva.edges.settings import settings_from
from eva.edges.tracking import TrackingSpec
from eva.edges.tracking.client import Store
from eva.flow import validate
from tests.small_runs import data_file


def scripted(data: Path, home: Path) -> RunFolder:
    own = ("judge=faithfulness", "dataset=file", f"dataset.path={data}", "model=scripted", f"home={home}")
    finished = validate(settings_from(compose(own)), overrides=own, say=lambda text: None)
    assert finished is not None
    return RunFolder(finished.folder.path)


def test_a_second_annotator_in_mlflow_becomes_human_human_agreement(
    tmp_path: Path, prepared: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Six records, another person's word on each, one of them unlike: listed, kept beside the old one, 5 of 6 agree."""
    from mlflow.entities import AssessmentSource, Expectation
    from mlflow.tracing.client import TracingClient

    home, data, more = tmp_path / "state", data_file(tmp_path / "old.jsonl", 6), tmp_path / "more.jsonl"
    home.mkdir()
    shutil.copy(prepared, home / "mlflow.db")
    first = scripted(data, home)
    tracking = TrackingSpec(uri=f"sqlite:///{home}/mlflow.db", artifacts=str(home / "artifacts"))
    for trace in Store(tracking).traces(Store(tracking).experiments()["eva/faithfulness"]):
        number = int(trace.tags["eva.item_id"].removeprefix("r"))
        label = "3" if number == 0 else str(number % 3 + 1)
        said = Expectation(name="human_label", value=label, source=AssessmentSource("HUMAN", "bo"))
        TracingClient(tracking.uri).log_assessment(trace.trace_id, said)
    pulling = [
        "labels",
        "pull",
        "--judge",
        "faithfulness",
        "--home",
        str(home),
        "--data",
        str(data),
        "--out",
        str(more),
    ]

    assert main(pulling) == 0
    told = capsys.readouterr().out
    assert "6 labels added, 0 known already, 1 items labelled differently" in told
    assert "r0: test says 1, bo says 3" in told
    ceiling = scripted(more, home).summary["ceiling"]
    assert ceiling["human_human"]["value"] == pytest.approx(5 / 6)
    assert first.summary["ceiling"] is None
    kept = [json.loads(line)["labels"] for line in more.read_text(encoding="utf-8").splitlines()]
    assert [[one["annotator"] for one in labels] for labels in kept] == [["test", "bo"]] * 6
    assert {"time", "prompt", "run", "trace"} <= set(kept[0][1]["details"])
