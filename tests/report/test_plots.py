"""Pictures: the right kind of bytes, the same for the same numbers, and no harm from text."""

from __future__ import annotations

import warnings
import xml.etree.ElementTree as ET
from collections.abc import Callable
from dataclasses import replace
from io import BytesIO

import pytest
from PIL import Image

from eva.metrics.results import Estimate
from eva.report import plots
from eva.report.blocks import Confusion, IntervalRow
from eva.report.plots import Format, HistoryPoint
from tests.report import made

NAMES = ("faithfulness", "$x^2$ \\frac{", made.HOSTILE, "日本語 हिन्दी 한국어", "")


def _drawings(name: str) -> dict[str, Callable[[Format], bytes]]:
    matrix = Confusion(name, ("1", name, "3"), ((5.0, 1.3, 0, 0), (1, 7, 2, 0), (0, 0, 9, 1)))
    rows = [
        IntervalRow(name, -0.007, -0.03, 0.02, "cannot tell", "points"),
        IntervalRow(name, 0.017, 0.008, 0.026, "moved", "plain"),
        IntervalRow(name, None, None, None, "not measured", "plain"),
    ]
    estimate = Estimate(0.93, 0.9, 0.95)
    history = [
        HistoryPoint(version, model, estimate, Estimate(None))
        for model in (name, "other")
        for version in ("v1", name, "v3")
    ]
    pair = replace(made.pair(), after=replace(made.pair().after, meta=made.meta(name, "v2")))
    return {
        "confusion": lambda kind: plots.confusion([matrix, matrix], title=name, kind=kind),
        "intervals": lambda kind: plots.intervals(rows, title=name, kind=kind),
        "differences": lambda kind: plots.differences([pair, made.pair()], kind=kind),
        "stability": lambda kind: plots.stability([(name, estimate), ("none", Estimate(None))], kind=kind),
        "history": lambda kind: plots.history(history, judge=name, kind=kind),
    }


@pytest.mark.parametrize("plot", list(_drawings("")))
@pytest.mark.parametrize("name", NAMES)
def test_every_picture_is_drawn_whatever_the_names(plot: str, name: str) -> None:
    """Formulas, escape codes and other scripts in names are text; nothing warns."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        png = _drawings(name)[plot]("png")

    width, height = Image.open(BytesIO(png)).size
    assert width > 500
    assert height > 150


@pytest.mark.parametrize("plot", list(_drawings("")))
def test_same_numbers_same_bytes(plot: str) -> None:
    """No date, no random id; SVG is XML without a script."""
    draw = _drawings("judge")[plot]

    assert draw("png") == draw("png")
    svg = draw("svg")
    assert svg == draw("svg")
    tags = {element.tag.rpartition("}")[2] for element in ET.fromstring(svg).iter()}
    assert "script" not in tags
    assert b"202" not in svg.partition(b"<defs>")[0]


def test_nothing_to_draw_is_a_picture_too() -> None:
    """An empty comparison does not end in an exception."""
    assert plots.differences([])[:4] == b"\x89PNG"
    assert plots.stability([])[:4] == b"\x89PNG"
    assert plots.history([], judge="x")[:4] == b"\x89PNG"
    assert plots.confusion([Confusion("a", (), ())], title="x")[:4] == b"\x89PNG"


def test_global_settings_stay_as_they_are() -> None:
    """A notebook's own style is not changed by our pictures."""
    import matplotlib

    before = dict(matplotlib.rcParams)
    plots.stability([("a", Estimate(0.5, 0.4, 0.6))])

    assert dict(matplotlib.rcParams) == before
