"""The one retry layer: attempts, waiting, shared back-off, budgets per minute, and the circuit breaker.

A 429 slows everybody down, not the refused call alone: the concurrency limit is halved and all wait (AIMD: each
answer lets it grow again by 1/limit). A time-out, a 5xx or a broken connection makes only that call wait, with full
jitter.
"""

from __future__ import annotations

import itertools
import logging
import random
import time
from collections.abc import Callable
from dataclasses import dataclass, replace

from eva.edges.clients.answer import now
from eva.edges.clients.contract import Client, RecordFailure, Transient
from eva.edges.gate_of_calls import CallGate, Halt
from eva.edges.secrets import redact
from eva.errors import ModelError, QuotaError
from eva.types import Failure, ModelSpec, Reply, Request

log = logging.getLogger("eva")

LONGEST_BACKOFF_S = 60.0
LONGEST_WAIT_S = 600.0
"""A provider that asks for a longer wait has a quota, not a hiccup: the run stops and says so."""
NOTICED_S = 5.0
DEAD_AFTER = 20
"""So many requests in a row given up after all attempts, with no answer between: the circuit opens."""


@dataclass
class MinuteBudget:
    """At most `per_minute` units in any minute. `take` books at once and says how long to wait."""

    per_minute: int
    clock: Callable[[], float] = time.monotonic

    def __post_init__(self) -> None:
        self._burst = max(1.0, self.per_minute / 10)
        self._rate = max(self.per_minute - self._burst, min(1.0, self.per_minute)) / 60.0
        self._level = self._burst
        self._at = self.clock()

    def take(self, units: float) -> float:
        """Book `units` (negative: give back) and return the seconds to wait before using them."""
        moment = self.clock()
        self._level = min(self._burst, self._level + (moment - self._at) * self._rate)
        self._at = moment
        # A request bigger than the burst waits for a full bucket and leaves a debt behind.
        wait = max(0.0, (min(units, self._burst) - self._level) / self._rate)
        self._level -= units
        return wait


class Limits:
    """All limits of one model for one run. `call` is what a worker uses; `halt` stops everybody's waiting."""

    def __init__(
        self,
        spec: ModelSpec,
        *,
        first_backoff_s: float = 1.0,
        rng: random.Random | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._spec = spec
        self._first = first_backoff_s
        self._rng = rng or random.Random()
        self.halt = Halt()
        # The embedded model answers one call at a time; waiting in its queue would only run the time-out down.
        self.workers = 1 if spec.kind == "local" else max(1, spec.concurrency)
        self.gate = CallGate(self.workers, halt=self.halt, clock=clock)
        self._calls = MinuteBudget(spec.requests_per_minute, clock) if spec.requests_per_minute else None
        self._tokens = MinuteBudget(spec.tokens_per_minute, clock) if spec.tokens_per_minute else None
        self._given_up = 0
        self.attempts = 0
        """Calls sent, retries included."""

    async def call(self, client: Client, request: Request, repeat: int) -> Reply | None:
        """The reply, or an error reply once this request is given up; None where the run was halted before an answer.

        Raises ModelError and its kin where no call of the run can succeed.
        """
        for attempt in itertools.count(1):
            expected = await self._admitted(request, attempt=attempt)
            if expected is None:
                return None
            epoch = self.gate.epoch
            try:
                self.attempts += 1
                reply = await client.ask(request, repeat)
            except RecordFailure as error:
                self._given_up = 0
                return failed(request, repeat, failure=error.failure, text=str(error), attempts=attempt)
            except Transient as error:
                if attempt >= self._spec.max_attempts:
                    return self._give_up(request, repeat, error=error, attempts=attempt)
                delay = self._delay(error, attempt)
                if error.limited:
                    self._say_waiting(self.gate.back_off(delay, epoch=epoch), error)
                    delay = 0.0
            else:
                self._answered(reply, expected)
                return replace(reply, attempts=attempt)
            finally:
                self.gate.leave()
            if not await self.halt.sleep(delay):
                return None
        raise AssertionError("unreachable")

    async def _admitted(self, request: Request, *, attempt: int) -> int | None:
        """Wait for budgets and a free place. Tokens booked; None: halted."""
        expected = expected_tokens(request, self._spec) if self._tokens else 0
        wait = max(
            self._calls.take(1) if self._calls else 0.0,
            self._tokens.take(expected) if self._tokens else 0.0,
        )
        if not await self.halt.sleep(wait):
            return None
        return expected if await self.gate.enter(attempt=attempt) else None

    def _delay(self, error: Transient, attempt: int) -> float:
        """Seconds to wait: what the provider asks for, and at least full jitter over a doubling span."""
        if error.retry_after is not None and error.retry_after > LONGEST_WAIT_S:
            raise QuotaError(
                f"The provider asks to wait {error.retry_after:.0f} s, longer than {LONGEST_WAIT_S:.0f} s: {error}"
            )
        span = min(LONGEST_BACKOFF_S, self._first * 2 ** (attempt - 1))
        jitter = self._rng.uniform(0.0, span)
        # A little on top of what was asked for, so that processes that share a key do not come back as one.
        return jitter if error.retry_after is None else error.retry_after + min(jitter, 0.1 * error.retry_after)

    def _say_waiting(self, pause_s: float, error: Transient) -> None:
        """One line a burst; a wait that a person would notice is a warning."""
        if pause_s > 0:
            level = logging.WARNING if pause_s >= NOTICED_S else logging.INFO
            places = int(self.gate.limit)
            log.log(
                level, "%s refuses: all wait %.1f s, then %d at a time (%s)", self._spec.name, pause_s, places, error
            )

    def _answered(self, reply: Reply, expected: int) -> None:
        self._given_up = 0
        self.gate.grow()
        used = [count for count in (reply.usage.input_tokens, reply.usage.output_tokens) if count is not None]
        if self._tokens and used:
            self._tokens.take(sum(used) - expected)

    def _give_up(self, request: Request, repeat: int, *, error: Transient, attempts: int) -> Reply:
        self._given_up += 1
        if self._given_up >= max(DEAD_AFTER, 2 * self.workers):
            raise ModelError(
                f"{self._given_up} requests in a row failed after {attempts} attempts each; the last: {error}"
            )
        return failed(request, repeat, failure=Failure.PROVIDER, text=str(error), attempts=attempts)


def failed(request: Request, repeat: int, *, failure: Failure, text: str, attempts: int) -> Reply:
    """The error reply of a request that will not be answered."""
    return Reply(
        record_id=request.record_id,
        repeat=repeat,
        digest=request.digest,
        error=failure,
        error_text=redact(text) or failure.value,
        attempts=attempts,
        created=now(),
    )


def input_tokens(request: Request) -> int:
    """A rough count of prompt tokens: a quarter of the UTF-8 bytes, four more a message."""
    return sum(len(str(message.get("content", "")).encode("utf-8", "replace")) // 4 + 4 for message in request.messages)


def expected_tokens(request: Request, spec: ModelSpec) -> int:
    """Tokens that a call may be charged for: prompt and the most it may write."""
    written = spec.params.get("max_tokens", spec.params.get("max_completion_tokens", 500))
    return input_tokens(request) + (int(written) if isinstance(written, int) else 500)
