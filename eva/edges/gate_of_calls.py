"""Who may call now: a concurrency limit that shrinks and grows, a shared pause, and a halt that wakes everybody."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Callable


class Halt:
    """Set once; whoever sleeps through it wakes at once. No new call begins after it."""

    def __init__(self) -> None:
        self._event = asyncio.Event()
        self._stop: asyncio.Event | None = None
        self._listeners: list[Callable[[], None]] = []

    def set(self) -> None:
        """Stop all waiting."""
        self._event.set()
        for listener in self._listeners:
            listener()

    def is_set(self) -> bool:
        return self._event.is_set() or (self._stop is not None and self._stop.is_set())

    async def follow(self, stop: asyncio.Event) -> None:
        """Halt when `stop` is set: seen at once by `is_set`, a turn of the loop later by those who sleep."""
        self._stop = stop
        await stop.wait()
        self.set()

    def on_set(self, listener: Callable[[], None]) -> None:
        """Call `listener` when the halt comes."""
        self._listeners.append(listener)

    async def sleep(self, seconds: float) -> bool:
        """Wait; True unless the halt came first."""
        if seconds > 0 and not self.is_set():
            try:
                await asyncio.wait_for(self._event.wait(), seconds)
            except TimeoutError:
                return True
        return not self.is_set()


class CallGate:
    """At most `limit` calls in flight; `limit` moves between 1 and `most`. Retries go before fresh calls."""

    def __init__(self, most: int, *, halt: Halt, clock: Callable[[], float] = time.monotonic) -> None:
        self.most = most
        self.limit = float(most)
        self.active = 0
        self.epoch = 0
        """Raised by each back-off. A refusal of a call that began before the last back-off says nothing new."""
        self._clock = clock
        self._resume_at = 0.0
        self._halt = halt
        self._first: deque[asyncio.Future[bool]] = deque()
        self._fresh: deque[asyncio.Future[bool]] = deque()
        halt.on_set(self._release_all)

    async def enter(self, *, first: bool) -> bool:
        """Wait for a place, which `leave` gives back. False: halted, and there is no place to give back."""
        if self._halt.is_set():
            return False
        if self._open() and not (self._first or (self._fresh and not first)):
            self.active += 1
            return True
        place: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
        (self._first if first else self._fresh).append(place)
        self._wake_later()
        try:
            return await place
        except asyncio.CancelledError:
            if place.done() and not place.cancelled() and place.result():
                self.leave()
            raise

    def leave(self) -> None:
        """Give the place to the next in the queue."""
        self.active -= 1
        self._wake()

    def grow(self) -> None:
        """An answer came: one more place per `limit` answers."""
        self.limit = min(float(self.most), self.limit + 1.0 / self.limit)

    def back_off(self, pause_s: float, *, epoch: int) -> None:
        """Refused: nobody calls for `pause_s`; half the places, once a burst (`epoch`: at the call's start)."""
        if epoch == self.epoch:
            self.limit = max(1.0, self.limit / 2.0)
            self.epoch += 1
        self._resume_at = max(self._resume_at, self._clock() + pause_s)

    def _open(self) -> bool:
        return self.active < int(self.limit) and self._clock() >= self._resume_at

    def _wake(self) -> None:
        for queue in (self._first, self._fresh):
            while queue and self._open():
                place = queue.popleft()
                if not place.done():
                    self.active += 1
                    place.set_result(True)
        self._wake_later()

    def _wake_later(self) -> None:
        """Where a pause keeps the queue waiting, come back when it ends."""
        pause = self._resume_at - self._clock()
        if pause > 0 and (self._first or self._fresh):
            asyncio.get_running_loop().call_later(pause + 0.001, self._wake)

    def _release_all(self) -> None:
        for queue in (self._first, self._fresh):
            while queue:
                place = queue.popleft()
                if not place.done():
                    place.set_result(False)
