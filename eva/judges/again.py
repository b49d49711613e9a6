"""Asking again: which failures are worth it, and a request for the missing turns alone."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

from eva.judges import unit_of
from eva.prompts.request import digest_of
from eva.types import Failure, Item, JudgeSpec, Record, Request

WORTH_ASKING_AGAIN = frozenset({
    Failure.NO_JSON, Failure.NO_VERDICT, Failure.OFF_SCALE, Failure.SKIPPED, Failure.REPEATED, Failure.AMBIGUOUS, Failure.EMPTY,
    Failure.UNFINISHED_REASONING,
})  # fmt: skip
"""Not: what the judge did say (abstained, refused, heard nothing), and what the same request meets again (the token limit, the
content filter, errors that were retried already)."""


def narrowed(
    judge: JudgeSpec, record: Record, request: Request, *, items: Sequence[Item], max_chars: int | None
) -> Request:
    """The request for some of a record's items: itself where it asks for nothing else, else with a line that names their turns.

    A judge of conversations is asked for the whole again. A model that is held to a schema is held to that of these turns.
    """
    wanted = {item.turn_id for item in items if item.turn_id is not None}
    every = {item.turn_id for item in unit_of(judge).items(judge, record)}
    if not wanted or wanted == every:
        return request
    turns = " and ".join(str(turn) for turn in sorted(wanted))
    line = f"Give the entries of turn{'s' if len(wanted) > 1 else ''} {turns} only; leave all other turns out.\n"
    system, user = request.messages
    schema = request.response_schema
    if schema is not None:
        schema = unit_of(judge).schema(judge, _part(record, wanted), max_chars=max_chars)
    return replace(
        request,
        messages=(system, {**user, "content": f"{user['content']}\n{line}"}),
        response_schema=schema,
        # The first request's digest covers all that this one shares with it; the schema as text, since its order counts.
        digest=digest_of(
            {"of": request.digest, "line": line, "schema": None if schema is None else json.dumps(schema)}
        ),
    )


def _part(record: Record, turns: Collection[int]) -> Record:
    """A record of these turns: what a schema is made from, never what is sent."""
    context: Mapping[str, Any] = record.context
    if "golden_turns" in context:
        kept = [turn for turn in context["golden_turns"] or () if int(turn["turn_id"]) in turns]
        context = {**context, "golden_turns": kept}
    events = tuple(event for event in record.events if event.turn_id in turns)
    labels = {key: labels for key, labels in record.labels.items() if key.split("/")[0] in {f"turn:{t}" for t in turns}}
    return replace(record, events=events, context=context, labels=labels)
