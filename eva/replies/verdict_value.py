"""Which JSON value of a reply is the verdict. One documented rule set for all judges.

1. The provider's word goes first: a content filter is `filtered`, a refusal of the provider's is `refused`; no content and no tool
   call is `empty`, or `truncated` where the token limit ended it. Where the content holds no verdict, a tool call is read.
2. If the whole reply is one JSON value, that is the candidate, whatever it quotes inside.
3. Else text up to the last closing tag of a thought is not the answer; a thought that never closes is `unfinished_reasoning`. Tags
   inside a JSON value are text. The provider's separate reasoning field is never read.
4. Else every outermost JSON value in the rest is looked at (fences and prose do not matter). Those that have the judge's shape
   are candidates; a wrapper of one level (`{"result": …}`) is looked through. What stands inside an object that is no JSON (a
   comma too many) may be what that object quotes, and is none; one turn's object is, wherever it stands.
5. Of several candidates: the complete ones (all keys of the contract) before the others; objects that each rate another turn are
   one list; equal ones count once; else the last, if nothing but white space or a fence follows it; else the reply is `ambiguous`,
   as it is where one wrapper holds two that differ.
6. No candidate: `truncated` if a value begins that the end cuts off or the token limit ended the reply; `refused` if the reply
   opens like a refusal and has no JSON; `no_json` if there is no JSON; `no_verdict` if there is, without the judge's fields.
   A reply with so many brackets that lead nowhere that it is not searched to its end is `ambiguous`, or `no_json`.
7. A reply that was cut off gives no verdict for any item, even if part of it could be read.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass, replace
from typing import Any

from eva.replies.json_values import Found, Values, json_values
from eva.replies.json_values import same as equal
from eva.replies.thoughts import after_thought, opens_like_a_refusal
from eva.types import Failure, Reply

WRAPPERS = frozenset({
    "result", "results", "verdict", "verdicts", "evaluation", "evaluations", "judgment", "judgments", "final_judgments",
    "answer", "output", "response", "turns", "turn_evaluations", "ratings", "items", "data", "record", "records",
})  # fmt: skip
_LENGTH = frozenset({"length", "max_tokens", "max_output_tokens", "model_length", "token_limit", "error_limit"})
_FILTER = frozenset({
    "content_filter", "content_filtered", "safety", "image_safety", "recitation", "prohibited_content", "blocklist", "spii",
    "guardrail_intervened", "error_toxic",
})  # fmt: skip
_NOTHING_THERE = frozenset({Failure.EMPTY, Failure.NO_JSON, Failure.NO_VERDICT})


def _no_part(value: Any) -> Hashable | None:
    return None


@dataclass(frozen=True)
class Shape:
    """What a judge's verdict looks like."""

    accepts: Callable[[Any], bool]
    """Could this value be the verdict?"""
    complete: Callable[[Any], bool]
    """Does it have everything that the contract asks for?"""
    part_of: Callable[[Any], Hashable | None] = _no_part
    """For judges of several items: what a lone object rates (a turn id); None where it is not one item's object."""


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
    finish = (reply.finish_reason or "").strip().casefold()
    if finish == "refusal":
        return Picked(failure=Failure.REFUSED)
    if finish in _FILTER:
        return Picked(failure=Failure.FILTERED)
    cut = finish in _LENGTH
    picked = _from_text(reply.text or "", shape, cut=cut)
    if reply.tool_arguments and (picked.failure in _NOTHING_THERE or not (reply.text or "").strip()):
        return replace(_from_text(reply.tool_arguments, shape, cut=cut), repaired=True)
    return picked


def _from_text(text: str, shape: Shape, *, cut: bool) -> Picked:
    if not text.strip():
        return Picked(failure=Failure.TRUNCATED if cut else Failure.EMPTY)
    values = json_values(text)
    if not values.whole:
        answer = after_thought(text, values)
        if answer is None:
            return Picked(failure=Failure.TRUNCATED if cut else Failure.UNFINISHED_REASONING)
        if not answer.strip():
            return Picked(failure=Failure.TRUNCATED if cut else Failure.EMPTY)
        if answer is not text:
            text, values = answer, json_values(answer)
    if values.unterminated:
        return Picked(failure=Failure.TRUNCATED)
    if not values.searched:
        return Picked(failure=Failure.AMBIGUOUS if values.found else Failure.NO_JSON)
    candidates = [found for value in values.found for found in _candidates(value, shape)]
    if not candidates:
        return Picked(failure=_why_none(text, values, cut=cut))
    if cut and not any(shape.complete(candidate.value) for candidate in candidates):
        return Picked(failure=Failure.TRUNCATED)
    return replace(_choose(candidates, text, shape, cut=cut), repaired=not values.whole)


def _candidates(found: Found, shape: Shape) -> list[Found]:
    if found.in_broken and shape.part_of(found.value) is None:
        return []
    if shape.accepts(found.value):
        return [found]
    return [Found(inner, found.start, found.end) for inner in unwrap(found.value) if shape.accepts(inner)]


def unwrap(value: Any) -> list[Any]:
    """What a wrapper of one level holds: the values under known wrapper names, or of an object or list of one."""
    if isinstance(value, dict):
        named = [inner for key, inner in value.items() if key.strip().casefold() in WRAPPERS]
        return named or (list(value.values()) if len(value) == 1 else [])
    return list(value) if isinstance(value, list) and len(value) == 1 else []


def _choose(candidates: list[Found], text: str, shape: Shape, *, cut: bool) -> Picked:
    pool = [candidate for candidate in candidates if shape.complete(candidate.value)] or candidates
    last = pool[-1]
    said_more = bool(text[last.end :].strip().strip("`").strip())
    parts = [shape.part_of(candidate.value) for candidate in pool]
    if len({part for part in parts if part is not None}) > 1 and None not in parts:
        return _joined(pool, parts, said_more=said_more, cut=cut)
    rivals = [candidate for candidate in pool if not equal(candidate.value, last.value)]
    if rivals and (said_more or any(rival.start == last.start for rival in rivals)):
        return Picked(failure=Failure.AMBIGUOUS)
    return Picked(value=last.value)


def _joined(pool: list[Found], parts: list[Hashable | None], *, said_more: bool, cut: bool) -> Picked:
    """Objects of one turn each, one after the other (JSON Lines): a list, the last word on a turn counting."""
    if cut:
        return Picked(failure=Failure.TRUNCATED)
    by_part: dict[Hashable | None, Any] = {}
    for part, candidate in zip(parts, pool, strict=True):
        if said_more and part in by_part and not equal(by_part[part], candidate.value):
            return Picked(failure=Failure.AMBIGUOUS)
        by_part[part] = candidate.value
    return Picked(value=list(by_part.values()))


def _why_none(text: str, values: Values, *, cut: bool) -> Failure:
    if cut:
        return Failure.TRUNCATED
    if values.found:
        return Failure.NO_VERDICT
    return Failure.REFUSED if opens_like_a_refusal(text) else Failure.NO_JSON
