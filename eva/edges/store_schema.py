"""The reply store's tables, their versions, and the way from each to the next."""

from __future__ import annotations

import sqlite3
from pathlib import Path

from eva.errors import StoreError

VERSION = 1

TABLES = """
CREATE TABLE IF NOT EXISTS meta (key TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS replies (
    id INTEGER PRIMARY KEY,
    digest TEXT NOT NULL, repeat INTEGER NOT NULL, ask INTEGER NOT NULL,
    record_id TEXT NOT NULL, model TEXT, created TEXT NOT NULL,
    body TEXT NOT NULL, checksum TEXT NOT NULL,
    UNIQUE (digest, repeat, ask));
CREATE TABLE IF NOT EXISTS errors (
    id INTEGER PRIMARY KEY,
    digest TEXT NOT NULL, repeat INTEGER NOT NULL, ask INTEGER NOT NULL,
    record_id TEXT NOT NULL, kind TEXT NOT NULL, text TEXT NOT NULL, attempts INTEGER NOT NULL, created TEXT NOT NULL);
CREATE INDEX IF NOT EXISTS errors_by_request ON errors (digest, repeat);
INSERT OR IGNORE INTO meta VALUES ('format', 'eva replies');
"""


def migrate(db: sqlite3.Connection, path: Path) -> None:
    """Bring a file to today's version, in one transaction. Raises StoreError for a file of a newer eva."""
    version = int(db.execute("PRAGMA user_version").fetchone()[0])
    if version == VERSION:
        return
    if version > VERSION:
        raise StoreError(
            f"{path} was written by a newer eva (store version {version}; this one knows {VERSION}). Update eva."
        )
    db.execute("BEGIN IMMEDIATE")
    # Asked again inside the lock: another process may have been first.
    if int(db.execute("PRAGMA user_version").fetchone()[0]) < VERSION:
        for statement in TABLES.split(";"):
            db.execute(statement)
        db.execute(f"PRAGMA user_version={VERSION}")
    db.execute("COMMIT")
