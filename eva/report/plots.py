"""Pictures for MLflow, run folders and pull requests: PNG or SVG bytes, the same for the same numbers.

Nothing global is touched: no pyplot, a figure of its own each time, fixed sizes and salt, no date inside the file. Text
from data is drawn as it is (no formula in it is read), cut and made visible.
"""

from __future__ import annotations

import io
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

from eva.metrics.results import Estimate
from eva.report import numbers, untrusted
from eva.report.blocks import Confusion, IntervalRow
from eva.report.inputs import Pair
from eva.report.main_table import interval_rows
from eva.report.words import statistic

Format = Literal["png", "svg"]
DPI: Final = 150
BLUE, ORANGE, GREY, INK = "#2a6fb0", "#c8641b", "#8a8f98", "#1f2329"
# The first comes with matplotlib; the others, where installed, have the letters that it lacks.
_FONTS: Final = ["DejaVu Sans", "Noto Sans", "Noto Sans CJK JP", "Noto Sans Devanagari"]
_VERDICT_COLOURS: Final[Mapping[str, str]] = {
    "better": "#2e7d4f",
    "worse": "#b3261e",
    "same": BLUE,
    "moved": "#7a3fa0",
    "cannot tell": GREY,
    "not measured": GREY,
}


@dataclass(frozen=True)
class HistoryPoint:
    """One prompt version's numbers with one model."""

    version: str
    model: str
    accuracy: Estimate
    macro_f1: Estimate


def confusion(arms: Sequence[Confusion], *, title: str, kind: Format = "png") -> bytes:
    """Confusion matrices side by side: rows human labels, columns judge labels and `no verdict`; shade is row share."""
    figure = _figure(3.6 * max(1, len(arms)) + 0.6, 3.9, title)
    for n, arm in enumerate(arms, start=1):
        axes = figure.add_subplot(1, max(1, len(arms)), n)
        shares = [[count / (sum(row) or 1) for count in row] for row in arm.counts]
        columns = len(arm.labels) + 1
        if shares:
            axes.imshow(shares, cmap="Blues", vmin=0, vmax=1, aspect="auto")
        for y, row in enumerate(arm.counts):
            for x, count in enumerate(row):
                ink = "white" if shares[y][x] > 0.55 else INK
                axes.text(x, y, numbers.count(round(count, 1)), ha="center", va="center", color=ink, fontsize=10)
        names = [_name(label, 14) for label in arm.labels]
        axes.set_xticks(range(columns), [*names, "no verdict"], fontsize=8, rotation=30 if columns > 5 else 0)
        axes.set_yticks(range(len(names)), names, fontsize=8)
        axes.set_xlabel("judge")
        axes.set_ylabel("human")
        axes.set_title(_name(arm.arm, 40), fontsize=10)
    return _bytes(figure, kind)


def differences(pairs: Sequence[Pair], *, kind: Format = "png") -> bytes:
    """The difference of every judge with its 95% interval, a dot and a bar each; shares in points, scores apart."""
    return intervals(interval_rows(pairs), title="Difference, after − before, with 95% interval", kind=kind)


def intervals(rows: Sequence[IntervalRow], *, title: str, kind: Format = "png") -> bytes:
    """Differences around zero; rows of points and rows of plain numbers get an axis each."""
    groups = [[row for row in rows if row.unit == unit] for unit in ("points", "plain")]
    groups = [group for group in groups if group] or [[]]
    figure = _figure(8.0, 1.6 + 0.42 * max(1, len(rows)) + 0.6 * len(groups), title)
    heights = [max(1, len(group)) for group in groups]
    grid = figure.add_gridspec(len(groups), 1, height_ratios=heights)
    for place, group in enumerate(groups):
        axes = figure.add_subplot(grid[place])
        factor = 100 if group and group[0].unit == "points" else 1
        axes.axvline(0, color=INK, linewidth=1)
        for y, row in enumerate(group):
            colour = _VERDICT_COLOURS.get(row.verdict, GREY)
            if row.low is not None and row.high is not None:
                axes.plot(
                    [row.low * factor, row.high * factor], [y, y], color=colour, linewidth=3, solid_capstyle="butt"
                )
            if row.value is not None:
                axes.plot(row.value * factor, y, "o", color=colour, markersize=7)
        axes.set_yticks(range(len(group)), [f"{_name(row.name, 40)}\n{row.verdict}" for row in group], fontsize=8)
        axes.set_ylim(max(1, len(group)) - 0.5, -0.5)
        axes.set_xlabel("points" if factor == 100 else "score", fontsize=8)
        _bare(axes)
    return _bytes(figure, kind)


def stability(arms: Sequence[tuple[str, Estimate]], *, kind: Format = "png") -> bytes:
    """Per-item stability (share of repeats that say what most say) of each arm, with its interval."""
    figure = _figure(8.0, 1.3 + 0.4 * max(1, len(arms)), "Stability: share of repeats that say what most say")
    axes = figure.add_subplot()
    for y, (_, estimate) in enumerate(arms):
        if estimate.value is None:
            told = f"{numbers.UNDEFINED}{': ' + estimate.note if estimate.note else ''}"
            axes.text(1, y, _name(told, 70), va="center", color=INK, fontsize=8)
            continue
        axes.barh(y, estimate.value * 100, color=BLUE, height=0.6)
        if estimate.low is not None and estimate.high is not None:
            axes.plot([estimate.low * 100, estimate.high * 100], [y, y], color=INK, linewidth=2)
        axes.text(1, y, numbers.percent(estimate.value, 1), va="center", color="white", fontsize=8)
    axes.set_yticks(range(len(arms)), [_name(name, 44) for name, _ in arms], fontsize=8)
    axes.set_ylim(max(1, len(arms)) - 0.5, -0.5)
    axes.set_xlim(0, 100)
    axes.set_xlabel("percent", fontsize=8)
    _bare(axes)
    return _bytes(figure, kind)


