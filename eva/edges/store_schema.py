"""The reply store's file: its tables, their versions, the way from each to the next, and how it is opened."""

from __future__ import annotations

import contextlib
import sqlite3
from pathlib import Path

from eva.errors import StoreError

BUSY_S = 30.0
"""How long a write waits for another process's write."""

STEPS: tuple[tuple[str, ...], ...] = (
    (  # 0 → 1
        "CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL)",
        """CREATE TABLE replies (
            id INTEGER PRIMARY KEY, digest TEXT NOT NULL, repeat INTEGER NOT NULL, ask INTEGER NOT NULL,
            record_id TEXT NOT NULL, model TEXT, created TEXT NOT NULL, body TEXT NOT NULL, checksum TEXT NOT NULL,
            UNIQUE (digest, repeat, ask))""",
        """CREATE TABLE errors (
            id INTEGER PRIMARY KEY, digest TEXT NOT NULL, repeat INTEGER NOT NULL, ask INTEGER NOT NULL,
            record_id TEXT NOT NULL, kind TEXT NOT NULL, text TEXT NOT NULL, attempts INTEGER NOT NULL,
            created TEXT NOT NULL)""",
        "CREATE INDEX errors_by_request ON errors (digest, repeat)",
        "INSERT INTO meta VALUES ('format', 'eva replies')",
    ),
    (  # 1 → 2: pruning by age reads no bodies
        "CREATE INDEX replies_by_age ON replies (created)",
    ),
)
"""`STEPS[n]` leads from version n to n + 1. Never edited once released; a change is a new step."""
VERSION = len(STEPS)


def migrate(db: sqlite3.Connection, path: Path) -> None:
    """Bring a file to today's version, in one transaction. Raises StoreError for a file of a newer eva."""
    if _version(db) == VERSION:
        return
    db.execute("BEGIN IMMEDIATE")
    try:
        # Asked inside the lock: another process may have been first.
        version = _version(db)
        if version > VERSION:
            raise StoreError(f"{path} is of a newer eva (store version {version}, known is {VERSION}). Update eva.")
        for step in STEPS[version:]:
            for statement in step:
                db.execute(statement)
        db.execute(f"PRAGMA user_version={VERSION}")
    except BaseException:
        db.execute("ROLLBACK")
        raise
    db.execute("COMMIT")


def connect(path: Path) -> sqlite3.Connection:
    """A connection in autocommit and WAL mode: each statement is safe from a killed process when it returns."""
    # A connection may be opened in one thread and used in another (a notebook's loop); uses never overlap.
    db = sqlite3.connect(path, timeout=BUSY_S, isolation_level=None, check_same_thread=False)
    try:
        db.execute("PRAGMA journal_mode=WAL")
        # NORMAL survives a killed process; only a power cut may lose the last replies, and none is ever half written.
        db.execute("PRAGMA synchronous=NORMAL")
        db.execute("SELECT count(*) FROM sqlite_master").fetchone()
    except BaseException:
        db.close()
        raise
    return db


def connect_read_only(path: Path) -> sqlite3.Connection:
    """A connection that writes nothing, not even SQLite's side files. Rows still in a write-ahead log are not seen."""
    # immutable: in a folder that cannot be written, SQLite could not make the shared memory that WAL readers need.
    uri = f"{path.resolve().as_uri()}?mode=ro&immutable=1"
    db = sqlite3.connect(uri, uri=True, isolation_level=None, check_same_thread=False)
    try:
        version = _version(db)
    except BaseException:
        db.close()
        raise
    if not 1 <= version <= VERSION:
        db.close()
        raise StoreError(f"{path} is of store version {version}; known are 1 to {VERSION}")
    return db


def is_damage(error: sqlite3.Error) -> bool:
    """The file itself is broken."""
    return _code(error) in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)


def is_refused(error: sqlite3.Error) -> bool:
    """The file or its folder must not be written."""
    return _code(error) in (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM)


def _code(error: sqlite3.Error) -> int:
    with contextlib.suppress(AttributeError):  # errors that the Python side raises carry no code
        return error.sqlite_errorcode & 0xFF
    return 0


def _version(db: sqlite3.Connection) -> int:
    return int(db.execute("PRAGMA user_version").fetchone()[0])
