"""Differences with their intervals as an SVG inside the page, coloured by the page's style in light and dark."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from eva.report import numbers, untrusted
from eva.report.blocks import IntervalRow

WIDTH: Final = 720
LEFT: Final = 190
"""Room for names."""
RIGHT: Final = 24
ROW: Final = 34
TOP: Final = 8


@dataclass(frozen=True)
class Scale:
    """From differences to places on the picture."""

    low: float
    high: float
    step: float
    factor: int
    """100 for shares: the axis counts points."""

    def x(self, value: float) -> str:
        """Where a value on the axis stands."""
        return f"{LEFT + (value - self.low) / (self.high - self.low) * (WIDTH - LEFT - RIGHT):.1f}"

    @property
    def ticks(self) -> list[float]:
        return [self.low + n * self.step for n in range(round((self.high - self.low) / self.step) + 1)]


def interval_plot(rows: Sequence[IntervalRow]) -> str:
    """One picture for shares (in points), one for plain numbers; nothing where no row has an interval."""
    pictures = []
    for unit, factor, caption in (("points", 100, "Difference in points"), ("plain", 1, "Difference of scores")):
        group = [row for row in rows if row.unit == unit and row.low is not None and row.high is not None]
        if group:
            told = f"<figcaption>{caption}, with its 95% interval</figcaption>"
            pictures.append(f"<figure>{_picture(group, _scale(group, factor))}{told}</figure>")
    return "".join(pictures)


def _picture(rows: Sequence[IntervalRow], scale: Scale) -> str:
    bottom = TOP + ROW * len(rows)
    grid = "".join(_tick(tick, scale, bottom) for tick in scale.ticks)
    bars = "".join(_bar(row, TOP + ROW * (n + 0.5), scale) for n, row in enumerate(rows))
    told = untrusted.html("; ".join(f"{row.name}: {row.verdict}" for row in rows))
    box = f"0 0 {WIDTH} {bottom + 24}"
    return f'<svg class="plot" viewBox="{box}" role="img" aria-label="{told}">{grid}{bars}</svg>'


def _tick(tick: float, scale: Scale, bottom: float) -> str:
    x = scale.x(tick)
    kind = "zero" if abs(tick) < scale.step / 1e6 else "grid"
    digits = max(0, -math.floor(math.log10(scale.step)))
    return (
        f'<line class="{kind}" x1="{x}" x2="{x}" y1="{TOP}" y2="{bottom}"/>'
        f'<text class="soft" x="{x}" y="{bottom + 16}" text-anchor="middle">{numbers.signed(tick, digits)}</text>'
    )


def _bar(row: IntervalRow, y: float, scale: Scale) -> str:
    word = "v-" + row.verdict.replace(" ", "-")
    low, high = (scale.x((end or 0.0) * scale.factor) for end in (row.low, row.high))
    dot = "" if row.value is None else f'<circle class="dot" cx="{scale.x(row.value * scale.factor)}" cy="{y}" r="6"/>'
    return (
        f'<text x="{LEFT - 12}" y="{y - 2}" text-anchor="end">{untrusted.html(row.name, 26)}</text>'
        f'<text class="soft" x="{LEFT - 12}" y="{y + 12}" text-anchor="end">{row.verdict}</text>'
        f'<g class="{word}"><line class="bar" x1="{low}" x2="{high}" y1="{y}" y2="{y}"/>{dot}</g>'
    )


def _scale(rows: Sequence[IntervalRow], factor: int) -> Scale:
    """From a round number to a round number, zero inside, four to eight ticks at 1, 2 or 5 times a power of ten."""
    ends = [0.0, *(end * factor for row in rows for end in (row.low or 0.0, row.high or 0.0))]
    rough = (max(ends) - min(ends)) / 6 or 1.0
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(power * n for n in (1, 2, 5, 10) if power * n >= rough * (1 - 1e-9))
    low, high = math.floor(min(ends) / step) * step, math.ceil(max(ends) / step) * step
    return Scale(low, high if high > low else low + step, step, factor)
