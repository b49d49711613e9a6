"""Noise: how a judge agrees with itself over its repeats, and what moves between two runs when nothing changed."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from eva.metrics.results import Estimate, NoiseFloor
from eva.report import numbers, words
from eva.report.blocks import Block, Bullets, Column, Line, Paragraph, Quoted, Table, line
from eva.report.inputs import Arm, Pair

NOTHING_READ: Final = "no verdict could be read"


def stability_of(arm: Arm) -> Estimate:
    """Share of repeats with an item's most frequent verdict; undefined where nothing was read: failures alone agree."""
    return _if_read(arm, arm.summary.noise.stability)


def noise_blocks(arm: Arm) -> tuple[Block, ...]:
    """One run."""
    noise = arm.summary.noise
    failing = " (failures agreeing with failures count)" if sum(arm.summary.failures.values()) else ""
    told = (
        f"stability (share of repeats with the most frequent verdict): {_told(stability_of(arm), failing)}",
        f"self-agreement (chance that two repeats agree): {_told(_if_read(arm, noise.self_agreement), failing)}",
        f"Krippendorff's alpha between repeats: {numbers.number(noise.alpha, 3)}",
        f"items with unlike repeats: {numbers.count(noise.unstable_items)} of {numbers.count(arm.summary.n_items)}",
    )
    return (Bullets(tuple(line(text) for text in told)),)


def noise_pair_blocks(pair: Pair) -> tuple[Block, ...]:
    """What moves when nothing changed, beside what moved: most flips of a noisy judge are jitter."""
    floor = pair.comparison.floor
    n = pair.comparison.n_items
    before, after = _if_read(pair.before, floor.before), _if_read(pair.after, floor.after)
    rows = (
        _floor_row("before against itself", before, n, None, None),
        _floor_row("after against itself", after, n, None, None),
        _floor_row("A/A floor: mean of these", _mean(before, after), n, floor.floor_up, floor.floor_down),
        _floor_row("before against after", floor.between, n, floor.up, floor.down),
    )
    names = ("Share that differs", "Items", "Of these up", "Down")
    columns = (Column("One repeat of each"), *(Column(name, "right") for name in names))
    told = Paragraph(_directions(pair, floor)), Paragraph(line(_excess(floor)))
    return Table(columns, rows), *told, Bullets(tuple(_agreement(*arm) for arm in _arms(pair)))


def _arms(pair: Pair) -> tuple[tuple[str, Arm], ...]:
    return ("before", pair.before), ("after", pair.after)


def _agreement(name: str, arm: Arm) -> Line:
    noise = arm.summary.noise
    return line(
        f"{name}: {numbers.counted(noise.unstable_items, 'item')} with unlike repeats · self-agreement "
        f"{_told(replace(_if_read(arm, noise.self_agreement), low=None, high=None))} · "
        f"alpha between repeats {numbers.number(noise.alpha, 3)}"
    )


def _if_read(arm: Arm, found: Estimate) -> Estimate:
    return Estimate(None, note=NOTHING_READ) if arm.readable == 0 else found


def _told(found: Estimate, remark: str = "") -> str:
    if found.value is None:
        return f"{numbers.UNDEFINED}{': ' + found.note if found.note else ''}"
    return words.estimate(found, "rate") + remark


def _mean(before: Estimate, after: Estimate) -> Estimate:
    """Of the arms that have a floor; its interval is not known."""
    known = [found.value for found in (before, after) if found.value is not None]
    return Estimate(sum(known) / len(known) if known else None)


def _directions(pair: Pair, floor: NoiseFloor) -> Line:
    """Which way is up, in the judge's own labels."""
    labels = pair.after.summary.labels
    if floor.up is None or len(labels) < 2:
        return line("These labels have no order, so that no verdict is higher or lower than another.")
    worst, best = Quoted(labels[0], limit=40), Quoted(labels[-1], limit=40)
    up = (
        "Up: the second verdict is nearer to ",
        best,
        ", the best label. Down: it is nearer to ",
        worst,
        ", the worst.",
    )
    return line(*up, " When nothing changed, chance moves about as many up as down.")


def _excess(floor: NoiseFloor) -> str:
    if floor.excess.value is None:
        return "No prompt was asked twice, so that nobody knows how much differs when nothing changed."
    return f"Before against after, less the A/A floor: {words.shift(floor.excess)} points of the items."


def _floor_row(name: str, share: Estimate, n: int, up: float | None, down: float | None) -> tuple[Line, ...]:
    items = None if share.value is None else round(share.value * n, 1)
    return (
        line(name),
        line(f"{numbers.percent(share.value, 1)} {numbers.interval(share.low, share.high, numbers.PERCENT)}".rstrip()),
        line(numbers.count(items, missing=numbers.UNDEFINED)),
        line(numbers.count(up, missing="")),
        line(numbers.count(down, missing="")),
    )
