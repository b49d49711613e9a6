"""The reply store: every paid reply on disk the moment it arrives, found again by (digest, repeat, ask).

SQLite in WAL mode: a process killed at any instruction loses nothing that `put` returned from; several processes may
share the file. Replies lie as ASCII JSON beside their checksum, so that any text survives (lone surrogates too) and a
damaged row is noticed and never served. Errors have a table of their own and are never served.
"""

from __future__ import annotations

import hashlib
import json
import logging
import sqlite3
from collections.abc import Iterator
from dataclasses import asdict, replace
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from eva.edges.store_schema import migrate
from eva.errors import StoreError
from eva.types import Reply, Usage

log = logging.getLogger("eva")

BUSY_S = 30.0
"""How long a write waits for another process's write."""


class ReplyStore:
    """Replies by (request digest, repeat, ask). Creates or migrates the file; a context manager."""

    def __init__(self, path: Path | str) -> None:
        self.path = Path(path)
        self.read_only = False
        self._db = self._open()

    def get(self, digest: str, repeat: int, ask: int = 0) -> Reply | None:
        """The stored reply, marked `cached`; None where there is none or its row is damaged (said in the log)."""
        row = self._run(
            "SELECT body, checksum FROM replies WHERE digest=? AND repeat=? AND ask=?", (digest, repeat, ask)
        ).fetchone()
        if row is None:
            return None
        reply = decode(*row)
        if reply is None:
            log.warning("reply store: the reply %s…/%d is damaged and will be asked again", digest[:12], repeat)
            return None
        return replace(reply, cached=True)

    def put(self, reply: Reply) -> None:
        """Keep a reply, or an error in its own table. A reply that is there already stays: the first one counts.

        Raises StoreError where it cannot be written (full disk, read-only folder).
        """
        if reply.error is not None:
            self._run(
                "INSERT INTO errors (digest, repeat, ask, record_id, kind, text, attempts, created)"
                " VALUES (?,?,?,?,?,?,?,?)",
                (reply.digest, reply.repeat, reply.ask, ascii_text(reply.record_id), reply.error.value,
                 ascii_text(reply.error_text), reply.attempts, reply.created),
            )  # fmt: skip
            return
        body = encode(reply)
        # A damaged row of this key gives way; a good one stays.
        if self.get(reply.digest, reply.repeat, reply.ask) is None:
            self._run(
                "INSERT OR REPLACE INTO replies (digest, repeat, ask, record_id, model, created, body, checksum)"
                " VALUES (?,?,?,?,?,?,?,?)",
                (reply.digest, reply.repeat, reply.ask, ascii_text(reply.record_id), reply.model, reply.created, body,
                 checksum(body)),
            )  # fmt: skip

    def errors(self, digest: str, repeat: int) -> tuple[tuple[str, str], ...]:
        """What failed for this request and repeat, oldest first: (kind, text)."""
        rows = self._run("SELECT kind, text FROM errors WHERE digest=? AND repeat=? ORDER BY id", (digest, repeat))
        return tuple((str(kind), str(text)) for kind, text in rows)

    def rows(self) -> Iterator[tuple[str, str]]:
        """(body, checksum) of every reply, in the order of the key."""
        yield from self._run("SELECT body, checksum FROM replies ORDER BY digest, repeat, ask", ())

    def check_writable(self) -> None:
        """Raises StoreError where replies could not be kept: asked before the first paid call."""
        if self.read_only:
            raise StoreError(
                f"{self.path} cannot be written, and replies would be lost. Give another folder, or make it writable."
            )
        self._run("UPDATE meta SET value=value WHERE key='format'", ())

    def close(self) -> None:
        """Close the file; what was put is on disk already."""
        self._db.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _open(self) -> sqlite3.Connection:
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            db = connect(self.path)
        except (OSError, sqlite3.OperationalError) as error:
            return self._open_read_only(error)
        migrate(db, self.path)
        return db

    def _open_read_only(self, error: Exception) -> sqlite3.Connection:
        if not self.path.is_file():
            raise StoreError(f"the reply store {self.path} cannot be made: {error}") from error
        self.read_only = True
        return sqlite3.connect(f"{self.path.resolve().as_uri()}?mode=ro", uri=True, check_same_thread=False)

    def _run(self, sql: str, values: tuple[Any, ...]) -> sqlite3.Cursor:
        try:
            return self._db.execute(sql, values)
        except sqlite3.OperationalError as error:
            raise StoreError(f"reply store {self.path}: {error}. What was stored before is safe.") from error


def connect(path: Path) -> sqlite3.Connection:
    """A connection in autocommit and WAL mode: each statement is durable against a killed process when it returns."""
    # One connection may be opened in one thread and used in another (a notebook's loop); uses never overlap.
    db = sqlite3.connect(path, timeout=BUSY_S, isolation_level=None, check_same_thread=False)
    db.execute("PRAGMA journal_mode=WAL")
    # NORMAL survives a killed process; only a power cut may lose the last replies, and none is ever half written.
    db.execute("PRAGMA synchronous=NORMAL")
    return db


def encode(reply: Reply) -> str:
    """A reply as ASCII JSON, without what holds for one serving only."""
    body = asdict(reply)
    for passing in ("cached", "error", "error_text"):
        del body[passing]
    return json.dumps(body, sort_keys=True, separators=(",", ":"))


def decode(body: str, stored_checksum: str) -> Reply | None:
    """The reply in a row; None where the checksum does not fit or the body cannot be read."""
    if checksum(body) != stored_checksum:
        return None
    try:
        values = json.loads(body)
        return Reply(**{**values, "usage": Usage(**values["usage"])})
    except (ValueError, TypeError, KeyError):
        return None


def checksum(body: str) -> str:
    """The first 16 hex digits of the body's sha256: against damage, not against forgery."""
    return hashlib.sha256(body.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def ascii_text(text: str) -> str:
    """Text that SQLite can hold whatever it is: lone surrogates become escapes."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")
