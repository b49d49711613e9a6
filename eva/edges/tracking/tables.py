"""Traces written into the tracking store's own tables: fifty times as fast as the public client, with the same rows.

These tables are private to MLflow. So this is done only for the version and the schema revision that it was tested
with, on SQLite and PostgreSQL; everything else raises NotUsable, and the caller takes the public client. A test writes
the same traces both ways and compares the tables. Nothing here imports MLflow.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from eva.edges.tracking.spec import MLFLOW_VERSION, SCHEMA_REVISION
from eva.edges.tracking.wire import WireOpinion, WireTrace

if TYPE_CHECKING:
    from sqlalchemy import Connection, Engine

TRACES_A_TRANSACTION = 500
ROWS_A_BATCH = 500
Row = dict[str, Any]


class NotUsable(Exception):
    """The tables are not the known ones, or cannot be written to; the text says why. No batch was half written."""


def write_traces(uri: str, traces: Sequence[WireTrace]) -> None:
    """Write all traces with their spans, tags and assessments; rows that are there already stay as they are.

    One transaction per 500 traces. Raises NotUsable before the first row where the store is not a known one, and
    where the database refuses a batch (earlier batches then stay, whole).
    """
    from sqlalchemy.exc import SQLAlchemyError

    check_version()
    try:
        with _engine(uri) as engine:
            with engine.connect() as connection:
                _check_revision(connection)
                root = _artifact_root(connection, traces[0].experiment_id) if traces else ""
            for start in range(0, len(traces), TRACES_A_TRANSACTION):
                with engine.begin() as connection:
                    _write(connection, traces[start : start + TRACES_A_TRANSACTION], root)
    except SQLAlchemyError as error:
        raise NotUsable(f"the database refused: {str(error).splitlines()[0]}") from error


def check_version() -> None:
    """Raises NotUsable where the installed MLflow is another one, or keeps roll-ups that direct rows would miss."""
    found = version("mlflow")
    if found != MLFLOW_VERSION:
        raise NotUsable(f"MLflow is {found}, and the tables are known for {MLFLOW_VERSION}")
    if os.environ.get("MLFLOW_SQL_TRACE_ROLLUPS_ENABLED", "false").lower() in ("true", "1"):
        raise NotUsable("MLFLOW_SQL_TRACE_ROLLUPS_ENABLED is set")


@contextmanager
def _engine(uri: str) -> Iterator[Engine]:
    from sqlalchemy import create_engine, make_url

    address = make_url(uri) if "://" in uri else None
    backend = address.get_backend_name() if address is not None else ""
    if backend not in ("sqlite", "postgresql"):
        raise NotUsable(f"{uri.split('://')[0]} is neither SQLite nor PostgreSQL")
    own: dict[str, Any] = {"connect_args": {"timeout": 20}} if backend == "sqlite" else {}
    if address is not None and address.get_driver_name() == "psycopg2":
        # By itself it sends a row at a time; in batches the same rows take a quarter of the time.
        own = {"executemany_mode": "values_plus_batch", "executemany_batch_page_size": ROWS_A_BATCH}
    engine = create_engine(uri, **own)
    try:
        yield engine
    finally:
        engine.dispose()


def _check_revision(connection: Connection) -> None:
    from sqlalchemy import text

    found = [row[0] for row in connection.execute(text("SELECT version_num FROM alembic_version"))]
    if found != [SCHEMA_REVISION]:
        raise NotUsable(f"the schema is at {', '.join(found) or 'no revision'}, known is {SCHEMA_REVISION}")


def _artifact_root(connection: Connection, experiment_id: str) -> str:
    from sqlalchemy import text

    query = text("SELECT artifact_location FROM experiments WHERE experiment_id = :id")
    row = connection.execute(query, {"id": int(experiment_id)}).fetchone()
    if row is None:
        raise NotUsable(f"experiment {experiment_id} is not in the database")
    return str(row[0]).rstrip("/")


def _write(connection: Connection, traces: Sequence[WireTrace], root: str) -> None:
    """Parents before children: PostgreSQL checks the keys."""
    makers: dict[str, Callable[[WireTrace], list[Row]]] = {
        "trace_info": lambda trace: [_info(trace)],
        "trace_tags": lambda trace: _tags(trace, root),
        "trace_request_metadata": _metadata,
        "spans": lambda trace: [_span(trace)],
        "assessments": lambda trace: [_assessment(trace, opinion) for opinion in trace.opinions],
        "entity_associations": _associations,
    }
    for name, rows in makers.items():
        _insert(connection, name, [row for trace in traces for row in rows(trace)])


def _insert(connection: Connection, name: str, rows: list[Row]) -> None:
    from sqlalchemy import column, table
    from sqlalchemy.dialects import postgresql, sqlite

    if not rows:
        return
    dialect: Any = sqlite if connection.dialect.name == "sqlite" else postgresql
    target = table(name, *(column(key) for key in rows[0]))
    connection.execute(dialect.insert(target).on_conflict_do_nothing(), rows)


def _info(trace: WireTrace) -> Row:
    given, taken = trace.tokens if trace.tokens is not None else (None, None)
    return {
        "request_id": trace.trace_id,
        "experiment_id": int(trace.experiment_id),
        "timestamp_ms": trace.request_time_ms,
        "execution_time_ms": trace.duration_ms,
        "status": trace.state,
        "request_preview": trace.request_preview,
        "response_preview": trace.response_preview,
        "db_payload_generation": 1,
        "trace_name": trace.name,
        "input_tokens": given,
        "output_tokens": taken,
        "total_tokens": None if given is None or taken is None else given + taken,
        "total_cost": trace.cost_usd,
    }


def _tags(trace: WireTrace, root: str) -> list[Row]:
    own = {
        "mlflow.artifactLocation": f"{root}/traces/{trace.trace_id}/artifacts",
        "mlflow.trace.spansLocation": "TRACKING_STORE",
    }
    return _pairs(trace, {**trace.tags, **own})


def _metadata(trace: WireTrace) -> list[Row]:
    """Tokens and cost are columns of trace_info; the mark says that those of the trace hold, not its spans'."""
    columns = ("mlflow.trace.tokenUsage", "mlflow.trace.cost")
    kept = {key: value for key, value in trace.metadata.items() if key not in columns}
    return _pairs(trace, {**kept, "mlflow.trace.infoFinalized": "true"})


