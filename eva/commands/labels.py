"""Labels that people give in the MLflow pages: fetched into a dataset, and a review set made for them.

  python -m eva labels pull  --judge faithfulness --data eva/data/faithfulness.jsonl --out more.jsonl
  python -m eva labels queue --judge faithfulness <run> [<run> …] --out review.csv [--size 60] [--mlflow]

`pull` keeps the old labels first, adds the new ones behind them, and lists conflicts. `queue` takes the items on which repeats or
versions disagree, blind.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

from eva.commands.places import add_home, home_of, tracking_of
from eva.edges import runs
from eva.edges.datasets import DatasetSpec, load_dataset, write_native
from eva.edges.settings import load_judge

HELP = "fetch labels from MLflow, or make a review set"


def arguments(parser: argparse.ArgumentParser) -> None:
    actions = parser.add_subparsers(dest="action", required=True)
    pull = actions.add_parser("pull", help="labels given in MLflow, merged into a dataset")
    pull.add_argument("--judge", "--experiment", required=True)
    pull.add_argument("--data", type=Path, required=True, help="the dataset that the runs judged (native format)")
    pull.add_argument("--out", type=Path, required=True)
    queue = actions.add_parser("queue", help="items on which repeats or versions disagree, blind")
    queue.add_argument("--judge", required=True)
    queue.add_argument("run", nargs="+", help="runs of one judge on one dataset")
    queue.add_argument("--out", type=Path, help="CSV sheet to write")
    queue.add_argument("--size", type=int, default=60)
    queue.add_argument("--mlflow", action="store_true", help="put them into a review queue in MLflow too")
    for one in (pull, queue):
        one.add_argument(
            "--tracking", dest="overrides", action="append", default=[], help="a tracking… setting, as for run.py"
        )
        add_home(one)


def run(given: argparse.Namespace) -> int:
    return _pull(given) if given.action == "pull" else _queue(given)


def _pull(given: argparse.Namespace) -> int:
    from eva.edges.tracking.labels import merge, pull

    judge = load_judge(given.judge)
    dataset = load_dataset(DatasetSpec(reader="native", path=str(given.data), name=given.data.stem), scale=judge.scale)
    found = merge(dataset, pulled := pull(tracking_of(given), judge=judge.name, scale=judge.scale))
    write_native(given.out, found.dataset.records)
    print(f"{found.added} labels added, {found.known} known already, {len(found.conflicts)} items labelled differently")
    for conflict in found.conflicts:
        print(f"  {conflict.item_id}: {', '.join(f'{who} says {label}' for who, label in conflict.labels)}")
    for item in found.strangers:
        print(f"  {item}: labelled in MLflow, not in {given.data}")
    for remark in pulled.remarks:
        print(f"  remark: {remark}")
    print(given.out)
    return 0


def _queue(given: argparse.Namespace) -> int:
    from eva.edges.tracking.review import doubts, send_queue, write_sheet

    judge = load_judge(given.judge)
    folders = [runs.find_run(home_of(given), name).path for name in given.run]
    found = doubts(folders, limit=given.size)
    print(f"{len(found)} items on which repeats or versions disagree")
    if given.out is not None:
        print(f"{write_sheet(given.out, found)} rows in {given.out}")
    if given.mlflow:
        _, count = send_queue(
            tracking_of(given),
            found,
            judge=judge.name,
            labels=judge.scale.labels,
            name=f"review {judge.name}",
            at_ms=int(time.time() * 1000),
        )
        print(f"{count} items in MLflow's review queue")
    return 0
