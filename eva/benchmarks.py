"""The benchmarks' own scores, from run folders and from verdicts that others recorded. Calls no model."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import pandas as pd

from eva.edges import runs
from eva.edges.compose import read_yaml
from eva.edges.datasets.recorded_verdicts import recorded_verdicts
from eva.edges.datasets.turn_benchmark import GOLDEN, read_script
from eva.edges.runs import RunFolder
from eva.edges.settings import load_judge
from eva.errors import ComparisonError, DataError, UnknownChoice
from eva.metrics.resample import rng_for
from eva.metrics.results_benchmarks import TaskCompletion, TurnBenchmark
from eva.metrics.task_completion import Score, task_completion
from eva.metrics.turn_benchmark import TIMING, turn_benchmark
from eva.report import html, markdown, terminal
from eva.report.blocks import Report
from eva.types import JudgeSpec

ELIGIBILITY, STATUS, TURNS = "participant_eligibility", "task_completion_tool_call", "turn_judge"
SCORES: Final[Mapping[str, Score]] = {"eligible": "eligible", "all": "all"}


def completion_of(eligibility: RunFolder, status: RunFolder, *, score: Score) -> TaskCompletion:
    """Both judges' runs put together. Raises ComparisonError for runs of other judges, or without a common conversation."""
    for run, judge in ((eligibility, ELIGIBILITY), (status, STATUS)):
        if run.meta["judge"] != judge:
            raise ComparisonError(f"{run.run_id} is a run of {run.meta['judge']}; a run of {judge} is wanted here.")
    models = {
        str(row["record_id"]): str(row["model_under_test"])
        for row in status.lines("records.jsonl")
        if row.get("model_under_test")
    }
    found = task_completion(
        eligibility.verdicts,
        status.verdicts,
        rng=rng_for(f"{eligibility.meta['identity']}{status.meta['identity']}"),
        score=score,
        models=models,
    )
    if not found.overall.conversations:
        raise ComparisonError(f"{eligibility.run_id} and {status.run_id} have no conversation in common.")
    return found


def configured_score(status: RunFolder) -> Score:
    """Which conversations the status run's config scores: its judge's `options.score`, else `eligible`."""
    judge = read_yaml(status.path / "config.yaml").get("judge") or {}
    score = str((judge.get("options") or {}).get("score", "eligible"))
    if score not in SCORES:
        raise UnknownChoice("judge.options.score", score, SCORES)
    return SCORES[score]


def benchmark_of(sources: Sequence[str], *, home: Path, golden: Path | None = None) -> TurnBenchmark:
    """The turn benchmark over runs (ids) and recorded verdicts (files, folders) together.

    `golden`: the script; without it, `golden_turns.jsonl` beside recorded verdicts, or what run folders say of theirs.
    Raises DataError for a conversation that stands in two sources, or scripts that differ.
    """
    judge = load_judge(TURNS)
    everything = replace(judge, options={**judge.options, "passthrough": []})
    tables: list[pd.DataFrame] = []
    scripts: list[tuple[int, ...]] = []
    for source in sources:
        table, script = _source(source, everything, home=home)
        tables.append(table)
        scripts += [script] if script else []
    _refuse_twins(tables, sources)
    if golden is not None:
        scripts = [_script(golden)]
    if len(set(scripts)) > 1:
        raise DataError("the sources follow different scripts: name the one that counts with --golden")
    rows = pd.concat(tables, ignore_index=True)
    seed = "\n".join(sorted(set(rows["record_id"].astype(str))))
    scored = [name for name in judge.dimensions if name not in (judge.options.get("passthrough") or ())]
    return turn_benchmark(rows, dimensions=scored, turns=scripts[0] if scripts else None, rng=rng_for(seed))


def rendered(report: Report, found: Any, *, form: str, full: bool = False) -> str:
    """A report as terminal text, Markdown or HTML; the numbers behind it as strict JSON."""
    if form == "json":
        return json.dumps(runs.strict(found), ensure_ascii=False, indent=1, allow_nan=False) + "\n"
    if form == "markdown":
        return markdown.render(report)
    if form == "html":
        return html.render(report)
    return terminal.render(report, styled=sys.stdout.isatty(), detail="full" if full else "short")


def _source(source: str, judge: JudgeSpec, *, home: Path) -> tuple[pd.DataFrame, tuple[int, ...]]:
    path = Path(source).expanduser()
    if path.exists() and not (path / "run.json").exists():
        beside = (path if path.is_dir() else path.parent) / GOLDEN
        return recorded_verdicts(path, judge).table, _script(beside) if beside.is_file() else ()
    run = RunFolder(path) if path.exists() else runs.find_run(home, source)
    if run.meta["judge"] != TURNS:
        raise ComparisonError(f"{run.run_id} is a run of {run.meta['judge']}; a run of {TURNS} is wanted here.")
    records = run.lines("records.jsonl")
    script = tuple(sorted({int(turn) for row in records for turn in row.get("scripted_turns", ())}))
    return pd.concat([_reached(records, run.verdicts), _timing(records, run.verdicts)], ignore_index=True), script


def _reached(records: Sequence[dict[str, Any]], verdicts: pd.DataFrame) -> pd.DataFrame:
    """Verdicts on turns that took place. One that was never reached fails by rule, whatever a judge says of it."""
    there = {(str(row["record_id"]), int(turn["turn_id"])) for row in records for turn in row["turns"]}
    pairs = zip(verdicts["record_id"].astype(str), verdicts["turn_id"].astype("int64"), strict=True)
    return verdicts[[pair in there for pair in pairs]]


def _timing(records: Sequence[dict[str, Any]], verdicts: pd.DataFrame) -> pd.DataFrame:
    """Rows on turn taking, a fact of the input that a run's verdicts do not hold."""
    rows = [
        {
            "record_id": row["record_id"],
            "turn_id": turn,
            "dimension": TIMING,
            "repeat": repeat,
            "label": "false" if turn in row["turn_taking_failures"] else "true",
            "domain": row["domain"],
        }
        for row in records
        if row.get("turn_taking_failures") is not None
        for turn in row.get("scripted_turns", ())
        for repeat in sorted(set(verdicts["repeat"]))
    ]
    return pd.DataFrame(rows, columns=["record_id", "turn_id", "dimension", "repeat", "label", "domain"])


def _script(path: Path) -> tuple[int, ...]:
    return tuple(sorted(turn["turn_id"] for turn in read_script(path)))


def _refuse_twins(tables: Sequence[pd.DataFrame], sources: Sequence[str]) -> None:
    seen: dict[str, str] = {}
    for table, source in zip(tables, sources, strict=True):
        for record in sorted(set(table["record_id"].astype(str))):
            if seen.setdefault(record, source) != source:
                raise DataError(f"conversation {record} stands in {seen[record]} and in {source}")
