"""One process at a time: while a database's schema is made, and while a run folder is logged."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def alone(path: Path) -> Iterator[None]:
    """Hold the lock on the file `path` (made if it is not there; its content stays). Waits for whoever has it.

    The system frees it when a process ends, however it ends. Where the system has no such lock (Windows) nothing is
    locked.
    """
    try:
        import fcntl
    except ImportError:
        yield
        return
    with path.open("ab") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        yield
