"""Reports as data: the outcome in words, the tables' cells, order, what is left out when there is nothing to say."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from eva.metrics.results import Baseline, FlipCounts, SliceDifference, Spread
from eva.report import main_table, sections, words
from eva.report.blocks import Bullets, Flips, Line, Paragraph, Quoted, Report, Strong, Table
from eva.report.inputs import Pair, conversations_of, facts_of, prompt_changes, rule_breaks_of, votes_of
from eva.report.noise import stability_of
from tests.report import made


def plain(told: Line) -> str:
    """A line's words without what marks them."""
    return "".join(run if isinstance(run, str) else run.text for run in told)


def outcome(*pairs: Pair) -> str:
    return plain(sections.comparison_report(pairs).outcome[0])


def table(report: Report, key: str, n: int = 0) -> list[list[str]]:
    """Cells of the n-th table of a section."""
    blocks = [block for part in report.sections if part.key == key for block in part.blocks if isinstance(block, Table)]
    return [[plain(cell) for cell in row] for row in blocks[n].rows]


def changed(verdict: Any, statistic: str = "accuracy", **fields: Any) -> Pair:
    values: dict[str, Any] = {"before": 0.70, "after": 0.75, "low": 0.01, "high": 0.09} | fields
    before, after = values.pop("before"), values.pop("after")
    told = made.difference(statistic, before, after, verdict=verdict, **values)
    return made.pair(compared=made.comparison(differences=(told,)))


@pytest.mark.parametrize(
    ("pair", "sentence"),
    [
        (
            changed("better"),
            "faithfulness got better: accuracy 70.00% → 75.00%, +5.0 points (95% interval [+1.0, +9.0]).",
        ),
        (
            changed("worse", after=0.65, low=-0.09, high=-0.01),
            "faithfulness got worse: accuracy 70.00% → 65.00%, −5.0 points (95% interval [−9.0, −1.0]).",
        ),
        (
            changed("same", after=0.70, low=-0.01, high=0.01, margin=0.03),
            (
                "faithfulness stayed the same within the margin of 3.0 points: "
                "accuracy 70.00% → 70.00%, 0.0 points (95% interval [−1.0, +1.0])."
            ),
        ),
        (
            changed("cannot tell", low=-0.01, high=0.11),
            (
                "It cannot be told whether faithfulness changed: accuracy 70.00% → 75.00%, +5.0 points "
                "(95% interval [−1.0, +11.0]). This dataset can show changes of 6.4 points or more."
            ),
        ),
        (
            changed("cannot tell", p_value=0.0625),
            (
                "It cannot be told whether faithfulness changed: accuracy 70.00% → 75.00%, +5.0 points "
                "(95% interval [+1.0, +9.0]). The interval leaves out 0, but the permutation test does not agree "
                "(p = 0.063). This dataset can show changes of 6.4 points or more."
            ),
        ),
        (
            changed("moved", "mean_score", before=0.812, after=0.829, low=0.008, high=0.026),
            (
                "faithfulness: 6.0% of the verdicts differ: +2.0 [−1.0, +5.0] points against the A/A floor "
                "(what differs when nothing changed). The mean score changed: 0.812 → 0.829, +0.017 (95% interval "
                "[+0.008, +0.026])."
            ),
        ),
        (
            changed("not measured", before=None, low=None, high=None),
            "faithfulness could not be measured on both sides: accuracy undefined → 75.00%.",
        ),
    ],
)
def test_the_first_sentence_says_the_outcome(pair: Pair, sentence: str) -> None:
    """One sentence per verdict word, with the numbers and, where it cannot be told, what could have been seen."""
    assert outcome(pair) == sentence


def test_the_first_sentence_of_several_judges_counts_them_worst_first() -> None:
    """Who got worse is told before who got better."""
    better = replace(changed("better"), after=replace(made.pair().after, meta=made.meta("b", "v2")))
    worse = replace(changed("worse"), after=replace(made.pair().after, meta=made.meta("w", "v2")))
    unclear = replace(changed("cannot tell"), after=replace(made.pair().after, meta=made.meta("c", "v2")))

    assert outcome(better, worse, unclear) == (
        "Of 3 judges, 1 got worse (w); for 1 it cannot be told whether anything changed (c); 1 got better (b)."
    )
    assert outcome() == "Nothing was compared."


