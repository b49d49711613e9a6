"""Looking into a local store without writing to it: MLflow locks, migrates and logs ahead even where it only reads."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from eva.edges.tracking.spec import TrackingSpec
from eva.errors import TrackingError

BESIDE = ("", "-wal")
"""The database and what was logged ahead of it: together they hold everything that was committed."""


@contextmanager
def readable(tracking: TrackingSpec) -> Iterator[TrackingSpec]:
    """The store to read from. One that cannot be written to is read from a copy, which goes away afterwards.

    Raises TrackingError where there is no store: reading makes none.
    """
    path = tracking.sqlite_path
    if path is None:
        yield tracking
        return
    if not path.is_file():
        raise TrackingError(
            f"MLflow has nothing at {tracking.uri}: no run was logged there. "
            "`--home` names another folder, `tracking.uri=…` another store."
        )
    if _writable(path):
        yield tracking
        return
    with tempfile.TemporaryDirectory() as place:
        copy = Path(place) / path.name
        try:
            for end in BESIDE:
                if path.with_name(path.name + end).is_file():
                    shutil.copyfile(path.with_name(path.name + end), copy.with_name(copy.name + end))
        except OSError as error:
            raise TrackingError(f"{path} cannot be read: {error.strerror}.") from error
        yield replace(tracking, uri=f"sqlite:///{copy}", artifacts=str(Path(place) / "artifacts"))


def _writable(path: Path) -> bool:
    """SQLite writes beside the file too (its log, its lock)."""
    return os.access(path, os.W_OK) and os.access(path.parent, os.W_OK)
