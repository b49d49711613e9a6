"""What a client is, and how one attempt may fail. The retry layer above it (`eva/edges/limits.py`) is the only one."""

from __future__ import annotations

from typing import Protocol

from eva.types import Failure, Reply, Request


class Client(Protocol):
    """Asks one model. One attempt per call: no retries, no cache, no limits of its own."""

    async def ask(self, request: Request, repeat: int) -> Reply:
        """The model's reply.

        Raises Transient (worth another attempt), RecordFailure (this record only, for good), or ModelError and its kin
        (no call of this run can succeed).
        """
        ...

    async def close(self) -> None:
        """Give back connections, on the loop that used them. A closed client may be asked again."""
        ...


class Transient(Exception):
    """A time-out, a 429, a 5xx, a broken connection: another attempt may succeed."""

    def __init__(self, text: str, *, retry_after: float | None = None, limited: bool = False) -> None:
        super().__init__(text)
        self.retry_after = retry_after
        """Seconds that the provider asks to wait."""
        self.limited = limited
        """The provider says that we ask too much: everybody slows down, not this call alone."""


class RecordFailure(Exception):
    """The provider will never answer this request: too long, filtered, rejected, not recorded."""

    def __init__(self, failure: Failure, text: str) -> None:
        super().__init__(text)
        self.failure = failure
