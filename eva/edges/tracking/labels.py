"""Labels that people add in the MLflow pages come back: found, set beside the old ones, conflicts listed.

What counts as a label: an expectation or a feedback named `human_label` or `judge_label` that a person gave (added in
the pages, by their API, or by editing ours). Other opinions of people (`correct: false`, a comment) are remarks: they
say that something is wrong, not what is right.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

from eva.edges.datasets.labels import label_text
from eva.edges.datasets.native_json import content_sha256, record_sha256
from eva.edges.datasets.review_sheet import item_key
from eva.edges.tracking.client import Store
from eva.edges.tracking.links import trace_link
from eva.edges.tracking.names import experiment_name, review_name
from eva.edges.tracking.reading import readable
from eva.edges.tracking.spec import TrackingSpec
from eva.edges.tracking.stored import StoredOpinion, StoredRun, StoredTrace, by_person
from eva.errors import TrackingError
from eva.replies.labels import normalise_gold
from eva.types import Annotation, Dataset, Record, Scale

LABEL_NAMES = ("human_label", "judge_label")
PROVENANCE = "mlflow"


@dataclass(frozen=True)
class Pulled:
    """What people said in MLflow, by item id, oldest first."""

    annotations: Mapping[str, tuple[Annotation, ...]]
    remarks: tuple[str, ...] = ()
    """Opinions of people that are no labels of the scale, in words."""


@dataclass(frozen=True)
class Conflict:
    """An item that people label differently."""

    item_id: str
    labels: tuple[tuple[str, str], ...]
    """(annotator, label), gold first."""


@dataclass(frozen=True)
class Merged:
    """The dataset with old and new labels."""

    dataset: Dataset
    added: int
    known: int
    """Labels that were there already: pulling twice adds nothing."""
    conflicts: tuple[Conflict, ...]
    strangers: tuple[str, ...] = field(default=())
    """Labelled items whose record this dataset does not have."""


def pull(tracking: TrackingSpec, *, judge: str, scale: Scale) -> Pulled:
    """All labels that people gave to the judge's items in MLflow, in runs' traces and in the review queue.

    One person's newest word on an item counts. Raises TrackingError where there is no such experiment.
    """
    with readable(tracking) as source:
        return _pulled(Store(source), tracking, judge=judge, scale=scale)


def _pulled(store: Store, tracking: TrackingSpec, *, judge: str, scale: Scale) -> Pulled:
    experiments = [
        found[0] for name in (experiment_name(judge), review_name(judge)) if (found := store.experiment(name))
    ]
    if not experiments:
        raise TrackingError(f"MLflow at {tracking.uri} has no experiment {experiment_name(judge)!r}: log a run first.")
    runs = {run.run_id: run for run in store.find_runs(experiments, "", limit=100_000)}
    traces = [trace for experiment in experiments for trace in store.traces(experiment)]
    return pulled(traces, runs, scale=scale, tracking=tracking)


def pulled(
    traces: Iterable[StoredTrace], runs: Mapping[str, StoredRun], *, scale: Scale, tracking: TrackingSpec
) -> Pulled:
    """The labels among the traces' opinions. Pure."""
    found: dict[str, dict[str, tuple[int, Annotation]]] = {}
    remarks: list[str] = []
    for trace in traces:
        item_id = trace.tags.get("eva.item_id")
        if item_id is None:
            continue
        for opinion in trace.opinions:
            if not by_person(opinion):
                continue
            label = _label(opinion, scale)
            if label is None:
                remarks.append(f"{item_id}: {opinion.source_id or 'somebody'} says {_words(opinion)}")
                continue
            note = _annotation(opinion, label, trace, runs.get(trace.run_id or ""), tracking)
            said = found.setdefault(item_id, {})
            if opinion.updated_ms >= said.get(note.annotator, (0, note))[0]:
                said[note.annotator] = (opinion.updated_ms, note)
    ordered = {
        item: tuple(note for _, note in sorted(said.values(), key=_time)) for item, said in sorted(found.items())
    }
    return Pulled(ordered, tuple(remarks))


def merge(dataset: Dataset, new: Pulled) -> Merged:
    """The dataset with the new labels behind the old ones (the first stays gold); no label is lost.

    A label that its annotator already gave to the item is known. Pure.
    """
    records, added, known, conflicts = [], 0, 0, []
    by_record: dict[str, dict[str, tuple[Annotation, ...]]] = {}
    for item_id, notes in new.annotations.items():
        record_id, key = item_key(item_id)
        by_record.setdefault(record_id, {})[key] = notes
    for record in dataset.records:
        labels = dict(record.labels)
        for key, notes in by_record.get(record.record_id, {}).items():
            old = labels.get(key, ())
            fresh = [
                note for note in notes if (note.annotator, note.label) not in {(a.annotator, a.label) for a in old}
            ]
            labels[key] = (*old, *fresh)
            added, known = added + len(fresh), known + len(notes) - len(fresh)
            if len({note.label for note in labels[key]}) > 1:
                conflicts.append(_conflict(record, key, labels[key]))
        records.append(replace(record, labels=labels))
    there = {record.record_id for record in dataset.records}
    strangers = tuple(item for item in new.annotations if item_key(item)[0] not in there)
    digest = content_sha256(record_sha256(record) for record in records)
    return Merged(replace(dataset, records=tuple(records), sha256=digest), added, known, tuple(conflicts), strangers)


def annotator_of(opinion: StoredOpinion) -> str:
    """Who said it. MLflow does not tell who edited one of ours: it keeps the first author."""
    if "eva.run_id" in opinion.metadata:
        return "edited in MLflow"
    return opinion.source_id or "unknown"


def _label(opinion: StoredOpinion, scale: Scale) -> str | None:
    if opinion.name.split(".")[0] not in LABEL_NAMES:
        return None
    text = label_text(opinion.value)
    return None if text is None else normalise_gold(text, scale)


def _annotation(
    opinion: StoredOpinion, label: str, trace: StoredTrace, run: StoredRun | None, tracking: TrackingSpec
) -> Annotation:
    moment = datetime.fromtimestamp(opinion.updated_ms / 1000, UTC).isoformat(timespec="seconds")
    tags = run.tags if run else {}
    details = {
        "time": moment,
        "prompt": tags.get("eva.prompt"),
        "run": tags.get("eva.run_id"),
        "judge_said": trace.response or None,
        "trace": trace_link(tracking, trace.experiment_id, trace.trace_id),
    }
    return Annotation(
        label=label,
        annotator=annotator_of(opinion),
        provenance=PROVENANCE,
        note=opinion.rationale,
        details={key: value for key, value in details.items() if value},
    )


def _words(opinion: StoredOpinion) -> str:
    why = f" ({opinion.rationale})" if opinion.rationale else ""
    return f"{opinion.name} = {opinion.value!r}{why}"


def _time(said: tuple[int, Annotation]) -> tuple[int, str]:
    return said[0], said[1].annotator


def _conflict(record: Record, key: str, notes: Sequence[Annotation]) -> Conflict:
    item_id = record.record_id + (f"#{key.removeprefix('turn:')}" if key != "record" else "")
    return Conflict(item_id, tuple((note.annotator, note.label) for note in notes))
