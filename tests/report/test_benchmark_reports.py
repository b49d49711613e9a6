"""The benchmarks' reports: every rate with its interval, counts beside, names of models as text."""

from __future__ import annotations

from dataclasses import replace

from eva.metrics.results import Estimate
from eva.metrics.results_benchmarks import BenchmarkScores, Completion, TaskCompletion, TurnBenchmark
from eva.report import html, markdown, terminal
from eva.report.task_completion import completion_plot, completion_report
from eva.report.turn_benchmark import SHOWN_RUNS, benchmark_plot, benchmark_report
from tests.report.made import HOSTILE

RATE = Estimate(0.728, 0.654, 0.8, n_items=780, n_clusters=26)
SCORES = BenchmarkScores(
    model="",
    conversations=26,
    turns=780,
    missing=12.5,
    strict=RATE,
    any_error=Estimate(0.272, 0.2, 0.346),
    errors={"tool_use_correct": RATE, "kb_grounding": Estimate(0.0, 0.0, 0.13)},
    counts={"any_error": 212},
    turn_taking=Estimate(None, note="no turn has a timing"),
    reached_end=RATE,
)
BENCHMARK = TurnBenchmark(
    ("tool_use_correct", "kb_grounding"), 30, SCORES, (replace(SCORES, model=HOSTILE),), {"run": 0.5}, ("a note",)
)
PART = Completion("model", HOSTILE, 4, {"eligible": 4}, 4, {"success": 2.5, "unverifiable": 1}, RATE, Estimate(None))
COMPLETION = TaskCompletion(
    "all", replace(PART, by="all", value=""), (PART,), {"eligible": {"success": 2.5}}, ("left out",)
)


def test_the_turn_benchmark_reads_in_every_format() -> None:
    report = benchmark_report(BENCHMARK)
    for text in (markdown.render(report), html.render(report), terminal.render(report, styled=False, detail="full")):
        assert "72.80% [65.4, 80.0] over 26 conversations × 30 scripted turns" in " ".join(text.split())
        assert "no timing" in text
        assert "a note" in text
    assert "<script>alert" not in html.render(report)
    many = replace(BENCHMARK, runs={f"r{n}": 0.5 for n in range(SHOWN_RUNS + 3)})
    assert "3 more conversations left out" in markdown.render(benchmark_report(many))


def test_task_completion_reads_in_every_format() -> None:
    """Counts that are means over repeats keep a digit; a rate without a value says so."""
    report = completion_report(COMPLETION)
    for text in (markdown.render(report), html.render(report), terminal.render(report, styled=False, detail="full")):
        assert "2.5" in text
        assert "undefined" in text
        assert "all conversations are scored, eligible or not" in text
    assert "<script>alert" not in html.render(report)


def test_pictures_are_the_same_for_the_same_numbers() -> None:
    assert benchmark_plot(BENCHMARK) == benchmark_plot(BENCHMARK)
    assert completion_plot(COMPLETION, kind="svg") == completion_plot(COMPLETION, kind="svg")
    assert benchmark_plot(replace(BENCHMARK, models=()), kind="svg").startswith(b"<?xml")
