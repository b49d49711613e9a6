"""A comparison as strict, stable JSON, and back: what `--format json` prints, and what gate and comment read."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any, Final, NoReturn, TypeVar

from pydantic import TypeAdapter, ValidationError

from eva.errors import ComparisonError
from eva.metrics.results import Comparison, Summary
from eva.report import headline
from eva.report.inputs import Pair

T = TypeVar("T")
SCHEMA: Final = 1
"""Raised when a key changes its meaning or goes; new keys do not raise it."""


DETAILED_FLIPS: Final = 2000
"""So many flips of a judge, the worst, bring their votes and conversation; the others their labels and counts of votes."""


def to_json(pairs: Sequence[Pair]) -> str:
    """All of the pairs that a report shows, as JSON: ASCII, keys sorted, no NaN; votes and records of flips only.

    Raises ValueError on NaN and infinity: an undefined number is null.
    """
    told = headline.ordered(pairs)
    outcome = "".join(run if isinstance(run, str) else run.text for run in headline.outcome(told)[0])
    page = {"schema": SCHEMA, "outcome": outcome, "pairs": [asdict(_flips_only(pair)) for pair in told]}
    return json.dumps(page, indent=2, sort_keys=True, allow_nan=False) + "\n"


def from_json(text: str) -> tuple[Pair, ...]:
    """The pairs of `to_json`'s text. Raises ComparisonError for anything else, saying where it differs."""
    page = _strict(text)
    if not isinstance(page, Mapping) or page.get("schema") != SCHEMA or "pairs" not in page:
        raise ComparisonError(
            f"this is no comparison of schema {SCHEMA}: make one with `python -m eva compare … --format json`"
        )
    return _typed(tuple[Pair, ...], page["pairs"], "pairs")


def comparison_from(values: Mapping[str, Any]) -> Comparison:
    """A `Comparison` from what `comparison.json` holds; raises ComparisonError where a field is missing or wrong."""
    return _typed(Comparison, values, "comparison")


def summary_from(values: Mapping[str, Any]) -> Summary:
    """A `Summary` from what `summary.json` holds (its further keys are left); raises ComparisonError."""
    return _typed(Summary, values, "summary")


def _flips_only(pair: Pair) -> Pair:
    worst = sorted(pair.comparison.flips, key=lambda flip: (-flip.severity, flip.item_id))[:DETAILED_FLIPS]
    wanted = {flip.item_id for flip in worst}
    items = {name: facts for name, facts in pair.items.items() if name in wanted}
    records = {facts.record_id for facts in items.values()}
    before, after = (
        replace(arm, votes={name: votes for name, votes in arm.votes.items() if name in wanted})
        for arm in (pair.before, pair.after)
    )
    turns = {record: turns for record, turns in pair.conversations.items() if record in records}
    return replace(pair, before=before, after=after, items=items, conversations=turns)


def _strict(text: str) -> Any:
    try:
        return json.loads(text, parse_constant=_no_constant)
    except ValueError as error:
        raise ComparisonError(f"this is no strict JSON: {error}") from None


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON; an undefined number is null")


def _typed(kind: type[T], values: Any, where: str) -> T:
    try:
        return TypeAdapter(kind).validate_python(values)
    except ValidationError as error:
        found = error.errors()[0]
        place = ".".join(str(part) for part in (where, *found["loc"]))
        more = f" (and {error.error_count() - 1} more)" if error.error_count() > 1 else ""
        raise ComparisonError(f"`{place}`: {found['msg'].lower()}{more}") from None
