"""The rows of the evaluation page: which items get one, which way they are written, what people added to them."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

from eva.edges.tracking import tables
from eva.edges.tracking.client import Store
from eva.edges.tracking.folder import RunFolder
from eva.edges.tracking.items import chosen, item_traces
from eva.edges.tracking.stored import StoredOpinion, StoredTrace, by_person
from eva.edges.tracking.wire import Target, WireOpinion, WireTrace, wire

MANY = 200
"""Traces from which on the slower way is worth a word."""
SPANS_WRITTEN = "mlflow.trace.spansLocation"
"""The tag that a trace has once its span is there too."""


@dataclass(frozen=True)
class Pages:
    """What came of it."""

    written: int
    """Items with a trace now."""
    writer: str
    """tables, client or none."""
    remarks: tuple[str, ...]
    """What was left out, for the run's note too."""
    pace: tuple[str, ...] = ()
    """Why writing was slow, for whoever waits."""


def write_pages(folder: RunFolder, store: Store, target: Target, *, keep: bool, known: bool) -> Pages:
    """Write the run's traces. `known`: an earlier logging may have written some; `keep`: of this very content.

    Kept content is completed: only missing items are written. Changed content is written anew, and what people added
    to the old traces comes along.
    """
    tracking = store.tracking
    if tracking.traces == "none":
        return Pages(0, "none", ())
    every = item_traces(folder, folder.verdicts())
    picked = chosen(every, tracking.traces, tracking.trace_limit)
    wanted = wire(picked, target)
    there = {row.trace_id: row for row in store.traces(target.experiment_id, target.run_id)} if known else {}
    if keep:
        whole = {key for key, row in there.items() if SPANS_WRITTEN in row.tags}
        missing = [trace for trace in wanted if trace.trace_id not in whole]
    else:
        store.delete_traces(target.experiment_id, list(there))
        missing = [_with_people(trace, there.get(trace.trace_id)) for trace in wanted]
    writer, pace = _write(store, missing)
    return Pages(len(wanted), writer, _remarks(len(every), len(wanted), tracking.traces), pace)


def _write(store: Store, traces: Sequence[WireTrace]) -> tuple[str, tuple[str, ...]]:
    """(which way, why not the quick one). Both leave what is there as it is, so the second may follow the first."""
    if not traces:
        return "none", ()
    if not store.tracking.fast_traces or store.tracking.uri.startswith("http"):
        start = time.monotonic()
        store.write_traces(traces)
        rate = len(traces) / max(time.monotonic() - start, 0.001)
        told = f"{len(traces):,} traces through the public client, {rate:.0f} a second: `tracking.traces=moved` writes fewer."
        return "client", (told,) if len(traces) > MANY else ()
    try:
        tables.write_traces(store.tracking.uri, traces)
    except tables.NotUsable as error:
        store.write_traces(traces)
        return "client", (f"Traces were written by the public client, which is slower: {error}.",)
    return "tables", ()


def _remarks(items: int, written: int, which: str) -> tuple[str, ...]:
    if written == items:
        return ()
    return (f"{written:,} of {items:,} items have a row on the evaluation page (traces={which}).",)


def _with_people(trace: WireTrace, old: StoredTrace | None) -> WireTrace:
    """With what people added to the old trace; one of ours that somebody edited stays as they left it."""
    kept = [row for row in old.opinions if by_person(row)] if old else []
    edited = {row.assessment_id for row in kept}
    own = tuple(opinion for opinion in trace.opinions if opinion.assessment_id not in edited)
    return replace(trace, opinions=(*own, *map(_again, kept))) if kept else trace


def _again(row: StoredOpinion) -> WireOpinion:
    return WireOpinion(
        assessment_id=row.assessment_id,
        name=row.name,
        kind=row.kind,
        value=row.value,
        source_type=row.source_type,
        source_id=row.source_id,
        rationale=row.rationale or None,
        metadata=row.metadata,
        created_ms=row.created_ms,
        updated_ms=row.updated_ms,
    )
