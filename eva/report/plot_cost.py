"""Picture of quality against cost: what does a point of accuracy cost, in money where it is known, in tokens beside it?"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from eva.metrics.results import Estimate
from eva.report import plots
from eva.report.plots import Format


@dataclass(frozen=True)
class CostPoint:
    """One run: how good its judge is, and what one conversation judged once costs."""

    name: str
    quality: Estimate
    """A share in [0, 1]."""
    usd: float | None
    """USD a conversation, stored replies at what they once cost; None is unknown, never 0."""
    tokens: float | None
    """Input and output tokens a conversation; None is unknown."""


_COLOURS = (plots.BLUE, plots.ORANGE, "#2e7d4f", "#7a3fa0", plots.GREY, plots.INK)
_AXES: tuple[tuple[str, Callable[[CostPoint], float | None]], ...] = (
    ("USD for 1,000 conversations", lambda point: None if point.usd is None else point.usd * 1000),
    ("tokens a conversation", lambda point: point.tokens),
)


def cost_against_quality(points: Sequence[CostPoint], *, quality: str, kind: Format = "png") -> bytes:
    """Quality with its interval over cost, a dot and a bar a run; money and tokens side by side.

    A side on which no run has a figure above 0 is left out; a run without the figure is not drawn there, and the legend
    says so. Same points, same bytes.
    """
    sides = [side for side in _AXES if any(side[1](point) for point in points)]
    figure = plots._figure(9.0, 4.6, f"{quality} against cost")
    for n, (title, cost) in enumerate(sides, start=1):
        axes = figure.add_subplot(1, len(sides), n)
        for m, point in enumerate(points):
            _draw(axes, point, cost(point), colour=_COLOURS[m % len(_COLOURS)])
        axes.set_xlim(0, 1.1 * max(cost(point) or 0 for point in points))
        axes.set_xlabel(title, fontsize=8)
        axes.set_ylabel(f"{quality}, percent", fontsize=8)
        axes.legend(fontsize=7, frameon=False, loc="upper center", bbox_to_anchor=(0.5, -0.16))
        plots._bare(axes)
    if not sides:
        figure.text(0.5, 0.45, "no price and no count of tokens is known", ha="center", fontsize=9)
    return plots._bytes(figure, kind)


def _draw(axes: Any, point: CostPoint, cost: float | None, *, colour: str) -> None:
    value, name = point.quality.value, plots._name(point.name, 48)
    if cost is None or value is None:
        axes.plot([], [], "o", color=colour, label=f"{name} (unknown)")
        return
    if point.quality.low is not None and point.quality.high is not None:
        axes.plot([cost, cost], [point.quality.low * 100, point.quality.high * 100], color=colour, linewidth=1.5)
    axes.plot([cost], [value * 100], "o", color=colour, markersize=7, label=name)
