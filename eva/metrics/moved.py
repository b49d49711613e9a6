"""Moved items and what both arms say about them: the explanation of the majority, and its flags."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import pandas as pd

from eva.metrics.frame import as_names
from eva.metrics.results import Flip
from eva.metrics.results_moved import Direction

Sides = Mapping[str, tuple[str, str]]
"""Item → explanation before, explanation after."""
FlagSides = Mapping[str, tuple[frozenset[str], frozenset[str]]]


def explanations(flips: Iterable[Flip], *, before: pd.DataFrame, after: pd.DataFrame) -> tuple[Sides, FlagSides]:
    """Explanations and flags of moved items in both arms, from verdict rows.

    The explanation is that of the first repeat that says what most repeats say and explains it; a flag counts where
    more than half of the repeats with that label raise it. Empty where an arm has no majority.
    """
    moved = list(flips)
    arms = [_by_item(rows, {flip.item_id for flip in moved}) for rows in (before, after)]
    said = {
        flip.item_id: (
            _said(arms[0].get(flip.item_id, ()), flip.before),
            _said(arms[1].get(flip.item_id, ()), flip.after),
        )
        for flip in moved
    }
    reasons = {item: (one[0], other[0]) for item, (one, other) in said.items()}
    return reasons, {item: (one[1], other[1]) for item, (one, other) in said.items()}


def direction_of(flip: Flip, labels: Sequence[str]) -> Direction:
    """`up` or `down` on the scale (`labels`, worst first; empty: it has no order), `other` where that cannot be said."""
    if flip.before not in labels or flip.after not in labels:
        return "other"
    return "up" if labels.index(flip.after) > labels.index(flip.before) else "down"


def telling(direction: Direction, flags: tuple[frozenset[str], frozenset[str]]) -> frozenset[str]:
    """The flags (before, after) that say why an item moved: those of the side with the worse label.

    The ones that the other side lacks; where it lacks none, all of the worse side's (a violation that only weighs more).
    Without a direction: what is new, else what is gone.
    """
    worse, better = flags if direction == "up" else flags[::-1]
    return (worse - better) or worse or (better if direction == "other" else frozenset())


Row = tuple[str | None, frozenset[str], str]
"""Label, flags, reason of one repeat."""


def _by_item(rows: pd.DataFrame, wanted: set[str]) -> dict[str, list[Row]]:
    kept = rows[rows["item_id"].isin(wanted)].sort_values("repeat", kind="stable")
    lacking = [None] * len(kept)
    flags = kept.get("flags", lacking)
    reasons = kept.get("reason", lacking)
    found: dict[str, list[Row]] = {}
    for item, label, names, reason in zip(kept["item_id"], kept["label"], flags, reasons, strict=True):
        text = reason if isinstance(reason, str) else ""
        row = (None if pd.isna(label) else str(label), frozenset(as_names(names)), text)
        found.setdefault(str(item), []).append(row)
    return found


def _said(rows: Sequence[Row], label: str | None) -> tuple[str, frozenset[str]]:
    agreeing = [row for row in rows if label is not None and row[0] == label]
    reason = next((text for _, _, text in agreeing if text.strip()), "")
    names = {name for _, flags, _ in agreeing for name in flags}
    often = (name for name in names if sum(name in flags for _, flags, _ in agreeing) * 2 > len(agreeing))
    return reason, frozenset(often)