def test_the_main_table_is_the_one_of_the_pull_request_with_the_difference_below() -> None:
    """Mean ± run-to-run std per arm, then difference, interval, smallest visible change and verdict."""
    assert table(sections.comparison_report([made.pair()]), "headline") == [
        ["faithfulness", "137 records", "before", "70.07% ± 0.00%", "65.14% ± 0.26%"],
        ["us.anthropic.claude-opus-4-6-v1", "all labelled", "after", "69.34% ± 1.26%", "64.39% ± 1.99%"],
        [
            "",
            "",
            "difference",
            "−0.7 [−3.2, +1.8], visible from 6.4: cannot tell",
            "−0.7 [−4.0, +2.6], visible from 7.1: cannot tell",
        ],
    ]


def test_a_judge_without_labels_has_a_table_of_its_own() -> None:
    """Mean score instead of accuracy; both kinds can stand in one report."""
    scored = changed("moved", "mean_score", before=0.812, after=0.829, low=0.008, high=0.026)
    report = sections.comparison_report(
        [made.pair("a"), replace(scored, after=replace(scored.after, meta=made.meta("b")))]
    )

    assert table(report, "headline", 0)[0][0] == "a"
    assert table(report, "headline", 1)[0] == ["b", "137 records", "before", "0.812"]


def test_arms_that_share_only_some_items_say_so_in_the_table() -> None:
    """The numbers are those of the common items."""
    pair = made.pair(compared=made.comparison(only_before=3, n_items=134, warnings=("3 items are in one arm only",)))
    report = sections.comparison_report([pair])

    assert table(report, "headline")[0][1] == "134 common items"
    first = report.sections[0].blocks[0]
    assert isinstance(first, Paragraph)
    assert plain(first.line) == "Not alike: 3 items are in one arm only"


def test_items_that_are_not_records_are_told_beside_them() -> None:
    """100 conversations, 479 turns, 137 of them labelled: every n says what it counts."""
    meta = made.meta("conciseness", "v2", dataset={"name": "c", "records": 100, "items": 479})
    pair = made.pair(compared=made.comparison(n_items=479), after=replace(made.pair().after, meta=meta))

    rows = table(sections.comparison_report([pair]), "headline")
    assert [row[1] for row in rows] == ["100 records", "479 items", "137 labelled"]


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
    assert table(report, "statistics")[0][5:7] == ["see below", "see below"]
    shown = str([part.blocks for part in report.sections if part.key == "statistics"])
    assert "no smallest visible change: 5 clusters" in shown
    assert "no number of items needed: no difference was seen" in shown


def test_a_slice_s_point_is_hidden_by_its_own_number_of_items() -> None:
    """A part of 137 items of which 9 have a human label shows no accuracy."""
    part = replace(made.summary().slices[0], accuracy=made.estimate(0.7, 0.4, 0.9, n=9))
    arm = replace(made.pair().after, summary=made.summary(slices=(part,)))

    assert table(sections.run_report(arm), "slices")[0][3:5] == ["few", "[40.0, 90.0]"]


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


def test_the_kept_prefix_is_a_share_of_what_was_read() -> None:
    """100 of 400 tokens; unknown where nobody told."""
    spend = {
        "calls": 3,
        "cached": 0,
        "input_tokens": 400,
        "prefix_cached_tokens": 100,
        "output_tokens": 9,
        "cost_usd": 0,
    }
    arm = replace(made.pair().after, spend=spend)

    assert table(sections.run_report(arm), "spend") == [["this run", "3", "0", "400", "25.0%", "9", "$0"]]
    assert table(sections.run_report(made.pair().after), "spend")[0][4] == "unknown"


def test_why_a_statistic_shows_no_smallest_change_is_told() -> None:
    """One line a reason, with the statistics that it holds for."""
    told = tuple(
        made.difference(
            name, 0.7, 0.7, low=None, high=None, verdict="cannot tell", visible=None, visible_note="5 clusters"
        )
        for name in ("accuracy", "macro_f1")
    )
    report = sections.comparison_report([made.pair(compared=made.comparison(differences=told))])
    part = next(part for part in report.sections if part.key == "statistics")
    reasons = next(block for block in part.blocks if isinstance(block, Bullets))

    assert [plain(reason) for reason in reasons.lines] == [
        "no smallest visible change: 5 clusters (accuracy, macro-F1)"
    ]


def test_more_judges_than_the_first_screen_holds_are_all_told_below() -> None:
    """The first table says how many more there are; a section holds the whole table."""
    report = sections.comparison_report([made.pair(f"judge{n}") for n in range(6)])
    legend = next(block for block in report.sections[0].blocks if isinstance(block, Paragraph))

    assert len(table(report, "headline")) == 9
    assert isinstance(legend, Paragraph)
    assert plain(legend.line).startswith("3 more judges below.")
    assert plain(next(part for part in report.sections if part.key == "judges").title) == "All 6 judges"
    assert len(table(report, "judges")) == 18


