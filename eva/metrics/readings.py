"""How many verdicts could be read at the first ask, and how many once the others were asked for again. Two numbers, never one."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

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
