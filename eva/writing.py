"""A run's folder, written."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from eva.edges import runs
from eva.edges.compose import to_yaml
from eva.edges.runs import RunFolder
from eva.edges.secrets import redact
from eva.edges.settings import Settings
from eva.judges.plan import Plan
from eva.judges.readable import item_rows, record_rows
from eva.metrics.results import Comparison
from eva.prompts.compile import render_markdown


def write_folder(
    home: Path, *, settings: Settings, plan: Plan, rows: pd.DataFrame, meta: Mapping[str, Any]
) -> RunFolder:
    """All but the numbers and run.json, which is written last: a folder without it is no run."""
    path = runs.create(home, str(meta["run_id"]))
    runs.write_text(path / "config.yaml", redact(to_yaml(settings.config)))
    runs.write_text(path / "prompt.md", "\n".join(render_markdown(compiled) for compiled in plan.compiled.values()))
    runs.write_json(path / "prompt_parts.json", {key: compiled.parts for key, compiled in plan.compiled.items()})
    runs.write_verdicts(path / "verdicts.parquet", rows)
    runs.write_lines(path / "items.jsonl", item_rows(plan))
    runs.write_lines(path / "records.jsonl", record_rows(plan))
    folder = RunFolder(path)
    folder.__dict__["meta"] = dict(meta)  # known already; the file comes last
    return folder


def write_comparison(path: Path, before: RunFolder, after: RunFolder, comparison: Comparison) -> None:
    """comparison.json: which two runs, and all that the comparison says."""
    names = {
        "before": before.run_id,
        "after": after.run_id,
        "judge": after.meta["judge"],
        "prompt_before": before.meta["prompt"],
        "prompt_after": after.meta["prompt"],
    }
    runs.write_json(path, {**names, **runs.strict(comparison)})
