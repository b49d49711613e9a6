"""The story on one page: settings → plan → replies → verdicts → numbers → comparison → run folder → MLflow.

Above `ask_plan` nothing costs money; below it nothing calls a model, and all of it can be done again from the run folder.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pandas as pd

from eva.aside import begin_trivial
from eva.edges import baselines, provenance, runs
from eva.edges.asking import Asked, ask_plan, read_replies
from eva.edges.compose import languages
from eva.edges.datasets import load_dataset
from eva.edges.identity import model_identity
from eva.edges.preparing import as_it_will_be_asked, prepare_run
from eva.edges.runs import RunFolder
from eva.edges.secrets import redact
from eva.edges.settings import Settings
from eva.edges.tracking import import_in_background, prepare_store
from eva.judges.contract import flag_names
from eva.judges.plan import Plan, make_plan
from eva.judges.table import verdict_rows
from eva.measuring import compare_runs, measure
from eva.metrics.attacks import attack_scores
from eva.metrics.readings import note_on, readings, second_rows
from eva.metrics.results import Baseline, Comparison, Summary
from eva.publishing import Published, publish
from eva.run_json import closing_meta, opening_meta, summary_json, unfinished_note
from eva.writing import write_comparison, write_folder

Say = Callable[[str], None]


@dataclass(frozen=True)
class Finished:
    """What a run leaves behind."""

    folder: RunFolder
    summary: Summary
    comparison: Comparison | None
    baseline: RunFolder | None
    published: Published
    exit_code: int


def validate(
    settings: Settings, *, overrides: tuple[str, ...] = (), sweep: str | None = None, say: Say
) -> Finished | None:
    """One run, from settings to MLflow. None after a dry run. Raises EvaError for what the user can mend."""
    say = each_note_once(say)  # a baseline that runs first tells of the same data
    settings, limit_why = with_default_limit(settings)
    settings, preflight = as_it_will_be_asked(settings)
    plan = plan_run(settings)
    prepared = prepare_run(settings, plan, preflight=preflight)
    about_data = (f"{note}{limit_why}" if note.startswith("limit ") else note for note in plan.dataset.notes)
    for note in (*about_data, *plan.notes, *prepared.notes):
        say(f"note: {note}")
    say(prepared.headline)
    if settings.options.dry_run:
        print(redact(prepared.first_request))  # to stdout: it is the result that was asked for
        return None
    meta = _opening(settings, plan, overrides=overrides, sweep=sweep)
    baseline = baselines.resolve(
        settings,
        meta,
        home=home_of(settings),
        overrides=overrides,
        run_parent=lambda parent, own: _run_parent(parent, own, sweep=sweep, say=say),
        say=say,
    )
    open_tracking(settings)
    trivial = begin_trivial(plan)
    asked = ask_plan(settings, plan)
    # A run that was ended by an error is kept as such, and is compared with nothing.
    against = None if asked.error else baseline
    finished = finish(settings, plan, asked, trivial=trivial(), meta=meta, baseline=against, say=say)
    if asked.error is not None:
        say(f"stopped with {len(asked.replies)} replies; run {finished.folder.run_id} has status failed")
        raise asked.error
    return finished


def plan_run(settings: Settings) -> Plan:
    """Everything that will be asked, checked, before anything is."""
    judge = settings.judge
    dataset = load_dataset(settings.dataset, scale=judge.scale, flags=flag_names(judge))
    return make_plan(
        judge=judge,
        prompt=settings.prompt,
        language=settings.language,
        languages=languages(),
        dataset=dataset,
        model_identity=model_identity(settings.model),
        structured_output=settings.model.structured_output,
        max_chars=settings.model.bounded_strings,
    )


def finish(
    settings: Settings,
    plan: Plan,
    asked: Asked,
    *,
    trivial: Baseline | None,
    meta: Mapping[str, Any],
    baseline: RunFolder | None,
    say: Say,
) -> Finished:
    """Everything after the replies: verdicts, numbers, comparison, folder, MLflow. Calls no model."""
    rows = verdict_table(plan, asked)
    read = readings(rows, asked.second)
    summary = measure(plan, rows, repeats=settings.options.seeds, trivial=trivial)
    unfinished = unfinished_note(plan, asked, repeats=settings.options.seeds, verdicts=len(rows))
    summary = replace(summary, notes=(*unfinished, *summary.notes, *note_on(read)))
    meta = closing_meta(meta, asked, finished=provenance.now(), baseline=baseline.run_id if baseline else None)
    folder = write_folder(home_of(settings), settings=settings, plan=plan, rows=rows, meta=meta)
    if asked.second:  # beside the verdicts, never among them
        again = second_rows(rows, asked.second, asked.second_asks)
        runs.write_lines(folder.path / runs.ASKED_AGAIN, again)
    comparison = None
    if baseline is not None:
        comparison = compare_runs(baseline, folder, margin=settings.options.margin)
        write_comparison(folder.path / "comparison.json", baseline, folder, comparison)
    whole = summary_json(
        meta,
        summary,
        asked,
        read=read,
        attacks=attack_scores(rows),
        comparison=comparison,
        baseline=baseline.run_id if baseline else None,
    )
    runs.write_json(folder.path / "summary.json", whole)
    runs.write_json(folder.path / "run.json", meta)
    return Finished(
        folder=folder,
        summary=summary,
        comparison=comparison,
        baseline=baseline,
        published=publish(folder, tracking=settings.tracking.at(provenance.ROOT), say=say),
        exit_code=exit_code(asked, summary, max_failures=settings.options.max_failures),
    )


def verdict_table(plan: Plan, asked: Asked) -> pd.DataFrame:
    """Replies → one row per item and repeat."""
    return verdict_rows(plan, read_replies(plan, asked.replies), asked.replies, asks=asked.asks)


def each_note_once(say: Say) -> Say:
    """`say` without the notes that it said before; all else as often as it comes."""
    told: set[str] = set()

    def once(text: str) -> None:
        if text.startswith("note: ") and text in told:
            return
        told.add(text)
        say(text)

    return once


def with_default_limit(settings: Settings) -> tuple[Settings, str]:
    """A small model's own limit on a bundled set, unless the user gave one, and what the note on it adds."""
    limit = settings.model.default_limit
    if limit is None or settings.dataset.limit is not None or not settings.dataset.path.startswith("bundled:"):
        return settings, ""
    dataset = replace(settings.dataset, limit=limit, balanced=True, prefer_short=True)
    why = f"; model {settings.model.name!r} sets this limit for bundled sets, limit=… changes it"
    return replace(settings, dataset=dataset), why


