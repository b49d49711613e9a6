"""The pull request comment: first screen, limits, what is cut first, and hostile text that does nothing."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from markdown_it import MarkdownIt

from eva.metrics.results import FlipCounts
from eva.report import markdown, sections
from eva.report.blocks import RuleChange
from eva.report.inputs import Pair
from tests.report import made


def many_flips(n: int, length: int = 2000) -> Pair:
    """A pair with n flips whose reasons are long."""
    flips = tuple(made.flip(f"rec_{k:04d}", severity=float(n - k)) for k in range(n))
    before, after = made.pair().before, made.pair().after
    votes = {flip.item_id: made.votes(*[("3", "b" * length)] * 3) for flip in flips}
    other = {flip.item_id: made.votes(*[("1", "a" * length)] * 3) for flip in flips}
    counts = FlipCounts(0, n, 0, 0, 0, 0, 0, 0.001)
    return made.pair(
        compared=made.comparison(flips=flips, counts=counts),
        before=replace(before, votes=votes),
        after=replace(after, votes=other),
    )


def render(*pairs: Pair, **options: object) -> str:
    return markdown.render(sections.comparison_report(pairs), **options)  # type: ignore[arg-type]  # options of one test


def first_screen(text: str) -> list[str]:
    return text.split("<details>", maxsplit=1)[0].rstrip("\n").split("\n")


def test_the_marker_is_the_first_line() -> None:
    """That is where the next run looks for it."""
    assert render(made.pair(), key="judges").splitlines()[0] == "<!-- eva-report:judges -->"
    assert "eva-report" not in render(made.pair())


@pytest.mark.parametrize("key", ["", "a b", "-->", "a--b", "x" * 61])
def test_a_key_that_would_break_the_marker_is_refused(key: str) -> None:
    """Letters, digits, dots and single dashes."""
    with pytest.raises(ValueError, match="marker"):
        markdown.marker(key)


@pytest.mark.parametrize("judges", [1, 2, 4, 9])
def test_the_first_screen_has_at_most_25_lines(judges: int) -> None:
    """However many judges, and with warnings."""
    warned = made.comparison(warnings=("the models differ: a, b", "3 items are in one arm only", "baseline is old"))
    text = render(*(made.pair(f"judge{n}", compared=warned) for n in range(judges)), key="judges")

    assert len(first_screen(text)) <= 25


def test_the_first_screen_holds_when_every_run_is_unfinished() -> None:
    """The first few runs are named, the others counted."""
    pairs = []
    for n in range(9):
        pair = made.pair(f"judge{n}", compared=made.comparison(warnings=("the models differ: a, b",)))
        meta = {"status": "interrupted", "lost": 1}
        before, after = (replace(arm, meta={**arm.meta, **meta}) for arm in (pair.before, pair.after))
        pairs.append(replace(pair, before=before, after=after))
    screen = first_screen(render(*pairs, key="judges"))

    assert len(screen) <= 25
    assert "There are 35 more remarks of this kind; see Runs." in screen


def test_the_published_rows_stand_on_the_first_screen() -> None:
    """The pull request's table, row by row."""
    screen = "\n".join(first_screen(render(made.pair())))

    assert "| `faithfulness` | 137 records | before | 70.07% ± 0.00% | 65.14% ± 0.26% |" in screen
    assert "| after | 69.34% ± 1.26% | 64.39% ± 1.99% |" in screen
    assert "| difference | −0.7 [−3.2, +1.8], visible from 6.4: **cannot tell** |" in screen


def test_every_part_is_folded_and_every_fold_is_closed() -> None:
    """As many ends as starts, blank lines around what is Markdown inside."""
    text = render(made.pair())

    assert text.count("<details>") == text.count("</details>") > 5
    assert not re.search(r"</summary>\n[^\n]", text)
    assert not re.search(r"[^\n]\n</details>", text)


@pytest.mark.parametrize("flips", [3, 50, 400, 5000])
def test_a_comment_is_never_too_long_and_says_what_is_left_out(flips: int) -> None:
    """At most 60,000 UTF-16 units; shown and left out make the whole."""
    text = render(many_flips(flips), key="judges")

    assert len(text.encode("utf-16-le")) // 2 <= markdown.LIMIT
    assert text.startswith("<!-- eva-report:judges -->\n")
    shown = len(re.findall(r"<summary>\d+\. broken", text))
    left = re.search(r"and ([\d,]+) more flips?", text)
    assert shown + (int(left.group(1).replace(",", "")) if left else 0) == flips
    assert shown >= 3


