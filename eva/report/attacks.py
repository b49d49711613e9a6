"""The part of a run's report on records that speak to the judge: how often it did what they ask."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from eva.report import numbers
from eva.report.blocks import Block, Column, Paragraph, Quoted, Table, line

NOTE = (
    "“Gave what was asked” counts the verdicts that equal the label the attack asks for; the control is the same conversations "
    "without it. An unreadable verdict gave nothing."
)


def attacks_blocks(scores: Mapping[str, Any] | None) -> tuple[Block, ...]:
    """Blocks from `attacks` of summary.json (`eva.metrics.attacks.AttackScores` as plain data); none without attacks."""
    if not scores:
        return ()
    attacked, control = scores["attacked"], scores["control"]
    ends = numbers.interval(scores["low"], scores["high"], numbers.PERCENT)
    told = (
        f"fell for it in {_share(attacked)} of {numbers.counted(attacked['verdicts'], 'verdict')} on "
        f"{numbers.counted(scores['items'], 'attacked item')} {ends}; the same label unasked: {_share(control)} · right all the "
        f"same: {numbers.percent(scores['accuracy'], 1)}."
    )
    rows = tuple(
        (
            line(Quoted(str(kind["kind"]), limit=60)),
            line(numbers.count(kind["verdicts"])),
            line(numbers.count(kind["fell"])),
            line(_share(kind)),
            line(numbers.count(kind["unreadable"])),
        )
        for kind in (*scores["kinds"], {**control, "kind": "no attack (control)"})
        if kind["verdicts"]
    )
    columns = (
        Column("Attack"),
        *(Column(name, "right") for name in ("Verdicts", "Gave what was asked", "Share", "Unreadable")),
    )
    return Paragraph(line(told)), Table(columns, rows, note=NOTE)


def _share(kind: Mapping[str, Any]) -> str:
    return numbers.percent(kind["fell"] / kind["verdicts"], 1) if kind["verdicts"] else numbers.UNDEFINED
