"""Review sheets: blind, reproducible, safe in a spreadsheet, readable without the browser's script."""

from __future__ import annotations

import csv
import io
from dataclasses import replace

from eva.edges.datasets.review_sheet import GUARDED, NEEDED
from eva.report.blocks import Turn
from eva.report.review_sheet import CELL_CHARS, ReviewItem, Side, a_is_before, csv_sheet, html_sheet
from tests.report.made import HOSTILE

TURNS = (
    Turn(1, (("user", "Wann fährt der Zug?"), ("assistant", "Um zehn nach neun."))),
    Turn(2, (("user", "Danke."), ("assistant", "Gern."))),
)
ITEM = ReviewItem("rec#2", "de", 2, TURNS, Side("3", (), "short"), Side("2", ("verbosity_or_filler",), "=filler"))


def rows(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text, newline="")))


def page(*items: ReviewItem) -> str:
    return html_sheet(items, title="Review", labels=("1", "2", "3"), file_name="review.csv")


def test_the_table_holds_what_a_person_needs() -> None:
    """Both verdicts with flags and reasons, the judged turn and the conversation; answers empty."""
    (row,) = rows(csv_sheet([ITEM]))

    assert set(NEEDED) <= set(row)
    assert (row["item_id"], row["verdict_a"], row["verdict_b"]) == ("rec#2", "3", "2")
    assert (row["flags_b"], row["reason_b"]) == ("verbosity_or_filler", "'=filler")
    assert row["judged"] == "[2] user: Danke.\n[2] assistant: Gern."
    assert "Um zehn nach neun." in row["conversation"]
    assert [row[name] for name in ("agree_a", "agree_b", "label", "annotator", "comment")] == [""] * 5


def test_no_cell_is_a_formula_or_too_long() -> None:
    """Whatever conversations and judges say."""
    hostile = replace(
        ITEM,
        item_id="=cmd()",
        turns=(Turn(2, (("assistant", HOSTILE), ("assistant", "x" * 50_000))),),
        a=Side("-1", ("@flag",), "+1"),
        b=Side("3", ("=1+1",), "\t=2"),
    )
    for row in rows(csv_sheet([hostile])):
        assert not [cell for cell in row.values() if cell.startswith(GUARDED)]
        assert max(map(len, row.values())) < CELL_CHARS + 100


def test_the_page_is_one_file_with_its_items() -> None:
    """Conversation, both verdicts, the scale; no address, no script of anybody else; the same bytes again."""
    text = page(ITEM, replace(ITEM, item_id="whole", turn_id=None))

    assert text == page(ITEM, replace(ITEM, item_id="whole", turn_id=None))
    for word in ("1 of 2", "Gern.", "A: 3", "B: 2", "verbosity_or_filler", "<option>1</option>", 'lang="de"'):
        assert word in text
    assert text.count("Whole conversation") == 1
    assert "http" not in text.replace('http-equiv="Content-Security-Policy"', "")
    assert text.count("<script>") == 1


def test_what_others_wrote_is_text() -> None:
    hostile = replace(ITEM, item_id=HOSTILE, language='de"><b', a=Side(HOSTILE, (HOSTILE,), HOSTILE), turns=())
    text = page(hostile)
    assert "<script>alert" not in text
    assert "<img" not in text
    assert 'de"><b' not in text


def test_which_is_which_is_a_coin_for_each_item() -> None:
    """About half of the items either way; the same again; another seed, another draw; nothing in the sheet says it."""
    names = [f"rec{n}" for n in range(400)]
    first = [a_is_before(name, "seed") for name in names]
    assert 160 < sum(first) < 240
    assert first == [a_is_before(name, "seed") for name in names]
    assert first != [a_is_before(name, "other") for name in names]
    assert "before" not in csv_sheet([ITEM])
    assert "after" not in csv_sheet([ITEM])
