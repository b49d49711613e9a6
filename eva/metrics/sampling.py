"""A sample that keeps every kind of item in sight: so many of each stratum, at least one where there is room."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from eva.metrics.moved import FlagSides, direction_of, telling
from eva.metrics.results import Flip

Stratum = tuple[str, ...]
NO_FLAG = "no flag"


@dataclass(frozen=True)
class Drawn:
    """One item of a sample."""

    item_id: str
    stratum: Stratum
    weight: float
    """How many items of its stratum it stands for: items / drawn."""


def move_strata(
    flips: Sequence[Flip], flags: FlagSides, *, languages: Mapping[str, str], labels: Sequence[str]
) -> dict[str, Stratum]:
    """Language, direction and flag of each moved item that has a verdict in both arms.

    An item with several flags that tell why it moved belongs to the most frequent one, so that strata stay few.
    """
    none: frozenset[str] = frozenset()
    shown = [flip for flip in flips if flip.before is not None and flip.after is not None]
    told = {flip.item_id: direction_of(flip, labels) for flip in shown}
    found = {item: telling(direction, flags.get(item, (none, none))) for item, direction in told.items()}
    often = Counter(name for names in found.values() for name in names)
    return {
        item: (
            languages.get(item, ""),
            told[item],
            min(names, key=lambda name: (-often[name], name)) if names else NO_FLAG,
        )
        for item, names in sorted(found.items())
    }


def allocate(sizes: Mapping[Stratum, int], size: int) -> dict[Stratum, int]:
    """How many to draw of each stratum: in proportion, and at least one of each where `size` allows it.

    Largest remainders; ties go to the larger stratum, then in sorted order. Never more than a stratum holds. With fewer
    places than strata the largest strata get one each.
    """
    order = sorted(sizes, key=lambda stratum: (-sizes[stratum], stratum))
    total = sum(sizes.values())
    if size >= total:
        return dict(sizes)
    given = {stratum: 1 if place < size else 0 for place, stratum in enumerate(order)}
    for _ in range(size - sum(given.values())):
        open_ones = [stratum for stratum in order if given[stratum] < sizes[stratum]]
        neediest = max(open_ones, key=lambda stratum: (sizes[stratum] * size / total - given[stratum], sizes[stratum]))
        given[neediest] += 1
    return given


def stratified_sample(strata: Mapping[str, Stratum], *, size: int, rng: np.random.Generator) -> tuple[Drawn, ...]:
    """Draw `size` items, or all where there are fewer, in random order; every item of a stratum has the same chance.

    The same strata and generator give the same sample, whatever the order of `strata`. Raises ValueError for a size below 1.
    """
    if size < 1:
        raise ValueError(f"a sample of {size} items is none")
    members: dict[Stratum, list[str]] = {}
    for item in sorted(strata):
        members.setdefault(strata[item], []).append(item)
    quota = allocate({stratum: len(items) for stratum, items in members.items()}, size)
    drawn = [
        Drawn(items[int(place)], stratum, len(items) / quota[stratum])
        for stratum, items in sorted(members.items())
        for place in rng.permutation(len(items))[: quota[stratum]]
    ]
    return tuple(drawn[int(place)] for place in rng.permutation(len(drawn)))