def _pairs(trace: WireTrace, pairs: Mapping[str, str]) -> list[Row]:
    return [{"request_id": trace.trace_id, "key": key, "value": value} for key, value in pairs.items()]


def _span(trace: WireTrace) -> Row:
    span = trace.span
    return {
        "trace_id": trace.trace_id,
        "experiment_id": int(trace.experiment_id),
        "span_id": trace.span_hex,
        "name": span["name"],
        "type": trace.span_type,
        "status": "OK" if trace.state == "OK" else "ERROR",
        "start_time_unix_nano": span["start_time_unix_nano"],
        "end_time_unix_nano": span["end_time_unix_nano"],
        "content": json.dumps(span, ensure_ascii=False),
    }


def _assessment(trace: WireTrace, opinion: WireOpinion) -> Row:
    number, numeric = _aggregate(opinion.value)
    return {
        "assessment_id": opinion.assessment_id,
        "trace_id": trace.trace_id,
        "name": opinion.name,
        "assessment_type": opinion.kind,
        "value": json.dumps(opinion.value),
        "created_timestamp": opinion.created_ms,
        "last_updated_timestamp": opinion.updated_ms,
        "experiment_id": int(trace.experiment_id),
        "trace_timestamp_ms": trace.request_time_ms,
        "aggregate_value": number,
        "is_numeric_value": numeric,
        "source_type": opinion.source_type,
        "source_id": opinion.source_id,
        "run_id": opinion.metadata.get("mlflow.assessment.sourceRunId"),
        "rationale": opinion.rationale if opinion.kind == "feedback" else None,
        "valid": True,
        "assessment_metadata": json.dumps(dict(opinion.metadata)) if opinion.metadata else None,
    }


def _aggregate(value: Any) -> tuple[float | None, bool]:
    """MLflow's own rule: booleans, and the words yes and no, have a number; only real numbers are numeric."""
    if isinstance(value, bool):
        return float(value), False
    if isinstance(value, int | float):
        return (float(value), True) if math.isfinite(value) else (None, False)
    words = {"yes": 1.0, "no": 0.0}
    return (words.get(value.strip().lower()) if isinstance(value, str) else None), False


def _associations(trace: WireTrace) -> list[Row]:
    """What `prompt = "name/version"` searches traces by."""
    if trace.prompt is None:
        return []
    name, number = trace.prompt
    return [
        {
            "association_id": f"a-{trace.trace_id.removeprefix('tr-')}",
            "source_type": "trace",
            "source_id": trace.trace_id,
            "destination_type": "prompt_version",
            "destination_id": f"{name}/{number}",
            "created_time": trace.request_time_ms,
        }
    ]
