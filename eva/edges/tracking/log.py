"""From a run folder to MLflow: the story of one logging, on one page, from one thread, with explicit ids."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from eva.edges.tracking import facts, numbers
from eva.edges.tracking.client import Store
from eva.edges.tracking.folder import RunFolder, read
from eva.edges.tracking.links import links
from eva.edges.tracking.locks import alone
from eva.edges.tracking.names import run_name
from eva.edges.tracking.note import note
from eva.edges.tracking.pages import write_pages
from eva.edges.tracking.prepare import open_experiment
from eva.edges.tracking.registry import prompt_texts, register
from eva.edges.tracking.spec import LoggedRun, TrackingSpec
from eva.edges.tracking.stored import StoredPrompt, StoredRun
from eva.edges.tracking.troubles import sending_later
from eva.edges.tracking.wire import Target, linked_prompts
from eva.errors import TrackingError

DONE, BEGUN = "eva.logged", "eva.logging"
"""Tags that hold the folder's digest: at the end of a logging, and from its start."""


@dataclass(frozen=True)
class _Logging:
    """What the steps of one logging share."""

    folder: RunFolder
    store: Store
    experiment_id: str
    run_id: str
    before: StoredRun | None
    """The run as an earlier logging left it."""
    at_ms: int

    @property
    def same(self) -> bool:
        """An earlier logging was of this very content, finished or not."""
        return self.before is not None and self.before.tags.get(BEGUN) == self.folder.digest

    @property
    def finished(self) -> bool:
        return self.before is not None and self.before.tags.get(DONE) == self.folder.digest


def log_run(run_dir: Path, *, tracking: TrackingSpec) -> LoggedRun | None:
    """Log the run in `run_dir`, or complete or re-make what an earlier call logged. None with `tracking=none`.

    Idempotent by the tag `eva.run_id`: there is one parent run, one child a repeat, one trace an item, however often
    this is called. What people added to the traces is kept.

    Raises StoreError (no run folder) and TrackingError (MLflow cannot be reached, or the experiment was deleted); the
    run folder then still holds everything.
    """
    if tracking.kind == "none":
        return None
    folder = read(run_dir)
    try:
        with alone(run_dir / "run.json"):
            return _log(folder, Store(tracking), tracking)
    except TrackingError as error:
        later = sending_later(run_dir, tracking)
        raise TrackingError(f"{error} The run folder keeps everything; `{later}` completes the page.") from error


def _log(folder: RunFolder, store: Store, tracking: TrackingSpec) -> LoggedRun:
    experiment_id = open_experiment(store, folder.judge)
    job = _start(folder, store, experiment_id)
    prompts = _prompts(job)
    baseline = _find(store, experiment_id, folder.baseline) if folder.baseline else None
    where = links(tracking, experiment_id, job.run_id, baseline.run_id if baseline else None)
    if not job.finished:
        _numbers(job, prompts)
        _children(job)
        _artifacts(job)
    pages = write_pages(folder, store, _target(job, prompts), keep=job.same, known=job.before is not None)
    text = note(folder, where, traces=pages.written, remarks=pages.remarks)
    end = {"mlflow.note.content": text[: facts.TAG_CHARS], DONE: folder.digest}
    store.log(job.run_id, tags=end, at_ms=job.at_ms)
    store.end_run(job.run_id, facts.STATUS.get(folder.status, "FAILED"), end_ms=moment_ms(folder.run.get("finished")))
    notes = [*pages.remarks, *pages.pace, *(f"{name}: unknown file, not logged" for name in folder.unknown)]
    return LoggedRun(
        uri=tracking.uri,
        experiment_id=experiment_id,
        run_id=job.run_id,
        links=where,
        traces=pages.written,
        trace_writer=pages.writer,
        notes=tuple(notes),
    )


