"""A script: whole runs, killed (SIGKILL) at random moments and begun again until one comes to its end.

python -m tests.kill_runs URL DATA FOLDER KILLS SEED → one line of JSON a finished round: its state folder and its kills.

Each attempt is a fork of this process, which has everything imported: a kill costs a run's time and no start-up.
"""

from __future__ import annotations

import json
import os
import random
import signal
import sys
import time
from pathlib import Path

import pytest

from tests.small_runs import command, quick, run_here

MOST_KILLS = 5
"""In one round: what it begins with is then at most this often interrupted."""


def attempt(line: list[str], *, after_s: float | None) -> bool:
    """One run of the command line, killed after so many seconds; whether it came to its end."""
    child = os.fork()
    if child == 0:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        code, _ = run_here(*line)
        os._exit(code)
    if after_s is not None:
        time.sleep(after_s)
        os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    if os.WIFEXITED(status) and os.WEXITSTATUS(status):
        raise SystemExit(f"a run ended with exit code {os.WEXITSTATUS(status)}")
    return os.WIFEXITED(status)


def main(url: str, data: Path, folder: Path, kills: int, seed: int) -> None:
    """Rounds until `kills` kills are spent; the first round, with none, says how long a run takes."""
    rng = random.Random(seed)
    quick(pytest.MonkeyPatch())
    done = number = 0
    whole_s = 0.0
    while done < kills or number == 0:
        home = folder / f"state-{number}"
        line = [*command(url, data, "seeds=2", "model.concurrency=4"), f"home={home}"]
        killed = 0
        wanted = min(rng.randint(1, MOST_KILLS), kills - done) if number else 0
        while killed < wanted:
            # Not much longer than a run: what is stored already makes the next attempt shorter.
            if attempt(line, after_s=rng.uniform(0.0, whole_s * 1.1 / (killed + 1))):
                break
            killed += 1
        begin = time.monotonic()
        attempt(line, after_s=None)
        whole_s = whole_s or time.monotonic() - begin
        print(json.dumps({"home": str(home), "kills": killed, "whole_s": round(whole_s, 2)}), flush=True)
        done += killed
        number += 1


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3]), int(sys.argv[4]), int(sys.argv[5]))
