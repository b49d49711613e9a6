"""What a report is made from: arms and pairs, and how they come out of the tables of a run folder."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from eva.metrics.results import Comparison, Summary
from eva.metrics.results_moved import Attribution, PackFinding
from eva.report.blocks import ItemFacts, RuleChange, Turn, Vote


@dataclass(frozen=True)
class RuleBreak:
    """A rule of the judge that a reply breaks, with both labels: what the reply says and what counts."""

    rule: str
    said: str | None
    """What the model answered for the whole, if it could be read."""
    counts: str | None
    """The verdict; None where there is none."""


@dataclass(frozen=True)
class Arm:
    """One run: what it was (`run.json`), what it measured, and what its repeats said."""

    meta: Mapping[str, Any]
    summary: Summary
    spend: Mapping[str, Any] | None = None
    """`spend` of summary.json: calls, cached, input_tokens, output_tokens, cost_usd; None is unknown."""
    attacks: Mapping[str, Any] | None = None
    """`attacks` of summary.json; None where no record speaks to the judge."""
    readings: Mapping[str, Any] | None = None
    """`readings` of summary.json: how many verdicts there are and how many could be read; None where nobody counted."""
    rule_breaks: tuple[tuple[RuleBreak, int], ...] | None = None
    """Verdicts by broken rule and both labels; None where the verdict rows are not at hand."""
    votes: Mapping[str, tuple[Vote, ...]] = field(default_factory=dict)
    """By item id; needed for items with a flip only."""

    @property
    def readable(self) -> int | None:
        """Verdicts that could be read, a plain "not applicable" among them; None where that is not known."""
        if self.readings is not None:
            return int(self.readings["readable_first"])
        if self.meta.get("status", "finished") != "finished":
            return None
        unread = sum(n for kind, n in self.summary.failures.items() if kind != "abstained")
        return self.summary.n_items * len(self.summary.repeats) - unread


@dataclass(frozen=True)
class Pair:
    """One judge before and after a change."""

    before: Arm
    after: Arm
    comparison: Comparison
    prompt_changes: tuple[RuleChange, ...] = ()
    items: Mapping[str, ItemFacts] = field(default_factory=dict)
    """By item id; needed for items with a flip only."""
    conversations: Mapping[str, tuple[Turn, ...]] = field(default_factory=dict)
    """By record id; needed for records with a flip only."""
    attribution: Attribution | None = None
    """Moved items by what their explanations say; None where nobody asked."""
    packs: tuple[PackFinding, ...] = ()
    """Items that must change or must not, as far as packs were given."""


def votes_of(rows: Iterable[Mapping[str, Any]]) -> dict[str, tuple[Vote, ...]]:
    """Votes by item id, in order of repeat, from rows of `verdicts.parquet`. Rows of one item may lie anywhere."""
    found: dict[str, list[Vote]] = {}
    for row in rows:
        vote = Vote(
            repeat=int(row["repeat"]),
            label=_text_or_none(row.get("label")),
            failure=_text_or_none(row.get("failure")),
            reason=str(row.get("reason") or ""),
            flags=_texts(row.get("flags")),
        )
        found.setdefault(str(row["item_id"]), []).append(vote)
    return {item: tuple(sorted(votes, key=lambda vote: vote.repeat)) for item, votes in found.items()}


def rule_breaks_of(rows: Iterable[Mapping[str, Any]]) -> tuple[tuple[RuleBreak, int], ...]:
    """Verdicts by broken rule and both labels, from rows of `verdicts.parquet`; a verdict counts under each of its rules."""
    found = Counter(
        RuleBreak(rule, _text_or_none(row.get("model_label")), _text_or_none(row.get("label")))
        for row in rows
        for rule in dict.fromkeys(_texts(row.get("broken_rules")))
    )
    return tuple(found.items())


def facts_of(rows: Iterable[Mapping[str, Any]]) -> dict[str, ItemFacts]:
    """What is known of each item, from rows of `verdicts.parquet`; the first row of an item counts."""
    found: dict[str, ItemFacts] = {}
    for row in rows:
        item_id = str(row["item_id"])
        if item_id in found:
            continue
        turn = row.get("turn_id")
        found[item_id] = ItemFacts(
            item_id=item_id,
            record_id=str(row.get("record_id") or item_id),
            turn_id=None if _null(turn) else int(turn or 0),
            dimension=_text_or_none(row.get("dimension")),
            language=str(row.get("language") or ""),
            domain=str(row.get("domain") or ""),
            gold=_text_or_none(row.get("gold")),
            gold_flags=_texts(row.get("gold_flags")),
            rules=_texts(row.get("rules")),
        )
    return found


def conversations_of(rows: Iterable[Mapping[str, Any]]) -> dict[str, tuple[Turn, ...]]:
    """Turns by record id, from rows of `records.jsonl`."""
    return {
        str(row["record_id"]): tuple(
            Turn(
                turn_id=int(turn["turn_id"]),
                lines=tuple((str(entry["speaker"]), str(entry["text"])) for entry in turn["lines"]),
            )
            for turn in row["turns"]
        )
        for row in rows
    }


def prompt_changes(
    before: Mapping[str, Mapping[str, str]], after: Mapping[str, Mapping[str, str]]
) -> tuple[RuleChange, ...]:
    """Parts that differ between two `prompt_parts.json`, in the order of the text; one change of several keys is one.

    Only keys (`<language>.<pipeline>`) that both arms have are compared. A part that is new stands where the after arm
    has it; one that is gone stands after the part that it followed before.
    """
    shared = [key for key in after if key in before]
    found: dict[tuple[str, str | None, str | None], list[str]] = {}
    for key in shared:
        old, new = before[key], after[key]
        for path in _merged(list(old), list(new)):
            change = (path, old.get(path), new.get(path))
            if change[1] != change[2]:
                found.setdefault(change, []).append(key)
    return tuple(
        RuleChange(path, old_text, new_text, where=() if len(keys) == len(shared) else tuple(keys))
        for (path, old_text, new_text), keys in found.items()
    )


def _merged(old: Sequence[str], new: Sequence[str]) -> list[str]:
    """Both lists as one: the new order, and each name that is gone behind the name that it followed."""
    merged = list(new)
    known = set(new)
    for place, name in enumerate(old):
        if name not in known:
            behind = old[place - 1] if place else None
            merged.insert(merged.index(behind) + 1 if behind in merged else 0, name)
            known.add(name)
    return merged


def _texts(value: Any) -> tuple[str, ...]:
    return () if value is None else tuple(str(entry) for entry in value)


def _text_or_none(value: Any) -> str | None:
    return None if _null(value) else str(value)


def _null(value: Any) -> bool:
    """None, or NaN: that is how pandas hands out a null."""
    return value is None or (isinstance(value, float) and math.isnan(value))
