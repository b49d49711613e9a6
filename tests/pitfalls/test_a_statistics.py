"""Section A of the list, with its own figures: what a number means and what it rests on."""

from __future__ import annotations

import dataclasses
import json
from typing import Any

import numpy as np
import pytest

from eva.judges import conversation
from eva.metrics.compare import compare
from eva.metrics.intervals import clustered_se
from eva.metrics.power import mcnemar_p
from eva.metrics.resample import rng_for
from eva.metrics.results import Comparison, Summary
from eva.metrics.summary import summarise
from eva.replies.labels import normalise_gold, read_label
from eva.report import numbers
from eva.types import Failure, Scale
from tests.factories import FAITHFULNESS, reply
from tests.factories import conversation as record
from tests.metrics.conftest import build_rows

SCALE = ("1", "2", "3")


def measured(
    gold: list[Any], said: list[list[Any]], *, labels: tuple[str, ...] = SCALE, resamples: int = 500, **columns: Any
) -> Summary:
    values = tuple(range(1, len(labels) + 1)) if labels == SCALE[: len(labels)] else None
    rows = build_rows(gold, said, **columns)
    return summarise(rows, labels=labels, values=values, repeats=len(said), rng=rng_for("a"), resamples=resamples)


def compared(gold: list[str], before: list[list[str]], after: list[list[str]]) -> Comparison:
    arms = [build_rows(gold, said) for said in (before, after)]
    return compare(*arms, labels=("1", "2"), values=(1, 2), rng=rng_for("a"), margin=0.03, resamples=2000)


def test_c01_an_invented_label_is_wrong_and_no_class() -> None:
    """Of 0.556, 0.833, 1.0 and 0.733 the second: the class set is the scale's, the unusable verdict wrong and counted."""
    found = measured(["1", "1", "2", "2"], [["1", "1", "2", "!off_scale"]], labels=("1", "2"))

    assert found.macro_f1.mean == pytest.approx(0.8333, abs=1e-4)
    assert [row.label for row in found.per_class] == ["1", "2"]
    assert found.failures == {"off_scale": 1}


def test_c02_a_class_that_is_not_there_does_not_pull_the_mean() -> None:
    found = measured(list("3331"), [list("3331")])

    assert found.macro_f1.mean == 1.0
    assert [row.f1 for row in found.per_class] == [1.0, None, 1.0]
    assert "macro-F1 is over 2 of 3 classes: a class without gold items is left out, said or not" in found.notes


def test_c02_arms_over_unlike_class_sets_are_warned_about() -> None:
    arms = [build_rows(["1", "1", "2"], [["1", "1", "2"]]), build_rows(["1", "1", "1"], [["1", "1", "1"]])]
    found = compare(*arms, labels=SCALE, values=(1, 2, 3), rng=rng_for("a"), margin=0.03, resamples=200)

    assert any("class" in warning for warning in found.warnings)


def test_c04_the_std_is_the_sample_std_and_absent_for_one_repeat() -> None:
    """1.0, 0.5, 0.5 → 0.2887 and not 0.2357; one repeat: neither 0 nor NaN, and said so; equal repeats: 0.0."""
    gold = ["1", "2"]
    three = measured(gold, [["1", "2"], ["1", "1"], ["1", "1"]], labels=("1", "2"))
    one = measured(gold, [["1", "2"]], labels=("1", "2"))
    same = measured(gold, [["1", "1"]] * 3, labels=("1", "2"))

    assert three.accuracy.std == pytest.approx(0.2887, abs=1e-4)
    assert one.accuracy.std is None
    assert any("one repeat" in note.lower() or "1 repeat" in note.lower() for note in one.notes)
    assert same.accuracy.std == 0.0
    assert "±" not in numbers.spread(one.accuracy.mean, one.accuracy.std, numbers.unit_of("accuracy"))
    assert numbers.spread(same.accuracy.mean, same.accuracy.std, numbers.unit_of("accuracy")).endswith("± 0.00%")


