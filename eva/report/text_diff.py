"""What changed inside one part of a prompt, sentence by sentence: prompts are long lines, a line diff shows nothing."""

from __future__ import annotations

import difflib
import re
from dataclasses import dataclass
from typing import Final, Literal

Sign = Literal[" ", "-", "+", "…"]
_SENTENCE_END: Final = re.compile(r"(?<=[.!?。！？।])\s+")
_CONTINUES: Final = re.compile(r" {0,3}[^\W\d_(“‘'][^\n]*$| {0,3}[(“‘'\"][\w]")
_STANDS_ALONE: Final = re.compile(r"\s*(#|\||[{}\[\]`]|```|\"[\w ]+\":)")
CONTEXT: Final = 1
"""Unchanged sentences kept on each side of a change."""


@dataclass(frozen=True)
class Piece:
    sign: Sign
    """Kept, gone, new, or a stretch of unchanged sentences that is not shown."""
    text: str


def pieces(before: str | None, after: str | None) -> tuple[Piece, ...]:
    """The diff of two texts by sentence; None is a part that does not exist. Equal texts give nothing."""
    old, new = _sentences(before or ""), _sentences(after or "")
    found: list[Piece] = []
    for tag, i1, i2, j1, j2 in difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if tag == "equal":
            found.extend(_context(old[i1:i2], starts=i1 == 0, ends=i2 == len(old)))
        else:
            found.extend(Piece("-", text) for text in old[i1:i2])
            found.extend(Piece("+", text) for text in new[j1:j2])
    return tuple(found) if any(piece.sign in "-+" for piece in found) else ()


def _context(kept: list[str], *, starts: bool, ends: bool) -> list[Piece]:
    """The first and last sentences of an unchanged stretch that touch a change, and how many lie between."""
    head = 0 if starts else CONTEXT
    tail = 0 if ends else CONTEXT
    if len(kept) <= head + tail:
        return [Piece(" ", text) for text in kept]
    left = len(kept) - head - tail
    gap = Piece("…", f"{left} unchanged {'sentence' if left == 1 else 'sentences'}")
    first = [Piece(" ", text) for text in kept[:head]]
    last = [Piece(" ", text) for text in kept[len(kept) - tail :]]
    return [*first, gap, *last]


def _sentences(text: str) -> list[str]:
    return [
        sentence.strip()
        for paragraph in _paragraphs(text)
        for sentence in _SENTENCE_END.split(paragraph)
        if sentence.strip()
    ]


def _paragraphs(text: str) -> list[str]:
    """Lines, with those joined that only the file's width broke: a line that starts with a letter goes on the one before.

    List items, headings, tables, JSON and indented lines start anew.
    """
    found: list[str] = []
    goes_on = False
    for each in text.splitlines():
        if goes_on and _CONTINUES.match(each):
            found[-1] = f"{found[-1]} {each.strip()}"
        else:
            found.append(each)
        goes_on = bool(each.strip()) and not _STANDS_ALONE.match(each)
    return found
