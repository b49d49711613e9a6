"""Items whose modal verdict differs between two arms. Repeats are votes, never partners: arms may have unlike many."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from eva.metrics.matrix import ABSTAINED, FAILED, VerdictMatrix
from eva.metrics.pairing import Pair
from eva.metrics.power import mcnemar_p
from eva.metrics.results import Flip, FlipCounts, FlipKind
from eva.metrics.votes import TIE, Floats, Votes, modal, votes
from eva.types import NOT_APPLICABLE

KINDS: Final[tuple[FlipKind, ...]] = ("fixed", "broken", "moved", "undecided", "up", "down")
_NONE: Final = -1
"""Place in KINDS of an item that did not flip."""


def find_flips(before: pd.DataFrame, after: pd.DataFrame, *, pair: Pair) -> tuple[tuple[Flip, ...], FlipCounts]:
    """All flips, worst first, and their counts. `before` and `after` are the arms' verdict rows (for votes by kind).

    With a gold label: `fixed` wrong → right, `broken` right → wrong, `moved` wrong → another wrong. Without: `up`,
    `down` on an ordinal scale, else `moved`. `undecided`: one arm has a tie, or no verdict as its most frequent one;
    two arms without a modal verdict are no flip. Each flip has one kind, so that the counts add up to the items.
    """
    counted = votes(pair.before), votes(pair.after)
    modes = modal(counted[0]), modal(counted[1])
    kinds = flip_kinds(modes[0], modes[1], matrix=pair.before)
    how_many = {kind: int((kinds == place).sum()) for place, kind in enumerate(KINDS)}
    labelled = bool((pair.before.gold >= 0).any())
    counts = FlipCounts(
        **how_many,
        unchanged=int((kinds == _NONE).sum()),
        mcnemar_p=_mcnemar(*modes, gold=pair.before.gold) if labelled else None,
    )
    return _flips(pair, kinds, modes=modes, counted=counted, rows=(before, after)), counts


def _mcnemar(before: NDArray[np.int64], after: NDArray[np.int64], *, gold: NDArray[np.int64]) -> float:
    """Exact McNemar on modal correctness. No verdict and a tie are wrong, as everywhere else."""
    rated = gold >= 0
    right_before, right_after = rated & (before == gold), rated & (after == gold)
    return mcnemar_p(int((~right_before & right_after).sum()), int((right_before & ~right_after).sum()))


def flip_kinds(before: NDArray[np.int64], after: NDArray[np.int64], *, matrix: VerdictMatrix) -> NDArray[np.int64]:
    """(n,) place in KINDS of each item's flip, −1 where it did not flip; `before`, `after` are modal verdicts."""
    open_before, open_after = (np.isin(mode, (TIE, FAILED)) for mode in (before, after))
    decided = ~open_before & ~open_after & (before != after)
    gold = matrix.gold
    rated = decided & (gold >= 0)
    scores = decided & (gold < 0) & (before >= 0) & (after >= 0) & (matrix.values is not None)
    kinds = np.full(gold.shape, _NONE, dtype=np.int64)
    kinds[open_before ^ open_after] = KINDS.index("undecided")
    kinds[decided] = KINDS.index("moved")
    kinds[rated & (after == gold)] = KINDS.index("fixed")
    kinds[rated & (before == gold)] = KINDS.index("broken")
    kinds[scores & (after > before)] = KINDS.index("up")
    kinds[scores & (after < before)] = KINDS.index("down")
    return kinds


def _flips(
    pair: Pair,
    kinds: NDArray[np.int64],
    *,
    modes: tuple[NDArray[np.int64], NDArray[np.int64]],
    counted: tuple[Votes, Votes],
    rows: tuple[pd.DataFrame, pd.DataFrame],
) -> tuple[Flip, ...]:
    places = np.flatnonzero(kinds != _NONE)
    ids = [pair.before.item_ids[place] for place in places]
    said = [_votes_by_name(arm, ids) for arm in rows]
    gold = pair.items["gold"].to_numpy()
    away = severity(pair.before, before=counted[0], after=counted[1])
    found = [
        Flip(
            item_id=item,
            kind=KINDS[int(kinds[place])],
            gold=None if pd.isna(gold[place]) else str(gold[place]),
            before=_name(int(modes[0][place]), pair.before.labels),
            after=_name(int(modes[1][place]), pair.before.labels),
            before_votes=said[0].get(item, {}),
            after_votes=said[1].get(item, {}),
            severity=float(away[place]),
        )
        for place, item in zip(places, ids, strict=True)
    ]
    return tuple(sorted(found, key=lambda flip: (-round(flip.severity, 9), flip.item_id)))


def severity(matrix: VerdictMatrix, *, before: Votes, after: Votes) -> Floats:
    """(n,) how far the votes moved away from gold: mean distance after − before, in [−1, 1].

    The distance of a label is |label − gold| / range on an ordinal scale, else 0 or 1; a failure or abstention has 1.
    Without gold: the size of the move (share of votes that differ, or of the range that the mean score moved).
    """
    n_labels = len(matrix.labels)
    values = np.asarray(matrix.values if matrix.values else range(n_labels), dtype=np.float64)
    span = float(np.ptp(values)) if matrix.values and n_labels > 1 else 1.0
    gaps = np.abs(values[None, :] - values[:, None]) / span if matrix.values else 1.0 - np.eye(n_labels)
    moved = after.shares - before.shares
    table = np.column_stack([gaps[np.maximum(matrix.gold, 0)], np.ones((matrix.n_items, 2))])
    size = np.abs(moved).sum(axis=1) / 2
    if matrix.values:
        read = (before.readable > 0) & (after.readable > 0)
        size = np.where(read, np.abs(moved[:, :n_labels] @ values) / span, size)
    return np.asarray(np.where(matrix.gold >= 0, (moved * table).sum(axis=1), size), dtype=np.float64)


def _name(mode: int, labels: tuple[str, ...]) -> str | None:
    if mode == ABSTAINED:
        return NOT_APPLICABLE
    return labels[mode] if mode >= 0 else None


def _votes_by_name(rows: pd.DataFrame, ids: list[str]) -> dict[str, dict[str, int]]:
    """Item → label or failure kind → repeats."""
    wanted = pd.Index(ids, dtype=object).get_indexer(pd.Index(rows["item_id"], dtype=object)) >= 0
    kept = rows.loc[wanted, ["item_id", "label", "failure"]]
    names = kept["label"].astype(object).where(kept["label"].notna(), kept["failure"].astype(object))
    found: dict[str, dict[str, int]] = {}
    pairs: Any = zip(kept["item_id"], names, strict=True)
    for item, name in pairs:
        said = found.setdefault(str(item), {})
        said[str(name)] = said.get(str(name), 0) + 1
    return {item: dict(sorted(said.items(), key=lambda vote: (-vote[1], vote[0]))) for item, said in found.items()}
