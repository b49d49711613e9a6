"""How many verdicts could be read at the first ask, and how many once the others were asked for again. Two numbers, never one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import pandas as pd

from eva.metrics.tables import failure_kinds
from eva.types import NOT_APPLICABLE, Failure, Verdict


@dataclass(frozen=True)
class Readings:
    """Counts of verdicts, all repeats together; shares are in [0, 1], None where there is no verdict."""

    verdicts: int
    readable_first: int
    """At the first ask: a label, or a plain "not applicable"."""
    share_first: float | None
    asked_again: int
    """Verdicts that were asked for again."""
    readable_after: int
    """With those that asking again gave. Scores rest on the first ask all the same."""
    share_after: float | None
    labelled: int
    """Verdicts on items with a human label of the scale."""
    right_first: int
    right_after: int


def readings(rows: pd.DataFrame, second: Iterable[Verdict] = ()) -> Readings:
    """Count verdict rows (first asks) and the verdicts that asking again gave for items without one.

    `second` holds at most one verdict an item and repeat; it counts only where the row has none.
    """
    again = {(verdict.item_id, verdict.repeat): verdict.label for verdict in second}
    keys = list(zip(rows["item_id"], rows["repeat"].astype(int), strict=True))
    first = [label if isinstance(label, str) else None for label in rows["label"]]
    kinds = failure_kinds(rows)
    read = [kind is None or kind != kind or kind == Failure.ABSTAINED.value for kind in kinds]
    later = [(not done) and again.get(key) is not None for key, done in zip(keys, read, strict=True)]
    gold = [label if isinstance(label, str) and label != NOT_APPLICABLE else None for label in rows["gold"]]
    after = [again.get(key) if new else label for key, new, label in zip(keys, later, first, strict=True)]
    n = len(rows)
    return Readings(
        verdicts=n,
        readable_first=sum(read),
        share_first=sum(read) / n if n else None,
        asked_again=len(again),
        readable_after=sum(read) + sum(later),
        share_after=(sum(read) + sum(later)) / n if n else None,
        labelled=sum(label is not None for label in gold),
        right_first=sum(label is not None and label == said for label, said in zip(gold, first, strict=True)),
        right_after=sum(label is not None and label == said for label, said in zip(gold, after, strict=True)),
    )


def second_rows(
    rows: pd.DataFrame, second: Iterable[Verdict], asks: Mapping[tuple[str, int], int]
) -> list[dict[str, Any]]:
    """One row per verdict that was asked for again, in the table's order: the first verdict, and the last word beside it.

    `asks`: (item id, repeat) → the number of the re-ask that `second` comes from. The verdict rows are left as they are.
    """
    again = {(verdict.item_id, verdict.repeat): verdict for verdict in second}
    found = []
    for first in rows.to_dict("records"):
        key = (str(first["item_id"]), int(first["repeat"]))
        if key in again:
            found.append(_beside(first, again[key], ask=asks[key]))
    return found


def _beside(first: Mapping[Any, Any], second: Verdict, *, ask: int) -> dict[str, Any]:
    return {
        "item_id": second.item_id,
        "record_id": second.record_id,
        "repeat": second.repeat,
        "gold": _known(first["gold"]),
        "first_label": _known(first["label"]),
        "first_failure": _known(first["failure"]),
        "second_label": second.label,
        "second_failure": second.failure.value if second.failure else None,
        "second_flags": list(second.flags),
        "second_reason": second.reason,
        "ask": ask,
    }


def _known(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def note_on(found: Readings) -> tuple[str, ...]:
    """A sentence for a run's notes; none where nothing was asked again."""
    if not found.asked_again or found.share_first is None or found.share_after is None:
        return ()
    sentence = (
        f"{found.asked_again} verdicts were asked for again: {found.share_first:.1%} of all could be read at the first ask, "
        f"{found.share_after:.1%} after asking again; all scores rest on the first ask "
        f"(right {found.right_first} of {found.labelled}, with the second asks {found.right_after})"
    )
    return (sentence,)
