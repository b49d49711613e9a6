"""How fast the cluster bootstrap of a macro-F1 difference is, beside the naive loop over scikit-learn.

    python -m experiments.speed.resampling            # 1,000,000 verdicts an arm, 100,000 clusters, 10,000 resamples
    python -m experiments.speed.resampling --unlike   # the worst case: no two clusters alike
    python -m experiments.speed.resampling --whole    # and the whole of `compare`, from verdict rows

Both ways draw whole clusters with all repeats and both arms together and give the interval of the same statistic: the
difference of the arms' means over repeats of each repeat's macro-F1. The naive loop is timed on a few resamples in the
same run. Wall and CPU time part on a busy machine. Peak memory is that of the process before the naive loop starts.
"""

from __future__ import annotations

import argparse
import resource
import time

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.metrics import f1_score

from eva.metrics.compare import compare
from eva.metrics.differences import difference
from eva.metrics.matrix import VerdictMatrix
from eva.metrics.measures import gold_measures
from eva.metrics.paired import Paired, pair_up
from eva.metrics.resample import rng_for
from eva.metrics.tallies import Tally, confusion_tally
from eva.metrics.votes import by_cluster

LABELS = ("1", "2", "3")
VALUES = (1.0, 2.0, 3.0)


def main() -> None:
    """Time both ways and print one table."""
    options = _options()
    before, after = _arms(options)
    print(
        f"{before.verdicts.size:,} verdicts an arm: {before.n_items:,} items in {options.clusters:,} clusters, "
        f"{options.repeats} repeats; {options.resamples:,} resamples"
    )
    start = time.perf_counter()
    tallies = [confusion_tally(arm) for arm in (before, after)]
    if options.unlike:
        tallies = [_unlike(tally) for tally in tallies]
    items = by_cluster(np.ones((before.n_items, 1)), before.clusters)[:, 0]
    summed = time.perf_counter() - start
    start, cpu = time.perf_counter(), time.process_time()
    paired = pair_up(*tallies, repeats=options.repeats, resamples=options.resamples, rng=rng_for("speed"))
    found = difference(paired, gold_measures(3, VALUES)[1], margin=0.03, counted=items)
    drawn, cpu = time.perf_counter() - start, time.process_time() - cpu
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    naive, naive_ends = _naive(before, after, options.naive)
    _print(options, paired, summed=summed, drawn=drawn, cpu=cpu, naive=naive, memory=memory)
    print(
        f"macro-F1 {found.difference.value:+.5f} [{found.difference.low:+.5f}, {found.difference.high:+.5f}], ", end=""
    )
    print(f"p {found.p_value:.4f}; the naive loop's {options.naive} resamples lie in {naive_ends}")
    if options.whole:
        _whole(before, after, options)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--verdicts", type=int, default=1_000_000, help="per arm")
    parser.add_argument("--clusters", type=int, default=100_000)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--resamples", type=int, default=10_000)
    parser.add_argument("--naive", type=int, default=3, help="resamples of the naive loop")
    parser.add_argument("--unlike", action="store_true", help="no two clusters alike")
    parser.add_argument("--whole", action="store_true", help="time `compare` from rows, too")
    return parser.parse_args()


def _arms(options: argparse.Namespace) -> tuple[VerdictMatrix, VerdictMatrix]:
    rng = rng_for("resampling benchmark")
    n = options.verdicts // options.repeats
    gold = rng.choice(3, n, p=[0.2, 0.1, 0.7])
    clusters = np.concatenate([np.arange(options.clusters), rng.integers(0, options.clusters, n - options.clusters)])
    hard = rng.random(options.clusters)[clusters]

    def arm(skill: float) -> VerdictMatrix:
        right = rng.random((n, options.repeats)) < np.clip(skill + 0.4 * (0.5 - hard), 0, 1)[:, None]
        said = np.where(right, gold[:, None], rng.integers(-1, 3, (n, options.repeats)))
        return VerdictMatrix(LABELS, VALUES, tuple(f"i{place:07}" for place in range(n)), clusters, gold, said)

    return arm(0.80), arm(0.805)


def _unlike(tally: Tally) -> Tally:
    sums = tally.sums * np.linspace(1.0, 1.1, len(tally.sums))[:, None]
    return Tally(sums=sums, totals=sums.sum(axis=0).reshape(tally.totals.shape))


def _naive(before: VerdictMatrix, after: VerdictMatrix, times: int) -> tuple[float, str]:
    """Seconds a resample of the loop that one would write first, and the range of its values."""
    rng = rng_for("naive")
    order = np.argsort(before.clusters, kind="stable")
    sizes = np.bincount(before.clusters)
    starts = np.concatenate([[0], np.cumsum(sizes)])
    values = []
    start = time.perf_counter()
    for _ in range(times):
        drawn = rng.integers(0, len(sizes), len(sizes))
        items = np.concatenate([order[starts[cluster] : starts[cluster + 1]] for cluster in drawn])
        gold = before.gold[items]
        scores = [np.mean([_macro(gold, said) for said in arm.verdicts[items].T]) for arm in (before, after)]
        values.append(scores[1] - scores[0])
    return (time.perf_counter() - start) / max(times, 1), f"{min(values):+.5f} … {max(values):+.5f}"


def _macro(gold: NDArray[np.int64], said: NDArray[np.int64]) -> float:
    return float(f1_score(gold, said, labels=[0, 1, 2], average="macro", zero_division=0))


def _print(
    options: argparse.Namespace, paired: Paired, *, summed: float, drawn: float, cpu: float, naive: float, memory: float
) -> None:
    each = drawn / options.resamples
    print(f"kinds of cluster      {len(paired.resampled.times):>12,}")
    print(f"sums per cluster      {summed:>12.2f} s")
    print(
        f"bootstrap, sign flips {drawn:>12.2f} s   {each * 1e3:.2f} ms a resample, sign flip included; CPU {cpu:.2f} s"
    )
    print(
        f"naive loop            {naive * options.resamples:>12,.0f} s   {naive * 1e3:,.0f} ms a resample (extrapolated)"
    )
    print(f"ratio                 {naive / each:>12,.0f} ×   a resample")
    print(f"peak memory           {memory:>12.2f} GB")


def _whole(before: VerdictMatrix, after: VerdictMatrix, options: argparse.Namespace) -> None:
    rows = [_rows(arm) for arm in (before, after)]
    start = time.perf_counter()
    found = compare(*rows, labels=LABELS, values=VALUES, rng=rng_for("whole"), margin=0.03, resamples=options.resamples)
    seconds = time.perf_counter() - start
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(
        f"compare() from rows   {seconds:>12.2f} s   {len(found.differences)} statistics, {len(found.flips):,} flips, "
    )
    print(f"{'':>22}{memory:>12.2f} GB peak, rows included")


def _rows(matrix: VerdictMatrix) -> pd.DataFrame:
    names = np.array([*LABELS, None, None], dtype=object)
    said = matrix.verdicts.ravel()
    repeats = matrix.n_repeats
    return pd.DataFrame(
        {
            "item_id": np.repeat(np.array(matrix.item_ids, dtype=object), repeats),
            "cluster": np.repeat(np.array([f"c{code}" for code in matrix.clusters], dtype=object), repeats),
            "gold": np.repeat(names[matrix.gold], repeats),
            "repeat": np.tile(np.arange(repeats), matrix.n_items),
            "label": names[said],
            "failure": np.where(said < 0, "no_json", None),
        }
    )


if __name__ == "__main__":
    main()
