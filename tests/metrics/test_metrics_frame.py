"""Verdict rows become the matrix, or an error that names what is wrong."""

from __future__ import annotations

import io
import json

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from eva.errors import DataError
from eva.metrics.compare import compare
from eva.metrics.frame import items_from_rows, matrix_from_rows
from eva.metrics.matrix import ABSENT, ABSTAINED, FAILED, UNLABELLED
from eva.metrics.resample import rng_for
from eva.metrics.summary import summarise

SCALE = ("1", "2", "3")


def test_every_kind_of_cell_has_its_code(make_rows):
    """Labels by place, failures −1, abstentions −2, missing rows −3; gold null and not applicable are unlabelled."""
    rows = make_rows(["1", None, "not_applicable"], [["3", "na", "!no_json"], ["!abstained", "2", None]])
    matrix = matrix_from_rows(rows, SCALE, [1, 2, 3], repeats=3)
    assert matrix.verdicts.tolist() == [[2, ABSTAINED, ABSENT], [ABSTAINED, 1, ABSENT], [FAILED, ABSENT, ABSENT]]
    assert matrix.gold.tolist() == [0, UNLABELLED, UNLABELLED]
    assert matrix.values == (1.0, 2.0, 3.0)


def test_order_of_rows_does_not_matter(random_rows):
    """Shuffled rows give the same matrix."""
    rows = random_rows(3)
    shuffled = rows.sample(frac=1, random_state=1)
    a, b = (matrix_from_rows(frame, SCALE, None, repeats=3) for frame in (rows, shuffled))
    assert a.item_ids == b.item_ids
    for name in ("verdicts", "gold", "clusters"):
        np.testing.assert_array_equal(getattr(a, name), getattr(b, name))


def test_no_rows_give_an_empty_matrix(make_rows):
    """No item, K repeats."""
    matrix = matrix_from_rows(make_rows([], []), SCALE, None, repeats=2)
    assert (matrix.n_items, matrix.n_repeats, matrix.n_clusters) == (0, 2, 0)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"label": "4"}, "'4' of item 'item00000' is not on the scale"),
        ({"label": 3}, "is not on the scale"),
        ({"gold": "yes"}, "'yes' of item 'item00000' is not on the scale"),
        ({"failure": "no_json"}, "both a label and a failure"),
        ({"label": None}, "neither a label nor a failure"),
        ({"repeat": 7}, "repeat 7 is not one of 0..1"),
        ({"item_id": "item00001"}, "has 2 verdicts in repeat 0"),
        ({"cluster": "elsewhere"}, "more than one cluster"),
        ({"gold": "2"}, "more than one gold label"),
        ({"cluster": None}, "cluster"),
    ],
)
def test_contradictions_are_refused(make_rows, change, message):
    """Off-scale labels, duplicates and rows that disagree about their item stop the measuring and name the item."""
    rows = make_rows(["1", "1"], [["1", "1"], ["1", "1"]]).astype(object)
    for column, value in change.items():
        rows.loc[0, column] = value
    with pytest.raises(DataError, match=message):
        matrix_from_rows(rows, SCALE, None, repeats=2)


def test_missing_columns_are_named():
    """The error lists the columns that are not there."""
    with pytest.raises(DataError, match="cluster, gold"):
        matrix_from_rows(pd.DataFrame({"item_id": [], "repeat": [], "label": [], "failure": []}), SCALE, None)


def test_items_follow_the_matrix(random_rows):
    """The table of items has the matrix's order, and empty columns for what the rows lack."""
    rows = random_rows(1)
    items = items_from_rows(rows.sample(frac=1, random_state=2))
    assert tuple(items["item_id"]) == matrix_from_rows(rows, SCALE, None).item_ids
    assert items["rules"].isna().all()


def test_rows_from_parquet_measure_the_same(make_rows):
    """Lists come back as arrays, strings in another type, an all-null column without one: all numbers agree."""
    rows = make_rows(
        ["1", "2", None, "not_applicable"] * 10,
        [["1", "3", "2", "na"] * 10] * 2,
        language=["en", "de"] * 20,
        dimension=[None] * 40,
        rules=[["a", "b"], [], ["a"], []] * 10,
        gold_flags=[["x"], [], [], []] * 10,
        annotations=[json.dumps([{"label": "1", "annotator": "a"}, {"label": "2", "annotator": "b"}])] * 40,
    )
    rows["flags"] = [["x"], [], ["y"], []] * 20
    rows["broken_rules"] = [[], ["r"]] * 40
    clean = rows.astype(object).where(rows.notna(), None)
    stored = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(clean.to_dict("records")), stored)
    back = pd.read_parquet(io.BytesIO(stored.getvalue()))
    how = {"labels": SCALE, "values": (1, 2, 3), "resamples": 200}
    for measure in (
        lambda frame: summarise(frame, repeats=2, rng=rng_for("x"), **how),
        lambda frame: compare(frame, frame, margin=0.03, rng=rng_for("x"), **how),
    ):
        assert measure(back) == measure(rows)