def test_c05_certain_of_itself_is_not_certain() -> None:
    """A judge that always says the same, 115 right of 137: spread 0.0, interval about 77% to 89%."""
    gold = ["1"] * 137
    found = measured(gold, [["1"] * 115 + ["2"] * 22] * 3, resamples=2000)

    assert found.accuracy.std == 0.0
    assert found.accuracy_interval.low == pytest.approx(0.77, abs=0.012)
    assert found.accuracy_interval.high == pytest.approx(0.89, abs=0.012)


def test_c06_turns_of_one_conversation_are_not_independent() -> None:
    """Three of five conversations all right, two all wrong, ten turns each: SE about 0.22–0.25, not 0.07."""
    sums = np.array([[10.0, 10.0]] * 3 + [[0.0, 10.0]] * 2)
    se = clustered_se(sums)
    assert se is not None
    assert 0.2 < se < 0.26
    clusters = [f"c{place // 10}" for place in range(50)]
    found = measured(["1"] * 50, [["1"] * 30 + ["2"] * 20], clusters=clusters)
    assert (found.n_items, found.n_clusters) == (50, 5)
    assert found.accuracy_interval.low is not None
    assert found.accuracy_interval.high is not None
    assert found.accuracy_interval.high - found.accuracy_interval.low > 4 * 0.07


@pytest.mark.parametrize(("fixed", "broken", "p", "better"), [(9, 4, 0.267, False), (12, 3, 0.035, True)])
def test_c07_the_same_records_are_compared_as_pairs(fixed: int, broken: int, p: float, better: bool) -> None:
    """137 records: 9 fixed and 4 broken are no evidence, 12 and 3 are; the counts come first."""
    assert mcnemar_p(fixed, broken) == pytest.approx(p, abs=1e-3)
    still = 137 - fixed - broken
    before = ["2"] * fixed + ["1"] * broken + ["1"] * still
    after = ["1"] * fixed + ["2"] * broken + ["1"] * still
    found = compared(["1"] * 137, [before], [after])
    accuracy = next(entry for entry in found.differences if entry.statistic == "accuracy")

    assert (found.counts.fixed, found.counts.broken) == (fixed, broken)
    assert accuracy.difference.value == pytest.approx((fixed - broken) / 137)
    assert (accuracy.verdict == "better") is better
    if not better:
        assert accuracy.verdict == "cannot tell"


def test_c08_failing_more_does_not_raise_the_accuracy() -> None:
    """Six right, two wrong; when the two crash: 0.75 still, 1.00 among the six usable, coverage 6/8, and a warning."""
    gold = ["1"] * 8
    crash = measured(gold, [["1"] * 6 + ["!provider"] * 2])
    assert (crash.accuracy.mean, crash.accuracy_readable, crash.coverage.value) == (0.75, 1.0, 0.75)
    found = compared(gold, [["1"] * 6 + ["2"] * 2], [["1"] * 6 + ["!provider"] * 2])
    accuracy = next(entry for entry in found.differences if entry.statistic == "accuracy")

    assert accuracy.difference.value == 0.0
    assert any("cover" in warning or "read" in warning for warning in found.warnings)


def test_c09_what_cannot_be_read_is_not_the_worst_grade() -> None:
    """Gold 1, 1, 3 and "I cannot rate this" to all: 0.0 and not 0.67; no rating is made up."""
    verdicts = [
        conversation.read(
            FAITHFULNESS, record(record_id=f"r{n}"), reply=reply("I cannot rate this", record_id=f"r{n}")
        )[0]
        for n in range(3)
    ]
    found = measured(["1", "1", "3"], [[f"!{verdict.failure}" for verdict in verdicts]])

    assert {verdict.label for verdict in verdicts} == {None}
    assert found.accuracy.mean == 0.0
    assert found.failures == {"refused": 3}
    assert [row[-1] for row in found.confusion] == [2.0, 0.0, 1.0]  # the column "no verdict"