def _start(folder: RunFolder, store: Store, experiment_id: str) -> _Logging:
    """The parent run: found by our id, else made."""
    found = _find(store, experiment_id, folder.run_id)
    run = folder.run
    begun = {**facts.tags(folder), **facts.PAGE_IS_EVALUATION, BEGUN: folder.digest}
    if found is None:
        name = run_name(
            f"{run.get('prompt')}{' edited' if run.get('prompt_edited') else ''}",
            str((run.get("model") or {}).get("name")),
            str(run.get("language")),
            str((run.get("dataset") or {}).get("name")),
            len(folder.summary.get("repeats") or ()),
        )
        run_id = store.create_run(experiment_id, name, begun, start_ms=moment_ms(run.get("created")))
        return _Logging(folder, store, experiment_id, run_id, None, moment_ms(run.get("finished")))
    changed = found.tags.get(BEGUN) != folder.digest
    at_ms = int(time.time() * 1000) if changed else moment_ms(run.get("finished"))
    if found.tags.get(DONE) != folder.digest:
        store.log(found.run_id, tags=begun, at_ms=at_ms)
    return _Logging(folder, store, experiment_id, found.run_id, found, at_ms)


def _prompts(job: _Logging) -> list[StoredPrompt]:
    found = (register(job.store, text, experiment_id=job.experiment_id) for text in prompt_texts(job.folder))
    return [prompt for prompt in found if prompt is not None]


def _numbers(job: _Logging, prompts: Sequence[StoredPrompt]) -> None:
    """Metrics, params, dataset and prompt of the parent. Params are write-once: those there stay as they are."""
    folder = job.folder
    single = numbers.run_numbers(folder.summary, folder.comparison)
    there = job.before.params if job.before else {}
    linked = {"mlflow.linkedPrompts": linked_prompts(prompts[0].name, prompts[0].version)} if prompts else {}
    job.store.log(
        job.run_id,
        metrics=[*((key, value, 0) for key, value in single.items()), *numbers.repeat_series(folder.summary)],
        params={key: value for key, value in facts.params(folder).items() if key not in there},
        tags=linked,
        at_ms=job.at_ms,
    )
    job.store.log_dataset(job.run_id, **facts.dataset_input(folder))


def _children(job: _Logging) -> None:
    """One child a repeat, with that repeat's numbers only: traces and tags of the run are the parent's."""
    where = f"tags.`mlflow.parentRunId` = '{job.run_id}'"
    there = job.store.find_runs([job.experiment_id], where) if job.before else []
    found = {row.tags.get("eva.repeat"): row.run_id for row in there}
    start, end = moment_ms(job.folder.run.get("created")), moment_ms(job.folder.run.get("finished"))
    for repeat, single in numbers.repeat_numbers(job.folder.summary).items():
        tags = {**facts.repeat_tags(job.folder, repeat), "mlflow.parentRunId": job.run_id}
        child = found.get(str(repeat)) or job.store.create_run(
            job.experiment_id, f"repeat {repeat}", tags, start_ms=start
        )
        job.store.log(child, metrics=[(key, value, repeat) for key, value in single.items()], at_ms=job.at_ms)
        job.store.end_run(child, facts.STATUS.get(job.folder.status, "FAILED"), end_ms=end)


def _artifacts(job: _Logging) -> None:
    root = job.folder.path
    places = ((path, path.parent.relative_to(root).as_posix()) for path in job.folder.files)
    job.store.log_files(job.run_id, ((path, None if place == "." else place) for path, place in places))


def _target(job: _Logging, prompts: Sequence[StoredPrompt]) -> Target:
    run = job.folder.run
    return Target(
        experiment_id=job.experiment_id,
        run_id=job.run_id,
        eva_run_id=job.folder.run_id,
        judge=job.folder.judge,
        model=str((run.get("model") or {}).get("id") or ""),
        finished_ms=moment_ms(run.get("finished")),
        prompt=(prompts[0].name, prompts[0].version) if prompts else None,
    )


def _find(store: Store, experiment_id: str, eva_run_id: str) -> StoredRun | None:
    """The parent run of our run; the oldest, should there ever be two."""
    found = store.find_runs([experiment_id], f"tags.`eva.run_id` = '{eva_run_id}'")
    return found[-1] if found else None


def moment_ms(moment: object) -> int:
    """Milliseconds of an ISO moment (UTC where it names no zone); now where the run has none (it was interrupted)."""
    if not moment:
        return int(time.time() * 1000)
    parsed = datetime.fromisoformat(str(moment))
    return int((parsed if parsed.tzinfo else parsed.replace(tzinfo=UTC)).timestamp() * 1000)
