"""Flips with all that it takes to understand one: both labels, votes, both reasons, the conversation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from eva.metrics.results import Flip
from eva.report import numbers, words
from eva.report.blocks import Block, Column, FlipDetail, Flips, ItemFacts, Line, Paragraph, Strong, Table, Vote, line
from eva.report.inputs import Pair
from eva.types import Failure

NO_MAJORITY: Final = "no most frequent verdict"
NO_VERDICT: Final = "no verdict"
_FAILURES: Final = frozenset(kind.value for kind in Failure) - {Failure.ABSTAINED.value}
UNCHANGED: Final = "the same before and after, or none on both sides"


def flips_block(pair: Pair, pairs: Sequence[Pair]) -> Flips:
    """All flips of a pair, worst first; equal ones by kind, then by item id."""
    kinds = list(words.FLIP_KINDS)
    told = sorted(pair.comparison.flips, key=lambda flip: (-flip.severity, kinds.index(flip.kind), flip.item_id))
    rows = tuple(_detail(flip, pair) for flip in told)
    wanted = {row.facts.record_id for row in rows}
    conversations = {record: turns for record, turns in sorted(pair.conversations.items()) if record in wanted}
    return Flips(judge=words.name_of(pair, pairs), rows=rows, conversations=conversations)


def counts_blocks(pair: Pair) -> tuple[Block, ...]:
    """How many items of each kind, each kind with its meaning; below, the exact test and what could not be read."""
    counts = pair.comparison.counts
    asked = ("fixed", "broken") if pair.after.summary.n_labelled else ()
    rows = [
        (line(Strong(kind)), line(meaning), line(numbers.count(n)))
        for kind, meaning in words.FLIP_KINDS.items()
        if (n := getattr(counts, kind)) or kind in asked
    ]
    rows.append((line("unchanged"), line(UNCHANGED), line(numbers.count(counts.unchanged))))
    columns = (Column("Items"), Column("Most frequent verdict over the repeats"), Column("Number", "right"))
    told = f"Unreadable verdicts: {_unreadable(pair)}."
    if counts.mcnemar_p is not None:
        told = f"Fixed against broken, exact McNemar test: {numbers.p_value(counts.mcnemar_p)}. {told}"
    return Table(columns, tuple(rows)), Paragraph(line(told))


def title(pairs: Sequence[Pair]) -> Line:
    """`Flips: 3 of 137 items`."""
    counts = [pair.comparison.counts for pair in pairs]
    flipped = sum(getattr(one, kind) for one in counts for kind in words.FLIP_KINDS)
    return line(
        f"Flips: {numbers.count(flipped)} of {numbers.count(flipped + sum(one.unchanged for one in counts))} items"
    )


def votes_text(votes: Mapping[str, int]) -> str:
    """`3 (2 of 3), 1 (1 of 3)`, most votes first; `no verdict` where nothing was asked."""
    total = sum(votes.values())
    told = sorted(votes.items(), key=lambda vote: (-vote[1], vote[0]))
    return ", ".join(f"{label} ({n} of {total})" for label, n in told if n) or NO_VERDICT


def _detail(flip: Flip, pair: Pair) -> FlipDetail:
    before_all = pair.before.votes.get(flip.item_id, ())
    after_all = pair.after.votes.get(flip.item_id, ())
    unknown = ItemFacts(flip.item_id, record_id=flip.item_id.split("#")[0], gold=flip.gold)
    return FlipDetail(
        facts=pair.items.get(flip.item_id, unknown),
        kind=flip.kind,
        before=_modal(flip.before, flip.before_votes),
        after=_modal(flip.after, flip.after_votes),
        before_votes=votes_text(flip.before_votes),
        after_votes=votes_text(flip.after_votes),
        before_all=before_all,
        after_all=after_all,
        before_reason=_reason(before_all, flip.before),
        after_reason=_reason(after_all, flip.after),
    )


def _modal(label: str | None, votes: Mapping[str, int]) -> str:
    """The modal label; else the kinds of failure where failures, all kinds together, lead; else that none leads.

    `eva.metrics.votes.modal` is the rule. An abstention is a vote of its own there, apart from the other failures.
    """
    if label is not None:
        return label
    failed = {word: n for word, n in votes.items() if word in _FAILURES and n}
    others = {word: n for word, n in votes.items() if word not in _FAILURES and n}
    first = max(others.values(), default=0)
    if sum(failed.values()) > first:
        return f"{NO_VERDICT}: {', '.join(sorted(failed))}"
    leading = [word for word, n in others.items() if n == first > sum(failed.values())]
    if leading == [Failure.ABSTAINED.value]:
        return f"{NO_VERDICT}: {leading[0]}"
    return NO_MAJORITY if others else NO_VERDICT


def _reason(votes: Sequence[Vote], label: str | None) -> str:
    """The reason of the first repeat that voted with the majority and gave one; without a majority the first given."""
    agreeing = [vote for vote in votes if vote.label == label] if label is not None else list(votes)
    return next((vote.reason for vote in agreeing if vote.reason), "")


def _unreadable(pair: Pair) -> str:
    """Verdicts without a label, of how many: `1 of 411 before, 0 of 411 after`."""
    shown = []
    for side, arm in (("before", pair.before), ("after", pair.after)):
        total = arm.summary.n_items * max(1, len(arm.summary.repeats))
        shown.append(f"{numbers.count(sum(arm.summary.failures.values()))} of {numbers.count(total)} {side}")
    return ", ".join(shown)
