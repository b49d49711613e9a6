"""A sweep's own page in MLflow: one summary run with the table of its jobs, beside the jobs that carry the sweep's tag."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from eva.edges.tracking.client import Store
from eva.edges.tracking.folder import RunFolder, read
from eva.edges.tracking.links import links, runs_link
from eva.edges.tracking.log import moment_ms
from eva.edges.tracking.names import SWEEPS
from eva.edges.tracking.note import ends, number, percent
from eva.edges.tracking.spec import TrackingSpec
from eva.errors import TrackingError
from eva.prompts.lock import version_order
from eva.report.numbers import PERCENT

TAG = "eva.sweep_summary"
LONGEST_NOTE = 7_500
"""Characters; MLflow cuts a tag at 8,000."""


def log_sweep(run_dirs: Sequence[Path], *, sweep: str, tracking: TrackingSpec, comparisons: str = "") -> str | None:
    """One summary run for the jobs in `run_dirs`; called again it is re-made in place. Its address; None with none.

    comparisons: Markdown of the comparisons between the jobs, put behind the table and kept whole as an artifact.
    Raises TrackingError and StoreError as `log_run` does. The jobs' own runs are logged by their jobs.
    """
    if tracking.kind == "none" or not run_dirs:
        return None
    folders = sorted((read(path) for path in run_dirs), key=_order)
    store = Store(tracking)
    experiment_id = _experiment(store)
    found = store.find_runs([experiment_id], f"tags.`{TAG}` = '{sweep}'")
    start = min(moment_ms(folder.run.get("created")) for folder in folders)
    end = max(moment_ms(folder.run.get("finished")) for folder in folders)
    run_id = found[-1].run_id if found else store.create_run(experiment_id, sweep, {TAG: sweep}, start_ms=start)
    text = "\n".join([sweep_table(folders), "", *_links(store, folders, sweep), "", comparisons]).strip() + "\n"
    tags = {"mlflow.note.content": _cut(text), "eva.jobs": str(len(folders)), "mlflow.source.name": "eva"}
    store.log(run_id, metrics=_numbers(folders), tags=tags, at_ms=end)
    store.log_text(run_id, "sweep.md", text)
    store.end_run(run_id, "FINISHED", end_ms=end)
    return links(tracking, experiment_id, run_id, None).run


def sweep_table(folders: Sequence[RunFolder]) -> str:
    """Markdown: a row a job, sorted by judge, language, model and version. Pure."""
    head = "| judge | prompt | model | language | accuracy | 95% | macro-F1 | mean score | status |"
    return "\n".join([head, "|---|---|---|---|---|---|---|---|---|", *map(_row, folders)])


def _row(folder: RunFolder) -> str:
    summary, run = folder.summary, folder.run
    interval, score = summary.get("accuracy_interval") or {}, summary.get("mean_score") or {}
    cells = [
        folder.judge,
        str(run.get("prompt")),
        str((run.get("model") or {}).get("name")),
        str(run.get("language")),
        _spread(summary.get("accuracy") or {}),
        ends(interval, PERCENT),
        _spread(summary.get("macro_f1") or {}),
        number(score.get("value")),
        folder.status,
    ]
    return f"| {' | '.join(cells)} |"


def _spread(spread: dict[str, float | None]) -> str:
    std = spread.get("std")
    return percent(spread.get("mean")) + ("" if std is None else f" ± {percent(std)}")


def _links(store: Store, folders: Sequence[RunFolder], sweep: str) -> list[str]:
    """A link a judge to the sweep's runs in its experiment."""
    places = {judge: store.experiment(f"eva/{judge}") for judge in sorted({folder.judge for folder in folders})}
    where = f"tags.`eva.sweep` = '{sweep}'"
    known = [f"[{judge}]({runs_link(store.tracking, found[0], where)})" for judge, found in places.items() if found]
    return [f"Runs of this sweep: {' · '.join(known)}"] if known else []


def _numbers(folders: Sequence[RunFolder]) -> list[tuple[str, float, int]]:
    """How many jobs, how many finished, and what all of them cost."""
    costs = [(folder.summary.get("spend") or {}).get("cost_usd") for folder in folders]
    finished = sum(folder.status == "finished" for folder in folders)
    known = [float(cost) for cost in costs if cost is not None]
    spent = [("spend/cost_usd", sum(known), 0)] if len(known) == len(costs) else []
    return [("jobs", float(len(folders)), 0), ("jobs/finished", float(finished), 0), *spent]


def _experiment(store: Store) -> str:
    found = store.experiment(SWEEPS)
    if found is not None and found[1] != "active":
        raise TrackingError(f"Experiment {SWEEPS!r} was deleted in MLflow at {store.tracking.uri}: restore it there.")
    return found[0] if found else store.create_experiment(SWEEPS, {})


def _order(folder: RunFolder) -> tuple[str, str, str, tuple[int, str]]:
    run = folder.run
    model = str((run.get("model") or {}).get("name"))
    return folder.judge, str(run.get("language")), model, version_order(str(run.get("prompt")))


def _cut(text: str) -> str:
    return (
        text
        if len(text) <= LONGEST_NOTE
        else f"{text[: LONGEST_NOTE - 60]}\n\n… cut; whole in the artifact `sweep.md`\n"
    )
