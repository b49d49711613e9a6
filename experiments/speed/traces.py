"""How fast are an item's trace and assessments written? Ours both ways, beside `mlflow.genai.evaluate`, in one run.

    python -m experiments.speed.traces            # 2,000 items by the tables, 200 by the client, 100 by evaluate
    python -m experiments.speed.traces --items 500 --slow-items 50
    python -m experiments.speed.traces --postgres --http      # the same into PostgreSQL, and through a server

Every store is fresh, SQLite where nothing else is said; schema and imports are made beforehand. Rows are counted
afterwards: what is fast and loses rows is not fast; those of PostgreSQL and of the server are held against those of
SQLite, text by text. Ratios hold, absolute times depend on the machine.

`evaluate` gets a pool of 100 database connections: with MLflow's own 15 its threads wait for one another until they
time out, and more than half of the traces are lost (`--default-pool` shows it).
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from pathlib import Path

from eva.edges.tracking import TrackingSpec, import_in_background, log_run
from eva.edges.tracking.client import Store
from experiments.speed.trace_stores import (
    ROWS,
    Timing,
    by_client,
    by_tables,
    count,
    fresh_store,
    through_a_server,
    through_postgresql,
    traces_alone,
)
from tests.edges.tracking.run_folder import make_run


def main() -> None:
    """Measure each way in turn, then print one table."""
    options = _options()
    os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
    if not options.default_pool:
        os.environ |= {"MLFLOW_SQLALCHEMYSTORE_POOL_SIZE": "100", "MLFLOW_SQLALCHEMYSTORE_MAX_OVERFLOW": "100"}
    import_in_background().result()
    with tempfile.TemporaryDirectory() as place:
        root = Path(place)
        timings = [
            traces_alone(root / "tables", options.items, by_tables),
            _whole(root / "whole", options.items),
            traces_alone(root / "client", options.slow_items, by_client),
        ]
        if options.postgres:
            timings.append(through_postgresql(root, options.items))
        if options.http:
            timings.append(through_a_server(root, options.slow_items))
        timings.append(_evaluate(root / "evaluate", options.slowest_items))
    base = timings[-1].rate
    print(f"{'way':34} {'items':>6} {'seconds':>8} {'items/s':>8} {'ratio':>7}   rows: {', '.join(ROWS)}")
    for row in timings:
        rows = ", ".join(f"{count:,}" for count in row.rows)
        print(f"{row.name:34} {row.items:6,} {row.seconds:8.2f} {row.rate:8.0f} {row.rate / base:6.1f}×   {rows}")
        lost = row.items - row.rows[0]
        if lost:
            print(f"    LOST {lost} of {row.items} traces")


def _whole(root: Path, items: int) -> Timing:
    """`log_run` as a whole: read the folder, runs, metrics, artifacts, prompt, traces, note."""
    spec = fresh_store(root)
    folder = make_run(root / "runs", items=items)
    start = time.perf_counter()
    log_run(folder, tracking=spec)
    return Timing("eva, log_run as a whole", items, time.perf_counter() - start, count(spec.uri))


def _evaluate(root: Path, items: int) -> Timing:
    """MLflow's own evaluation at its best: three scorers that cost nothing, on answers that are there already."""
    import logging

    import mlflow
    from mlflow.genai.scorers import scorer

    root.mkdir()
    spec = TrackingSpec().at(root)
    Store(spec).experiments()  # the schema as MLflow makes it, without our write-ahead log
    mlflow.set_tracking_uri(spec.uri)
    mlflow.create_experiment("evaluate", artifact_location=(root / "artifacts").as_uri())
    mlflow.set_experiment("evaluate")
    logging.getLogger("mlflow").setLevel(logging.ERROR)

    def named(name: str) -> object:
        return scorer(lambda outputs: len(outputs) > 0, name=name)

    import litellm  # noqa: F401  # evaluate imports it (4 s): not counted

    data = [{"inputs": {"request": f"Turn {n}"}, "outputs": "3"} for n in range(items)]
    start = time.perf_counter()
    mlflow.genai.evaluate(data=data, scorers=[named(name) for name in ("judge_label", "correct", "agreement")])
    mlflow.flush_trace_async_logging()
    return Timing("mlflow.genai.evaluate", items, time.perf_counter() - start, count(spec.uri))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--items", type=int, default=2000, help="by the tables, and by log_run")
    parser.add_argument("--slow-items", type=int, default=200, help="by the public client")
    parser.add_argument("--slowest-items", type=int, default=100, help="by mlflow.genai.evaluate")
    parser.add_argument("--postgres", action="store_true", help="by the tables of a PostgreSQL started for it")
    parser.add_argument("--http", action="store_true", help="by the public client through a server started for it")
    parser.add_argument("--default-pool", action="store_true", help="leave MLflow's pool of database connections small")
    return parser.parse_args()


if __name__ == "__main__":
    main()
