"""The reply store: every paid reply on disk the moment it arrives, found again by (digest, repeat, ask).

SQLite in WAL mode: a process killed at any instruction loses nothing that `put` returned from, and several processes
may share the file. Replies lie as ASCII JSON beside their checksum, so that any text survives (lone surrogates too) and
a damaged row is noticed and never served. Errors have a table of their own and are never served.
"""

from __future__ import annotations

import logging
import sqlite3
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from eva.edges.store_repair import end_repair, salvage
from eva.edges.store_rows import ascii_text, checksum, decode, encode
from eva.edges.store_schema import connect, connect_read_only, is_damage, is_refused, migrate
from eva.errors import StoreError
from eva.types import Reply

log = logging.getLogger("eva")

INSERT_REPLY = (
    "INSERT OR {clash} INTO replies (digest, repeat, ask, record_id, model, created, body, checksum)"
    " VALUES (?,?,?,?,?,?,?,?)"
)
INSERT_ERROR = (
    "INSERT INTO errors (digest, repeat, ask, record_id, kind, text, attempts, created) VALUES (?,?,?,?,?,?,?,?)"
)


class ReplyStore:
    """Replies by (request digest, repeat, ask). Creates, migrates or repairs the file; a context manager.

    Where the file can be read but not written, `read_only` is set and stored replies are served all the same.
    Raises StoreError where the file cannot be opened, is of a newer eva, or holds nothing that can be read.
    """

    def __init__(self, path: Path | str) -> None:
        self.path = Path(path)
        self.read_only = False
        self._db = self._open()

    def get(self, digest: str, repeat: int, ask: int = 0) -> Reply | None:
        """The stored reply, marked `cached`; None where there is none or its row is damaged (said in the log)."""
        sql = "SELECT body, checksum FROM replies WHERE digest=? AND repeat=? AND ask=?"
        row = next(iter(self._rows(sql, (digest, repeat, ask))), None)
        if row is None:
            return None
        reply = decode(*row)
        if reply is None or (reply.digest, reply.repeat, reply.ask) != (digest, repeat, ask):
            log.warning("reply store: reply %s…/%d is damaged and will be asked again", digest[:12], repeat)
            return None
        return replace(reply, cached=True)

    def put(self, reply: Reply) -> Reply:
        """Keep a reply, or an error in its own table; what is on record now.

        A reply that is there already stays, and is given back: two processes at one run see the same replies. Raises
        StoreError where it cannot be written (full disk, read-only folder).
        """
        key = (reply.digest, reply.repeat, reply.ask, ascii_text(reply.record_id))
        if reply.error is not None:
            self._rows(
                INSERT_ERROR,
                (*key, reply.error.value, ascii_text(reply.error_text), reply.attempts, reply.created),
            )
            return reply
        body = encode(reply)
        model = None if reply.model is None else ascii_text(reply.model)
        row = (*key, model, reply.created, body, checksum(body))
        self._rows(INSERT_REPLY.format(clash="IGNORE"), row)
        if self._db.execute("SELECT changes()").fetchone()[0] == 0:
            first = self.get(*key[:3])
            if first is not None:
                return replace(first, record_id=reply.record_id, cached=False)
            # What is there is damaged, and gives way.
            self._rows(INSERT_REPLY.format(clash="REPLACE"), row)
        return reply

    def errors(self, digest: str, repeat: int) -> tuple[tuple[str, str], ...]:
        """What failed for this request and repeat, oldest first: (kind, text)."""
        rows = self._rows("SELECT kind, text FROM errors WHERE digest=? AND repeat=? ORDER BY id", (digest, repeat))
        return tuple((str(kind), str(text)) for kind, text in rows)

    def query(self, sql: str, values: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
        """Rows of a statement on the tables of `store_schema`, for the store's own care (`store_care`)."""
        return self._rows(sql, values)

    def replies(self) -> Iterator[tuple[str, str]]:
        """(body, checksum) of every reply, a page at a time, in the order in which they came."""
        last = 0
        while rows := self._rows("SELECT id, body, checksum FROM replies WHERE id>? ORDER BY id LIMIT 500", (last,)):
            last = rows[-1][0]
            yield from ((body, mark) for _, body, mark in rows)

    def add_all(self, replies: Iterable[Reply]) -> int:
        """Put many replies in one transaction; how many were new."""
        before = self._rows("SELECT count(*) FROM replies", ())[0][0]
        self._rows("BEGIN IMMEDIATE", ())
        try:
            for reply in replies:
                self.put(reply)
        except BaseException:
            self._rows("ROLLBACK", ())
            raise
        self._rows("COMMIT", ())
        return int(self._rows("SELECT count(*) FROM replies", ())[0][0] - before)

    def check_writable(self) -> None:
        """Raises StoreError where replies could not be kept: asked before the first paid call."""
        if self.read_only:
            raise StoreError(f"{self.path} cannot be written, and paid replies would be lost. Make it writable.")
        self._rows("UPDATE meta SET value=value WHERE key='format'", ())

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
            end_repair(self.path)
            return self._connected()
        except sqlite3.DatabaseError as error:
            if is_damage(error):
                salvage(self.path)
                return self._connected()
            if not is_refused(error):
                raise StoreError(f"the reply store {self.path} cannot be opened: {error}") from error
            return self._open_read_only(error)
        except OSError as error:
            return self._open_read_only(error)

    def _connected(self) -> sqlite3.Connection:
        db = connect(self.path)
        try:
            migrate(db, self.path)
        except BaseException:
            db.close()
            raise
        return db

    def _open_read_only(self, error: Exception) -> sqlite3.Connection:
        if not self.path.is_file():
            raise StoreError(f"the reply store {self.path} cannot be made: {error}") from error
        self.read_only = True
        log.warning("reply store: %s cannot be written; stored replies are used, new ones could not be kept", self.path)
        try:
            return connect_read_only(self.path)
        except sqlite3.DatabaseError as refused:
            raise StoreError(f"the reply store {self.path} cannot be read: {refused}") from refused

    def _rows(self, sql: str, values: tuple[Any, ...]) -> list[tuple[Any, ...]]:
        try:
            return self._db.execute(sql, values).fetchall()
        except sqlite3.DatabaseError as error:
            if not is_damage(error) or self.read_only or self._db.in_transaction:
                raise StoreError(f"reply store {self.path}: {error}. What was stored before is safe.") from error
        self._db.close()
        salvage(self.path)
        self._db = self._connected()
        return self._db.execute(sql, values).fetchall()
