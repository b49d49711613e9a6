"""A comparison as data: the outcome in words, titles, order, what is left out when there is nothing to say."""

from __future__ import annotations

from dataclasses import replace

import pytest

from eva.metrics.results import Baseline, FlipCounts
from eva.report import main_table, sections, words
from eva.report.blocks import Bullets, Paragraph, Quoted, Strong, Table
from eva.report.inputs import Pair
from tests.report import made
from tests.report.told import both, changed, outcome, plain, table, unlabelled


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
    assert plain(two.title) == "2 judges · prompt v1 → v2"


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


def test_what_the_first_lines_say_stands_not_among_the_differences_again() -> None:
    """An unfinished run and lost calls are told once, with counts; other ways to be unlike stay."""
    pair = made.pair(
        compared=made.comparison(
            warnings=(
                "the after run is interrupted: some repeats are missing",
                "2 calls of the after run got no reply at all: that says nothing about the judge",
                "the models differ: a, b",
            )
        )
    )
    after = replace(pair.after, meta={**pair.after.meta, "status": "interrupted", "lost": 2})
    report = sections.comparison_report([replace(pair, after=after)])
    warning = report.sections[0].blocks[0]

    assert len(report.outcome) == 3
    assert isinstance(warning, Paragraph)
    assert plain(warning.line) == "Not alike: the models differ: a, b"