def test_c11_one_unit_shown_beside_its_n() -> None:
    """Conversations with 1/2, 6/6, 7/7 and 0/2 turns right: 14 of 17 turns (0.824), never the mean 0.625 in its place."""
    sizes = ((1, 2), (6, 6), (7, 7), (0, 2))
    said = ["1" if turn < right else "2" for right, n in sizes for turn in range(n)]
    clusters = [f"c{place}" for place, (_, n) in enumerate(sizes) for _ in range(n)]
    found = measured(["1"] * 17, [said], clusters=clusters)

    assert found.accuracy.mean == pytest.approx(14 / 17)
    assert found.accuracy_interval.value == pytest.approx(14 / 17)
    assert (found.n_items, found.n_clusters) == (17, 4)


def test_c12_kappa_of_one_label_is_undefined_with_its_reason() -> None:
    found = measured(["3"] * 4, [["3"] * 4])

    assert found.kappa.value is None
    assert found.kappa.note
    assert "NaN" not in json.dumps(dataclasses.asdict(found), allow_nan=False)


def test_c13_classes_may_be_named_like_aggregates() -> None:
    """Classes `accuracy` and `macro avg` keep their rows; the accuracy is still the accuracy, on part of a scale too."""
    labels = ("accuracy", "macro avg", "relevance")
    found = measured(["accuracy", "macro avg"], [["accuracy", "relevance"]], labels=labels)

    assert [row.label for row in found.per_class] == list(labels)
    assert found.accuracy.mean == 0.5
    assert found.per_class[0].f1 == 1.0


@pytest.mark.parametrize(
    ("gold", "said", "label"), [("Yes", "yes", "yes"), ("no", "No ", "no"), ("Yes", "YES.", "yes")]
)
def test_c14_both_sides_are_normalised_once(gold: str, said: str, label: str) -> None:
    scale = Scale(labels=("no", "yes"), ordinal=False)

    assert normalise_gold(gold, scale) == read_label(said, scale) == label
    assert normalise_gold("maybe", scale) is None
    assert normalise_gold(2, Scale(labels=("1", "2"), ordinal=True)) == read_label("2", Scale(("1", "2"), ordinal=True))


@pytest.mark.parametrize(("sizes", "accuracy", "macro"), [((122, 25), 0.830, 0.454), ((93, 49, 337), 0.704, 0.275)])
def test_c15_what_a_constant_answer_reaches_stands_beside_it(
    sizes: tuple[int, ...], accuracy: float, macro: float
) -> None:
    labels = SCALE[: len(sizes)]
    gold = [label for label, n in zip(labels, sizes, strict=True) for _ in range(n)]
    most = labels[sizes.index(max(sizes))]
    found = measured(gold, [[most] * len(gold)], labels=labels)
    majority = next(base for base in found.baselines if base.name == "majority")

    assert majority.accuracy == pytest.approx(accuracy, abs=5e-4)
    assert majority.macro_f1 == pytest.approx(macro, abs=5e-4)
    assert any("does not beat" in note for note in found.notes)
    assert found.weighted_kappa.value == pytest.approx(0.0, abs=1e-12)


def test_c17_decided_on_raw_values_and_printed_once() -> None:
    """−0.04 points print without a minus; two levels that round alike print so that their difference is seen."""
    unit = numbers.unit_of("accuracy")
    near = numbers.change(0.81249, 0.81251, difference=0.00002, low=-0.01, high=0.01, unit=unit)

    assert numbers.signed(-0.0004, 1) == "0.0"
    assert near.difference == "0.0"
    assert near.before == near.after == "81.25%"
    assert numbers.change(0.8124, 0.8134, difference=0.001, low=-0.01, high=0.01, unit=unit).difference == "+0.1"


def test_c17_a_significant_interval_never_prints_a_zero_end() -> None:
    """Else the printed interval would hold 0 while the verdict says that it does not."""
    unit = numbers.unit_of("accuracy")
    shown = numbers.change(0.80, 0.815, difference=0.015, low=0.00004, high=0.03, unit=unit)

    assert shown.interval.startswith("[+0.00")
    assert not shown.interval.startswith("[+0.00,")


def test_failures_are_named_by_their_kind() -> None:
    """The closed list: kinds are values, so that no misspelt one is counted apart."""
    assert {kind.value for kind in Failure} == {kind.name.lower() for kind in Failure}
