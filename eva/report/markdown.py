"""A report as Markdown for a pull request: first screen, then folded parts, at most 60,000 characters.

GitHub refuses a comment above 65,536 characters, so what does not fit is cut in a fixed order, each cut with the number
left out. The sticky marker is the first line and is never cut.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from eva.report import untrusted
from eva.report.blocks import Report, Section, Strong
from eva.report.markdown_blocks import LEAST_ROOM, ROOMS, Room, block, cell_free, summary

LIMIT: Final = 60_000
CUT_ORDER: Final = (
    "classes", "people", "rules", "failures", "statistics", "runs", "noise", "slices", "flags", "meanings", "spend",
    "baseline-prompt", "prompt", "baseline-flips", "flips", "judges", "reproduce",
)  # fmt: skip
"""When even short parts do not fit, whole parts go, these first; the first screen never goes."""
_URL: Final = re.compile(r"https?://[^\s<>()\"'`]+")


def marker(key: str) -> str:
    """The hidden first line by which the next run finds its own comment. `key`: letters, digits, dots, dashes."""
    if not re.fullmatch(r"[A-Za-z0-9._-]{1,60}", key) or "--" in key:
        raise ValueError(f"a marker's key is up to 60 letters, digits, dots and single dashes, not {key!r}")
    return f"<!-- eva-report:{key} -->"


def render(report: Report, *, key: str | None = None, limit: int = LIMIT, full_report: str | None = None) -> str:
    """The report as Markdown, at most `limit` UTF-16 units (GitHub's count). `key` puts the sticky marker first.

    `full_report` is the address of the whole report, named wherever something is left out; an address that is not plain
    http(s) is refused with ValueError.
    """
    if full_report is not None and not _URL.fullmatch(full_report):
        raise ValueError(f"not an http(s) address: {full_report!r}")
    text = ""
    for text in _attempts(report, key=key, full_report=full_report):
        if _units(text) <= limit:
            return text
    return _hard_cut(text, limit)


def _attempts(report: Report, *, key: str | None, full_report: str | None) -> Iterator[str]:
    """The same report in less and less room."""
    for room in ROOMS:
        yield _page(report, room, key=key, full_report=full_report)
    for n in range(1, len(CUT_ORDER) + 1):
        yield _page(report, replace(LEAST_ROOM, without=frozenset(CUT_ORDER[:n])), key=key, full_report=full_report)


def _page(report: Report, room: Room, *, key: str | None, full_report: str | None) -> str:
    left_out = [section for section in report.sections if section.key in room.without]
    parts = [marker(key)] if key else []
    parts.append(f"## {cell_free(report.title)}")
    parts += [cell_free(told) for told in report.outcome]
    for section in report.sections:
        if section.rank == "first":
            parts += [block(each, room) for each in section.blocks]
    for section in report.sections:
        if section.rank == "folded" and section not in left_out:
            parts.append(_folded(section, room))
    if left_out:
        parts.append("Left out for room: " + "; ".join(cell_free(section.title) for section in left_out) + ".")
    if full_report:
        parts.append(f"[Full report]({full_report})")
    return "\n\n".join(part for part in parts if part) + "\n"


def _folded(section: Section, room: Room) -> str:
    inside = "\n\n".join(text for text in (block(each, room) for each in section.blocks) if text)
    return f"<details><summary>{summary(section.title)}</summary>\n\n{inside}\n\n</details>"


def _units(text: str) -> int:
    """Length as GitHub counts it: UTF-16 units."""
    return len(text.encode("utf-16-le")) // 2


def _hard_cut(text: str, limit: int) -> str:
    """Whole lines from the top while they fit; only a first screen beyond all reason comes here."""
    kept: list[str] = []
    notice = cell_free((Strong("Cut: the rest does not fit."),))
    room = limit - _units(notice) - 2
    for each in text.splitlines():
        room -= _units(each) + 1
        if room < 0:
            break
        kept.append(each)
    return "\n".join([*kept, "", notice]) if kept else untrusted.cut(text, limit - 40)
