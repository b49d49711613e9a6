"""Text from records, replies and configs does nothing in any target."""

from __future__ import annotations

import html
import json
import re
import unicodedata
from html.parser import HTMLParser

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from eva.report import untrusted
from tests.report.made import HOSTILE

_TROUBLE = st.sampled_from(
    [
        *(
            "`",
            "``",
            "```",
            "|",
            "\\",
            "<",
            ">",
            "&",
            "&lt;",
            "<!--",
            "-->",
            "<b>",
            "</script>",
            "</details>",
            "~~~",
            "***",
        ),
        *(
            "@user",
            "#1",
            "fixes #1",
            "GH-2",
            "http://x.y",
            "![i](x)",
            "[a](b)",
            "$x$",
            "{{x}}",
            "=1+1",
            "#",
            "- ",
            "1. ",
        ),
        *("\n", "\r", "\t", "  ", "\n\n", "\x00", "\x1b[31m", "\x85", "\u2028", "\u202e", "\u2066", "\u200b"),
        *("\ud800", "\U000e0041"),
    ]
)
_TEXT = st.one_of(st.text(), st.lists(st.one_of(_TROUBLE, st.text(max_size=5)), max_size=12).map("".join))
_PARSER = MarkdownIt("commonmark").enable(["table", "strikethrough"])


def _inline(text: str) -> list[tuple[str, str]]:
    """(type, content) of the leaves of a paragraph."""
    tokens = [token for token in _PARSER.parse(text) if token.type == "inline"]
    return [(leaf.type, leaf.content) for token in tokens for leaf in token.children or []]


@given(_TEXT)
@example(HOSTILE)
def test_visible_text_holds_nothing_that_commands(text: str) -> None:
    """No control, direction, tag or zero-width character is left but LF and TAB; it can be written as UTF-8."""
    shown = untrusted.visible(text)

    allowed = {"\n", "\t", "\u200c", "\u200d"}
    assert not [c for c in shown if unicodedata.category(c) in {"Cc", "Cs", "Zl", "Zp"} and c not in allowed]
    assert not set("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u200e\u200f\u061c\u200b\ufeff") & set(shown)
    shown.encode()


@pytest.mark.parametrize("text", ["नमस्ते क्‍ष", "日本語のテキスト", "français «é»", "한국어", "👩‍👩‍👧", "a\tb\nc"])
def test_ordinary_text_of_all_scripts_stays_as_it_is(text: str) -> None:
    """Joiners that Hindi and emoji are written with are kept."""
    assert untrusted.visible(text) == text


def test_what_is_hidden_is_spelled_out() -> None:
    """Nothing is dropped in silence."""
    assert untrusted.visible("a\x1b[1mb\u202ec\ud800") == "a⟨U+001B⟩[1mb⟨U+202E⟩c⟨U+D800⟩"


@given(_TEXT)
@example(HOSTILE)
@example("`")
@example("``` ` ``")
def test_markdown_is_exactly_one_code_span(text: str) -> None:
    """A parser sees one code span, with the text in it, and nothing before, behind or around."""
    leaves = _inline(f"x {untrusted.markdown(text)} y")

    assert [kind for kind, _ in leaves] == ["text", "code_inline", "text"]
    shown = untrusted.one_line(text).replace("<!--", "<! --").replace("-->", "-- >")
    assert leaves[1][1].strip() == shown.strip()


@given(_TEXT)
@example(HOSTILE)
@example("\\|")
def test_a_table_cell_stays_one_cell(text: str) -> None:
    """Whatever pipes, backslashes and backticks are in the text, the row has its two cells."""
    page = f"| a | b |\n|---|---|\n| {untrusted.markdown_cell(text)} | end |\n"

    cells = [token for token in _PARSER.parse(page) if token.type == "inline"]
    assert [cell.content for cell in cells][0:2] == ["a", "b"]
    assert len(cells) == 4
    assert [leaf.type for leaf in cells[2].children or []] == ["code_inline"]
    assert cells[3].content == "end"


@given(_TEXT)
@example(HOSTILE)
@example("```\n~~~\n````")
def test_a_markdown_block_is_exactly_one_fence(text: str) -> None:
    """No run of backticks in the text closes the fence."""
    tokens = _PARSER.parse(f"a\n\n{untrusted.markdown_block(text)}\n\nb")

    assert [token.type for token in tokens if token.type not in {"paragraph_open", "paragraph_close"}] == [
        "inline",
        "fence",
        "inline",
    ]


class _Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)

    def handle_data(self, data: str) -> None:
        self.text += data

    def handle_comment(self, data: str) -> None:
        self.tags.append("comment")


@given(_TEXT)
@example(HOSTILE)
def test_html_has_no_tag_from_text(text: str) -> None:
    """Text and attribute values are escaped; a page's parser finds our elements only."""
    page = _Tags()
    page.feed(f'<p title="{untrusted.html(text)}">{untrusted.html(text)}</p>')
    page.close()

    assert page.tags == ["p"]
    assert html.unescape(untrusted.html(text)) == untrusted.visible(text)


@given(_TEXT)
@example(HOSTILE)
def test_a_summary_holds_one_code_element_on_one_line(text: str) -> None:
    """Raw HTML in a Markdown page: no tag, no comment, no blank line that would end the HTML block."""
    shown = untrusted.markdown_html(text)
    page = _Tags()
    page.feed(shown)
    page.close()

    assert page.tags == ["code"]
    assert "\n" not in shown


@given(st.recursive(_TEXT, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_TEXT, inner, max_size=3)))
@example({"a": HOSTILE, HOSTILE: ["</script><!--<script>"]})
def test_json_in_a_script_element_cannot_end_it(value: object) -> None:
    """No angle bracket, no line separator; it parses back to the visible text."""
    shown = untrusted.json_for_script(value)

    assert not re.search("[<>&\u2028\u2029]", shown)
    shown.encode()
    json.loads(shown)


def test_json_in_a_script_element_is_strict() -> None:
    """NaN is refused, keys are sorted."""
    assert untrusted.json_for_script({"b": 1, "a": [True, None]}) == '{"a":[true,null],"b":1}'
    with pytest.raises(ValueError, match="JSON"):
        untrusted.json_for_script({"a": float("nan")})


@given(_TEXT)
@example("=cmd()")
@example("  +1")
@example("\t@x")
@example("＝1")
def test_a_spreadsheet_cell_is_never_a_formula(text: str) -> None:
    """It starts with an apostrophe or with a character that starts no formula, spaces before it or not."""
    shown = untrusted.spreadsheet(text)

    assert shown.startswith("'") or not shown.lstrip().startswith(("=", "+", "-", "@", "＝", "＋", "－", "＠"))


def test_cut_says_how_much_is_missing() -> None:
    """Nothing is cut in silence."""
    assert untrusted.one_line("abc def ghi", 7) == "abc def … (+4 characters)"
    assert untrusted.one_line("abc", 7) == "abc"


@given(_TEXT)
@example(HOSTILE)
def test_our_own_prose_is_escaped_too(text: str) -> None:
    """A mistake in the house shows as odd text: no tag, link, image, code span or emphasis comes of it."""
    kinds = {kind for kind, _ in _inline(untrusted.markdown_prose(" ".join(text.split())))}

    assert kinds <= {"text", "softbreak", "hardbreak"}
