"""The only module that imports MLflow, and it does so when a store is first opened (1.5 s).

Everything goes through `MlflowClient` with explicit ids, from one thread: the fluent API's active run is thread-local.
What leaves this module is plain data of `stored.py`.
"""

from __future__ import annotations

import logging
import os
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from eva.edges.tracking.locks import alone
from eva.edges.tracking.retrying import ATTEMPTS, patiently
from eva.edges.tracking.spec import TrackingSpec
from eva.edges.tracking.stored import StoredPrompt, StoredRun, StoredTrace, run_of, trace_of
from eva.edges.tracking.troubles import explained
from eva.edges.tracking.wire import WireTrace, info_dict
from eva.errors import TrackingError

if TYPE_CHECKING:
    from mlflow import MlflowClient

METRICS_A_BATCH, TEXTS_A_BATCH, TRACES_A_BATCH, FOUND_A_PAGE = 900, 90, 100, 100
T = TypeVar("T")


class Store:
    """One MLflow store, opened. Raises TrackingError, which says how to log the run later."""

    def __init__(self, tracking: TrackingSpec, *, attempts: int = ATTEMPTS) -> None:
        self.tracking = tracking
        self.attempts = attempts
        self.client = _open(tracking)

    # experiments

    def experiment(self, name: str) -> tuple[str, str] | None:
        """(id, `active` or `deleted`); None where there is none of this name."""
        found = self._call(lambda: self.client.get_experiment_by_name(name))
        return None if found is None else (found.experiment_id, found.lifecycle_stage)

    def create_experiment(self, name: str, tags: Mapping[str, str]) -> str:
        """The id of the experiment, made here or by another process in the meantime."""
        from mlflow.exceptions import MlflowException

        place = self.tracking.artifacts
        location = None if place is None else (Path(place).as_uri() if "://" not in place else place)
        try:
            return str(self.client.create_experiment(name, artifact_location=location, tags=dict(tags)))
        except MlflowException as error:
            if error.error_code != "RESOURCE_ALREADY_EXISTS":
                raise self._failed(error) from error
        found = self.experiment(name)
        if found is None:
            raise TrackingError(f"MLflow says that experiment {name!r} exists, and does not find it.")
        return found[0]

    # runs

    def find_runs(self, experiment_ids: Sequence[str], where: str, *, limit: int = 1000) -> list[StoredRun]:
        """Active runs, newest first; `where` is MLflow's filter."""
        out: list[StoredRun] = []
        token: str | None = None
        while len(out) < limit:
            search = partial(self.client.search_runs, list(experiment_ids), where, order_by=["start_time DESC"])
            page = self._call(partial(search, max_results=min(limit, 500), page_token=token))
            out += map(run_of, page)
            token = page.token
            if not token:
                break
        return out[:limit]

    def experiments(self) -> dict[str, str]:
        """Name -> id of all active experiments."""
        found = self._call(lambda: self.client.search_experiments(max_results=1000))
        return {row.name: row.experiment_id for row in found}

    def create_run(self, experiment_id: str, name: str, tags: Mapping[str, str], *, start_ms: int) -> str:
        made = self._call(lambda: self.client.create_run(experiment_id, start_ms, dict(tags), name))
        return str(made.info.run_id)

    def log(
        self,
        run_id: str,
        *,
        metrics: Sequence[tuple[str, float, int]] = (),
        params: Mapping[str, str] | None = None,
        tags: Mapping[str, str] | None = None,
        at_ms: int,
    ) -> None:
        """Metrics as (key, value, step), params and tags, in as few batches as MLflow's limits allow."""
        from mlflow.entities import Metric, Param, RunTag

        numbers = [Metric(key, value, at_ms, step) for key, value, step in metrics]
        texts = [Param(key, value) for key, value in (params or {}).items()]
        marks = [RunTag(key, value) for key, value in (tags or {}).items()]
        while numbers or texts or marks:
            head = numbers[:METRICS_A_BATCH], texts[:TEXTS_A_BATCH], marks[:TEXTS_A_BATCH]
            self._call(partial(self.client.log_batch, run_id, *head, synchronous=True))
            numbers, texts, marks = numbers[len(head[0]) :], texts[len(head[1]) :], marks[len(head[2]) :]

    def log_dataset(self, run_id: str, *, name: str, digest: str, source: str, profile: str) -> None:
        """The dataset as an input of the run, in the context that the evaluation page looks for."""
        from mlflow.entities import Dataset, DatasetInput, InputTag

        dataset = Dataset(name=name, digest=digest, source_type="local", source=source, profile=profile)
        given = DatasetInput(dataset, [InputTag("mlflow.data.context", "eval")])
        self._call(lambda: self.client.log_inputs(run_id, [given]))

    def log_files(self, run_id: str, files: Iterable[tuple[Path, str | None]]) -> None:
        """Each file, with the folder below the artifacts that it goes into."""
        for path, folder in files:
            self._call(partial(self.client.log_artifact, run_id, str(path), folder))

    def log_text(self, run_id: str, name: str, text: str) -> None:
        """A text as an artifact."""
        self._call(lambda: self.client.log_text(run_id, text, name))

    def end_run(self, run_id: str, status: str, *, end_ms: int) -> None:
        self._call(lambda: self.client.set_terminated(run_id, status, end_ms))

    # prompts

    def prompt_versions(self, name: str) -> list[StoredPrompt]:
        """All versions of a prompt, oldest first; empty where nobody registered it."""
        from mlflow.exceptions import MlflowException

        found: list[StoredPrompt] = []
        token: str | None = None
        while True:
            try:
                page = self.client.search_prompt_versions(name, max_results=FOUND_A_PAGE, page_token=token)
            except MlflowException as error:
                if error.error_code == "RESOURCE_DOES_NOT_EXIST":
                    return []
                raise self._failed(error) from error
            found += [StoredPrompt(name, int(row.version), dict(row.tags)) for row in page]
            token = page.token
            if not token:
                return sorted(found, key=lambda row: row.version)

    def create_prompt(self, name: str, text: str, *, message: str, tags: Mapping[str, str], experiment_id: str) -> int:
        """A new version; the prompt itself too where it is the first. No fluent call, no side thread."""
        from mlflow.exceptions import MlflowException

        shown_in = {"_mlflow_experiment_ids": f",{experiment_id},"}
        try:
            self.client.create_prompt(name, tags=shown_in)
        except MlflowException as error:
            if error.error_code != "RESOURCE_ALREADY_EXISTS":
                raise self._failed(error) from error
        made = self._call(lambda: self.client.create_prompt_version(name, text, description=message, tags=dict(tags)))
        return int(made.version)

    def delete_prompt_version(self, name: str, version: int) -> None:
        self._call(lambda: self.client.delete_prompt_version(name, str(version)))

    def aliased(self, name: str, alias: str) -> int | None:
        """The version that `alias` points at (a search does not tell aliases)."""
        from mlflow.exceptions import MlflowException

        try:
            return int(self.client.get_prompt_version_by_alias(name, alias).version)
        except MlflowException as error:
            if error.error_code in ("RESOURCE_DOES_NOT_EXIST", "INVALID_PARAMETER_VALUE"):
                return None
            raise self._failed(error) from error

    def set_alias(self, name: str, alias: str, version: int) -> None:
        self._call(lambda: self.client.set_prompt_alias(name, alias, version))

    # traces

    def write_traces(self, traces: Sequence[WireTrace]) -> None:
        """By the public tracing client: one request a trace, then the spans of many at once. Nothing is queued."""
        from mlflow.entities import Span, TraceInfo
        from mlflow.tracing.client import TracingClient

        client = TracingClient(self.tracking.uri)
        for start in range(0, len(traces), TRACES_A_BATCH):
            batch = traces[start : start + TRACES_A_BATCH]
            for trace in batch:
                self._call(partial(client.start_trace, TraceInfo.from_dict(info_dict(trace))))
            spans = [Span.from_dict(dict(trace.span)) for trace in batch]
            self._call(partial(client.log_spans, batch[0].experiment_id, spans))

    def traces(self, experiment_id: str, run_id: str | None = None) -> Iterator[StoredTrace]:
        """Traces of a run (or of the whole experiment) with their assessments, newest first."""
        where = f"metadata.`mlflow.sourceRun` = '{run_id}'" if run_id else None
        token: str | None = None
        while True:
            search = partial(self.client.search_traces, locations=[experiment_id], filter_string=where)
            page = self._call(partial(search, max_results=FOUND_A_PAGE, page_token=token, include_spans=False))
            yield from (trace_of(found.info) for found in page)
            token = page.token
            if not token:
                return

    def delete_traces(self, experiment_id: str, trace_ids: Sequence[str]) -> None:
        for start in range(0, len(trace_ids), TRACES_A_BATCH):
            ids = list(trace_ids[start : start + TRACES_A_BATCH])
            self._call(partial(self.client.delete_traces, experiment_id, trace_ids=ids))

    # people

    def ask_people(
        self, experiment_id: str, queue: str, question: str, labels: Sequence[str], trace_ids: Sequence[str]
    ) -> None:
        """A review queue of this name that asks `question` (one of `labels`, with a reason) about these traces.

        Answers are feedback: MLflow drops the reason of an expectation.
        """
        from mlflow.genai import label_schemas, review_queues

        where = {"experiment_id": experiment_id}
        known = {row.name: row for row in self._call(partial(label_schemas.list_label_schemas, **where))}
        queues = {row.name: row for row in self._call(partial(review_queues.list_review_queues, **where))}
        options = label_schemas.InputCategorical(options=list(labels))
        make = partial(label_schemas.create_label_schema, question, type="feedback", input=options, **where)
        schema = known.get(question) or self._call(partial(make, enable_comment=True))
        start = partial(review_queues.create_review_queue, queue, queue_type="custom", **where)
        held = queues.get(queue) or self._call(partial(start, schema_ids=[schema.schema_id]))
        for first in range(0, len(trace_ids), TRACES_A_BATCH):
            ids = list(trace_ids[first : first + TRACES_A_BATCH])
            self._call(partial(review_queues.add_items_to_review_queue, held.queue_id, item_ids=ids))

    # mending and telling

    def _call(self, action: Callable[[], T]) -> T:
        """`action`, waited for while the store is busy or away; TrackingError when it stays so."""
        from mlflow.exceptions import MlflowException

        try:
            return patiently(action, kind=MlflowException, attempts=self.attempts)
        except MlflowException as error:
            raise self._failed(error) from error

    def _failed(self, error: Exception) -> TrackingError:
        first = str(error).splitlines()[0]
        return TrackingError(f"MLflow at {self.tracking.uri} {explained(first, self.tracking)}")


