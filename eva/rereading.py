"""Stored replies, today's reader: what an edit of the reader changes, for nothing."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from eva.edges.asking import ask_stored, read_replies
from eva.edges.compose import read_yaml
from eva.edges.runs import RunFolder
from eva.edges.settings import settings_from
from eva.flow import plan_run, with_default_limit
from eva.reporting import rows_of
from eva.types import Verdict


@dataclass(frozen=True)
class Change:
    """One verdict that reads differently now: its label or kind of failure, or else its flags or its dimensions' labels."""

    item_id: str
    repeat: int
    before: str
    after: str
    gold: str | None


@dataclass(frozen=True)
class Reread:
    """What reading again found."""

    wanted: int
    replies: int
    verdicts: int
    changed: tuple[Change, ...]
    labelled: int
    right_before: int
    right_now: int


def reread(folder: RunFolder, *, home: Path) -> Reread:
    """Read the run's replies again. Raises StoreError where they are gone, ConfigError where its settings no longer hold."""
    settings, _ = with_default_limit(settings_from(read_yaml(folder.path / "config.yaml")))
    plan = plan_run(settings)
    old = {(str(row["item_id"]), int(row["repeat"])): row for row in rows_of(folder.verdicts)}
    wanted = {(str(row["record_id"]), int(row["repeat"])): str(row["request_digest"]) for row in old.values()}
    replies = ask_stored(settings, plan, wanted, home=home)
    verdicts = [verdict for verdict in read_replies(plan, replies) if (verdict.item_id, verdict.repeat) in old]
    pairs = [(old[verdict.item_id, verdict.repeat], verdict) for verdict in verdicts]
    labelled = [(row, verdict) for row, verdict in pairs if _text(row["gold"])]
    return Reread(
        wanted=len(wanted),
        replies=len(replies),
        verdicts=len(verdicts),
        changed=tuple(_change(row, verdict) for row, verdict in pairs if _seen(row) != _found(verdict)),
        labelled=len(labelled),
        right_before=sum(_text(row["label"]) == _text(row["gold"]) for row, _ in labelled),
        right_now=sum(verdict.label == _text(row["gold"]) for row, verdict in labelled),
    )


def _change(row: dict[str, Any], verdict: Verdict) -> Change:
    before, after = _said(row), _outcome(verdict)
    if before == after:  # then what differs stands beside the label
        before, after = (f"{label} ({flags}{dimensions})" for label, flags, dimensions in (_seen(row), _found(verdict)))
    return Change(verdict.item_id, verdict.repeat, before, after, _text(row["gold"]))


def _seen(row: dict[str, Any]) -> tuple[str, str, str]:
    """Label or failure, flags and dimensions as they stand in the verdict table."""
    return _said(row), _flags(row["flags"]), _dimensions(json.loads(str(row["dimensions"] or "{}")))


def _found(verdict: Verdict) -> tuple[str, str, str]:
    """The same of a verdict that was read now."""
    return _outcome(verdict), _flags(verdict.flags), _dimensions(verdict.dimensions)


def _flags(flags: Iterable[str]) -> str:
    return ", ".join(flags) or "no flags"


def _dimensions(labels: Mapping[str, str]) -> str:
    return "".join(f", {name} {labels[name]}" for name in sorted(labels))


def _outcome(verdict: Verdict) -> str:
    return (
        verdict.label if verdict.label is not None else f"failure {verdict.failure.value if verdict.failure else '?'}"
    )


def _said(row: dict[str, Any]) -> str:
    return _text(row["label"]) or f"failure {_text(row['failure']) or '?'}"


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) else None
