"""A prepared MLflow database, copied for each test: making one takes seconds."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from eva.edges.tracking import TrackingSpec, prepare_store


@pytest.fixture(scope="session")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An empty database of the current schema."""
    spec = TrackingSpec().at(tmp_path_factory.mktemp("prepared"))
    prepare_store(spec)
    assert spec.sqlite_path is not None
    return spec.sqlite_path


@pytest.fixture
def tracking(tmp_path: Path, prepared: Path) -> TrackingSpec:
    """A local store of this test's own."""
    spec = TrackingSpec().at(tmp_path)
    assert spec.sqlite_path is not None
    spec.sqlite_path.parent.mkdir(parents=True)
    shutil.copy(prepared, spec.sqlite_path)
    return spec


@pytest.fixture
def rows(tracking: TrackingSpec) -> Callable[[str], list[tuple[object, ...]]]:
    """Runs one query on the test's database."""
    import sqlite3
    from contextlib import closing

    def ask(query: str) -> list[tuple[object, ...]]:
        assert tracking.sqlite_path is not None
        with closing(sqlite3.connect(tracking.sqlite_path)) as database:
            return database.execute(query).fetchall()

    return ask
