"""The rules of `eva.report.numbers` as tables of (input, what is printed)."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eva.report import numbers
from eva.report.numbers import PERCENT, PLAIN


@pytest.mark.parametrize(
    ("value", "digits", "shown"),
    [
        (0.8125, 3, "0.813"),  # halves go up; Python's round says 0.812
        (0.285, 2, "0.29"),  # by the decimal that is printed, not by the binary value below it
        (-0.0004, 1, "0.0"),  # zero has no sign
        (-0.0, 0, "0"),
        (1234567.891, 1, "1,234,567.9"),
        (-2.5, 0, "−3"),
        (1e-300, 2, "0.00"),
        (1e22, 0, "10,000,000,000,000,000,000,000"),
        (None, 2, "undefined"),
        (math.nan, 2, "undefined"),
        (math.inf, 2, "undefined"),
    ],
)
def test_plain_numbers(value: float | None, digits: int, shown: str) -> None:
    """Half up, no negative zero, a word for what is not a number."""
    assert numbers.number(value, digits) == shown


@pytest.mark.parametrize(
    ("value", "shown"),
    [(0.021, "+2.1"), (-0.014, "−1.4"), (-0.0004, "0.0"), (0.0, "0.0"), (None, "undefined"), (0.0005, "+0.1")],
)
def test_signed_differences_in_points(value: float | None, shown: str) -> None:
    """A sign on everything but zero; the minus is a minus, not a hyphen."""
    assert numbers.signed(value, 1, factor=100) == shown


@pytest.mark.parametrize(
    ("correct", "of", "shown"),
    [
        ((96, 96, 96), 137, "70.07% ± 0.00%"),
        ((93, 96, 96), 137, "69.34% ± 1.26%"),
        ((437, 444, 446), 479, "92.35% ± 0.99%"),
    ],
)
def test_the_published_table(correct: tuple[int, ...], of: int, shown: str) -> None:
    """The pull request's accuracies, to the digit."""
    shares = [n / of for n in correct]
    mean = sum(shares) / 3
    std = math.sqrt(sum((share - mean) ** 2 for share in shares) / 2)

    assert numbers.spread(mean, std, PERCENT) == shown


def test_one_repeat_has_no_spread() -> None:
    """± stands for run-to-run std only; with one repeat there is none."""
    assert numbers.spread(0.7, None, PERCENT) == "70.00%"
    assert numbers.spread(None, None, PERCENT) == "undefined"


def test_an_interval_stands_in_brackets_and_never_behind_a_plus_minus() -> None:
    """Levels without signs, in the unit's digits."""
    assert numbers.interval(0.769, 0.891, PERCENT) == "[76.9, 89.1]"
    assert numbers.interval(-0.1, 0.06, PLAIN) == "[−0.100, 0.060]"
    assert numbers.interval(None, 0.9, PERCENT) == ""


@pytest.mark.parametrize(
    ("before", "after", "low", "high", "shown"),
    [
        (96 / 137, 95 / 137, -0.032, 0.018, ("70.07%", "69.34%", "−0.7", "[−3.2, +1.8]")),
        (0.81249, 0.81251, -0.01, 0.01, ("81.25%", "81.25%", "0.0", "[−1.0, +1.0]")),  # printed values agree
        (0.90, 0.9104, 0.0002, 0.02, ("90.00%", "91.04%", "+1.04", "[+0.02, +2.00]")),  # an end off zero is not 0.0
        (0.5, 0.5, None, None, ("50.00%", "50.00%", "0.0", "")),
        (None, 0.5, None, None, ("undefined", "50.00%", "undefined", "")),
    ],
)
def test_a_change_agrees_with_itself(
    before: float | None, after: float, low: float | None, high: float | None, shown: tuple[str, ...]
) -> None:
    """Digits grow until printed before, after, difference and interval tell the same story."""
    difference = None if before is None else after - before

    told = numbers.change(before, after, difference=difference, low=low, high=high, unit=PERCENT)

    assert tuple(told) == shown


