"""Text that we did not write: records, replies, names in configs. Per target, the one function that makes it inert.

Everything passes through `visible` first: characters that a reader cannot see but a terminal, browser or parser obeys
are spelled out (`⟨U+202E⟩`). What stays is shown as it is; nothing is dropped in silence.
"""

from __future__ import annotations

import html as _html
import json
import re
from typing import Any, Final

# U+200C and U+200D are kept: Hindi, Persian and emoji are written with them, and they command nothing.
_HIDDEN: Final = re.compile(
    "["
    "\x00-\x08\x0b-\x1f\x7f-\x9f"  # control characters: escape sequences, bells, backspaces
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f"  # soft hyphen, direction marks, fillers
    "\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f"  # zero width, direction overrides and isolates
    "\u3164\ufeff\uffa0\ufff0-\ufffb"  # fillers, byte order mark, annotations
    "\ud800-\udfff"  # lone surrogates: cannot be written as UTF-8
    "\U000e0000-\U000e0fff"  # tag characters: a hidden alphabet
    "]"
)
_BREAKS: Final = re.compile("\r\n|[\r\x0b\x0c\x85\u2028\u2029]")
_FORMULA: Final = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠", "|", "%")


def visible(text: str) -> str:
    """Every line break as LF, every hidden or commanding character spelled out; letters of all scripts as they are."""
    return _HIDDEN.sub(lambda found: f"⟨U+{ord(found.group()):04X}⟩", _BREAKS.sub("\n", text))


def one_line(text: str, limit: int | None = None) -> str:
    """`visible` text on one line, spaces collapsed, cut at `limit` characters with the number left out."""
    return cut(" ".join(visible(text).split()), limit)


def cut(text: str, limit: int | None) -> str:
    """At most `limit` characters of `text`, then how many are left out: `The agent … (+312 characters)`."""
    if limit is None or len(text) <= limit:
        return text
    kept = text[:limit].rstrip()
    return f"{kept} … (+{len(text) - len(kept):,} characters)"


def markdown(text: str, limit: int | None = None) -> str:
    """One inline code span: in it GitHub resolves no mention, issue, commit, link, emoji, HTML or formula.

    The fence is longer than any run of backticks inside; an HTML comment is broken up, so that a quoted sticky marker
    is no marker. Not for tables: there a pipe ends the cell even inside a span; see `markdown_cell`.
    """
    shown = _no_comment(one_line(text, limit)) or " "
    fence = "`" * (_longest_run(shown) + 1)
    pad = " " if shown[0] in "` " or shown[-1] in "` " else ""
    return f"{fence}{pad}{shown}{pad}{fence}"


def markdown_cell(text: str, limit: int | None = None) -> str:
    """`markdown` for a table's cell: a pipe becomes U+2223, which looks alike (no escape of it is safe in a span)."""
    return markdown(one_line(text, limit).replace("|", "\N{DIVIDES}"))


def markdown_block(text: str, *, language: str = "text") -> str:
    """A fenced code block of several lines; its fence is longer than any run of backticks in the text."""
    shown = _no_comment(visible(text)).rstrip("\n")
    fence = "`" * max(3, _longest_run(shown) + 1)
    return f"{fence}{language}\n{shown}\n{fence}"


def markdown_prose(text: str) -> str:
    """Our own sentence in Markdown: whatever could start a span, a link, HTML, a formula or a block is escaped."""
    inside = re.sub(r"([\\`*_<|~$@]|\](?=[(\[:]))", r"\\\1", visible(text))
    return re.sub(r"^(\s*)([#>=]|[+-](?=\s|$))", r"\1\\\2", inside, flags=re.MULTILINE).replace("://", ":\u200b//")


def markdown_html(text: str, limit: int | None = None) -> str:
    """Text inside a raw HTML block of a Markdown page (a `<summary>`): `<code>` on one line, all markup as entities."""
    return f"<code>{_html.escape(_no_comment(one_line(text, limit)))}</code>"


def html(text: str, limit: int | None = None) -> str:
    """Text or an attribute's value in an HTML page."""
    return _html.escape(cut(visible(text), limit))


def json_for_script(value: Any) -> str:
    """Strict JSON that may stand inside `<script type="application/json">`: nothing in it ends the element.

    Keys are sorted. Raises ValueError on NaN and infinity.
    """
    text = json.dumps(_seen(value), ensure_ascii=False, allow_nan=False, sort_keys=True, separators=(",", ":"))
    for sign in "<>&\u2028\u2029":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return text


def spreadsheet(text: str) -> str:
    """A cell that no spreadsheet takes for a formula: an apostrophe goes before whatever could start one."""
    shown = visible(text)
    return f"'{shown}" if shown.lstrip().startswith(_FORMULA) or shown.startswith(("\t", "\n", "'")) else shown


def _no_comment(text: str) -> str:
    return text.replace("<!--", "<! --").replace("-->", "-- >")


def _longest_run(text: str) -> int:
    return max((len(run) for run in re.findall("`+", text)), default=0)


def _seen(value: Any) -> Any:
    """The same JSON value with every string, keys included, made visible."""
    if isinstance(value, str):
        return visible(value)
    if isinstance(value, dict):
        return {visible(str(key)): _seen(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_seen(inner) for inner in value]
    return value
