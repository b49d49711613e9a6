"""The trivial baseline of a large dataset, fitted in a process of its own while the calls are in flight.

It needs the plan and nothing else, so nobody has to wait for it at the end of a run. A thread would not do: the fit
would hold up the answers that arrive meanwhile. The process reads its input to the end before it begins, prints one
line and ends, whatever becomes of the run; where it fails, the fit is made here, and the numbers are the same.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import asdict
from typing import Any

from eva.edges.provenance import ROOT
from eva.judges.plan import Plan
from eva.judges.readable import item_text
from eva.metrics.results import Baseline
from eva.metrics.trivial import trivial_baseline

WORTH_A_PROCESS = 500
"""Items: below, the fit takes no longer than a process takes to start."""


def begin_trivial(plan: Plan) -> Callable[[], Baseline | None]:
    """Begin to fit; what is returned waits for the result. None where nobody labelled the items."""
    given = trivial_input(plan)
    if given is None:
        return lambda: None
    if len(given["texts"]) < WORTH_A_PROCESS:
        return lambda: trivial_baseline(**given)
    # A file, not a pipe: to fill a pipe would be to wait until the process reads it.
    with tempfile.TemporaryFile() as file:
        file.write(json.dumps(given).encode())
        file.seek(0)
        process = subprocess.Popen(
            [sys.executable, "-m", "eva.aside"],
            stdin=file,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd=ROOT,
            start_new_session=True,  # Ctrl-C is for the run
        )
    return lambda: _result(process, given)


def trivial_input(plan: Plan) -> dict[str, Any] | None:
    """What `trivial_baseline` takes: text, gold label and cluster of each labelled item. None where there is none."""
    records = {record.record_id: record for record in plan.dataset.records}
    labelled = [(item, item.gold.label) for items in plan.items.values() for item in items if item.gold is not None]
    if not labelled:
        return None
    return {
        "texts": [item_text(item, records[item.record_id], speaker=plan.judge.speaker) for item, _ in labelled],
        "gold": [label for _, label in labelled],
        "clusters": [item.cluster for item, _ in labelled],
        "labels": list(plan.judge.scale.labels),
    }


def _result(process: subprocess.Popen[bytes], given: dict[str, Any]) -> Baseline:
    told, _ = process.communicate()
    if process.returncode != 0:
        return trivial_baseline(**given)
    return Baseline(**json.loads(told))


if __name__ == "__main__":
    print(json.dumps(asdict(trivial_baseline(**json.load(sys.stdin)))))
