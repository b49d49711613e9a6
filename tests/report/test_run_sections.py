"""The report on one run: what it says first, its two accuracies, broken rules, noise."""

from __future__ import annotations

from dataclasses import replace

import pytest

from eva.metrics.results import Spread
from eva.report import sections, terminal
from eva.report.blocks import Flips, Paragraph
from eva.report.inputs import rule_breaks_of
from eva.report.noise import stability_of
from tests.report import made
from tests.report.told import changed, outcome, plain, table, unlabelled


def test_a_judge_without_labels_has_a_table_of_its_own() -> None:
    """Mean score instead of accuracy; both kinds can stand in one report."""
    scored = changed("moved", "mean_score", before=0.812, after=0.829, low=0.008, high=0.026)
    report = sections.comparison_report(
        [made.pair("a"), replace(scored, after=replace(scored.after, meta=made.meta("b")))]
    )

    assert table(report, "headline", 0)[0][0] == "a"
    assert table(report, "headline", 1)[0] == ["b", "137 records", "before", "0.812"]


def test_a_slice_s_point_is_hidden_by_its_own_number_of_items() -> None:
    """A part of 137 items of which 9 have a human label shows no accuracy."""
    part = replace(made.summary().slices[0], accuracy=made.estimate(0.7, 0.4, 0.9, n=9))
    arm = replace(made.pair().after, summary=made.summary(slices=(part,)))

    assert table(sections.run_report(arm), "slices")[0][3:5] == ["few", "[40.0, 90.0]"]


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


def test_without_labels_the_share_that_changed_stands_beside_a_mean_that_stayed() -> None:
    """Moves that cancel leave the mean as it was; the sentence says both, and names the mean."""
    told = outcome(unlabelled(("mean_score", "same")))

    assert told.startswith(
        "faithfulness: 100.0% of the verdicts differ: +2.0 [−1.0, +5.0] points against the A/A floor (what differs when "
        "nothing changed). "
    )
    assert "The mean score stayed the same within the margin: 0.500 → 0.500" in told


def test_stability_says_that_failures_agree_with_failures() -> None:
    """A run in which everything failed is not told as stable without that."""
    arm = made.pair().after
    part = next(part for part in sections.run_report(arm).sections if part.key == "noise")

    assert "(failures agreeing with failures count)" in str(part.blocks)


def test_a_run_s_page_holds_the_flips_and_the_prompt_s_change_and_its_end_does_not() -> None:
    """The page is what a reviewer opens; the end of a run is a screen."""
    pair = made.pair()
    report = sections.run_report(pair.after, comparison=pair)
    flips = [block for part in report.sections for block in part.blocks if isinstance(block, Flips)]

    assert [len(block.rows) for block in flips] == [3]
    assert {"baseline-prompt", "reproduce"} <= {part.key for part in report.sections}
    assert "Every value that the agent states" not in terminal.render(report)
    assert "Every value that the agent states" in terminal.render(report, detail="full")
    assert "reproduce" in {part.key for part in sections.run_report(pair.after).sections}
