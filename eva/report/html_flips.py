"""Flips on the HTML page: the table with its filters, and the data that the script opens a flip from."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from eva.report import numbers, untrusted
from eva.report.blocks import FlipDetail, Flips, Turn, Vote

MAX_FLIPS: Final = 2000
"""Flips of one judge that the page holds; the rest is counted."""
MAX_CHARACTERS: Final = 8_000_000
"""Of conversations in one file; records beyond it are left out and say so when opened."""
MAX_TEXT: Final = 6000
"""Characters of one utterance, reason or tool response."""
_FILTERS: Final[tuple[tuple[str, str], ...]] = (
    ("kind", "Kind"),
    ("gold", "Human label"),
    ("language", "Language"),
    ("rules", "Rule"),
)


def flips_table(flips: Flips, n: int) -> str:
    """The table of one judge's flips, worst first. Without script it shows all rows and no filter."""
    rows = flips.rows[:MAX_FLIPS]
    filters = "".join(_filter(field, title, rows) for field, title in _FILTERS)
    body = "".join(_row(place, row) for place, row in enumerate(rows))
    names = ("Item", "Kind", "Human", "Before → after", "Language", "Reasons, before and after")
    head = "".join(f'<th scope="col">{name}</th>' for name in names)
    left = len(flips.rows) - len(rows)
    more = f'<p class="note">and {numbers.counted(left, "more flip")}</p>' if left else ""
    return (
        f'<div data-block="{n}"><div class="filters" hidden>{filters}<output aria-live="polite"></output></div>'
        f'<div class="scroll"><table class="flips"><thead><tr>{head}</tr></thead><tbody>\n{body}</tbody></table></div>'
        f"{more}</div>"
    )


def flips_data(blocks: Sequence[Flips]) -> dict[str, Any]:
    """What the script reads: per block its rows and conversations, texts cut, within the size of one file."""
    room = MAX_CHARACTERS
    told = []
    for flips in blocks:
        rows = flips.rows[:MAX_FLIPS]
        conversations: dict[str, Any] = {}
        for row in rows:
            record = row.facts.record_id
            turns = flips.conversations.get(record)
            if turns is None or record in conversations:
                continue
            size = sum(len(text) for turn in turns for _, text in turn.lines)
            if size <= room:
                room -= size
                conversations[record] = [_turn(turn) for turn in turns]
        told.append({"rows": [_data(row) for row in rows], "conversations": conversations})
    return {"flips": told}


def _filter(field: str, title: str, rows: Iterable[FlipDetail]) -> str:
    """A choice of every value that occurs. Option values carry a prefix, so that an empty label is not "all"."""
    values = sorted({value for row in rows for value in _values(row, field)})
    options = "".join(
        f'<option value="={untrusted.html(v)}">{untrusted.html(v, 60) or "(empty)"}</option>' for v in values
    )
    return f'<label>{title}<select data-field="{field}"><option value="">all</option>{options}</select></label>'


def _values(row: FlipDetail, field: str) -> tuple[str, ...]:
    facts = row.facts
    if field == "rules":
        return facts.rules
    value = {"kind": row.kind, "gold": facts.gold, "language": facts.language}[field]
    return () if value is None else (value,)


def _row(place: int, row: FlipDetail) -> str:
    facts = row.facts
    reasons = (
        f"<div><b>{side}</b> {untrusted.html(untrusted.one_line(reason, 160)) or 'no reason given'}</div>"
        for side, reason in (("before", row.before_reason), ("after", row.after_reason))
    )
    cells = (
        f'<button type="button" class="open"><bdi>{_short(facts.item_id, 80)}</bdi></button>',
        f'<strong class="v-{row.kind}">{row.kind}</strong>',
        _short(facts.gold or "–", 40),
        f"<bdi>{_short(row.before_votes, 80)}</bdi> → <bdi>{_short(row.after_votes, 80)}</bdi>",
        _short(facts.language, 20),
        f'<div class="short" dir="auto">{"".join(reasons)}</div>',
    )
    return f'<tr data-row="{place}">' + "".join(f"<td>{cell}</td>" for cell in cells) + "</tr>\n"


def _short(text: str, limit: int) -> str:
    return untrusted.html(untrusted.one_line(text, limit))


def _data(row: FlipDetail) -> Mapping[str, Any]:
    facts = row.facts
    return {
        "item": facts.item_id,
        "record": facts.record_id,
        "turn": facts.turn_id,
        "kind": row.kind,
        "gold": facts.gold,
        "gold_flags": facts.gold_flags,
        "language": facts.language,
        "domain": facts.domain,
        "rules": facts.rules,
        "before": row.before,
        "after": row.after,
        "before_all": [_vote(vote) for vote in row.before_all],
        "after_all": [_vote(vote) for vote in row.after_all],
    }


def _vote(vote: Vote) -> Mapping[str, Any]:
    return {
        "repeat": vote.repeat,
        "word": vote.word,
        "reason": untrusted.cut(vote.reason, MAX_TEXT),
        "flags": vote.flags,
    }


def _turn(turn: Turn) -> list[Any]:
    return [turn.turn_id, [[speaker, untrusted.cut(text, MAX_TEXT)] for speaker, text in turn.lines]]
