"""Labels that people add in MLflow: found, merged behind the old ones, conflicts listed, never lost by logging again."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

from eva.edges.tracking import TrackingSpec, log_run
from eva.edges.tracking.client import Store
from eva.edges.tracking.labels import Pulled, merge, pull, pulled
from eva.edges.tracking.stored import StoredOpinion, StoredRun, StoredTrace
from eva.types import Annotation, Dataset, Event, Record, Scale
from tests.edges.tracking.run_folder import make_run

SCALE = Scale(("1", "2", "3"), ordinal=True)
SPEC = TrackingSpec()
OURS = {"eva.run_id": "run"}


def opinion(value: object, **changes: object) -> StoredOpinion:
    base = StoredOpinion(
        name="human_label",
        kind="expectation",
        value=value,
        source_type="HUMAN",
        source_id="bo",
        rationale="",
        metadata={},
        created_ms=1000,
        updated_ms=1000,
        valid=True,
        overrides=None,
        assessment_id="a-1",
    )
    return replace(base, **changes)  # type: ignore[arg-type]  # a test's shorthand


def trace(*opinions: StoredOpinion, item: str = "rec#1") -> StoredTrace:
    return StoredTrace("tr-1", "1", "m-1", {"eva.item_id": item}, "text", "2", opinions)


def found(*opinions: StoredOpinion) -> Pulled:
    run = StoredRun("m-1", "", "FINISHED", 0, {"eva.prompt": "v2", "eva.run_id": "run"}, {}, {})
    return pulled([trace(*opinions)], {"m-1": run}, scale=SCALE, tracking=SPEC)


def test_a_persons_label_keeps_who_when_which_prompt_and_where() -> None:
    """Everything that is needed to trust a label comes with it."""
    note = found(opinion(3.0, rationale="too long")).annotations["rec#1"][0]

    assert (note.label, note.annotator, note.note, note.provenance) == ("3", "bo", "too long", "mlflow")
    assert note.details == {
        "time": "1970-01-01T00:00:01+00:00",
        "prompt": "v2",
        "run": "run",
        "judge_said": "2",
        "trace": "http://127.0.0.1:5000/#/experiments/1/traces?traceId=tr-1",
    }


def test_what_we_wrote_ourselves_is_no_new_label() -> None:
    """Our own human_label is the dataset's; it counts only once somebody edited it, by a name that says so."""
    assert found(opinion("2", metadata=OURS)).annotations == {}

    edited = found(opinion("2", metadata=OURS, updated_ms=2000)).annotations["rec#1"]
    assert [(note.annotator, note.label) for note in edited] == [("edited in MLflow", "2")]


def test_judges_and_overridden_opinions_are_no_labels() -> None:
    """Only people's, and only what still holds."""
    assert found(opinion("1", source_type="LLM_JUDGE"), opinion("1", valid=False)).annotations == {}


def test_the_newest_word_of_a_person_counts() -> None:
    """A second annotator stands beside the first; a changed mind replaces the old one."""
    notes = found(
        opinion("1", updated_ms=3000), opinion("2", updated_ms=2000), opinion("3", source_id="cy", updated_ms=5000)
    )

    assert [(note.annotator, note.label) for note in notes.annotations["rec#1"]] == [("bo", "1"), ("cy", "3")]


def test_what_is_no_label_of_the_scale_is_a_remark() -> None:
    """`correct: false` with a reason, and a 7, are told and not counted."""
    said = found(opinion(False, name="correct", kind="feedback", rationale="no"), opinion("7"))

    assert said.annotations == {}
    assert said.remarks == ("rec#1: bo says correct = False (no)", "rec#1: bo says human_label = '7'")


def dataset(*labels: Annotation) -> Dataset:
    record = Record("rec", "rec", (Event(1, "assistant", "Hi"),), labels={"turn:1": labels} if labels else {})
    return Dataset("set", (record,), "0" * 64, "native 1")


def test_new_labels_stand_behind_the_old_ones() -> None:
    """Gold stays gold, nothing is lost, and the disagreement is listed."""
    merged = merge(dataset(Annotation("2", "ana")), found(opinion("3"), opinion("2", source_id="cy")))
    labels = merged.dataset.records[0].labels["turn:1"]

    assert [(note.annotator, note.label) for note in labels] == [("ana", "2"), ("bo", "3"), ("cy", "2")]
    assert (merged.added, merged.known) == (2, 0)
    assert merged.conflicts[0].item_id == "rec#1"
    assert merged.conflicts[0].labels == (("ana", "2"), ("bo", "3"), ("cy", "2"))
    assert merged.dataset.sha256 != "0" * 64


def test_merging_twice_adds_nothing() -> None:
    """A label that its annotator gave before is known."""
    new = found(opinion("3"))
    once = merge(dataset(Annotation("2", "ana")), new)
    twice = merge(once.dataset, new)

    assert (twice.added, twice.known) == (0, 1)
    assert twice.dataset == once.dataset


def test_items_of_unknown_records_are_told() -> None:
    """A label for a record that the dataset does not have is not dropped without a word."""
    new = pulled([trace(opinion("1"), item="other#4")], {}, scale=SCALE, tracking=SPEC)

    assert merge(dataset(), new).strangers == ("other#4",)


def test_a_label_added_in_mlflow_is_pulled_and_survives_logging_again(tmp_path: Path, tracking: TrackingSpec) -> None:
    """Through the store: a reviewer adds one label and edits another; the run is rescored; both are still there."""
    from mlflow.entities import AssessmentSource, Expectation
    from mlflow.tracing.client import TracingClient

    folder = make_run(tmp_path / "runs")
    result = log_run(folder, tracking=tracking)
    assert result is not None
    client = TracingClient(tracking.uri)
    first, second = list(Store(tracking).traces(result.experiment_id, result.run_id))[:2]
    added = Expectation(name="human_label", value="1", source=AssessmentSource("HUMAN", "bo@example.org"))
    client.log_assessment(first.trace_id, added)
    own = next(row for row in second.opinions if row.name == "human_label")
    client.update_assessment(second.trace_id, own.assessment_id, Expectation(name="human_label", value="2"))
    before = pull(tracking, judge="conciseness", scale=SCALE).annotations
    summary = json.loads((folder / "summary.json").read_text())
    (folder / "summary.json").write_text(json.dumps(summary | {"over_answered": 9}))
    log_run(folder, tracking=tracking)
    after = pull(tracking, judge="conciseness", scale=SCALE).annotations

    assert {item: [(note.annotator, note.label) for note in notes] for item, notes in before.items()} == {
        "rec0000#1": [("bo@example.org", "1")],
        "rec0000#2": [("edited in MLflow", "2")],
    }
    assert after == before