def test_edits_of_one_judge_are_one_judge() -> None:
    """Four edits are four comparisons of one judge, in the title, in the outcome and below the table."""
    edits = [
        made.pair(after=replace(made.pair().after, meta=made.meta("faithfulness", f"v1 (rules.r{n}=null)")))
        for n in range(4)
    ]
    report = sections.comparison_report(edits)

    assert plain(report.title) == "Judge faithfulness · 4 prompts against v1 · 4 comparisons"
    assert plain(report.outcome[0]).startswith("Of 4 comparisons, for 4 it cannot be told whether anything changed (")
    legend = next(block for block in report.sections[0].blocks if isinstance(block, Paragraph))
    assert plain(legend.line).startswith("1 more comparison below.")


def test_the_title_names_judges_prompts_model_and_data() -> None:
    """One judge with all of it, several with how many there are."""
    pair = made.pair()

    assert plain(sections.run_report(pair.after).title) == (
        "Judge faithfulness · prompt v2 · us.anthropic.claude-opus-4-6-v1 · dataset faithfulness (137 items)"
    )
    assert plain(sections.comparison_report([pair]).title) == (
        "Judge faithfulness · prompt v1 → v2 · us.anthropic.claude-opus-4-6-v1 · dataset faithfulness (137 items)"
    )
    two = sections.comparison_report([made.pair("a"), made.pair("b")])
    assert plain(two.title) == "2 judges · prompt v1 → v2 · 2 comparisons"


@pytest.mark.parametrize("status", ["interrupted", "failed"])
def test_a_run_that_did_not_end_says_so_first(status: str) -> None:
    """Status, how many of how many verdicts, and how it goes on; in a comparison with the side."""
    meta = made.meta("faithfulness", "v2", status=status, error="QuotaError: no credit" if status == "failed" else None)
    arm = replace(made.pair().after, meta=meta, readings={"verdicts": 212, "readable_first": 211})
    how = {"interrupted": "was interrupted", "failed": "failed (QuotaError: no credit)"}[status]
    rest = (
        f"{how}: 212 of 411 verdicts are there. All its numbers are of these alone. "
        "The same command goes on where it stopped: python run.py judge=faithfulness prompt=v2 seeds=3"
    )

    assert plain(sections.run_report(arm).outcome[0]) == f"This run {rest}"
    compared = sections.comparison_report([made.pair(after=arm)])
    assert [plain(told) for told in compared.outcome[1:]] == [f"The after run {rest}"]


def test_lost_calls_are_told_first() -> None:
    """They count as wrong and are no fault of the judge."""
    arm = replace(made.pair().after, meta=made.meta("faithfulness", "v2", lost=2))

    assert plain(sections.run_report(arm).outcome[0]).startswith("2 calls of this run got no reply. ")


def test_both_accuracies_stand_together_by_name() -> None:
    """Each once; without unreadable verdicts there is only one."""
    report = sections.run_report(made.pair().after)
    rows = table(report, "headline")

    assert [row[:2] for row in rows[:2]] == [
        ["Accuracy, unreadable counts as wrong", "69.34% ± 1.26%"],
        ["Accuracy among readable", "70.25%"],
    ]
    assert "70.25" not in str([part for part in report.sections if part.key != "headline"])
    whole = replace(made.pair().after, summary=made.summary(failures={}))
    assert "Accuracy among readable" not in [row[0] for row in table(sections.run_report(whole), "headline")]


def test_some_items_without_a_label_are_counted_apart() -> None:
    """`198 labelled items (of 200)`."""
    arm = replace(made.pair().after, summary=made.summary(n_items=200, n_labelled=198))

    assert " of 198 labelled items (of 200) in 112 clusters" in plain(sections.run_report(arm).outcome[0])


def test_replies_that_break_a_rule_were_read() -> None:
    """A part of their own with both labels and counts; the unreadable ones are not among them."""
    row = {"broken_rules": ["overall_is_not_the_rule"], "model_label": "2", "label": "1"}
    breaks = rule_breaks_of([row, row, row | {"model_label": "3"}, row | {"broken_rules": []}])
    arm = replace(made.pair().after, summary=made.summary(failures={}), rule_breaks=breaks)
    report = sections.run_report(arm)

    assert table(report, "rules") == [
        ["overall_is_not_the_rule", "2", "1", "2"],
        ["overall_is_not_the_rule", "3", "1", "1"],
    ]
    assert "failures" not in {part.key for part in report.sections}
    compared = sections.comparison_report([made.pair(after=arm)])
    assert table(compared, "rules")[0] == ["overall_is_not_the_rule", "2", "1", "0", "2"]


