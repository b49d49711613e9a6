"""What passes by itself is waited for; what does not is raised at once."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from eva.edges.tracking import retrying
from eva.edges.tracking.retrying import ATTEMPTS, passing, patiently


@pytest.fixture
def waits(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The waits that were asked for; none is waited."""
    asked: list[float] = []
    monkeypatch.setattr(retrying.time, "sleep", asked.append)
    return asked


def failing(times: int, text: str) -> Callable[[], int]:
    """Fails so many times, then gives 7."""
    left = [times]

    def action() -> int:
        left[0] -= 1
        if left[0] >= 0:
            raise ValueError(text)
        return 7

    return action


def test_a_lock_is_waited_for(waits: list[float]) -> None:
    """Waits double from a quarter of a second."""
    assert patiently(failing(3, "(sqlite3.OperationalError) database is locked"), kind=ValueError) == 7
    assert waits == [0.25, 0.5, 1.0]


def test_what_stays_broken_is_raised_after_a_minute(waits: list[float]) -> None:
    """The last error is the one that is told."""
    with pytest.raises(ValueError, match="connection refused"):
        patiently(failing(ATTEMPTS, "connection refused"), kind=ValueError)
    assert sum(waits) == pytest.approx(63.75)


def test_what_does_not_pass_is_raised_at_once(waits: list[float]) -> None:
    """An invalid name is invalid the second time too."""
    with pytest.raises(ValueError, match="invalid"):
        patiently(failing(1, "invalid metric name"), kind=ValueError)
    assert waits == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [("API request failed with error code 503", True), ("deadlock detected", True), ("error code 404", False)],
)
def test_which_errors_pass(text: str, expected: bool) -> None:
    """By their words, since MLflow gives most of them one code."""
    assert passing(ValueError(text)) is expected
