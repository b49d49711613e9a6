"""Flags (failure modes, flagged dimensions): how often they are raised, and how well where people flagged too."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from eva.metrics.frame import as_names
from eva.metrics.intervals import rate_estimate
from eva.metrics.matrix import ABSENT, ABSTAINED, VerdictMatrix
from eva.metrics.measures import TINY
from eva.metrics.resample import Resampled, resample_clusters
from eva.metrics.results import FlagScores
from eva.metrics.tallies import Means, means_by_cluster
from eva.metrics.votes import Floats, share


@dataclass(frozen=True)
class FlagTable:
    """Which flags the judge raised, per item, with the labelled flags beside."""

    names: tuple[str, ...]
    raised: NDArray[np.int64]
    """(n, F) repeats that raised the flag."""
    answered: NDArray[np.int64]
    """(n,) repeats with a verdict (a label, or not applicable): a failure raises nothing and is not asked."""
    asked: NDArray[np.int64]
    """(n,) repeats."""
    clusters: Floats
    """(F,) clusters with the flag, mean over repeats."""
    gold: NDArray[np.bool_]
    """(n, F) flagged by people."""
    labelled: NDArray[np.bool_]
    """(n,) items that people labelled; all False where nobody labelled any flag."""

    def rates(self) -> Floats:
        """(n, F) share of the item's answered repeats that raise the flag."""
        return share(self.raised, self.answered)

    def items(self, n_repeats: int) -> Floats:
        """(F,) items flagged, mean over repeats."""
        return np.asarray(self.raised.sum(axis=0) / max(n_repeats, 1), dtype=np.float64)


def flag_names(rows: pd.DataFrame) -> tuple[str, ...]:
    """All flags that the judge or people raised, sorted."""
    columns = [rows[name] for name in ("flags", "gold_flags") if name in rows.columns]
    return tuple(sorted({name for column in columns for cell in column for name in as_names(cell)}))


def flag_table(rows: pd.DataFrame, matrix: VerdictMatrix, *, names: tuple[str, ...], items: pd.DataFrame) -> FlagTable:
    """Count flags per item of the matrix. `items` has a row per item in the matrix's order (`items_from_rows`)."""
    places = pd.Index(matrix.item_ids)
    long = _raised(rows, places, names=names)
    width = len(names)
    raised = np.bincount(long["item"] * width + long["flag"], minlength=matrix.n_items * width)
    gold = np.zeros((matrix.n_items, width), dtype=np.bool_)
    for item, cell in enumerate(items["gold_flags"]):
        for name in as_names(cell):
            gold[item, names.index(name)] = True
    labelled = items["gold"].notna().to_numpy() & gold.any()
    return FlagTable(
        names=names,
        raised=raised.reshape(matrix.n_items, width),
        answered=((matrix.verdicts >= 0) | (matrix.verdicts == ABSTAINED)).sum(axis=1),
        asked=(matrix.verdicts != ABSENT).sum(axis=1),
        clusters=_clusters(long, matrix, width=width),
        gold=gold,
        labelled=labelled,
    )


def flag_scores(
    rows: pd.DataFrame, matrix: VerdictMatrix, *, items: pd.DataFrame, rng: np.random.Generator, resamples: int
) -> tuple[FlagScores, ...]:
    """Every flag: items and clusters (mean over repeats), rate with interval, precision and recall against people.

    Precision and recall are over labelled items, each repeat weighted 1 / repeats of its item; a repeat without a
    verdict raises nothing. None where nothing was raised, or nothing was labelled.
    """
    table = flag_table(rows, matrix, names=flag_names(rows), items=items)
    if not table.names:
        return ()
    means = flag_means(table, table.answered > 0, clusters=matrix.clusters)
    resampled = resample_clusters(means.sums, resamples=resamples, rng=rng)
    return tuple(
        _one(table, matrix, place=place, means=means, resampled=resampled) for place in range(len(table.names))
    )


def flag_means(table: FlagTable, counted: NDArray[np.bool_], *, clusters: NDArray[np.int64]) -> Means:
    """The flags' rates over the counted items, as cluster sums."""
    rates = table.rates()
    return means_by_cluster([(name, rates[:, place], counted) for place, name in enumerate(table.names)], clusters)


def precision_recall(table: FlagTable, place: int) -> tuple[float | None, float | None]:
    """Precision and recall of one flag against people's flags."""
    raised = share(table.raised[:, place : place + 1], table.asked)[table.labelled, 0]
    gold = table.gold[table.labelled, place]
    hits = float(raised[gold].sum())
    precision = hits / float(raised.sum()) if raised.sum() > TINY else None
    return precision, hits / float(gold.sum()) if gold.any() else None


def _one(table: FlagTable, matrix: VerdictMatrix, *, place: int, means: Means, resampled: Resampled) -> FlagScores:
    name = table.names[place]
    precision, recall = precision_recall(table, place)
    return FlagScores(
        flag=name,
        items=float(table.items(matrix.n_repeats)[place]),
        clusters=float(table.clusters[place]),
        rate=rate_estimate(resampled, means.compute(name), sums=means.of(name), repeats=matrix.n_repeats),
        labelled=int(table.gold[table.labelled, place].sum()) if table.labelled.any() else None,
        precision=precision,
        recall=recall,
    )


def _raised(rows: pd.DataFrame, places: pd.Index[Any], *, names: tuple[str, ...]) -> dict[str, NDArray[np.int64]]:
    """One entry per (item, repeat, flag) that is raised in a row with a verdict and whose item is in the matrix."""
    if "flags" not in rows.columns:
        nothing = np.zeros(0, dtype=np.int64)
        return {"item": nothing, "repeat": nothing, "flag": nothing}
    kept = rows.loc[rows["label"].notna() | (rows["failure"] == "abstained"), ["item_id", "repeat", "flags"]]
    # As an array: an empty list would select columns, not rows.
    kept = kept[np.array([len(as_names(cell)) > 0 for cell in kept["flags"]], dtype=np.bool_)]
    cells = [tuple(dict.fromkeys(as_names(cell))) for cell in kept["flags"]]
    sizes = np.array([len(cell) for cell in cells], dtype=np.int64)
    code = {name: place for place, name in enumerate(names)}
    item = np.repeat(places.get_indexer(pd.Index(kept["item_id"])).astype(np.int64), sizes)
    found = {
        "item": item,
        "repeat": np.repeat(kept["repeat"].to_numpy(dtype=np.int64), sizes),
        "flag": np.array([code[name] for cell in cells for name in cell], dtype=np.int64),
    }
    return {name: column[item >= 0] for name, column in found.items()}


def _clusters(long: dict[str, NDArray[np.int64]], matrix: VerdictMatrix, *, width: int) -> Floats:
    cluster = matrix.clusters[long["item"]] if long["item"].size else long["item"]
    seen = np.unique(np.stack([long["flag"], long["repeat"], cluster]), axis=1)
    return np.bincount(seen[0], minlength=width) / max(matrix.n_repeats, 1)
