"""Done, failures, tokens, cost and time left: a bar on a terminal, a line now and then elsewhere."""

from __future__ import annotations

import sys
import time
from types import TracebackType
from typing import Any, TextIO

from eva.types import Reply

LINE_EVERY_S = 15.0


class Progress:
    """A context manager; call it with each reply."""

    def __init__(self, total: int, *, label: str, stream: TextIO | None = None) -> None:
        self.total, self.label = total, label
        self.stream = stream or sys.stderr
        self.done = self.failed = self.cached = self.tokens = 0
        self.cost: float = 0.0
        self.unpriced = False
        self.started = self.last_line = time.monotonic()
        self._bar: Any = None

    def __enter__(self) -> Progress:
        if self.stream.isatty():
            from rich.console import Console
            from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

            columns = (
                TextColumn("{task.description}"),
                BarColumn(bar_width=24),
                TextColumn("{task.completed}/{task.total} {task.fields[note]}"),
                TimeRemainingColumn(),
            )
            self._bar = Progress(*columns, console=Console(file=self.stream), transient=True)
            self._bar.start()
            self._task = self._bar.add_task(self.label, total=self.total, note="")
        return self

    def __call__(self, reply: Reply) -> None:
        self.done += 1
        self.failed += reply.error is not None
        self.cached += reply.cached
        self.tokens += (reply.usage.input_tokens or 0) + (reply.usage.output_tokens or 0)
        if not reply.cached:
            self.cost += reply.cost_usd or 0.0
            self.unpriced |= reply.cost_usd is None
        if self._bar is not None:
            self._bar.update(self._task, completed=self.done, note=self._note())
        elif time.monotonic() - self.last_line >= LINE_EVERY_S:
            self.last_line = time.monotonic()
            print(
                f"{self.label}: {self.done}/{self.total} {self._note()}, {self._left()}", file=self.stream, flush=True
            )

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar.stop()
        took = time.monotonic() - self.started
        print(f"{self.label}: {self.done}/{self.total} {self._note()}, took {took:.1f} s", file=self.stream, flush=True)

    def _note(self) -> str:
        cost = "cost unknown" if self.unpriced else f"${self.cost:.2f}"
        return f"({self.failed} failed, {self.cached} from store, {self.tokens:,} tokens, {cost})"

    def _left(self) -> str:
        asked = self.done - self.cached
        if not asked:
            return "time left unknown"
        seconds = (time.monotonic() - self.started) / asked * (self.total - self.done)
        return f"about {seconds:.0f} s left"
