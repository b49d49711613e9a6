"""Which JSON value of a reply is the verdict. One documented rule set for all judges.

1. The provider's word goes first: a content filter is `filtered`; no content and no tool call is `empty`, or `truncated` where
   the token limit ended it. Where the content is empty and a tool call holds JSON, that is read.
2. If the whole reply is one JSON value, that is the candidate, whatever it quotes inside.
3. Else text up to the last `</think>` is thought, not answer; a `<think>` that never closes is `unfinished_reasoning`.
4. Else every outermost JSON value in the rest is looked at (fences and prose do not matter). Those that have the judge's shape
   are candidates; a wrapper of one level (`{"result": …}`) is looked through.
5. Of several candidates: the only complete one (all keys of the contract); else the only one; equal ones count once; else the
   last, if nothing but white space or a fence follows it; else the reply is `ambiguous`.
6. No candidate: `truncated` if a value begins that the end cuts off or the token limit ended the reply; `refused` if the reply
   opens like a refusal and has no JSON; `no_json` if there is no JSON; `no_verdict` if there is, without the judge's fields.
7. A reply that was cut off gives no verdict for any item, even if part of it could be read.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from eva.replies.json_values import Found, Values, json_values
from eva.types import Failure, Reply

WRAPPERS = frozenset({
    "result", "results", "verdict", "verdicts", "evaluation", "evaluations", "judgment", "judgments", "final_judgments",
    "answer", "output", "response", "turns", "turn_evaluations", "ratings", "items", "data", "record", "records",
})  # fmt: skip
_REFUSAL = re.compile(
    r"\s*(i['’]?m sorry|i am sorry|sorry,|i can(no|['’])t|i cannot|i['’]?m unable|i am unable|i won['’]t|as an ai\b"
    r"|unfortunately, i)",
    re.IGNORECASE,
)
_LENGTH = frozenset({"length", "max_tokens", "MAX_TOKENS"})
_FILTER = frozenset({"content_filter", "safety", "SAFETY", "RECITATION", "refusal"})


@dataclass(frozen=True)
class Shape:
    """What a judge's verdict looks like."""

    accepts: Callable[[Any], bool]
    """Could this value be the verdict?"""
    complete: Callable[[Any], bool]
    """Does it have everything that the contract asks for?"""


@dataclass(frozen=True)
class Picked:
    """The verdict's JSON value, or why there is none."""

    value: Any = None
    failure: Failure | None = None
    repaired: bool = False
    """The value did not stand alone: prose, a fence, a thought or a tool call was around it."""


def pick_verdict(reply: Reply, shape: Shape) -> Picked:
    """Apply the rules above to one reply. Never raises."""
    if reply.error is not None:
        return Picked(failure=reply.error)
    if reply.finish_reason in _FILTER:
        return Picked(failure=Failure.REFUSED if reply.finish_reason == "refusal" else Failure.FILTERED)
    text = reply.text or ""
    if not text.strip():
        if reply.tool_arguments:
            return _from_text(reply.tool_arguments, reply, shape, repaired=True)
        return Picked(failure=Failure.TRUNCATED if reply.finish_reason in _LENGTH else Failure.EMPTY)
    return _from_text(text, reply, shape, repaired=False)


def _from_text(text: str, reply: Reply, shape: Shape, *, repaired: bool) -> Picked:
    values = json_values(text)
    if not values.whole:
        repaired = True
        answer = _after_thought(text)
        if answer is None:
            return Picked(failure=Failure.TRUNCATED if reply.finish_reason in _LENGTH else Failure.UNFINISHED_REASONING)
        if answer is not text:
            text, values = answer, json_values(answer)
    if values.unterminated:
        return Picked(failure=Failure.TRUNCATED)
    candidates = [found for value in values.found for found in _candidates(value, shape)]
    if not candidates:
        return Picked(failure=_why_none(text, reply, values))
    if reply.finish_reason in _LENGTH and not any(shape.complete(candidate.value) for candidate in candidates):
        return Picked(failure=Failure.TRUNCATED)
    return _choose(candidates, text, shape, repaired=repaired)


def _after_thought(text: str) -> str | None:
    """The text after the last closing think tag; None where a thought never closes."""
    folded = text.casefold()
    closing = folded.rfind("</think>")
    opening = folded.rfind("<think>")
    if opening > closing:
        return None
    return text[closing + len("</think>") :] if closing >= 0 else text


def _candidates(found: Found, shape: Shape) -> list[Found]:
    if shape.accepts(found.value):
        return [found]
    return [Found(inner, found.start, found.end) for inner in unwrap(found.value) if shape.accepts(inner)]


def unwrap(value: Any) -> list[Any]:
    """What a wrapper of one level holds: the values under known wrapper names, or of an object or list of one."""
    if isinstance(value, dict):
        named = [inner for key, inner in value.items() if key.strip().casefold() in WRAPPERS]
        return named or (list(value.values()) if len(value) == 1 else [])
    return list(value) if isinstance(value, list) and len(value) == 1 else []


def _choose(candidates: list[Found], text: str, shape: Shape, *, repaired: bool) -> Picked:
    pool = [candidate for candidate in candidates if shape.complete(candidate.value)] or candidates
    last = pool[-1]
    if any(candidate.value != last.value for candidate in pool):
        rest = text[last.end :].strip().strip("`").strip()
        if rest:
            return Picked(failure=Failure.AMBIGUOUS, repaired=repaired)
    return Picked(value=last.value, repaired=repaired)


def _why_none(text: str, reply: Reply, values: Values) -> Failure:
    if reply.finish_reason in _LENGTH:
        return Failure.TRUNCATED
    if values.found:
        return Failure.NO_VERDICT
    return Failure.REFUSED if _REFUSAL.match(text) else Failure.NO_JSON
