"""Looking after the store: what is in it, is it whole, what may go, and how replies travel to a colleague or to CI."""

from __future__ import annotations

import gzip
import json
import os
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import IO

from eva.edges.store import ReplyStore
from eva.edges.store_rows import checksum, decode, encode
from eva.errors import DataError, StoreError
from eva.types import Reply

HEADER = {"format": "eva replies", "version": 1}
LONGEST_LINE = 64 * 2**20
LARGEST_IMPORT = 8 * 2**30
"""Bytes after unpacking: a small archive must not fill the disk."""


@dataclass(frozen=True)
class Stats:
    """What a store holds."""

    replies: int
    requests: int
    """Distinct request digests."""
    errors: int
    by_model: dict[str, int]
    """Replies by the model that answered."""
    oldest: str | None
    newest: str | None
    bytes: int


@dataclass(frozen=True)
class Checked:
    """What `verify` found. `whole` is true where nothing is wrong."""

    replies: int
    damaged: tuple[str, ...]
    """`digest/repeat/ask` of rows whose checksum or content does not fit."""
    problems: tuple[str, ...]
    """SQLite's own findings."""

    @property
    def whole(self) -> bool:
        return not self.damaged and not self.problems


@dataclass(frozen=True)
class Imported:
    """What an import did."""

    added: int
    present: int
    """Replies that were there already; those stay as they are."""


def stats(store: ReplyStore) -> Stats:
    """Counts and sizes."""
    replies, requests, oldest, newest = store.query(
        "SELECT count(*), count(DISTINCT digest), min(created), max(created) FROM replies"
    )[0]
    models = store.query("SELECT coalesce(model, 'unnamed'), count(*) FROM replies GROUP BY 1 ORDER BY 2 DESC")
    return Stats(
        replies=replies,
        requests=requests,
        errors=store.query("SELECT count(*) FROM errors")[0][0],
        by_model={str(model): int(count) for model, count in models},
        oldest=oldest,
        newest=newest,
        bytes=store.path.stat().st_size,
    )


def verify(store: ReplyStore) -> Checked:
    """Read every row and compare it with its checksum and key; SQLite checks its pages and indexes."""
    damaged: list[str] = []
    count = 0
    for digest, repeat, ask, body, mark in store.query("SELECT digest, repeat, ask, body, checksum FROM replies"):
        count += 1
        reply = decode(body, mark)
        if reply is None or (reply.digest, reply.repeat, reply.ask) != (digest, repeat, ask):
            damaged.append(f"{digest}/{repeat}/{ask}")
    found = [str(row[0]) for row in store.query("PRAGMA integrity_check(20)")]
    return Checked(replies=count, damaged=tuple(damaged), problems=tuple(text for text in found if text != "ok"))


def prune(
    store: ReplyStore,
    *,
    before: str | None = None,
    model: str | None = None,
    keep: Collection[str] = (),
    count_only: bool = False,
) -> int:
    """Delete replies (and errors) that match all that is given; how many replies.

    before: ISO date or time, in UTC where it names no zone; only older ones. model: only those that this model answered.
    keep: digests that stay, such as those of finished runs. Raises StoreError where neither `before` nor `model` is given, or
    `before` is no date.
    """
    if before is None and model is None:
        raise StoreError("say what may go: replies older than a date, or those of a model")
    before = _moment(before) if before is not None else None
    rows = store.query(
        "SELECT id, digest FROM replies WHERE (? IS NULL OR created < ?) AND (? IS NULL OR model = ?)",
        (before, before, model, model),
    )
    kept = set(keep)
    going = [number for number, digest in rows if digest not in kept]
    if count_only:
        return len(going)
    store.check_writable()
    for number in going:
        store.query("DELETE FROM replies WHERE id=?", (number,))
    if before is not None:
        store.query("DELETE FROM errors WHERE created < ?", (before,))
    store.query("VACUUM")
    return len(going)


