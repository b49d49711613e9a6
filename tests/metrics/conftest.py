"""Verdict rows from short strings, and simulated judges."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
import pytest

Rows = Callable[..., pd.DataFrame]


def _cell(said: str) -> dict[str, str | None]:
    """`1` a label, `na` not applicable, `!kind` a failure."""
    if said.startswith("!"):
        return {"label": None, "failure": said[1:]}
    return {"label": "not_applicable" if said == "na" else said, "failure": None}


def build_rows(
    gold: Sequence[str | None],
    said: Sequence[Sequence[str | None]],
    *,
    clusters: Sequence[str] | None = None,
    ids: Sequence[str] | None = None,
    **columns: Sequence[Any],
) -> pd.DataFrame:
    """One row per item and repeat. `said[k][i]` is repeat k's verdict on item i; None means that no row exists."""
    rows = []
    for repeat, verdicts in enumerate(said):
        for place, verdict in enumerate(verdicts):
            if verdict is None:
                continue
            more: Mapping[str, Any] = {name: cells[place] for name, cells in columns.items()}
            item = ids[place] if ids else f"item{place:05d}"
            cluster = clusters[place] if clusters else item
            rows.append(
                {"item_id": item, "cluster": cluster, "gold": gold[place], "repeat": repeat, **_cell(verdict), **more}
            )
    names = ["item_id", "cluster", "gold", "repeat", "label", "failure", *columns]
    return pd.DataFrame(rows, columns=names)


def right_counts(gold: Sequence[str], counts: Sequence[int], *, scale: Sequence[str]) -> list[list[str]]:
    """Verdicts that are right on the first `counts[k]` items of repeat k and one place off on the others."""
    other = {label: scale[(place + 1) % len(scale)] for place, label in enumerate(scale)}
    return [[g if i < count else other[g] for i, g in enumerate(gold)] for count in counts]


def simulated(
    rng: np.random.Generator, *, n: int, repeats: int, change: float = 0.0, rerolled: float = 0.24
) -> tuple[list[list[str]], list[list[str]], list[str]]:
    """Two arms of a 0/1 judge of which about 84% are right, `change` more in the second, and the gold labels.

    Half of the items are firm (always right or wrong), the others are right with a chance of their own. The second
    prompt gives `rerolled` of the items a new draw of that chance, which changes nothing on average, and makes
    so many items right for good that the true change is `change`.
    """

    def draw(size: int, level: float) -> np.ndarray:
        firm = rng.random(size) < 0.5
        return np.where(firm, (rng.random(size) < level).astype(float), rng.beta(8 * level, 8 * (1 - level), size))

    before = draw(n, 0.84)
    again = rng.random(n) < rerolled
    after = np.where(again, draw(n, 0.84), before)
    after = np.where(rng.random(n) < change / (1 - 0.84), 1.0, after)
    gold = [str(label) for label in rng.integers(0, 2, n)]
    flip = {"0": "1", "1": "0"}

    def say(chance: np.ndarray) -> list[list[str]]:
        right = rng.random((repeats, n)) < chance
        return [[g if ok else flip[g] for g, ok in zip(gold, row, strict=True)] for row in right]

    return say(before), say(after), gold


@pytest.fixture
def make_rows() -> Rows:
    """Factory of verdict rows (`build_rows`)."""
    return build_rows


@pytest.fixture
def make_right() -> Callable[..., list[list[str]]]:
    """Factory of verdicts with a known number right per repeat (`right_counts`)."""
    return right_counts


@pytest.fixture
def simulate() -> Callable[..., tuple[list[list[str]], list[list[str]], list[str]]]:
    """Two arms of a simulated judge (`simulated`)."""
    return simulated


@pytest.fixture
def random_rows() -> Callable[..., pd.DataFrame]:
    """Factory: n items in clusters of up to 4, K repeats, labels 1–3, some failures, from a seed."""

    def make(
        seed: int = 0, *, n: int = 120, repeats: int = 3, failures: float = 0.05, skill: float = 0.6
    ) -> pd.DataFrame:
        rng = np.random.default_rng(seed)
        gold = rng.choice(["1", "2", "3"], n, p=[0.2, 0.3, 0.5])
        kind = rng.random((repeats, n))
        guess = rng.choice(["1", "2", "3"], (repeats, n))
        said = np.where(kind < skill, gold[None, :], guess)
        said = np.where(kind > 1 - failures, "!no_json", said)
        clusters = [f"c{int(place)}" for place in np.sort(rng.integers(0, max(n // 3, 1), n))]
        return build_rows(list(gold), said.tolist(), clusters=clusters)

    return make
