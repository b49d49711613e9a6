"""How numbers are printed. Decide on raw values, format once, here; nothing else in the house formats a number.

Rules
- A level is a share in [0, 1] printed as a percentage (`70.07%`) or a plain number (`0.812`); a difference of shares is
  in points.
- Halves round up, by the decimal value that Python prints (0.8125 at three digits is 0.813), not by the binary one.
- Zero has no sign: what rounds to zero prints `0.0`, never `-0.0` or `+0.0`. The minus is U+2212.
- None, NaN and infinity print a word, never a number.
- `±` joins a mean to its run-to-run std and nothing else; an interval stands in brackets.
- What is printed agrees: printed after − printed before rounds to the printed difference, and an interval that excludes
  zero prints no zero at that end. Where the default digits would break this, more digits are shown.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Context, Decimal
from typing import Final, NamedTuple

UNDEFINED: Final = "undefined"
"""Printed for a statistic that has no value."""
UNKNOWN: Final = "unknown"
"""Printed for a fact that nobody told us: a price, a count of tokens."""
MINUS: Final = "\N{MINUS SIGN}"
MAX_DIGITS: Final = 5
EXTRA_DIGITS: Final = 3
"""So many digits more than their difference two levels get at most, to agree with it."""
_EXACT: Final = Context(prec=60)


@dataclass(frozen=True)
class Unit:
    """How one kind of statistic is printed."""

    factor: int
    """100 for shares."""
    suffix: str
    """Behind a level; differences carry none."""
    digits: int
    change_digits: int


PERCENT: Final = Unit(factor=100, suffix="%", digits=2, change_digits=1)
PLAIN: Final = Unit(factor=1, suffix="", digits=3, change_digits=3)
SHARES: Final = frozenset(
    {"accuracy", "macro_f1", "coverage", "accuracy_readable", "recall", "precision", "f1", "rate"}
)
"""Statistics in [0, 1] that read best as percentages."""


class Change(NamedTuple):
    """A before–after pair in words that agree with each other."""

    before: str
    after: str
    difference: str
    interval: str
    """`[−3.2, +1.8]`, or "" where there is none."""


def unit_of(statistic: str) -> Unit:
    """The unit of a statistic by its name; `flag=x/rate` and `class=2/recall` count by their last part."""
    return PERCENT if statistic.rsplit("/", maxsplit=1)[-1] in SHARES else PLAIN


def rounded(value: float, digits: int, *, factor: int = 1) -> Decimal:
    """`value × factor` at `digits` decimals, halves up, zero without a sign. Raises ValueError on NaN and infinity."""
    if not math.isfinite(value):
        raise ValueError(f"cannot round {value!r}")
    exact = _EXACT.multiply(Decimal(repr(float(value))), Decimal(factor))
    wide = Context(prec=max(60, exact.adjusted() + digits + 5), rounding=ROUND_HALF_UP)
    result = exact.quantize(Decimal(1).scaleb(-digits), context=wide)
    return abs(result) if result.is_zero() else result


def number(value: float | None, digits: int, *, missing: str = UNDEFINED) -> str:
    """A plain number with thousands separators: `1,234.50`."""
    return missing if _absent(value) else _text(rounded(float(value or 0), digits))


def signed(value: float | None, digits: int, *, factor: int = 1, missing: str = UNDEFINED) -> str:
    """A difference: `+2.1`, `−1.4`, `0.0`."""
    return missing if _absent(value) else _signed(rounded(float(value or 0), digits, factor=factor))


def level(value: float | None, unit: Unit, *, digits: int | None = None, missing: str = UNDEFINED) -> str:
    """A level of a statistic in its unit: `70.07%`, `0.812`."""
    if _absent(value):
        return missing
    shown = rounded(float(value or 0), unit.digits if digits is None else digits, factor=unit.factor)
    return _text(shown) + unit.suffix


def percent(share: float | None, digits: int = 2, *, missing: str = UNDEFINED) -> str:
    """A share in [0, 1] as a percentage: `70.07%`."""
    return level(share, PERCENT, digits=digits, missing=missing)


def spread(mean: float | None, std: float | None, unit: Unit) -> str:
    """Mean over repeats and its run-to-run sample std: `70.07% ± 0.00%`; with one repeat the mean alone."""
    if _absent(mean):
        return UNDEFINED
    return level(mean, unit) if _absent(std) else f"{level(mean, unit)} ± {level(std, unit)}"


def interval(low: float | None, high: float | None, unit: Unit, *, digits: int | None = None) -> str:
    """The ends of an interval of a level: `[76.9, 89.1]`; "" where there is none."""
    if _absent(low) or _absent(high):
        return ""
    shown = unit.change_digits if digits is None else digits
    ends = (rounded(float(end or 0), shown, factor=unit.factor) for end in (low, high))
    return "[" + ", ".join(_text(end) for end in ends) + "]"


def change(
    before: float | None,
    after: float | None,
    *,
    difference: float | None,
    low: float | None,
    high: float | None,
    unit: Unit,
) -> Change:
    """Before, after, their difference and its interval, with as many digits as it takes for the words to agree.

    `difference` is the raw difference of raw values; it is never recomputed from rounded ones.
    """
    change_digits = unit.change_digits
    while change_digits < MAX_DIGITS and not _keeps_sides(low, high, unit=unit, digits=change_digits):
        change_digits += 1
    digits = max(unit.digits, change_digits)
    most = change_digits + EXTRA_DIGITS
    while digits < most and not _agree(
        before, after, difference, unit=unit, digits=digits, change_digits=change_digits
    ):
        digits += 1
    ends = ""
    if not (_absent(low) or _absent(high)):
        ends = f"[{signed(low, change_digits, factor=unit.factor)}, {signed(high, change_digits, factor=unit.factor)}]"
    return Change(
        level(before, unit, digits=digits),
        level(after, unit, digits=digits),
        signed(difference, change_digits, factor=unit.factor),
        ends,
    )


def p_value(p: float | None) -> str:
    """`p = 0.043`; `p < 0.001` and `p > 0.999` at the ends; enough digits to stay on its side of 0.05."""
    if _absent(p):
        return f"p {UNDEFINED}"
    raw = float(p or 0)
    if raw < 0.001:
        return "p < 0.001"
    if raw > 0.999:
        return "p > 0.999"
    digits = 3
    while digits < 8 and (raw < 0.05) != (rounded(raw, digits) < Decimal("0.05")):
        digits += 1
    return f"p = {_text(rounded(raw, digits))}"


def p_cell(p: float | None) -> str:
    """A p-value under a heading that says so: `0.043`, `< 0.001`."""
    return p_value(p).removeprefix("p ").removeprefix("= ")


def money(usd: float | None) -> str:
    """US dollars: `$12.30`; below ten cents two significant digits (`$0.0042`); `$0` when free; or `unknown`."""
    if _absent(usd):
        return UNKNOWN
    raw = float(usd or 0)
    if raw == 0:
        return "$0"
    digits = 2 if abs(raw) >= 0.1 else min(8, 1 - math.floor(math.log10(abs(raw))))
    return ("$" if raw > 0 else f"{MINUS}$") + _text(abs(rounded(raw, digits)))


def count(value: float | None, *, missing: str = UNKNOWN) -> str:
    """A count: `12,345`; an expected count that is not whole keeps one digit: `12.3`."""
    if _absent(value):
        return missing
    raw = float(value or 0)
    return _text(rounded(raw, 0 if raw == int(raw) else 1))


def counted(value: float, singular: str, plural: str | None = None) -> str:
    """`1 item`, `2 items`, `0 items`."""
    return f"{count(value)} {singular if value == 1 else plural or singular + 's'}"


def _absent(value: float | None) -> bool:
    return value is None or not math.isfinite(value)


def _text(value: Decimal) -> str:
    return f"{value:,f}".replace("-", MINUS)


def _signed(value: Decimal) -> str:
    return _text(value) if value <= 0 else f"+{_text(value)}"


def _agree(
    before: float | None, after: float | None, difference: float | None, *, unit: Unit, digits: int, change_digits: int
) -> bool:
    """Whether printed after − printed before, at the difference's digits, is the printed difference."""
    if before is None or after is None or difference is None or any(map(_absent, (before, after, difference))):
        return True
    first, last = (rounded(value, digits, factor=unit.factor) for value in (before, after))
    shown = rounded(difference, change_digits, factor=unit.factor)
    return abs((last - first) - shown) <= Decimal(5).scaleb(-change_digits - 1)


def _keeps_sides(low: float | None, high: float | None, *, unit: Unit, digits: int) -> bool:
    """Whether an interval that excludes zero prints so."""
    if low is None or high is None or _absent(low) or _absent(high):
        return True
    nearest = low if low > 0 else high if high < 0 else None
    return nearest is None or not rounded(nearest, digits, factor=unit.factor).is_zero()