def load() -> None:
    """Import MLflow with its side doors shut: no telemetry, nothing queued, few words."""
    os.environ.setdefault("MLFLOW_DISABLE_TELEMETRY", "true")
    os.environ.setdefault("MLFLOW_ENABLE_ASYNC_LOGGING", "false")
    os.environ.setdefault("MLFLOW_SUPPRESS_PRINTING_URL_TO_STDOUT", "true")
    os.environ.setdefault("MLFLOW_HTTP_REQUEST_MAX_RETRIES", "0")
    import mlflow  # noqa: F401  # for its side effect: the next import is free

    for name in ("mlflow.store.db.utils", "alembic"):  # they tell each lock with a traceback, each migration by name
        logging.getLogger(name).setLevel(logging.CRITICAL)


def _open(tracking: TrackingSpec) -> MlflowClient:
    """A client of this store, which becomes MLflow's default too: nothing may make one in the current folder."""
    load()
    for name, own in ((tracking.username_env, "USERNAME"), (tracking.password_env, "PASSWORD")):
        if name in os.environ:
            os.environ[f"MLFLOW_TRACKING_{own}"] = os.environ[name]
    import mlflow
    from mlflow.exceptions import MlflowException
    from sqlalchemy.exc import SQLAlchemyError

    mlflow.set_tracking_uri(tracking.uri)
    mlflow.set_registry_uri(tracking.uri)
    path = tracking.sqlite_path
    try:
        if path is None:
            return mlflow.MlflowClient(tracking.uri, registry_uri=tracking.uri)
        path.parent.mkdir(parents=True, exist_ok=True)
        with alone(path.with_name(f"{path.name}.lock")):  # two processes that migrate one new file break it
            client = mlflow.MlflowClient(tracking.uri, registry_uri=tracking.uri)
            _write_ahead(path)
            return client
    except (MlflowException, SQLAlchemyError, OSError) as error:
        raise TrackingError(f"MLflow at {tracking.uri} cannot be opened: {str(error).splitlines()[0]}") from error


def _write_ahead(path: Path) -> None:
    """Small writes are 1.5-2 times as quick, and readers do not wait for writers. Kept in the file."""
    with closing(sqlite3.connect(path, timeout=20)) as database:
        if database.execute("PRAGMA journal_mode").fetchone() != ("wal",):
            database.execute("PRAGMA journal_mode=WAL")