def test_levels_get_more_digits_before_their_difference_does() -> None:
    """1.944 and 2.099 would say 0.155."""
    told = numbers.change(1.94444, 2.09877, difference=0.15433, low=-0.05, high=0.3, unit=PLAIN)

    assert tuple(told) == ("1.9444", "2.0988", "+0.154", "[−0.050, +0.300]")


_SHARES = st.floats(0, 1, allow_nan=False)


@given(before=_SHARES, after=_SHARES)
def test_printed_after_minus_printed_before_is_the_printed_difference(before: float, after: float) -> None:
    """To within half of the difference's last digit and one of the levels' last, whatever the numbers."""
    told = numbers.change(before, after, difference=after - before, low=None, high=None, unit=PERCENT)

    first, last = (float(text.rstrip("%")) for text in (told.before, told.after))
    digits, level_digits = (len(text.rstrip("%").partition(".")[2]) for text in (told.difference, told.before))
    assert abs(last - first - float(told.difference.replace("−", "-"))) <= 0.5 * 10**-digits + 10**-level_digits + 1e-9
    assert (digits, level_digits <= 4) == (1, True)


@given(low=st.floats(1e-4, 1), width=st.floats(0, 1))
def test_an_interval_off_zero_never_prints_a_zero_end(low: float, width: float) -> None:
    """What the decision sees, the reader sees, down to a hundredth of a point."""
    told = numbers.change(None, None, difference=low, low=low, high=low + width, unit=PERCENT)
    mirrored = numbers.change(None, None, difference=-low, low=-low - width, high=-low, unit=PERCENT)

    assert told.interval.startswith("[+")
    assert float(mirrored.interval.split(", ")[1].rstrip("]").replace("−", "-")) < 0


@pytest.mark.parametrize(
    ("p", "shown"),
    [
        (0.0, "p < 0.001"),
        (0.00099, "p < 0.001"),
        (0.043, "p = 0.043"),
        (0.04996, "p = 0.04996"),  # stays on its side of 0.05
        (0.05, "p = 0.050"),
        (0.9999, "p > 0.999"),
        (1.0, "p > 0.999"),
        (None, "p undefined"),
    ],
)
def test_p_values(p: float | None, shown: str) -> None:
    """Never `p = 0.000`, never 0.050 for what is below it."""
    assert numbers.p_value(p) == shown
    assert numbers.p_cell(p) == shown.replace("p = ", "").replace("p ", "")


@pytest.mark.parametrize(
    ("usd", "shown"),
    [
        (None, "unknown"),
        (0, "$0"),
        (0.00421, "$0.0042"),
        (0.0999, "$0.100"),
        (0.1, "$0.10"),
        (12.345, "$12.35"),
        (1234.5, "$1,234.50"),
        (1e-12, "$0.00000000"),
        (-3.0, "−$3.00"),
    ],
)
def test_money(usd: float | None, shown: str) -> None:
    """Unknown is a word, free is $0, small sums keep two digits."""
    assert numbers.money(usd) == shown


@pytest.mark.parametrize(
    ("n", "shown"), [(0, "0"), (12345, "12,345"), (12.34, "12.3"), (None, "unknown"), (20.0, "20")]
)
def test_counts(n: float | None, shown: str) -> None:
    """Whole counts are whole; expected counts keep one digit."""
    assert numbers.count(n) == shown


def test_counted_nouns() -> None:
    """One item, two items."""
    assert [numbers.counted(n, "item") for n in (0, 1, 2)] == ["0 items", "1 item", "2 items"]
    assert numbers.counted(2, "class", "classes") == "2 classes"


def test_units_by_name() -> None:
    """Nested metric names count by their last part."""
    assert numbers.unit_of("class=2/recall") is PERCENT
    assert numbers.unit_of("mae") is PLAIN
