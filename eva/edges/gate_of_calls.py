"""Who may call now: a concurrency limit that shrinks and grows, a shared pause, and a halt that wakes everybody."""

from __future__ import annotations

import asyncio
import heapq
import itertools
import time
from collections.abc import Callable

GAP_DECAY = 0.97
"""What each answer leaves of the gap: a rate that was too careful doubles within 23 answers."""
LONGEST_PAUSE_S = 60.0
"""How far a pause grows by itself; what a provider asks for may be longer."""
SHORTEST_GAP_S = 0.002
"""A gap below this is none."""


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
    """At most `limit` calls in flight, `gap_s` apart; both follow the provider. Calls refused most often go first.

    A refusal halves the limit (once a burst) and sets the gap to what the provider let through since the last one; each
    answer raises the limit by 1/limit and shortens the gap. The limit alone would not do: where answers take milliseconds,
    even one call at a time can be too many a second.
    """

    def __init__(self, most: int, *, halt: Halt, clock: Callable[[], float] = time.monotonic) -> None:
        self.most = most
        self.limit = float(most)
        self.gap_s = 0.0
        self.active = 0
        self.epoch = 0
        """Raised by each back-off. A refusal of a call that began before the last back-off says nothing new."""
        self._clock = clock
        self._halt = halt
        self._open_at = 0.0
        self._since = clock()
        self._answers = 0
        self._misses = -1  # the first refusal of a run is no repeated one
        self._order = itertools.count()
        self._queue: list[tuple[int, int, asyncio.Future[bool]]] = []
        self._timer: asyncio.TimerHandle | None = None
        halt.on_set(self._release_all)

    async def enter(self, *, attempt: int) -> bool:
        """Wait for a place, which `leave` gives back. False: halted, and there is no place to give back."""
        if self._halt.is_set():
            return False
        place: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
        heapq.heappush(self._queue, (-attempt, next(self._order), place))
        self._serve()
        try:
            return await place
        except asyncio.CancelledError:
            if place.done() and not place.cancelled() and place.result():
                self.leave()
            raise

    def leave(self) -> None:
        """Give the place back: the next in the queue gets it."""
        self.active -= 1
        self._serve()

    def grow(self) -> None:
        """An answer came."""
        self._answers += 1
        self.limit = min(float(self.most), self.limit + 1.0 / self.limit)
        self.gap_s = self.gap_s * GAP_DECAY if self.gap_s > SHORTEST_GAP_S else 0.0

    def back_off(self, pause_s: float, *, epoch: int) -> float:
        """Refused: nobody calls for `pause_s`; half the places, once a burst (`epoch`: at the call's start).

        Seconds that all wait now; 0.0 where this refusal belongs to a burst that is known already.
        """
        moment = self._clock()
        new = epoch == self.epoch
        if new:
            self.epoch += 1
            self.limit = max(1.0, self.limit / 2.0)
            if self._answers:
                self.gap_s = max(moment - self._since, pause_s) / self._answers
            # Providers ask for too short a wait: when nothing came through since the last refusal, it doubles.
            self._misses = 0 if self._answers else self._misses + 1
            self._since, self._answers = moment, 0
        pause_s = max(pause_s, min(LONGEST_PAUSE_S, pause_s * 2.0**self._misses))
        self._open_at = max(self._open_at, moment + pause_s)
        return pause_s if new else 0.0

    def _serve(self) -> None:
        """Give places to the queue while there are any; come back when the pause or the gap ends."""
        while self._queue and self.active < int(self.limit) and self._clock() >= self._open_at:
            _, _, place = heapq.heappop(self._queue)
            if not place.done():
                self.active += 1
                self._open_at = max(self._open_at, self._clock() + self.gap_s)
                place.set_result(True)
        wait = self._open_at - self._clock()
        if self._queue and wait > 0 and self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(wait, self._on_time)

    def _on_time(self) -> None:
        self._timer = None
        self._serve()

    def _release_all(self) -> None:
        for _, _, place in self._queue:
            if not place.done():
                place.set_result(False)
        self._queue.clear()
