"""Why items moved, as far as their explanations say: by flag first, then by what the explanations have in common."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from eva.metrics.moved import FlagSides, Sides, direction_of, telling
from eva.metrics.results import Flip
from eva.metrics.results_moved import Attribution, Direction, MovedExample, MovedGroup, NamedBy
from eva.metrics.texts import cluster_texts, typical

EXAMPLES: Final = 3
DIRECTIONS: Final[tuple[Direction, ...]] = ("down", "up", "other")
OVERLAP: Final = "an item with several flags is counted under each of them"


@dataclass(frozen=True)
class _Moved:
    flip: Flip
    direction: Direction
    reason: str
    flags: frozenset[str]


def attribute(
    flips: Sequence[Flip], reasons: Sides, *, flags: FlagSides, rng: np.random.Generator, labels: Sequence[str] = ()
) -> Attribution:
    """Group moved items by direction and by what explains the move.

    Args:
        flips: the items that moved; their order does not matter.
        reasons, flags: by item, before and after (`eva.metrics.moved.explanations`).
        labels: the scale, worst first; empty where it has no order, or fewer than two labels are known.

    What explains a move stands on the side with the worse label: a turn that fell is explained by what is now said
    against it, one that rose by what was said before. Flags come first (an item counts under each of its own); items
    without a flag are clustered by the words of their explanations (TF-IDF, k-means; the number of clusters by
    silhouette); what has no explanation either is a group of its own. The same input gives the same groups.
    """
    moved = [
        _moved(flip, reasons, flags=flags, labels=labels)
        for flip in sorted({flip.item_id: flip for flip in flips}.values(), key=lambda flip: flip.item_id)
    ]
    seed = int(rng.integers(2**31 - 1))
    groups: list[MovedGroup] = []
    for direction in DIRECTIONS:
        part = [one for one in moved if one.direction == direction]
        groups += _by_flag(direction, part) + _by_words(direction, part, seed=seed)
    several = any(len(one.flags) > 1 for one in moved)
    return Attribution(moved=len(moved), moves=_moves(moved), groups=tuple(groups), notes=(OVERLAP,) if several else ())


def _moved(flip: Flip, reasons: Sides, *, flags: FlagSides, labels: Sequence[str]) -> _Moved:
    direction = direction_of(flip, labels)
    before, after = reasons.get(flip.item_id, ("", ""))
    worse, better = (before, after) if direction == "up" else (after, before)
    none: frozenset[str] = frozenset()
    return _Moved(flip, direction, worse or better, telling(direction, flags.get(flip.item_id, (none, none))))


def _moves(moved: Sequence[_Moved]) -> Mapping[Direction, Mapping[str, int]]:
    found: dict[Direction, Mapping[str, int]] = {}
    for direction in DIRECTIONS:
        steps = Counter(
            f"{one.flip.before or 'none'} → {one.flip.after or 'none'}" for one in moved if one.direction == direction
        )
        if steps:
            found[direction] = dict(sorted(steps.items(), key=lambda step: (-step[1], step[0])))
    return found


def _by_flag(direction: Direction, part: Sequence[_Moved]) -> list[MovedGroup]:
    counts = Counter(flag for one in part for flag in one.flags)
    return [
        _group(direction, [one for one in part if flag in one.flags], named_by="flag", name=flag, of=len(part))
        for flag, _ in sorted(counts.items(), key=lambda count: (-count[1], count[0]))
    ]


def _by_words(direction: Direction, part: Sequence[_Moved], *, seed: int) -> list[MovedGroup]:
    told = [one for one in part if not one.flags and one.reason.strip()]
    silent = [one for one in part if not one.flags and not one.reason.strip()]
    groups = [
        _group(
            direction,
            [told[place] for place in cluster.places],
            named_by="explanation",
            name=", ".join(cluster.terms),
            of=len(part),
        )
        for cluster in cluster_texts([one.reason for one in told], seed=seed)
    ]
    groups.sort(key=lambda group: (-group.items, group.name))
    return groups + ([_group(direction, silent, named_by="nothing", name="", of=len(part))] if silent else [])


def _group(direction: Direction, members: Sequence[_Moved], *, named_by: NamedBy, name: str, of: int) -> MovedGroup:
    order = typical([one.reason for one in members])[:EXAMPLES]
    shown = [members[place] for place in order]
    return MovedGroup(
        direction=direction,
        named_by=named_by,
        name=name,
        items=len(members),
        of=of,
        examples=tuple(MovedExample(one.flip.item_id, one.flip.before, one.flip.after, one.reason) for one in shown),
    )
