"""The gate: which rule decides what, and that nothing missing, double or unreadable counts as a pass."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml
from pydantic import TypeAdapter

from eva.errors import ConfigError, UnknownChoice
from eva.gate import GateResult, MustStay, Rule, Thresholds, combine, decide
from eva.metrics.results import Comparison, Estimate, Spread
from eva.report.blocks import line
from tests.report import made

GATES = sorted((Path(__file__).parent.parent / "conf" / "gate").glob("*.yaml"))


def dropped(low: float | None, high: float | None, **changes: Any) -> Comparison:
    """By the middle of the interval: a point outside its own interval decides nothing."""
    after = 0.70 + (-0.01 if low is None or high is None else (low + high) / 2)
    difference = made.difference("accuracy", 0.70, after, low=low, high=high, verdict="cannot tell", **changes)
    return made.comparison(differences=(difference,), flips=())


def rows(
    item: str = "rec", labels: tuple[str | None, ...] = ("3", "3", "3"), gold: str | None = "3"
) -> list[dict[str, Any]]:
    return [
        {"item_id": item, "record_id": item.split("#")[0], "repeat": k, "label": label, "gold": gold}
        for k, label in enumerate(labels)
    ]


def one_item(**changes: Any) -> Any:
    return made.summary(n_items=1, failures={}, **changes)


def told(result: GateResult, name: str) -> str:
    rule = next(rule for rule in result.rules if rule.name == name)
    return "".join(run if isinstance(run, str) else run.text for run in rule.told)


@pytest.mark.parametrize(
    ("low", "high", "outcome", "code"),
    [
        (-0.049, 0.03, "pass", 0),  # the whole interval is within what is allowed
        (-0.09, -0.06, "fail", 1),  # the whole interval is beyond it
        (-0.09, -0.02, "cannot tell", 2),  # surely worse, but perhaps by less than is allowed
        (-0.09, 0.03, "cannot tell", 2),  # the point is fine, the interval is not
        (-0.04, -0.01, "pass", 0),  # surely worse, and surely by less than is allowed
        (-0.05, 0.01, "pass", 0),  # exactly what is allowed
        (None, None, "cannot tell", 2),
    ],
)
def test_a_drop_is_judged_on_the_interval(low: float | None, high: float | None, outcome: str, code: int) -> None:
    """Five points allowed."""
    result = decide(dropped(low, high), made.summary(), Thresholds(largest_drop={"accuracy": 0.05}))

    assert (result.outcome, result.exit_code) == (outcome, code)
    assert result.decided_by[0].name == ("complete" if outcome == "pass" else "largest drop of accuracy")


def test_a_drop_of_an_error_is_a_rise() -> None:
    """Where less is better, more is worse."""
    worse = made.difference("mae", 0.3, 0.5, low=0.1, high=0.3, verdict="worse", higher_is_better=False)
    better = made.difference("mae", 0.5, 0.3, low=-0.3, high=-0.1, verdict="better", higher_is_better=False)
    asked = Thresholds(largest_drop={"mae": 0.05})

    assert decide(made.comparison(differences=(worse,)), made.summary(), asked).outcome == "fail"
    assert decide(made.comparison(differences=(better,)), made.summary(), asked).outcome == "pass"


@pytest.mark.parametrize(
    ("accuracy", "outcome"), [(0.90, "pass"), (0.8999, "fail"), (0.95, "pass"), (None, "cannot tell")]
)
def test_a_floor_is_judged_on_the_value_in_which_failures_are_wrong(accuracy: float | None, outcome: str) -> None:
    """90 of 100 always right meets a floor of 90%."""
    summary = replace(made.summary(), accuracy=Spread(accuracy, 0.0))

    result = decide(made.comparison(), summary, Thresholds(floor={"accuracy": 0.90}))
    assert result.outcome == outcome


def test_floors_of_estimates_count_too() -> None:
    """Kappa, coverage and the like are estimates, not spreads."""
    assert (
        decide(made.comparison(), made.summary(), Thresholds(floor={"kappa": 0.5, "coverage": 0.9})).outcome == "pass"
    )
    assert decide(made.comparison(), made.summary(), Thresholds(floor={"kappa": 0.6})).outcome == "fail"


@pytest.mark.parametrize(
    ("labels", "outcome"),
    [
        (("3", "3", "3"), "pass"),
        (("3", "1", "3"), "pass"),  # one flaky repeat does not decide
        (("3", "1", "1"), "fail"),
        (("3", None, None), "fail"),  # unreadable is not right
        (("3", "3", None), "pass"),
        (("3", "3"), "pass"),  # a repeat is missing: still right in most
        (("3",), "cannot tell"),
        (("1",), "cannot tell"),
        (("1", "1"), "fail"),  # whatever the missing repeat would have said
        ((), "cannot tell"),
    ],
)
def test_a_named_item_must_be_right_in_most_of_its_repeats(labels: tuple[str | None, ...], outcome: str) -> None:
    """Missing repeats are neither right nor wrong; an item that is not there is no pass."""
    comparison = made.comparison(flips=())
    result = decide(comparison, one_item(), Thresholds(must_not_break=("rec",)), after_rows=rows(labels=labels))

    found = next(rule for rule in result.rules if rule.name == "must not break")
    assert found.outcome == outcome


def test_double_rows_are_no_proof() -> None:
    """Two rows of one repeat: that repeat counts as unknown, and the run as incomplete."""
    double = [*rows(), rows()[0], rows()[1]]
    result = decide(made.comparison(flips=()), one_item(), Thresholds(must_not_break=("rec",)), after_rows=double)

    assert result.outcome == "cannot tell"
    assert told(result, "complete") == "2 verdicts there more than once"
    assert told(result, "must not break") == "rec: right in 1 of 3 repeats, 2 asked for, 2 missing or double"


@pytest.mark.parametrize("labels", [("3", "3", "1", "1"), ("1", "1", "3", "3"), (None, None, "3"), ("3", None)])
def test_without_gold_a_tie_is_no_verdict_to_hold(labels: tuple[str | None, ...]) -> None:
    """Whichever label comes first, and a label that failures outnumber or tie with is none."""
    single = replace(made.summary(accuracy=(0.7,) * len(labels)), n_items=1)
    asked = Thresholds(must_not_break=(MustStay("rec", at_least=1),))
    result = decide(made.comparison(flips=()), single, asked, after_rows=rows(labels=labels, gold=None))

    assert result.outcome == "cannot tell"
    assert told(result, "must not break").startswith("rec: it has no human label, and its repeats give no ")


def test_a_record_stands_for_all_its_items() -> None:
    """One broken turn breaks the record."""
    both = [*rows("rec#1"), *rows("rec#2", ("1", "1", "1"))]
    summary = made.summary(n_items=2, failures={})

    result = decide(made.comparison(flips=()), summary, Thresholds(must_not_break=("rec",)), after_rows=both)
    assert result.outcome == "fail"
    assert (
        decide(made.comparison(flips=()), summary, Thresholds(must_not_break=("rec#1",)), after_rows=both).outcome
        == "pass"
    )


def test_an_expected_label_can_be_stated_with_its_tolerance() -> None:
    """`must become 0`, in every repeat."""
    asked = Thresholds(must_not_break=(MustStay("rec", label="1", at_least=3),))

    def outcome(*labels: str) -> str:
        return decide(made.comparison(flips=()), one_item(), asked, after_rows=rows(labels=labels)).outcome

    assert outcome("1", "1", "1") == "pass"
    assert outcome("1", "1", "3") == "fail"


def test_an_item_without_a_human_label_must_not_move() -> None:
    """Then what it was before is what it must stay; torn on both sides it was nothing that it could stay."""
    asked = Thresholds(must_not_break=("rec",))
    calm = rows(gold=None)
    moved = made.comparison(flips=(made.flip("rec", "down", gold=None),))

    assert decide(made.comparison(flips=()), one_item(), asked, after_rows=calm).outcome == "pass"
    assert decide(moved, one_item(), asked, after_rows=calm).outcome == "fail"
    torn = rows(labels=("1", "2", "3"), gold=None)
    assert decide(made.comparison(flips=()), one_item(), asked, after_rows=torn).outcome == "cannot tell"
    nan = [row | {"gold": float("nan")} for row in calm]
    assert decide(made.comparison(flips=()), one_item(), asked, after_rows=nan).outcome == "pass"


@pytest.mark.parametrize(
    ("comparison", "after_rows", "status", "words"),
    [
        ({"only_before": 2}, None, "finished", "2 items of the before run missing after"),
        ({}, None, "interrupted", "the after run is not finished: interrupted"),
        ({}, rows(labels=("3", "3")), "finished", "1 verdict missing"),
    ],
)
def test_an_incomplete_run_passes_nothing(
    comparison: dict[str, Any], after_rows: list[dict[str, Any]] | None, status: str, words: str
) -> None:
    """However good its numbers are."""
    summary = one_item()
    result = decide(
        made.comparison(**comparison),
        summary,
        Thresholds(floor={"accuracy": 0.1}),
        after_rows=after_rows,
        status=status,
    )

    assert result.outcome == "cannot tell"
    assert told(result, "complete") == words


def test_a_failure_outweighs_what_cannot_be_told() -> None:
    """A run that is surely too bad fails, complete or not."""
    result = decide(
        dropped(-0.2, 0.0), made.summary(), Thresholds(floor={"accuracy": 0.9}, largest_drop={"accuracy": 0.05})
    )

    assert result.outcome == "fail"
    assert [rule.name for rule in result.decided_by] == ["floor of accuracy"]


@pytest.mark.parametrize(
    ("lost", "words"),
    [
        ({"before": 0, "after": 2}, "2 calls of the after run got no reply; the same command asks for them again"),
        ({"before": 1, "after": 0}, "1 call of the before run got no reply; the same command asks for them again"),
    ],
)
def test_with_lost_calls_nothing_can_be_told(lost: dict[str, int], words: str) -> None:
    """However good the numbers are; the rule that decided is named."""
    result = decide(made.comparison(), made.summary(), Thresholds(floor={"accuracy": 0.1}), lost=lost)

    assert (result.outcome, result.exit_code) == ("cannot tell", 2)
    assert [rule.name for rule in result.decided_by] == ["lost calls"]
    assert told(result, "lost calls") == words
    assert (
        decide(made.comparison(), made.summary(), Thresholds(floor={"accuracy": 0.1}), lost={"after": 0}).exit_code == 0
    )


def test_lost_calls_of_the_after_run_are_no_fault_of_the_judge() -> None:
    """They count as wrong, so a rule that fails may fail by them; lost calls before the change excuse nothing."""
    asked = Thresholds(floor={"accuracy": 0.9})
    result = decide(made.comparison(), made.summary(), asked, lost={"after": 3})

    assert result.outcome == "cannot tell"
    assert told(result, "floor of accuracy").endswith("; the lost calls count as wrong here")
    assert decide(made.comparison(), made.summary(), asked, lost={"before": 3}).outcome == "fail"


def test_coverage_and_unreadable_verdicts() -> None:
    """99.76% coverage; 1 of 411 unreadable."""
    summary = made.summary()

    def outcome(**asked: float) -> str:
        return decide(made.comparison(), summary, Thresholds(**asked)).outcome

    assert outcome(coverage_at_least=0.99) == "pass"
    assert outcome(coverage_at_least=0.999) == "fail"
    assert outcome(unreadable_at_most=0.0025) == "pass"
    assert outcome(unreadable_at_most=0.0024) == "fail"
    nothing = replace(summary, coverage=Estimate(None), n_items=0)
    assert decide(made.comparison(), nothing, Thresholds(coverage_at_least=0.1)).outcome == "cannot tell"
    assert decide(made.comparison(), nothing, Thresholds(unreadable_at_most=0.1)).outcome == "cannot tell"


def test_a_gate_without_rules_passes_nothing() -> None:
    """Nothing was checked."""
    assert decide(made.comparison(), made.summary(), Thresholds()).outcome == "cannot tell"


def test_what_is_not_compared_cannot_be_told_and_what_does_not_exist_is_an_error() -> None:
    """A judge without labels has no accuracy; a statistic of another name is a typing error."""
    scored = made.comparison(differences=(made.difference("mean_score", 0.8, 0.9, low=0.0, high=0.2, verdict="moved"),))

    assert decide(scored, made.summary(), Thresholds(largest_drop={"accuracy": 0.1})).outcome == "cannot tell"
    with pytest.raises(UnknownChoice, match="Did you mean 'accuracy'"):
        decide(scored, made.summary(), Thresholds(largest_drop={"acuracy": 0.1}))
    with pytest.raises(UnknownChoice, match="macro_f1"):
        decide(scored, made.summary(), Thresholds(floor={"labels": 0.1}))
    biased = made.comparison()
    with pytest.raises(ConfigError, match="no better direction"):
        decide(biased, made.summary(), Thresholds(largest_drop={"bias": 0.1}))
    with pytest.raises(ConfigError, match="needs the verdicts"):
        decide(biased, made.summary(), Thresholds(must_not_break=("rec",)))


@pytest.mark.parametrize(
    "asked",
    [
        Thresholds(largest_drop={"accuracy": 5}),
        Thresholds(floor={"accuracy": 80}),
        Thresholds(coverage_at_least=float("nan")),
        Thresholds(unreadable_at_most=-0.1),
    ],
)
def test_points_where_shares_are_meant_are_refused(asked: Thresholds) -> None:
    """A drop of 5 would allow everything."""
    with pytest.raises(ConfigError, match=r"five points are 0\.05"):
        decide(made.comparison(), made.summary(), asked)


def test_results_of_several_comparisons_combine() -> None:
    """The gravest one decides; nothing at all decides nothing."""
    passed, failed = (Rule(word, word, line("x")) for word in ("pass", "fail"))  # type: ignore[arg-type]  # both are words

    assert combine([passed, failed]).exit_code == 1
    assert combine([passed]).exit_code == 0
    assert combine([]).exit_code == 2


@pytest.mark.parametrize("path", GATES, ids=lambda path: path.stem)
def test_the_gates_of_the_config_are_thresholds(path: Path) -> None:
    """Every file is read without a key too many or of a wrong type, and judges a comparison."""
    values = yaml.safe_load(path.read_text(encoding="utf-8"))

    assert set(values) == set(Thresholds.__dataclass_fields__)
    asked = TypeAdapter(Thresholds).validate_python(values)
    assert decide(made.comparison(), made.summary(), asked).outcome in {"pass", "fail", "cannot tell"}


def test_one_flip_among_many_items_breaks_no_default_gate() -> None:
    """CI does not fail on a single flaky item."""
    asked = TypeAdapter(Thresholds).validate_python(yaml.safe_load(GATES[0].read_text(encoding="utf-8")))
    one = made.difference("accuracy", 0.90, 0.89, low=-0.03, high=0.0, verdict="cannot tell")
    other = replace(one, statistic="macro_f1")

    assert decide(made.comparison(differences=(one, other)), made.summary(), asked).outcome == "pass"


def test_a_difference_outside_its_own_interval_decides_nothing() -> None:
    """The point is one point worse: an interval of better values alone contradicts it."""
    outside = made.difference("accuracy", 0.70, 0.69, low=0.01, high=0.03, verdict="cannot tell")
    result = decide(
        made.comparison(differences=(outside,)), made.summary(), Thresholds(largest_drop={"accuracy": 0.05})
    )

    assert result.outcome == "cannot tell"
    assert "outside its own interval" in told(result, "largest drop of accuracy")
