"""Which of MLflow's errors pass by themselves, and how long they are waited for. The only retries there are."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

ATTEMPTS, FIRST_WAIT_S = 9, 0.25
"""A minute of waiting in all: long enough for a server to be started again. MLflow's own retries are off."""
BEFORE_A_RUN = 4
"""Attempts before anything is paid: two seconds, since a server that is away is better known at once."""
PASSING = (
    "database is locked",
    "deadlock",
    "unique constraint",  # two processes made the same row: the next attempt finds it
    "duplicate key",
    "connection refused",
    "connection aborted",
    "connection reset",
    "max retries exceeded",
    "error code 429",
    "error code 502",
    "error code 503",
    "error code 504",
)

T = TypeVar("T")


def passing(error: Exception) -> bool:
    """A lock, a restart, a busy server, a race: worth another try."""
    words = str(error).lower()
    return getattr(error, "error_code", "") == "TEMPORARILY_UNAVAILABLE" or any(word in words for word in PASSING)


def patiently(action: Callable[[], T], *, kind: type[Exception], attempts: int = ATTEMPTS) -> T:
    """`action`, tried again with doubling waits while errors of `kind` pass; the last one is raised as it is."""
    for attempt in range(attempts - 1):
        try:
            return action()
        except kind as error:
            if not passing(error):
                raise
            time.sleep(FIRST_WAIT_S * 2**attempt)
    return action()
