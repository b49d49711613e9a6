"""A whole run against a stub, start to end: `python experiments/speed/whole_run.py` (about a minute).

2,000 made-up conversations, 64 calls at a time, 200 ms each: config, prompt, dataset, calls, store, numbers and MLflow in one
`python run.py`, timed from outside. Ideal is calls / concurrency × latency (6.25 s); the target is 0.70 of it or better.
MLflow's database is there already, as it is from the second run on: a small run makes it.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "experiments" / "speed"))

from calls import Setting, stub  # noqa: E402  # beside this file

LABELS = ("1", "2", "3")


def record(number: int) -> dict[str, object]:
    """A short conversation; its label has nothing to do with it."""
    lines = [
        {"turn_id": 0, "type": "assistant", "text": "Hello, how can I help?"},
        {"turn_id": 1, "type": "user", "text": f"I would like to change booking number {number}."},
        {"turn_id": 1, "type": "assistant", "text": f"Booking {number} is changed to day {number % 28 + 1}."},
    ]
    return {
        "record_id": f"r{number}",
        "cluster": f"c{number // 2}",
        "language": "en",
        "domain": "made up",
        "split": "test",
        "context": {
            "agent_role": "You change bookings.",
            "agent_instructions": "Be correct.",
            "tools": [],
            "current_date_time": "2026-01-01 10:00",
        },
        "events": lines,
        "labels": [{"item": "record", "label": LABELS[number % 3], "annotator": "made up", "provenance": "made up"}],
    }


def main() -> None:
    """Time one run and print what it took."""
    parser = argparse.ArgumentParser(description="A whole run against a stub, timed from outside.")
    parser.add_argument("--calls", type=int, default=2000)
    parser.add_argument("--latency", type=float, default=0.2)
    parser.add_argument("--concurrency", type=int, default=64)
    parser.add_argument("overrides", nargs="*", help="further words for run.py, as tracking=none")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, stub(args.latency) as url:
        path = Path(folder) / "records.jsonl"
        path.write_text("".join(json.dumps(record(number)) + "\n" for number in range(args.calls)), encoding="utf-8")
        common = [sys.executable, "run.py", "judge=faithfulness", "prompt=v1", "dataset=file", f"dataset.path={path}"]
        common += [f"home={folder}/mlruns", "baseline=none", *args.overrides]
        subprocess.run([*common, "model=scripted", "limit=2"], cwd=ROOT, capture_output=True, check=False)
        command = [*common, "model=endpoint", "model.id=stub", f"model.api_base={url}"]
        command += [f"model.concurrency={args.concurrency}"]
        start = time.perf_counter()
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
        wall = time.perf_counter() - start
    print("\n".join(done.stdout.splitlines()[:12]))
    if done.returncode not in (0, 1):
        sys.exit(done.stderr)
    ideal = Setting(args.calls, args.concurrency, args.latency).ideal_s
    print(f"\nwall {wall:.2f} s, ideal {ideal:.2f} s, ideal / actual {ideal / wall:.2f}")


if __name__ == "__main__":
    main()
