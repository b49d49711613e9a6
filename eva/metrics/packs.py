"""Packs: items that a change must move, and items that it must leave alone. Repeats are votes; what is missing never passes."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import pandas as pd

from eva.errors import DataError
from eva.metrics.results_moved import PackFinding, PackOutcome
from eva.metrics.votes import NO_MAJORITY, NO_VERDICT, modal_of, said_by
from eva.types import NOT_APPLICABLE


@dataclass(frozen=True)
class PackEntry:
    """One item and what it must be after the change."""

    item_id: str
    must: Literal["become", "stay"]
    label: str
    tolerance: float = 0
    """Repeats that may say otherwise: a whole number of them, or (below 1) a share."""
    note: str = ""


@dataclass(frozen=True)
class Pack:
    name: str
    entries: tuple[PackEntry, ...]


def check_pack(
    pack: Pack, *, before: pd.DataFrame, after: pd.DataFrame, labels: Sequence[str]
) -> tuple[PackFinding, ...]:
    """Every entry against the after run's verdict rows, in the pack's order; `before` only says what was.

    An item passes where K − tolerance of its K repeats have the label (K of the whole run). A failure to read is another
    verdict than the one asked for; a repeat that is absent or double is unknown: where it could decide, the outcome is
    `cannot tell`, as for an item that the run does not have. Raises DataError for a label off the scale.
    """
    allowed = (*labels, NOT_APPLICABLE)
    for entry in pack.entries:
        if entry.label not in allowed:
            raise DataError(
                f"{entry.item_id}: {entry.label!r} is not on the scale ({', '.join(labels)})", file=pack.name
            )
    repeats = int(after["repeat"].nunique())
    wanted = {entry.item_id for entry in pack.entries}
    arms = [_votes(rows, wanted) for rows in (before, after)]
    return tuple(
        _finding(
            pack.name, entry, before=arms[0].get(entry.item_id, {}), after=arms[1].get(entry.item_id), repeats=repeats
        )
        for entry in pack.entries
    )


Votes = Mapping[int, Sequence[str | None]]
"""Repeat → what its rows say: a label, or None for a failure; more than one where it stands there twice."""


def _votes(rows: pd.DataFrame, wanted: set[str]) -> dict[str, dict[int, list[str | None]]]:
    kept = rows[rows["item_id"].isin(wanted)]
    found: dict[str, dict[int, list[str | None]]] = {}
    cells: Any = zip(kept["item_id"], kept["repeat"], kept["label"], kept["failure"], strict=True)
    for item, repeat, label, failure in cells:
        found.setdefault(str(item), {}).setdefault(int(repeat), []).append(said_by(label, failure))
    return found


def _finding(pack: str, entry: PackEntry, *, before: Votes, after: Votes | None, repeats: int) -> PackFinding:
    needed = max(1, repeats - _allowed(entry.tolerance, repeats))
    single = [said[0] for said in (after or {}).values() if len(said) == 1]
    right = single.count(entry.label)
    unknown = repeats - len(single)
    was, now = _modal(before), _modal(after or {})
    outcome: PackOutcome = "pass" if right >= needed else "cannot tell" if right + unknown >= needed else "fail"
    told = f"{entry.label} in {right} of {repeats} repeats, {needed} needed"
    if after is None:
        told = "is not in the after run"
    elif unknown:
        told += f", {unknown} missing or double"
    if outcome == "fail" and now not in (NO_MAJORITY, entry.label) and after:
        told += f"; mostly {now}" + (f", as before ({was})" if was == now else "")
    if before and was != entry.label and entry.must == "stay":
        told += f"; it was {'undecided' if was == NO_MAJORITY else was} before"
    if outcome == "pass" and was == entry.label and entry.must == "become":
        told += "; it was so before"
    return PackFinding(
        pack=pack,
        item_id=entry.item_id,
        expected=entry.label,
        must=entry.must,
        outcome=outcome,
        right=right,
        needed=needed,
        repeats=repeats,
        before=_label(was),
        after=_label(now),
        told=told,
        note=entry.note,
    )


def _allowed(tolerance: float, repeats: int) -> int:
    """Repeats that may differ: a share is rounded down, so that it never allows more than it says."""
    return math.floor(tolerance * repeats + 1e-9) if tolerance < 1 else int(tolerance)


def _modal(votes: Votes) -> str:
    return modal_of(one for many in votes.values() for one in many)[0]


def _label(modal: str) -> str | None:
    return None if modal in (NO_MAJORITY, NO_VERDICT) else modal