def open_tracking(settings: Settings) -> None:
    """A store that refuses is heard before any money is spent; a good one is imported while the first calls are out."""
    tracking = settings.tracking.at(provenance.ROOT)
    if tracking.kind != "none":
        prepare_store(tracking, judge=settings.judge.name)
        import_in_background(tracking)


def exit_code(asked: Asked, summary: Summary, *, max_failures: float) -> int:
    """0 finished; 1 a larger share of failures than `max_failures`; 130 interrupted."""
    if asked.interrupted:
        return 130
    verdicts = max(1, summary.n_items * len(summary.repeats))
    return 1 if sum(summary.failures.values()) / verdicts > max_failures else 0


def home_of(settings: Settings) -> Path:
    """Where state lives: relative to the checkout, whatever folder the command was started in."""
    return (provenance.ROOT / settings.options.home).resolve()


def _opening(settings: Settings, plan: Plan, *, overrides: tuple[str, ...], sweep: str | None) -> dict[str, Any]:
    options = settings.options
    words = (
        settings.judge.name,
        plan.prompt.version,
        settings.model.name,
        str(settings.language["code"]),
        options.name or "",
    )
    facts = {
        "run_id": provenance.new_run_id(words),
        "created": provenance.now(),
        "command": provenance.command(overrides),
        "git": provenance.git_state(),
        "versions": provenance.versions(),
        "sweep": sweep,
    }
    return opening_meta(
        settings,
        plan,
        model_identity=model_identity(settings.model),
        prompt_edits=baselines.edits(overrides),
        facts=facts,
    )


def _run_parent(settings: Settings, overrides: tuple[str, ...], *, sweep: str | None, say: Say) -> RunFolder:
    finished = validate(settings, overrides=overrides, sweep=sweep, say=say)
    assert finished is not None  # the parent's settings never ask for a dry run
    return finished.folder