def _moment(text: str) -> str:
    """A date as the store writes it. Texts are compared, so that `yesterday` would be later than every reply."""
    try:
        moment = datetime.fromisoformat(text)
    except ValueError as error:
        raise StoreError(f"{text!r} is no date: write it as 2026-01-31 or 2026-01-31T12:00") from error
    moment = moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment
    # Without a zone: as a beginning of what the store writes, it is before all that was written at that moment.
    return moment.astimezone(UTC).replace(tzinfo=None).isoformat()


def export_replies(store: ReplyStore, path: Path, *, digests: Collection[str] | None = None) -> int:
    """Write replies as JSONL (packed where the name ends in .gz), a header first; how many. Damaged rows stay.

    The file is written whole or not at all. Raises StoreError where it cannot be.
    """
    wanted = None if digests is None else set(digests)
    partial = path.with_name(f".{os.getpid()}.partial.{path.name}")  # the ending says whether it is packed
    try:
        with _writer(partial) as file:
            count = _write(store, file, wanted)
        os.replace(partial, path)
    except OSError as error:
        raise StoreError(f"{path} cannot be written: {error.strerror or error}") from error
    finally:
        partial.unlink(missing_ok=True)
    return count


def _write(store: ReplyStore, file: IO[str], wanted: Collection[str] | None) -> int:
    count = 0
    file.write(json.dumps(HEADER) + "\n")
    for body, mark in store.replies():
        reply = decode(body, mark)
        if reply is not None and (wanted is None or reply.digest in wanted):
            file.write(json.dumps({"reply": json.loads(body), "checksum": mark}) + "\n")
            count += 1
    return count


def import_replies(store: ReplyStore, path: Path) -> Imported:
    """Add the replies of an export, all or none; replies that are there already stay.

    Raises DataError that names the line for a file that is cut, changed, of another kind, or too big.
    """
    store.check_writable()
    seen = 0

    def counted() -> Iterator[Reply]:
        nonlocal seen
        for reply in _read(path):
            seen += 1
            yield reply

    added = store.add_all(counted())
    return Imported(added=added, present=seen - added)


def _read(path: Path) -> Iterator[Reply]:
    size = 0
    try:
        with _reader(path) as file:
            number = 0
            while line := file.readline(LONGEST_LINE + 1):
                number, size = number + 1, size + len(line)
                if len(line) > LONGEST_LINE or size > LARGEST_IMPORT:
                    raise DataError("is too big for an export of replies", file=str(path), line=number)
                if number == 1:
                    _check_header(line, path)
                elif line.strip():
                    yield _reply(line, path, number)
            if number == 0:
                raise DataError("is empty", file=str(path))
    except (OSError, EOFError, UnicodeDecodeError) as error:
        raise DataError(f"cannot be read: {error}", file=str(path)) from error


def _check_header(line: str, path: Path) -> None:
    try:
        header = json.loads(line)
    except ValueError:
        header = None
    if header != HEADER:
        raise DataError(f"is no export of replies of version {HEADER['version']}", file=str(path), line=1)


def _reply(line: str, path: Path, number: int) -> Reply:
    try:
        row = json.loads(line)
        body = json.dumps(row["reply"], sort_keys=True, separators=(",", ":"))
        reply = decode(body, row["checksum"])
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise DataError(f"cannot be read: {error}", file=str(path), line=number) from error
    # Encoded again: what is not a field of a reply, or of a wrong type, must not enter the store.
    if reply is None or checksum(encode(reply)) != row["checksum"]:
        raise DataError("was changed or cut: its checksum does not fit", file=str(path), line=number)
    return reply


def _writer(path: Path) -> IO[str]:
    if path.name.endswith(".gz"):
        return gzip.open(path, "wt", encoding="ascii")
    return path.open("w", encoding="ascii", newline="\n")


def _reader(path: Path) -> IO[str]:
    if path.name.endswith(".gz"):
        return gzip.open(path, "rt", encoding="utf-8", newline="\n")
    return path.open(encoding="utf-8", newline="\n")
