"""Cost against quality: drawn from what is known, the same for the same numbers, and no harm from names."""

from __future__ import annotations

import re
import warnings

import pytest

from eva.metrics.results import Estimate
from eva.report.plot_cost import CostPoint, cost_against_quality
from tests.report import made

GOOD = Estimate(0.8, 0.7, 0.9)


def texts(svg: bytes) -> str:
    """matplotlib writes each text as a comment before its outlines."""
    return "\n".join(re.findall(r"<!-- (.*?) -->", svg.decode("utf-8"), re.DOTALL))


def drawn(*points: CostPoint) -> str:
    return texts(cost_against_quality(points, quality="Accuracy", kind="svg"))


def test_money_and_tokens_stand_side_by_side() -> None:
    shown = drawn(CostPoint("v1", GOOD, 0.002, 900.0), CostPoint("v2", GOOD, 0.003, 1100.0))

    assert "USD for 1,000 conversations" in shown
    assert "tokens a conversation" in shown
    assert "unknown" not in shown


def test_a_free_model_has_no_side_of_money() -> None:
    shown = drawn(CostPoint("local", GOOD, 0.0, 900.0))

    assert "USD" not in shown
    assert "tokens a conversation" in shown


def test_an_unknown_price_is_said_and_not_drawn_as_zero() -> None:
    shown = drawn(CostPoint("priced", GOOD, 0.002, None), CostPoint("unpriced", GOOD, None, None))

    assert "unpriced (unknown)" in shown
    assert "priced (unknown)" not in shown.replace("unpriced", "")


@pytest.mark.parametrize("points", [(), (CostPoint("v1", GOOD, None, None),), (CostPoint("v1", GOOD, 0.0, 0.0),)])
def test_nothing_known_is_said(points: tuple[CostPoint, ...]) -> None:
    assert "no price and no count of tokens is known" in drawn(*points)


@pytest.mark.parametrize("name", ["$x^2$ \\frac{", made.HOSTILE, "日本語 हिन्दी 한국어", ""])
def test_same_numbers_same_bytes_whatever_the_names(name: str) -> None:
    points = (CostPoint(name, GOOD, 0.002, 900.0), CostPoint(name, Estimate(None), 0.001, 100.0))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        pictures = {cost_against_quality(points, quality="Accuracy") for _ in range(2)}

    assert len(pictures) == 1
