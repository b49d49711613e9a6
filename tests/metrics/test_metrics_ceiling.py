"""People among themselves, and the alternative annotator test."""

from __future__ import annotations

import json

import numpy as np
import pytest

from eva.errors import DataError
from eva.metrics.ceiling import ceiling
from eva.metrics.frame import items_from_rows, matrix_from_rows
from eva.metrics.resample import rng_for

SCALE = ("1", "2", "3")


def marks(**people):
    return json.dumps([{"annotator": name, "label": label} for name, label in people.items()])


def measure(rows):
    matrix = matrix_from_rows(rows, SCALE, (1, 2, 3))
    return ceiling(items_from_rows(rows), matrix, rng=rng_for("ceiling"), resamples=200)


def test_people_and_judge_on_the_same_items(make_rows):
    """Two people agree on 2 of 3 items. Judge agrees with both, one, none of them: (1 + ½ + 0) / 3."""
    annotations = [marks(ann="1", bob="1"), marks(ann="1", bob="2"), marks(ann="3", bob="3"), marks(ann="2")]
    found = measure(make_rows(["1", "1", "3", "2"], [["1", "1", "!empty", "2"]], annotations=annotations))
    assert (found.items, found.human_human.value, found.judge_human.value) == (
        3,
        pytest.approx(2 / 3),
        pytest.approx(0.5),
    )
    # both say 1: ⅓·⅔ by chance from margins (1: ⅔, 3: ⅓) and (1: ⅓, 2: ⅓, 3: ⅓) → p_e = 2/9 + 1/9; κ = (⅔ − ⅓) / ⅔
    assert found.kappa_human_human == pytest.approx(0.5)
    assert found.alt_test is None


def test_single_labels_give_no_ceiling(make_rows):
    """One label an item, or none: None."""
    assert measure(make_rows(["1", "2"], [["1", "2"]], annotations=[marks(ann="1"), None])) is None
    assert measure(make_rows(["1"], [["1"]])) is None


def test_broken_annotations_are_refused(make_rows):
    """What is not JSON is an error that names the field."""
    with pytest.raises(DataError, match="annotations"):
        measure(make_rows(["1"], [["1"]], annotations=["{"]))


@pytest.mark.parametrize(("skill", "rate"), [(0.95, 1.0), (0.4, 0.0)])
def test_alternative_annotator(make_rows, skill, rate):
    """Three people right in 85% of 80 items: a judge right in 95% can stand in for each, one of 40% for none."""
    rng = np.random.default_rng(1)
    truth = rng.choice(list(SCALE), 80)

    def say(level):
        return np.where(rng.random(80) < level, truth, rng.choice(list(SCALE), 80))

    people = {name: say(0.85) for name in ("ann", "bob", "cy")}
    annotations = [marks(**{name: given[item] for name, given in people.items()}) for item in range(80)]
    found = measure(make_rows(list(truth), [say(skill).tolist() for _ in range(3)], annotations=annotations)).alt_test
    assert (found["winning_rate"], found["annotators"], found["epsilon"]) == (rate, 3.0, 0.1)
    assert (found["advantage_probability"] > 0.8) == (rate == 1.0)
