"""Flips, slices, spend and missing numbers: the parts below the first screen, and what they are made from."""

from __future__ import annotations

from dataclasses import replace

import pytest

from eva.metrics.results import FlipCounts, SliceDifference
from eva.report import sections
from eva.report.blocks import Flips, Paragraph
from eva.report.inputs import conversations_of, facts_of, prompt_changes, votes_of
from tests.report import made
from tests.report.told import changed, outcome, plain, table


def test_flips_are_told_worst_first_with_the_majority_s_reason() -> None:
    """By severity; the reason is that of a repeat which voted with the majority."""
    report = sections.comparison_report([made.pair()])
    block = next(b for part in report.sections for b in part.blocks if isinstance(b, Flips))

    assert [(row.facts.item_id, row.kind) for row in block.rows] == [
        ("rec_07", "broken"),
        ("rec_11", "undecided"),
        ("rec_09", "fixed"),
    ]
    worst = block.rows[0]
    assert (worst.before_votes, worst.after_votes) == ("3 (3 of 3)", "1 (2 of 3), 3 (1 of 3)")
    assert worst.after_reason == "The agent promised a refund that no policy allows."
    assert block.rows[1].after == "no most frequent verdict"
    assert set(block.conversations) == {"rec_07", "rec_09", "rec_11"}


def test_equal_severities_are_ordered_by_kind_and_item() -> None:
    """Same input, same order, whatever order the comparison has."""
    flips = [made.flip("b", "fixed", 1.0), made.flip("c", "broken", 1.0), made.flip("a", "broken", 1.0)]
    orders = []
    for told in (flips, flips[::-1]):
        report = sections.comparison_report([made.pair(compared=made.comparison(flips=tuple(told)))])
        block = next(b for part in report.sections for b in part.blocks if isinstance(b, Flips))
        orders.append([row.facts.item_id for row in block.rows])

    assert orders == [["a", "c", "b"]] * 2


@pytest.mark.parametrize(
    ("votes", "told"),
    [
        ({"no_json": 1, "empty": 1, "refused": 1}, "no verdict: empty, no_json, refused"),
        ({"no_json": 1, "empty": 1, "3": 1}, "no verdict: empty, no_json"),
        ({"no_json": 1, "2": 1, "3": 1}, "no most frequent verdict"),
        ({"abstained": 2, "empty": 1}, "no verdict: abstained"),
        ({"abstained": 1, "empty": 1}, "no most frequent verdict"),
        ({"3": 2, "no_json": 1, "empty": 1}, "no most frequent verdict"),
        ({}, "no verdict"),
    ],
)
def test_failures_of_all_kinds_are_one_verdict(votes: dict[str, int], told: str) -> None:
    """Three replies that failed in three ways are no verdict, not a tie."""
    flips = (made.flip("x", "undecided", 1.0, after=None, after_votes=votes),)
    report = sections.comparison_report([made.pair(compared=made.comparison(flips=flips))])
    block = next(b for part in report.sections for b in part.blocks if isinstance(b, Flips))

    assert block.rows[0].after == told


def test_a_failure_that_all_repeats_share_is_named() -> None:
    """`no verdict: no_json`, not only `no verdict`."""
    flips = (made.flip("x", "undecided", 1.0, after=None, after_votes={"no_json": 3}),)
    report = sections.comparison_report([made.pair(compared=made.comparison(flips=flips))])
    block = next(b for part in report.sections for b in part.blocks if isinstance(b, Flips))

    assert block.rows[0].after == "no verdict: no_json"


def test_counts_of_flips_stand_once_each_with_its_meaning() -> None:
    """Labelled kinds for labelled data, up and down without; the title says how many of how many, and no kind again."""
    unlabelled = made.pair(
        compared=made.comparison(flips=(), counts=FlipCounts(0, 0, 0, 2, 226, 148, 1200, None)),
        after=replace(made.pair().after, summary=made.summary(n_labelled=0)),
    )
    report = sections.comparison_report([made.pair()])
    part = next(part for part in report.sections if part.key == "flips")

    assert plain(part.title) == "Flips: 3 of 137 items"
    assert [(row[0], row[2]) for row in table(report, "flips")] == [
        ("broken", "1"),
        ("undecided", "1"),
        ("fixed", "1"),
        ("unchanged", "134"),
    ]
    assert table(report, "flips")[0][1] == "right before, wrong after"
    assert isinstance(part.blocks[1], Paragraph)
    assert plain(part.blocks[1].line) == (
        "Fixed against broken, exact McNemar test: p > 0.999. Unreadable verdicts: 1 of 411 before, 1 of 411 after."
    )
    rows = table(sections.comparison_report([unlabelled]), "flips")
    assert [row[0] for row in rows] == ["undecided", "down", "up", "unchanged"]


