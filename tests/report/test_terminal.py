"""The terminal's table: 100 columns, plain when piped, hostile text without effect."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from rich.cells import cell_len

from eva.report import sections, terminal
from eva.report.inputs import Pair
from tests.report import made


def render(*pairs: Pair, **options: object) -> str:
    return terminal.render(sections.comparison_report(pairs), **options)  # type: ignore[arg-type]  # options of one test


@pytest.mark.parametrize("width", [100, 80])
@pytest.mark.parametrize("text", ["", made.HOSTILE, "日本語のテキスト" * 20, "x" * 500])
def test_no_line_is_wider_than_the_terminal(width: int, text: str) -> None:
    """Wide characters count double; long words are broken."""
    shown = render(made.pair(text[:60] or "judge", text=text), made.pair("other"), width=width, detail="full")

    assert max(cell_len(line) for line in shown.splitlines()) <= width


@pytest.mark.parametrize("width", [100, 72])
def test_no_cell_is_cropped(width: int) -> None:
    """A table that is too wide folds; every word of it is still there."""
    wide = tuple(
        made.difference(
            name, -1.94444, 2.09877, low=-10.05556, high=10.37539, verdict="cannot tell", items_needed=75471
        )
        for name in ("mean_score", "mae", "weighted_kappa")
    )
    shown = render(made.pair(compared=made.comparison(differences=wide)), width=width, detail="full")
    table = shown.partition("Every statistic")[2].partition("“Visible from”")[0]

    letters = "".join(table.split())
    assert letters.count("tell") == letters.count("cannot") == 3
    assert letters.count("yes") == 3
    assert "Within" in table


def test_plain_output_holds_no_escape_sequence() -> None:
    """Nor does it end lines in spaces."""
    shown = render(made.pair(text=made.HOSTILE), detail="full")

    assert "\x1b" not in shown
    assert not [line for line in shown.splitlines() if line != line.rstrip()]


def test_styled_output_has_our_colours_and_none_of_the_record_s() -> None:
    """The escape sequence in a reason is spelled out; brackets in it are no markup."""
    shown = render(made.pair(text="\x1b[5mblink [bold]x[/bold] :smile: \x1b]8;;http://e\x1b\\"), styled=True)

    assert "\x1b[5m" not in shown
    assert "\x1b]8" not in shown
    assert "⟨U+001B⟩[5mblink [bold]x[/bold] :smile:" in shown
    assert re.search(r"\x1b\[[0-9;]*33m", shown)  # cannot tell: yellow


def test_the_terminal_s_environment_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Same input, same bytes, whatever TERM, COLUMNS, NO_COLOR or FORCE_COLOR say."""
    calm = render(made.pair(), styled=True)
    for name, value in {
        "TERM": "dumb",
        "COLUMNS": "40",
        "NO_COLOR": "1",
        "FORCE_COLOR": "1",
        "JUPYTER_COLUMNS": "9",
    }.items():
        monkeypatch.setenv(name, value)

    assert render(made.pair(), styled=True) == calm


def test_the_outcome_comes_first() -> None:
    """Title, then the sentence."""
    lines = render(made.pair(), width=120).splitlines()

    assert lines[0].startswith("Judge faithfulness · prompt v1 → v2 · ")
    assert lines[1].startswith("It cannot be told whether faithfulness changed")


def test_long_lists_are_cut_with_their_number() -> None:
    """Ten flips, and how many more."""
    flips = tuple(made.flip(f"rec_{n:03d}") for n in range(40))

    assert "and 30 more flips" in render(made.pair(compared=made.comparison(flips=flips)))


def test_short_leaves_out_what_full_shows() -> None:
    """A run's end is a screen, not a book."""
    assert "Every statistic" not in render(made.pair())
    assert "Every statistic" in render(made.pair(), detail="full")


@pytest.mark.parametrize("detail", ["short", "full"])
def test_no_run_id_is_broken(detail: str) -> None:
    """In no table and in no list, whatever the number of columns beside it."""
    ids = [f"faithfulness-{prompt}-local-en-20261201T022501-{prompt}0f852" for prompt in ("v1", "v2")]
    pair = made.pair()
    before, after = (
        replace(arm, meta={**arm.meta, "run_id": run}) for arm, run in zip((pair.before, pair.after), ids, strict=True)
    )
    pair = replace(pair, before=before, after=after)
    several = [pair, replace(pair, before=before, after=replace(after, meta={**after.meta, "language": "fr"}))]

    run_page = terminal.render(sections.run_report(after, comparison=pair), detail=detail)  # type: ignore[arg-type]  # both words
    for text in (render(pair, detail=detail), render(*several, detail=detail), run_page):
        places = [place for place in range(len(text)) if text.startswith("faithfulness-v", place)]
        assert all(text.startswith(tuple(ids), place) for place in places)
        assert places
