"""A damaged store: whatever can be read moves into a fresh file, and the damaged one is kept beside it."""

from __future__ import annotations

import contextlib
import logging
import os
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from eva.edges.store_rows import decode
from eva.edges.store_schema import connect, migrate
from eva.errors import StoreError

log = logging.getLogger("eva")

TABLES = {
    "replies": "digest, repeat, ask, record_id, model, created, body, checksum",
    "errors": "digest, repeat, ask, record_id, kind, text, attempts, created",
}
LEAST_ROW = 64
"""Bytes that a row takes at least: bounds how many there can be."""


def salvage(path: Path) -> tuple[int, Path]:
    """Replace a damaged store by one of its readable rows: (replies kept, where the damaged file is now).

    Raises StoreError where nothing can be read (beginning anew would pay for everything again, so that is the user's
    choice), or where another process is at it.
    """
    with _alone(path):
        fresh = path.with_name(f"{path.name}.new")
        _remove(fresh)
        counts = _copy(path, fresh)
        if counts["replies"] == 0:
            _remove(fresh)
            raise StoreError(
                f"the reply store {path} is damaged and no reply in it can be read. To begin anew (all replies are"
                f" asked and paid for again), move it away: mv {path} {path}.damaged"
            )
        os.replace(fresh, _repaired(path))  # from here on the repair is done, whoever ends it
        aside = _swap(path)
    log.warning(
        "reply store: %s was damaged; %d replies could be read and are kept, others are asked again; the old file: %s",
        path, counts["replies"], aside.name,
    )  # fmt: skip
    return counts["replies"], aside


def end_repair(path: Path) -> None:
    """End what a process that was killed in the middle of a repair began; without one, nothing.

    Raises StoreError where another process is at it.
    """
    if not _repaired(path).exists():
        return
    with _alone(path):
        if _repaired(path).exists():
            aside = _swap(path)
            log.warning("reply store: a repair of %s was interrupted and is ended now; old file: %s", path, aside.name)


def _swap(path: Path) -> Path:
    """The repaired file in the damaged one's place, which moves aside. May be begun again after a kill at any step."""
    aside = _free_name(path)
    # The side files go first and the new file comes last: beside a log of another file it would be read as a wrong one.
    for suffix in ("-wal", "-shm", ""):
        with contextlib.suppress(FileNotFoundError):
            os.replace(f"{path}{suffix}", f"{aside}{suffix}")
    os.replace(_repaired(path), path)
    return aside


def _repaired(path: Path) -> Path:
    return path.with_name(f"{path.name}.repaired")


def _lock(path: Path) -> Path:
    return path.with_name(f"{path.name}.repair")


def _copy(path: Path, fresh: Path) -> dict[str, int]:
    """Copy readable rows into `fresh`; how many, by table."""
    counts = dict.fromkeys(TABLES, 0)
    source = sqlite3.connect(path, isolation_level=None)
    # Without it SQLite reads nothing at all from a file that is shorter than its header says. Nothing is written.
    source.execute("PRAGMA writable_schema=ON")
    target = connect(fresh)
    try:
        migrate(target, fresh)
        target.execute("BEGIN")
        for table, columns in TABLES.items():
            marks = ",".join("?" * (columns.count(",") + 1))
            for row in _readable(source, table, columns, path.stat().st_size // LEAST_ROW):
                if table == "replies" and decode(row[6], row[7]) is None:
                    continue
                target.execute(f"INSERT OR IGNORE INTO {table} ({columns}) VALUES ({marks})", row)  # noqa: S608  # our names
                counts[table] += 1
        target.execute("COMMIT")
        target.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        target.execute("PRAGMA journal_mode=DELETE")  # one file, to be renamed whole
    finally:
        source.close()
        target.close()
    return counts


def _readable(db: sqlite3.Connection, table: str, columns: str, most: int) -> Iterator[tuple[Any, ...]]:
    """Rows by id, one look-up each: a broken page costs the rows on it and no others."""
    try:
        most = int(db.execute(f"SELECT max(id) FROM {table}").fetchone()[0] or 0)  # noqa: S608  # our names
    except (sqlite3.Error, TypeError):
        log.debug("reply store: the last id of %s cannot be read; %d are tried", table, most)
    for number in range(1, most + 1):
        try:
            row = db.execute(f"SELECT {columns} FROM {table} WHERE id=?", (number,)).fetchone()  # noqa: S608  # our names
        except sqlite3.Error:
            continue  # this row is lost: what is counted is what is kept
        if row is not None:
            yield row


@contextlib.contextmanager
def _alone(path: Path) -> Iterator[None]:
    """One process repairs at a time. The lock names its process: one that was killed locks nobody out."""
    lock = _lock(path)
    try:
        for _ in range(2):
            try:
                handle = os.open(lock, os.O_CREAT | os.O_EXCL | os.O_WRONLY)
                break
            except FileExistsError:
                if _is_alive(lock):
                    raise
                lock.unlink(missing_ok=True)
        else:
            raise FileExistsError(lock)
        os.write(handle, str(os.getpid()).encode())
        os.close(handle)
    except FileExistsError as error:
        raise StoreError(
            f"{path} is damaged and another process repairs it; try again. (If none does: rm {lock})"
        ) from error
    except OSError as error:
        raise StoreError(f"{path} is damaged and cannot be repaired here: {error}") from error
    try:
        yield
    finally:
        lock.unlink(missing_ok=True)


def _is_alive(lock: Path) -> bool:
    """Whether the process that a lock names is there; a lock that names none yet counts as held."""
    if os.name == "nt":  # there, signal 0 is Ctrl-C
        return True
    try:
        number = int(lock.read_text(encoding="ascii"))
        if number <= 0:
            return True
        os.kill(number, 0)
    except ProcessLookupError:
        return False
    except (OSError, ValueError, OverflowError):
        return True
    return True


def _free_name(path: Path) -> Path:
    number = 1
    while path.with_name(f"{path.name}.damaged-{number}").exists():
        number += 1
    return path.with_name(f"{path.name}.damaged-{number}")


def _remove(path: Path) -> None:
    for suffix in ("", "-wal", "-shm"):
        Path(f"{path}{suffix}").unlink(missing_ok=True)
