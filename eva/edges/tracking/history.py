"""What MLflow knows of earlier runs: a list with headline and identity, and each judge's way over its prompt versions."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime

from eva.edges.tracking.client import Store
from eva.edges.tracking.links import links
from eva.edges.tracking.names import experiment_name
from eva.edges.tracking.reading import readable
from eva.edges.tracking.spec import TrackingSpec
from eva.edges.tracking.stored import StoredRun
from eva.errors import UnknownChoice
from eva.prompts.lock import version_order

PARENTS = "tags.`eva.run_id` LIKE '%'"
"""Children and sweep summaries carry no run id of ours."""


@dataclass(frozen=True)
class Figure:
    """One number of a run with its interval and its run-to-run std; None where undefined."""

    value: float | None
    std: float | None
    low: float | None
    high: float | None


@dataclass(frozen=True)
class KnownRun:
    """One run as MLflow holds it."""

    run_id: str
    judge: str
    prompt: str
    model: str
    language: str
    dataset: str
    dataset_sha256: str
    created: str
    """ISO, UTC."""
    status: str
    """finished, interrupted or failed."""
    repeats: int | None
    accuracy: Figure
    macro_f1: Figure
    mean_score: Figure
    cost_usd: float | None
    verdict: str
    """`accuracy: cannot tell`; empty without a baseline."""
    identity: str
    sweep: str
    link: str
    edited: bool = False
    """The prompt was edited on the command line: not what its version says."""


def list_runs(
    tracking: TrackingSpec, *, judge: str | None = None, since: datetime | None = None, limit: int = 100
) -> list[KnownRun]:
    """The newest runs of one judge or of all, newest first. `since`: only those created then or later.

    Writes nothing: a store in a folder that may only be read is read all the same. Raises UnknownChoice for a judge
    that MLflow has no experiment of, TrackingError where there is no store or it cannot be reached.
    """
    with readable(tracking) as source:
        return _listed(Store(source), tracking, judge=judge, since=since, limit=limit)


def _listed(
    store: Store, tracking: TrackingSpec, *, judge: str | None, since: datetime | None, limit: int
) -> list[KnownRun]:
    places = {name: key for name, key in store.experiments().items() if name.startswith("eva/")}
    if judge is not None:
        if experiment_name(judge) not in places:
            known = [name.removeprefix("eva/") for name in places if name.count("/") == 1]
            raise UnknownChoice("judge", judge, known, hint=f"That is what MLflow at {tracking.uri} has runs of.")
        places = {experiment_name(judge): places[experiment_name(judge)]}
    if not places:
        return []
    when = f" AND attributes.start_time >= {int(since.timestamp() * 1000)}" if since else ""
    found = store.find_runs(list(places.values()), PARENTS + when, limit=limit)
    return [known_run(run, tracking) for run in found]


def history(runs: Iterable[KnownRun]) -> dict[str, list[KnownRun]]:
    """For a chart over prompt versions: a line a model (and language and dataset, where they differ), in order.

    Of several runs of one version the newest finished one counts; edited prompts are no versions. Pure.
    """
    newest: dict[tuple[str, str], KnownRun] = {}
    every = [run for run in runs if run.status == "finished" and not run.edited]
    several = {
        "language": len({run.language for run in every}) > 1,
        "dataset": len({run.dataset_sha256 for run in every}) > 1,
    }
    for run in sorted(every, key=lambda run: run.created):
        newest[_line(run, several), run.prompt] = run
    lines: dict[str, list[KnownRun]] = {}
    for (line, _), run in sorted(newest.items(), key=lambda entry: (entry[0][0], version_order(entry[0][1]))):
        lines.setdefault(line, []).append(run)
    return lines


def known_run(run: StoredRun, tracking: TrackingSpec) -> KnownRun:
    """From what MLflow holds. Pure."""
    tags = run.tags
    repeats = run.params.get("repeats")
    return KnownRun(
        run_id=tags.get("eva.run_id", ""),
        judge=tags.get("eva.judge", ""),
        prompt=tags.get("eva.prompt", ""),
        model=run.params.get("model", ""),
        language=tags.get("eva.language", ""),
        dataset=tags.get("eva.dataset", ""),
        dataset_sha256=tags.get("eva.dataset.sha256", ""),
        created=datetime.fromtimestamp(run.start_ms / 1000, UTC).isoformat(timespec="seconds"),
        status=tags.get("eva.status", run.status.lower()),
        repeats=int(repeats) if repeats else None,
        accuracy=_figure(run, "accuracy"),
        macro_f1=_figure(run, "macro_f1"),
        mean_score=_figure(run, "mean_score"),
        cost_usd=run.metrics.get("spend/cost_usd"),
        verdict=tags.get("eva.verdict", ""),
        identity=tags.get("eva.identity", ""),
        sweep=tags.get("eva.sweep", ""),
        link=links(tracking, run.experiment_id, run.run_id, None).run,
        edited=tags.get("eva.prompt_edited") == "true",
    )


def _figure(run: StoredRun, key: str) -> Figure:
    return Figure(*(run.metrics.get(name) for name in (key, f"{key}/std", f"{key}/low", f"{key}/high")))


def _line(run: KnownRun, several: dict[str, bool]) -> str:
    parts = [run.model]
    if several["language"]:
        parts.append(run.language)
    if several["dataset"]:
        parts.append(f"{run.dataset} {run.dataset_sha256[:6]}")
    return " · ".join(parts)
