"""The turn benchmark: pass and error rates over all scripted turns, whole conversations resampled."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from eva.errors import DataError
from eva.metrics.intervals import estimate, rate_estimate
from eva.metrics.resample import resample_clusters
from eva.metrics.results_base import Estimate
from eva.metrics.results_benchmarks import BenchmarkScores, TurnBenchmark
from eva.metrics.tallies import Means
from eva.types import NOT_APPLICABLE

PASSING: Final = ("true", NOT_APPLICABLE)
"""Nothing to call and nothing called is a right use of tools."""
TIMING: Final = "turn_taking"
ANY: Final = "any_error"
RESAMPLES: Final = 10_000


@dataclass(frozen=True)
class _Cube:
    """Conversations × scripted turns, averaged over the judge's repeats."""

    records: tuple[str, ...]
    models: NDArray[np.object_]
    failed: Mapping[str, NDArray[np.float64]]
    """Dimension (and ANY) → (n, turns) share of repeats that fail; 1 where nothing was judged."""
    missing: NDArray[np.float64]
    """(n, turns) share of repeats without a verdict row."""
    late: NDArray[np.float64]
    """(n, turns) share of repeats whose timing failed."""
    timed: NDArray[np.float64]
    """(n, turns) 1 where there is a timing."""
    repeats: int


def turn_benchmark(
    rows: pd.DataFrame,
    *,
    dimensions: Sequence[str],
    rng: np.random.Generator,
    turns: Sequence[int] | None = None,
    resamples: int = RESAMPLES,
) -> TurnBenchmark:
    """Score verdict rows of a judge of turns and dimensions, over all conversations and by model under test (`domain`).

    Args:
        dimensions: those that count; `turn_taking` rows may be there too and are told apart.
        turns: ids of the script's turns, the fixed denominator; None: all turns that any conversation has.

    A turn fails in a dimension where its label is not `true` (or not applicable): a reply that could not be read, a turn
    that was never reached or judged, all fail, so that a conversation that stopped early does not gain by it; turns that
    are not in the script do not count. Strict pass: no dimension fails, in the same repeat. Intervals resample whole
    conversations (the rate's Wilson interval, n = conversations, where all resamples agree). Raises DataError where no
    row is of a scored dimension.
    """
    kept = rows[rows["dimension"].isin([*dimensions, TIMING])]
    if not kept["dimension"].isin(dimensions).any():
        raise DataError(f"no verdict is about {', '.join(dimensions)}: this is no run of the turn benchmark")
    script = sorted({int(turn) for turn in (kept["turn_id"] if turns is None else turns)})
    cube = _cube(kept, dimensions, script=script)
    models = sorted(set(cube.models))
    parts = [
        _scores(cube, cube.models == model, model=model, dimensions=dimensions, rng=rng, resamples=resamples)
        for model in models
        if len(models) > 1
    ]
    parts.sort(key=lambda part: (-(part.strict.value or 0.0), part.model))
    passed = 1 - cube.failed[ANY].mean(axis=1)
    return TurnBenchmark(
        dimensions=tuple(dimensions),
        scripted=len(script),
        overall=_scores(
            cube, np.ones(len(cube.records), np.bool_), model="", dimensions=dimensions, rng=rng, resamples=resamples
        ),
        models=tuple(parts),
        runs={record: float(share) for record, share in zip(cube.records, passed, strict=True)},
        notes=_notes(kept, script, given=turns is not None),
    )