def rates(rows: Sequence[tuple[str, Estimate]], *, title: str, kind: Format = "png") -> bytes:
    """Rates in [0, 1] with their intervals, a dot and a bar each, in the order given, on an axis of percent."""
    figure = _figure(8.0, 1.4 + 0.42 * max(1, len(rows)), title)
    axes = figure.add_subplot()
    for y, (_, rate) in enumerate(rows):
        if rate.value is None:
            continue
        if rate.low is not None and rate.high is not None:
            axes.plot([rate.low * 100, rate.high * 100], [y, y], color=BLUE, linewidth=3, solid_capstyle="butt")
        axes.plot(rate.value * 100, y, "o", color=INK, markersize=6)
        place, shown = (rate.value * 100, y), numbers.percent(rate.value, 1)
        axes.annotate(shown, place, xytext=(0, 7), textcoords="offset points", fontsize=8, ha="center")
    axes.set_yticks(range(len(rows)), [_name(name, 44) for name, _ in rows], fontsize=8)
    axes.set_ylim(max(1, len(rows)) - 0.5, -0.7)
    axes.set_xlim(-2, 102)
    axes.set_xlabel("percent", fontsize=8)
    _bare(axes)
    return _bytes(figure, kind)


def history(points: Sequence[HistoryPoint], *, judge: str, kind: Format = "png") -> bytes:
    """Accuracy and macro-F1 over prompt versions, in the order given, one line a model, intervals as bars."""
    figure = _figure(9.0, 4.2, f"{_name(judge, 50)}: agreement with people over prompt versions")
    versions = list(dict.fromkeys(point.version for point in points))
    models = list(dict.fromkeys(point.model for point in points))
    for n, name in enumerate(("accuracy", "macro_f1"), start=1):
        axes = figure.add_subplot(1, 2, n)
        for m, model in enumerate(models):
            own = [point for point in points if point.model == model]
            colour = (BLUE, ORANGE, "#2e7d4f", "#7a3fa0", GREY, INK)[m % 6]
            offset = (m - (len(models) - 1) / 2) * 0.08
            _history_line(axes, [(versions.index(p.version) + offset, getattr(p, name)) for p in own], colour, model)
        axes.set_xticks(range(len(versions)), [_name(version, 16) for version in versions], fontsize=8)
        axes.set_ylabel("percent", fontsize=8)
        axes.set_title(statistic(name), fontsize=10)
        _bare(axes)
        if n == 1 and models:
            axes.legend(fontsize=8, frameon=False)
    return _bytes(figure, kind)


def _history_line(axes: Any, points: Sequence[tuple[float, Estimate]], colour: str, model: str) -> None:
    shown = [(x, estimate) for x, estimate in points if estimate.value is not None]
    values = [float(estimate.value or 0) * 100 for _, estimate in shown]
    axes.plot([x for x, _ in shown], values, "o-", color=colour, markersize=5, linewidth=1.5, label=_name(model, 40))
    for x, estimate in shown:
        if estimate.low is not None and estimate.high is not None:
            axes.plot([x, x], [estimate.low * 100, estimate.high * 100], color=colour, linewidth=1.2, alpha=0.7)


def _figure(width: float, height: float, title: str) -> Any:
    from matplotlib.figure import Figure  # slow to import, and wanted for pictures only

    figure = Figure(figsize=(width, height), dpi=DPI, layout="constrained", facecolor="white")
    figure.suptitle(_name(title, 100), fontsize=11, color=INK)
    return figure


def _bytes(figure: Any, kind: Format) -> bytes:
    """The picture. Missing glyphs are drawn as boxes; matplotlib's warning about them says nothing to a user."""
    from matplotlib import rc_context
    from matplotlib.font_manager import fontManager
    from matplotlib.text import Text

    fonts = [name for name in _FONTS if name in {font.name for font in fontManager.ttflist}]
    for text in figure.findobj(Text):
        text.set_parse_math(False)
        text.set_fontfamily(fonts)
    metadata: dict[str, None] = {"Software": None} if kind == "png" else {"Date": None, "Creator": None}
    out = io.BytesIO()
    with rc_context({"svg.hashsalt": "eva", "svg.fonttype": "path"}), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing")
        figure.savefig(out, format=kind, metadata=metadata)
    return out.getvalue()


def _name(text: str, limit: int) -> str:
    shown = untrusted.one_line(text)
    return shown if len(shown) <= limit else shown[: limit - 1] + "…"


def _bare(axes: Any) -> None:
    """Only the axes that carry a scale."""
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    axes.tick_params(labelsize=8)
    axes.grid(visible=True, axis="both", color="#e3e5e8", linewidth=0.6)
    axes.set_axisbelow(True)
