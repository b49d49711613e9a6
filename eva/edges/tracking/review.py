"""The review set: items that repeats or versions disagree on, shown blind, as a sheet and as a queue in MLflow."""

from __future__ import annotations

import csv
import hashlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from eva.edges.tracking.client import Store
from eva.edges.tracking.folder import read
from eva.edges.tracking.items import consensus, preview, trace_id
from eva.edges.tracking.names import review_name
from eva.edges.tracking.spec import TrackingSpec
from eva.edges.tracking.wire import WireTrace, blank_trace

COLUMNS = ("item_id", "conversation", "verdict_a", "verdict_b", "agree_a", "agree_b", "label", "annotator", "comment")
"""Those that a returned sheet is read by, and the text. The verdict columns stay empty: the reviewer is blind."""
QUEUE = "human_label"


@dataclass(frozen=True)
class Doubt:
    """An item worth a person's look."""

    item_id: str
    request: str
    tags: Mapping[str, str]
    share: float
    """Share of all votes, of all runs, that are not the commonest verdict: 0 is unanimous."""
    why: str
    """`repeats disagree`, `versions disagree` or both."""


def doubts(run_dirs: Sequence[Path], *, limit: int | None = None) -> list[Doubt]:
    """The items of these runs (of one judge, on one dataset) on which repeats or runs disagree, most doubtful first.

    limit: how many at most. Raises StoreError for what is no run folder.
    """
    folders = [read(path) for path in run_dirs]
    votes: dict[str, list[list[Mapping[str, Any]]]] = {}
    for folder in folders:
        for item_id, rows in _by_item(folder.verdicts()).items():
            votes.setdefault(item_id, []).append(rows)
    texts = {str(item["item_id"]): str(item.get("request") or "") for folder in folders for item in folder.items}
    found = [_doubt(item_id, texts.get(item_id, ""), runs) for item_id, runs in votes.items()]
    ranked = sorted((doubt for doubt in found if doubt.why), key=lambda doubt: (-doubt.share, doubt.item_id))
    return ranked[:limit]


def blind(found: Iterable[Doubt]) -> list[Doubt]:
    """In an order that says nothing about how doubtful an item is, and is the same each time."""
    return sorted(found, key=lambda doubt: hashlib.sha256(doubt.item_id.encode()).digest())


def write_sheet(path: Path, found: Iterable[Doubt]) -> int:
    """A CSV that opens in a spreadsheet; filled in, `datasets` reads it back. How many rows it has."""
    rows = blind(found)
    with path.open("w", encoding="utf-8-sig", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, restval="")
        writer.writeheader()
        writer.writerows({"item_id": _cell(row.item_id), "conversation": _cell(row.request)} for row in rows)
    return len(rows)


def send_queue(
    tracking: TrackingSpec, found: Iterable[Doubt], *, judge: str, labels: Sequence[str], name: str, at_ms: int
) -> tuple[str, int]:
    """The items as blind traces (request only) with a review queue that asks for `human_label`.

    Returns (experiment id, items in the queue). Sending the same items again adds nothing. What reviewers answer comes
    back with `pull`. at_ms: the time of the newest trace.
    """
    store = Store(tracking)
    experiment = store.experiment(review_name(judge))
    experiment_id = experiment[0] if experiment else store.create_experiment(review_name(judge), {"eva.judge": judge})
    rows = blind(found)
    traces = [_blank(row, experiment_id, judge, at_ms - place) for place, row in enumerate(rows)]
    there = {trace.trace_id for trace in store.traces(experiment_id)}
    store.write_traces([trace for trace in traces if trace.trace_id not in there])
    store.ask_people(experiment_id, name, QUEUE, labels, [trace.trace_id for trace in traces])
    return experiment_id, len(traces)


def _blank(row: Doubt, experiment_id: str, judge: str, at: int) -> WireTrace:
    key = trace_id(f"review/{experiment_id}", row.item_id)
    text = "\n\n".join(line for line in row.request.splitlines() if line.strip())  # its page joins single lines
    return blank_trace(key, experiment_id, name=judge, request=text, shown=preview(text), tags=row.tags, at=at)


def _by_item(rows: Iterable[Mapping[str, Any]]) -> dict[str, list[Mapping[str, Any]]]:
    out: dict[str, list[Mapping[str, Any]]] = {}
    for row in rows:
        out.setdefault(str(row["item_id"]), []).append(row)
    return out


def _doubt(item_id: str, request: str, runs: Sequence[Sequence[Mapping[str, Any]]]) -> Doubt:
    every = [row for rows in runs for row in rows]
    votes = Counter(str(row.get("label") or row.get("failure")) for row in every)
    why = [
        *(["repeats disagree"] if any(consensus(rows)[1] < 1 for rows in runs) else []),
        *(["versions disagree"] if len({consensus(rows)[0] for rows in runs}) > 1 else []),
    ]
    keys = ("item_id", "record_id", "turn_id", "dimension", "language", "domain")
    tags = {f"eva.{key}": str(every[0][key]) for key in keys if every[0].get(key) not in (None, "")}
    return Doubt(item_id, request or item_id, tags, 1 - votes.most_common(1)[0][1] / len(every), " and ".join(why))


def _cell(text: str) -> str:
    """Guarded against being read as a formula."""
    return f"'{text}" if text.startswith(("=", "+", "-", "@", "\t", "\r")) else text
