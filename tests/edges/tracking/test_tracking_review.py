"""The review set: what repeats or versions disagree on, blind, as a sheet that comes back and as a queue."""

from __future__ import annotations

import csv
from pathlib import Path

from eva.edges.datasets.review_sheet import read_sheets
from eva.edges.tracking import TrackingSpec
from eva.edges.tracking.client import Store
from eva.edges.tracking.folder import read
from eva.edges.tracking.items import consensus
from eva.edges.tracking.labels import pull
from eva.edges.tracking.review import blind, doubts, send_queue, write_sheet
from eva.types import Scale
from tests.edges.tracking.run_folder import make_run

SCALE = Scale(("1", "2", "3"), ordinal=True)


def test_only_items_in_doubt_are_asked_about(tmp_path: Path) -> None:
    """Every item whose repeats or versions differ, most doubtful first, and no other."""
    runs = [make_run(tmp_path, prompt="v1", skill=0.6), make_run(tmp_path, prompt="v2", skill=0.9, minute=1)]
    rows = [row for run in runs for row in read(run).verdicts()]
    said: dict[str, set[object]] = {}
    for row in rows:
        said.setdefault(row["item_id"], set()).add(row["label"] or row["failure"])
    found = doubts(runs)

    assert {doubt.item_id for doubt in found} == {item for item, words in said.items() if len(words) > 1}
    assert [doubt.share for doubt in found] == sorted((doubt.share for doubt in found), reverse=True)
    assert {doubt.why for doubt in found} <= {
        "repeats disagree",
        "versions disagree",
        "repeats disagree and versions disagree",
    }


def test_versions_that_agree_with_themselves_and_not_with_each_other(tmp_path: Path) -> None:
    """One repeat each: only a difference between the runs can be a doubt."""
    runs = [make_run(tmp_path, prompt=v, repeats=1, skill=s) for v, s in (("v1", 0.5), ("v2", 0.9))]

    assert {doubt.why for doubt in doubts(runs)} == {"versions disagree"}


def test_the_sheet_is_blind_and_comes_back_as_labels(tmp_path: Path) -> None:
    """No verdict, no order of doubt in it; filled in, the dataset's reader takes it."""
    found = doubts([make_run(tmp_path, prompt="v1", skill=0.6)])
    sheet = tmp_path / "review.csv"
    assert write_sheet(sheet, found) == len(found)
    with sheet.open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))

    assert [row["item_id"] for row in rows] == [doubt.item_id for doubt in blind(found)]
    assert {row[key] for row in rows for key in ("verdict_a", "verdict_b", "label")} == {""}
    assert "breaths" not in sheet.read_text(encoding="utf-8-sig")

    filled = [{**row, "label": "2", "annotator": "bo"} for row in rows[:3]]
    with sheet.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(filled)
    labels = read_sheets([sheet], SCALE).annotations
    assert {item: notes[0].label for item, notes in labels.items()} == {row["item_id"]: "2" for row in filled}


def test_the_queue_in_mlflow_is_blind_and_made_once(tmp_path: Path, tracking: TrackingSpec) -> None:
    """Traces with a request and nothing else; sending again adds none; what is answered there is pulled."""
    from mlflow.entities import AssessmentSource, Feedback
    from mlflow.genai import review_queues
    from mlflow.tracing.client import TracingClient

    found = doubts([make_run(tmp_path, prompt="v1", skill=0.6)])
    for _ in range(2):
        experiment_id, count = send_queue(
            tracking, found, judge="conciseness", labels=SCALE.labels, name="doubts", at_ms=2_000_000_000_000
        )
    traces = list(Store(tracking).traces(experiment_id))
    queue = review_queues.list_review_queues(experiment_id=experiment_id)[0]

    assert (len(traces), count) == (len(found), len(found))
    assert [trace.tags["eva.item_id"] for trace in traces] == [doubt.item_id for doubt in blind(found)]
    assert all(trace.opinions == () and trace.response == "" for trace in traces)
    assert len(review_queues.list_review_queue_items(queue.queue_id)) == len(found)

    answer = Feedback(name="human_label", value="3", source=AssessmentSource("HUMAN", "bo"), rationale="dense")
    TracingClient(tracking.uri).log_assessment(traces[0].trace_id, answer)
    answered = pull(tracking, judge="conciseness", scale=SCALE).annotations
    assert [(note.annotator, note.label, note.note) for note in answered[blind(found)[0].item_id]] == [
        ("bo", "3", "dense")
    ]


def test_consensus_has_no_label_at_a_tie_or_where_failures_lead() -> None:
    """1, 1, 2 is 1; 1, 2 is undecided; two failures of three are no verdict, with agreement two thirds."""
    rows = [{"label": "1"}, {"label": "1"}, {"label": "2"}]
    failed = [{"label": None, "failure": "no_json"}] * 2 + [{"label": "1"}]

    assert consensus(rows)[:2] == ("1", 2 / 3)
    assert consensus(rows[1:])[:2] == (None, 1 / 2)
    assert consensus(failed)[:2] == (None, 2 / 3)