def _cube(rows: pd.DataFrame, dimensions: Sequence[str], *, script: Sequence[int]) -> _Cube:
    inside = rows[rows["turn_id"].isin(script)]
    records = sorted(set(rows["record_id"].astype(str)))
    record = pd.Index(records).get_indexer(pd.Index(inside["record_id"].astype(str)))
    turn = pd.Index(script).get_indexer(pd.Index(inside["turn_id"].astype("int64")))
    codes, repeats = pd.factorize(rows["repeat"], sort=True)
    repeat = codes[rows["turn_id"].isin(script).to_numpy()]
    shape = (len(records), len(script), len(repeats))
    bad = ~inside["label"].isin(PASSING).to_numpy()
    which = inside["dimension"].to_numpy()
    failed: dict[str, NDArray[np.bool_]] = {}
    missing = np.ones(shape, np.bool_)
    for name in dimensions:
        mine = which == name
        place = (record[mine], turn[mine], repeat[mine])
        failed[name] = np.ones(shape, np.bool_)
        failed[name][place] = bad[mine]
        missing[place] = False
    failed[ANY] = np.logical_or.reduce([failed[name] for name in dimensions])
    timing = which == TIMING
    late, timed = np.zeros(shape, np.bool_), np.zeros(shape, np.bool_)
    late[record[timing], turn[timing], repeat[timing]] = bad[timing]
    timed[record[timing], turn[timing], repeat[timing]] = True
    first = rows.drop_duplicates("record_id").set_index(rows.drop_duplicates("record_id")["record_id"].astype(str))
    return _Cube(
        records=tuple(records),
        models=first.loc[records, "domain"].fillna("").astype(str).to_numpy(dtype=object),
        failed={name: cells.mean(axis=2) for name, cells in failed.items()},
        missing=missing.mean(axis=2),
        late=late.mean(axis=2),
        timed=np.asarray(timed.any(axis=2), dtype=np.float64),
        repeats=len(repeats),
    )


def _scores(
    cube: _Cube,
    inside: NDArray[np.bool_],
    *,
    model: str,
    dimensions: Sequence[str],
    rng: np.random.Generator,
    resamples: int,
) -> BenchmarkScores:
    turns = cube.missing.shape[1]
    means = _means(cube, inside)
    resampled = resample_clusters(means.sums, resamples=resamples, rng=rng)

    def rate(name: str) -> Estimate:
        items = round(float(means.of(name)[:, 1].sum()))
        found = estimate(
            resampled, means.compute(name), n_items=items, repeats=cube.repeats, undefined="no turn has a timing"
        )
        if found.value is None or found.low is not None:
            return found
        return rate_estimate(resampled, means.compute(name), sums=means.of(name), repeats=cube.repeats)

    return BenchmarkScores(
        model=model,
        conversations=int(inside.sum()),
        turns=int(inside.sum()) * turns,
        missing=float(cube.missing[inside].sum()),
        strict=rate("strict"),
        any_error=rate(ANY),
        errors={name: rate(name) for name in dimensions},
        counts={name: float(cells[inside].sum()) for name, cells in cube.failed.items()},
        turn_taking=rate(TIMING),
        reached_end=rate("end"),
    )


def _means(cube: _Cube, inside: NDArray[np.bool_]) -> Means:
    """Each rate's total and number of turns (or of conversations, for `end`), a row a conversation."""
    turns = float(cube.missing.shape[1])
    every = np.full(len(cube.records), turns)
    columns = {name: (cells.sum(axis=1), every) for name, cells in cube.failed.items()}
    columns["strict"] = (turns - columns[ANY][0], every)
    columns[TIMING] = (cube.late.sum(axis=1), cube.timed.sum(axis=1))
    columns["end"] = (1 - cube.missing[:, -1], np.ones(len(cube.records)))
    sums = np.column_stack([column[inside] for pair in columns.values() for column in pair])
    return Means(names=tuple(columns), sums=sums)


def _notes(rows: pd.DataFrame, script: Sequence[int], *, given: bool) -> tuple[str, ...]:
    notes: list[str] = []
    if not given:
        notes.append(f"no script was given: its {len(script)} turns are those that any conversation has")
    strange: Any = sorted(set(rows["turn_id"].astype("int64")) - set(script))
    if strange:
        notes.append(f"{len(strange)} turns are not in the script and do not count")
    unread = int((rows["label"].isna() & (rows["dimension"] != TIMING)).sum())
    if unread:
        notes.append(f"{unread} verdicts could not be read and count as failed")
    return tuple(notes)