def test_a_moved_item_is_explained_where_it_is_counted() -> None:
    """Both verdicts wrong, but different."""
    pair = made.pair(compared=made.comparison(counts=FlipCounts(0, 0, 4, 0, 0, 0, 133, None)))
    rows = table(sections.comparison_report([pair]), "flips")

    assert [row[0] for row in rows] == ["broken", "moved", "fixed", "unchanged"]
    assert rows[1][1].startswith("both verdicts wrong, but different")


def test_why_a_number_is_missing_stands_where_it_would_stand() -> None:
    """In the first sentence, the first table and the table of every statistic; never "undefined" alone."""
    pair = changed(
        "cannot tell", visible=None, items_needed=None, visible_note="5 clusters", needed_note="no difference was seen"
    )
    report = sections.comparison_report([pair])

    assert outcome(pair).endswith("What change this dataset can show is not known: 5 clusters.")
    assert "no smallest visible change (5 clusters): cannot tell" in table(report, "headline")[2][3]
    assert table(report, "statistics")[0][5:7] == ["–", "–"]
    shown = str([part.blocks for part in report.sections if part.key == "statistics"])
    assert "no smallest visible change: 5 clusters" in shown
    assert "no number of items needed: no difference was seen" in shown


def test_small_slices_hide_the_point_and_never_the_interval() -> None:
    """Under ten items: `few`, and the interval."""
    rows = table(sections.comparison_report([made.pair()]), "slices")

    assert rows[0][3:6] == ["70.00%", "80.00%", "+10.0 [−10.0, +30.0]"]
    assert rows[1][3:6] == ["few", "few", "[−30.0, +80.0]"]


def test_slices_that_show_something_come_first_a_table_a_statistic() -> None:
    """Then the large ones; accuracy and mean score are not mixed."""
    parts = [
        ("small", 12, "accuracy", "cannot tell"),
        ("large", 90, "accuracy", "cannot tell"),
        ("bad", 20, "accuracy", "worse"),
        ("large", 90, "mean_score", "moved"),
    ]
    slices = tuple(
        SliceDifference("language", value, n, n, made.difference(name, 0.5, 0.6, low=0.0, high=0.2, verdict=verdict))  # type: ignore[arg-type]  # words of the table above
        for value, n, name, verdict in parts
    )
    report = sections.comparison_report([made.pair(compared=made.comparison(slices=slices))])

    assert [row[0] for row in table(report, "slices", 0)] == ["language bad", "language large", "language small"]
    assert [row[0] for row in table(report, "slices", 1)] == ["language large"]


def test_spend_that_nobody_knows_is_unknown() -> None:
    """Never 0."""
    rows = table(sections.comparison_report([made.pair()]), "spend")

    assert [row[-1] for row in rows] == ["$12.35", "unknown"]
    nothing = made.pair(before=replace(made.pair().before, spend=None))
    assert table(sections.comparison_report([nothing]), "spend")[0][1:] == ["unknown"] * 6


def test_rows_of_verdicts_become_votes_and_facts() -> None:
    """Repeats in order wherever the rows lie; pandas' NaN is a null."""
    nan = float("nan")
    row = {"item_id": "a#2", "record_id": "a", "turn_id": 2.0, "language": "fr", "gold": nan, "rules": ["r1"]}
    rows = [
        row | {"repeat": 1, "label": nan, "failure": "no_json", "reason": "", "flags": []},
        row | {"repeat": 0, "label": "3", "failure": nan, "reason": "fine", "flags": ["x"]},
    ]

    votes = votes_of(rows)["a#2"]
    assert [(vote.repeat, vote.word, vote.reason, vote.flags) for vote in votes] == [
        (0, "3", "fine", ("x",)),
        (1, "no_json", "", ()),
    ]
    facts = facts_of(rows)["a#2"]
    assert (facts.record_id, facts.turn_id, facts.gold, facts.rules) == ("a", 2, None, ("r1",))
    turns = [{"turn_id": 0, "lines": [{"speaker": "user", "text": "hi"}]}]
    assert conversations_of([{"record_id": "a", "turns": turns}])["a"][0].lines == (("user", "hi"),)


def test_prompt_changes_stand_in_the_order_of_the_text() -> None:
    """New, changed and gone parts; a change that only some languages see says which."""
    before = {"en.": {"a": "1", "gone": "x", "b": "2"}, "fr.": {"a": "1", "gone": "x", "b": "2"}}
    after = {"en.": {"a": "1", "b": "3", "new": "y"}, "fr.": {"a": "9", "b": "3", "new": "y"}, "de.": {"a": "1"}}

    found = [(change.path, change.before, change.after, change.where) for change in prompt_changes(before, after)]
    assert found == [
        ("gone", "x", None, ()),
        ("b", "2", "3", ()),
        ("new", None, "y", ()),
        ("a", "1", "9", ("fr.",)),
    ]