def test_broken_rules_are_counted_without_the_verdict_rows_too() -> None:
    """From the summary; the labels are not known then."""
    arm = replace(made.pair().after, summary=made.summary(broken_rules={"turn_repeated": 3}))

    assert table(sections.run_report(arm), "rules") == [["turn_repeated", "–", "–", "3"]]


def test_coverage_is_no_kind_of_failure() -> None:
    """It stands by its name above the kinds."""
    part = next(part for part in sections.comparison_report([made.pair()]).sections if part.key == "failures")

    assert isinstance(part.blocks[0], Paragraph)
    assert plain(part.blocks[0].line) == "Coverage (labelled items with a readable verdict): 99.8% → 99.8%."
    assert [row[0] for row in table(sections.comparison_report([made.pair()]), "failures")] == [
        "no_json",
        "class 1",
        "language en",
    ]


def test_stability_of_nothing_is_undefined() -> None:
    """Where no verdict could be read the repeats agree on nothing: no 100%."""
    arm = made.pair().after
    arm = replace(arm, summary=made.summary(failures={"no_json": 411}), readings={"verdicts": 411, "readable_first": 0})
    part = next(part for part in sections.run_report(arm).sections if part.key == "noise")

    assert "): undefined: no verdict could be read" in str(part.blocks)
    assert "96.00%" not in str(part.blocks)
    assert stability_of(arm).value is None
    assert stability_of(replace(arm, readings=None)).value is None
    assert stability_of(made.pair().after).value == 0.96


def test_up_and_down_are_explained_in_the_judge_s_labels() -> None:
    """The floor has a row of its own."""
    report = sections.comparison_report([made.pair()])
    part = next(part for part in report.sections if part.key == "noise")

    assert [row[0] for row in table(report, "noise")] == [
        "before against itself",
        "after against itself",
        "A/A floor: mean of these",
        "before against after",
    ]
    assert table(report, "noise")[2][1:] == ["4.0%", "5.5", "2.9", "3"]
    assert isinstance(part.blocks[1], Paragraph)
    assert plain(part.blocks[1].line).startswith(
        "Up: the second verdict is nearer to 3, the best label. Down: it is nearer to 1, the worst."
    )


def test_two_pairs_of_one_judge_are_told_apart() -> None:
    """By language, model, dataset or run: whatever differs."""
    french = made.pair()
    french = replace(french, after=replace(french.after, meta=made.meta("faithfulness", "v2", language="fr")))

    names = {row[0] for row in table(sections.comparison_report([made.pair(), french]), "headline")[::3]}
    assert names == {"faithfulness · en", "faithfulness · fr"}


def test_a_report_without_anything_to_say_leaves_the_parts_out() -> None:
    """No flags, no slices, no prompt change: no section of that name."""
    bare = made.pair(compared=made.comparison(flags=(), slices=()), prompt_changes=())
    keys = {part.key for part in sections.comparison_report([bare]).sections}

    assert not keys & {"flags", "slices", "prompt", "people", "judges"}


def test_text_of_records_and_configs_is_quoted_wherever_it_stands() -> None:
    """No run of our own words contains the hostile text."""
    pair = made.pair(made.HOSTILE, text=made.HOSTILE)
    report = sections.comparison_report([pair])

    ours = [
        run
        for part in report.sections
        for block in part.blocks
        for told in ([block.line] if isinstance(block, Paragraph) else [])
        + ([cell for row in block.rows for cell in row] if isinstance(block, Table) else [])
        for run in told
        if not isinstance(run, Quoted)
    ]
    assert ours
    assert not [run for run in ours if "octocat" in (run.text if isinstance(run, Strong) else run)]


def test_a_run_report_says_when_a_judge_does_not_beat_a_constant_answer() -> None:
    """Told in the second sentence, with the figure."""
    weak = replace(made.pair().after, summary=made.summary(accuracy_spread=Spread(0.40, 0.01)))

    told = [plain(line) for line in sections.run_report(weak).outcome]
    assert told[1] == "It does not beat the baseline always-1 (41.60%)."
    assert len(sections.run_report(made.pair().after).outcome) == 1


def test_a_run_report_keeps_interval_and_run_std_apart() -> None:
    """The interval behind the figure, the std at the end, each by its name."""
    told = plain(sections.run_report(made.pair().after).outcome[0])

    assert told == (
        "faithfulness agrees with the human labels on 69.34% [61.9, 77.7] of 137 labelled items in 112 clusters, "
        "3 repeats, run-to-run std 1.3 points."
    )