def test_astral_characters_count_double() -> None:
    """GitHub counts UTF-16 units."""
    pair = many_flips(400)
    reasons = {item: made.votes(*[("1", "😀" * 1000)] * 3) for item in pair.after.votes}
    text = render(replace(pair, after=replace(pair.after, votes=reasons)))

    assert len(text.encode("utf-16-le")) // 2 <= markdown.LIMIT


def test_whole_parts_go_in_a_fixed_order_when_short_ones_do_not_fit() -> None:
    """Classes go first, the first screen and the marker stay, and the page says what went."""
    pair = made.pair()
    whole = render(pair, key="judges")
    short = render(pair, key="judges", limit=3000)
    least = render(pair, key="judges", limit=1200)

    assert "Classes</summary>" in whole
    assert "Left out for room: " in short
    assert "Classes" in short.partition("Left out for room: ")[2]
    assert "<summary>" not in least
    assert "70.07% ± 0.00%" in least
    assert all(len(text) <= limit for text, limit in ((short, 3000), (least, 1200)))


def test_even_an_absurd_limit_keeps_the_marker() -> None:
    """The first line survives; the page says that it is cut."""
    text = render(made.pair(), key="judges", limit=400)

    assert text.startswith("<!-- eva-report:judges -->\n")
    assert text.endswith("**Cut: the rest does not fit.**")
    assert len(text) <= 400


def test_the_full_report_is_linked_and_only_over_http() -> None:
    """A workflow gives the address of its artifact."""
    assert "[Full report](https://example.org/run/1)" in render(made.pair(), full_report="https://example.org/run/1")
    for bad in ("javascript:alert(1)", "https://a b", "https://a)[x](http://b", "file:///etc"):
        with pytest.raises(ValueError, match="address"):
            render(made.pair(), full_report=bad)


def test_the_prompt_diff_is_told_rule_by_rule() -> None:
    """New, gone, changed; the sentences that changed, not the whole text."""
    changes = (
        RuleChange("rules.new", None, "One. Two."),
        RuleChange("rules.gone", "Old.", None),
        RuleChange("rules.some", "A. B. C. D. E. F.", "A. B. C. D. E. G.", where=("fr.cascade",)),
    )
    text = render(made.pair(prompt_changes=changes))

    assert "`rules.new` new\n\n```diff\n+ One.\n+ Two.\n```" in text
    assert "`rules.gone` gone\n\n```diff\n- Old.\n```" in text
    assert "`rules.some` changed (`fr.cascade`)\n\n```diff\n… 4 unchanged sentences\n  E.\n- F.\n+ G.\n```" in text


def test_hostile_text_does_nothing() -> None:
    """Parsed as Markdown, no link, image, HTML, emphasis or code fence comes from records, replies or configs."""
    calm, attacked = (
        render(made.pair(judge, text=text, compared=made.comparison(warnings=(text or "calm",))), key="judges")
        for judge, text in (("judge", ""), (made.HOSTILE, made.HOSTILE))
    )
    parser = MarkdownIt("commonmark").enable(["table", "strikethrough"])

    def shape(page: str) -> list[str]:
        tokens = parser.parse(page)
        leaves = [leaf for token in tokens for leaf in token.children or []]
        html = [token.content for token in tokens if token.type == "html_block"]
        inner = [leaf.type for leaf in leaves if leaf.type in {"link_open", "image", "html_inline"}]
        return [*inner, *(re.sub(r"<code>[^<]*</code>", "<code></code>", piece) for piece in html)]

    assert shape(attacked) == shape(calm)
    outside_code = " ".join(
        leaf.content for token in parser.parse(attacked) for leaf in token.children or [] if leaf.type == "text"
    )
    assert "octocat" not in outside_code
    assert "evil.example" not in outside_code
    assert attacked.count("<!-- eva-report:") == 1


def test_a_comparison_that_was_not_run_says_so_in_the_same_comment() -> None:
    """Neutral words, the judges, the marker of the comment that a later run will fill."""
    text = markdown.render(sections.not_run_report("no credentials", ["a", "b"]), key="judges")

    assert text == (
        "<!-- eva-report:judges -->\n\n## Judges: not run\n\n"
        "The judges whose prompts this pull request changes were not run: `no credentials`.\n\n- `a`\n- `b`\n"
    )


def test_same_input_same_bytes() -> None:
    """Order of mappings does not show."""
    pair = made.pair()
    turned = replace(
        pair,
        items=dict(reversed(pair.items.items())),
        conversations=dict(reversed(pair.conversations.items())),
    )

    assert render(pair) == render(turned)
