"""Review sheets for native speakers: moved items with both verdicts blind, as one HTML page and as a table.

`eva.edges.datasets.review_sheet` reads what comes back; the columns are its. Which of A and B is the before arm is
drawn item by item and stands in a key that reviewers do not get.
"""

from __future__ import annotations

import base64
import csv
import hashlib
import io
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import resources
from typing import Final

from eva.report import untrusted
from eva.report.blocks import Turn

COLUMNS: Final = (
    "item_id", "language", "judged", "conversation", "verdict_a", "flags_a", "reason_a", "agree_a", "verdict_b", "flags_b",
    "reason_b", "agree_b", "label", "annotator", "comment",
)  # fmt: skip
CELL_CHARS: Final = 30_000
"""Spreadsheet programs hold 32,767 characters in a cell."""
_INTRO: Final = (
    "Two verdicts, A and B, stand under each item. They come from two versions of the same judge; which is which changes "
    "from item to item. Say for each verdict whether you agree. Where neither is right, choose your own label."
)


@dataclass(frozen=True)
class Side:
    """What one arm says about an item."""

    label: str
    flags: tuple[str, ...]
    reason: str


@dataclass(frozen=True)
class ReviewItem:
    """One item of a sheet, already blind."""

    item_id: str
    language: str
    turn_id: int | None
    turns: tuple[Turn, ...]
    """The whole conversation."""
    a: Side
    b: Side

    @property
    def judged(self) -> tuple[Turn, ...]:
        """The turn that is judged; the whole conversation where that is."""
        return tuple(turn for turn in self.turns if self.turn_id in (None, turn.turn_id))


def a_is_before(item_id: str, seed: str) -> bool:
    """Whether A is the before arm: a coin of its own for each item, the same each time for the same seed."""
    return hashlib.sha256(f"{seed}\n{item_id}".encode()).digest()[0] % 2 == 0


def csv_sheet(items: Sequence[ReviewItem]) -> str:
    """The sheet as a table: a row an item, answers empty, no cell that a spreadsheet would take for a formula."""
    out = io.StringIO()
    table = csv.writer(out, lineterminator="\n")
    table.writerow(COLUMNS)
    for item in items:
        cells = {
            "item_id": item.item_id,
            "language": item.language,
            "judged": _plain(item.judged),
            "conversation": _plain(item.turns),
            "verdict_a": item.a.label,
            "flags_a": ", ".join(item.a.flags),
            "reason_a": item.a.reason,
            "verdict_b": item.b.label,
            "flags_b": ", ".join(item.b.flags),
            "reason_b": item.b.reason,
        }
        table.writerow([untrusted.spreadsheet(untrusted.cut(cells.get(name, ""), CELL_CHARS)) for name in COLUMNS])
    return out.getvalue()


def html_sheet(items: Sequence[ReviewItem], *, title: str, labels: Sequence[str], file_name: str) -> str:
    """The sheet as one page: no network, answers stay in the browser until they are saved as a table (`file_name`).

    labels: what a reviewer may choose, worst first.
    """
    style, script = _asset("report.css") + _asset("review.css"), _asset("review.js")
    articles = "\n".join(_article(item, n, of=len(items), labels=labels) for n, item in enumerate(items, start=1))
    policy = (
        f"default-src 'none'; script-src '{_digest(script)}'; style-src '{_digest(style)}'; base-uri 'none'; "
        "form-action 'none'"
    )
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="referrer" content="no-referrer">\n'
        f"<title>{untrusted.html(title, 200)}</title>\n<style>{style}</style>\n</head>\n<body>\n<header>\n"
        f"<h1>{untrusted.html(title, 200)}</h1>\n"
        f'<p class="outcome">{untrusted.html(_INTRO)} Labels, worst first: {untrusted.html(", ".join(labels))}.</p>\n'
        '<p class="tools"><label>Your name <input id="annotator" autocomplete="name"></label> '
        f'<button type="button" id="save" data-file="{untrusted.html(file_name, 200)}">Save as CSV</button> '
        '<span id="progress" aria-live="polite"></span></p>\n'
        f"</header>\n<main>\n{articles}\n</main>\n<script>{script}</script>\n</body>\n</html>\n"
    )


def _article(item: ReviewItem, n: int, *, of: int, labels: Sequence[str]) -> str:
    options = "".join(f"<option>{untrusted.html(label)}</option>" for label in ("", *labels))
    whole = "" if item.turn_id is None else f"<details><summary>Whole conversation</summary>{_turns(item)}</details>"
    return (
        f'<article data-item="{untrusted.html(item.item_id)}" data-language="{untrusted.html(item.language)}">\n'
        f'<h2>{n} of {of} <bdi class="q">{untrusted.html(untrusted.one_line(item.item_id, 80))}</bdi></h2>\n'
        f'<div class="judged" lang="{untrusted.html(item.language)}">{"".join(map(_turn, item.judged))}</div>\n{whole}\n'
        f'<div class="side">{_verdict("a", item.a, n=n)}{_verdict("b", item.b, n=n)}</div>\n'
        f'<p><label>Neither is right; mine is <select class="label">{options}</select></label></p>\n'
        '<p><label>Comment<br><textarea class="comment" rows="2"></textarea></label></p>\n</article>'
    )


def _verdict(side: str, said: Side, *, n: int) -> str:
    flags = f"<p>{untrusted.html(', '.join(said.flags))}</p>" if said.flags else ""
    reason = f'<p dir="auto">{untrusted.html(said.reason)}</p>' if said.reason else '<p class="note">no explanation</p>'
    choices = " ".join(
        f'<label><input type="radio" name="{side}{n}" value="{answer}"> {answer}</label>' for answer in ("yes", "no")
    )
    return (
        f'<section class="verdict" data-side="{side}" data-label="{untrusted.html(said.label)}">'
        f"<h3>{side.upper()}: {untrusted.html(untrusted.one_line(said.label, 80))}</h3>{flags}{reason}"
        f"<fieldset><legend>Do you agree with {side.upper()}?</legend>{choices}</fieldset></section>"
    )


def _turns(item: ReviewItem) -> str:
    return f'<div lang="{untrusted.html(item.language)}">{"".join(map(_turn, item.turns))}</div>'


def _turn(turn: Turn) -> str:
    lines = "".join(
        f'<p dir="auto"><b>{untrusted.html(speaker)}</b> {untrusted.html(text)}</p>' for speaker, text in turn.lines
    )
    return f'<div class="turn"><span class="note">turn {turn.turn_id}</span>{lines}</div>'


def _plain(turns: Sequence[Turn]) -> str:
    return "\n".join(f"[{turn.turn_id}] {speaker}: {text}" for turn in turns for speaker, text in turn.lines)


def _digest(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def _asset(name: str) -> str:
    """The page's own style or script: a part of the program, read from the package."""
    return resources.files("eva.report").joinpath("assets", name).read_text(encoding="utf-8")