def test_a_run_report_with_its_baseline_holds_the_difference() -> None:
    """The same table as the comparison's."""
    pair = made.pair()
    report = sections.run_report(pair.after, comparison=pair)

    assert table(report, "baseline") == table(sections.comparison_report([pair]), "headline")


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


def both(first: Any, second: Any, **changes: Any) -> Pair:
    accuracy = made.difference("accuracy", 0.96, 0.98, low=0.001, high=0.05, verdict=first)
    macro = made.difference("macro_f1", 0.75, 0.505, low=-0.4, high=-0.1, verdict=second)
    return made.pair(compared=made.comparison(differences=(accuracy, macro)), **changes)


def test_accuracy_and_macro_f1_decide_together() -> None:
    """One better and one worse is mixed, said so, and counts as worse; a better one never hides the other."""
    assert outcome(both("better", "worse")).startswith(
        "faithfulness: accuracy got better, macro-F1 got worse: a mixed outcome. Accuracy 96.00% → 98.00%"
    )
    assert words.verdict(both("better", "worse")) == "worse"
    assert words.verdict(both("better", "cannot tell")) == "cannot tell"
    assert words.verdict(both("better", "same")) == "same"
    assert words.verdict(both("better", "not measured")) == "better"
    assert outcome(both("better", "better")).startswith("faithfulness got better: accuracy")


def test_the_outcome_names_a_baseline_that_is_not_beaten() -> None:
    """The after arm at the baseline's accuracy does not beat it."""
    after = replace(made.pair().after, summary=made.summary(baselines=(Baseline("always-1", 0.99, 0.2),)))

    assert " After the change it does not beat the baseline always-1 (99.00%)." in outcome(
        both("better", "better", after=after)
    )


def test_with_one_repeat_the_legend_explains_no_plus_minus() -> None:
    """There is no ± to explain where nothing was repeated."""
    one = made.summary(accuracy=(0.7,))
    pair = made.pair()
    single = replace(pair, before=replace(pair.before, summary=one), after=replace(pair.after, summary=one))

    assert "±" not in main_table.noise_legend([single])
    assert "±" in main_table.noise_legend([pair])


def unlabelled(*verdicts: tuple[str, Any], between: float = 1.0, **changes: Any) -> Pair:
    told = tuple(made.difference(name, 0.5, 0.5, low=-0.01, high=0.01, verdict=word) for name, word in verdicts)
    floor = replace(made.comparison().floor, between=made.estimate(between))
    return made.pair(compared=made.comparison(differences=told, floor=floor, **changes))


def test_without_labels_the_share_that_changed_stands_beside_a_mean_that_stayed() -> None:
    """Moves that cancel leave the mean as it was; the sentence says both, and names the mean."""
    told = outcome(unlabelled(("mean_score", "same")))

    assert told.startswith(
        "faithfulness: 100.0% of the verdicts differ: +2.0 [−1.0, +5.0] points against the A/A floor (what differs when "
        "nothing changed). "
    )
    assert "The mean score stayed the same within the margin: 0.500 → 0.500" in told


def test_on_scales_without_an_order_every_label_decides_under_its_own_name() -> None:
    """The first label's share does not stand for the others."""
    pair = unlabelled(("label=Yes/rate", "same"), ("label=NO/rate", "moved"))

    assert words.verdict(pair) == "moved"
    assert "The share of Yes stayed the same" in outcome(pair)
    assert "The share of NO changed" in outcome(pair)


def test_verdicts_that_are_all_alike_are_said_first_and_a_missing_interval_is_explained() -> None:
    """Identical replies have no interval; the sentence says so and why."""
    same = replace(changed("cannot tell", after=0.70, low=None, high=None).comparison.differences[0])
    same = replace(same, difference=replace(same.difference, note="one cluster"))
    floor = replace(made.comparison().floor, between=made.estimate(0.0))
    counts = FlipCounts(0, 0, 0, 0, 0, 0, 137, None)
    told = outcome(made.pair(compared=made.comparison(differences=(same,), floor=floor, counts=counts, flips=())))

    assert told.startswith(
        "Every verdict is the same before and after, but this dataset cannot tell whether faithfulness changed: accuracy"
    )
    assert "(no interval: one cluster)" in told


def test_stability_says_that_failures_agree_with_failures() -> None:
    """A run in which everything failed is not told as stable without that."""
    arm = made.pair().after
    part = next(part for part in sections.run_report(arm).sections if part.key == "noise")

    assert "(failures agreeing with failures count)" in str(part.blocks)
