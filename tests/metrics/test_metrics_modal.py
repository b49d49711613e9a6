"""One rule for an item's modal verdict, wherever it is asked for: flips, packs, eligibility, MLflow's consensus."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from eva.edges.tracking.items import consensus
from eva.metrics.compare import compare
from eva.metrics.frame import matrix_from_rows
from eva.metrics.matrix import FAILED
from eva.metrics.packs import Pack, PackEntry, check_pack
from eva.metrics.repeats import stability
from eva.metrics.resample import rng_for
from eva.metrics.task_completion import task_completion
from eva.metrics.votes import NO_MAJORITY, NO_VERDICT, TIE, modal, modal_of, said_by, votes
from eva.types import NOT_APPLICABLE

SCALE = ("1", "2")
CASES = {  # what the repeats say: the modal verdict by name, the share of repeats that say so
    ("1", "1", "2"): ("1", 2 / 3),
    ("2",): ("2", 1.0),
    ("1", "2"): (NO_MAJORITY, 1 / 2),
    ("1", "1", "2", "2", "!empty"): (NO_MAJORITY, 2 / 5),
    ("!empty", "!empty"): (NO_VERDICT, 1.0),
    ("!empty", "!no_json", "!refused"): (NO_VERDICT, 1.0),  # unlike kinds of failure are one verdict
    ("1", "!empty", "!no_json"): (NO_VERDICT, 2 / 3),
    ("1", "1", "!empty", "!no_json"): (NO_MAJORITY, 1 / 2),
    ("1", "1", "!empty"): ("1", 2 / 3),
    ("1", "!empty"): (NO_MAJORITY, 1 / 2),
    ("na", "na", "1"): (NOT_APPLICABLE, 2 / 3),
    ("na", "!abstained", "1"): (NOT_APPLICABLE, 2 / 3),  # both say: there is nothing to rate
    ("na", "1"): (NO_MAJORITY, 1 / 2),
}
NAMES = {0: "1", 1: "2", FAILED: NO_VERDICT, TIE: NO_MAJORITY, -2: NOT_APPLICABLE}


@pytest.fixture(params=list(CASES), ids="-".join)
def case(request, make_rows):
    """(verdict rows of one item, its modal verdict, its label or None, share)."""
    rows = make_rows([None], [[said] for said in request.param], record_id=["item00000"], domain=[""])
    name, share = CASES[request.param]
    return rows, name, None if name in (NO_MAJORITY, NO_VERDICT) else name, share


def test_the_rule_itself(case):
    """By array and by name: the same verdict, the same share."""
    rows, name, _, share = case
    counted = votes(matrix_from_rows(rows, SCALE, None))
    assert NAMES[int(modal(counted)[0])] == name
    assert stability(counted)[0] == pytest.approx(share)
    said = [said_by(label, failure) for label, failure in zip(rows["label"], rows["failure"], strict=True)]
    assert modal_of(said) == (name, pytest.approx(share))


def test_flips_and_packs_show_the_modal_label(case, make_rows):
    """Against an arm that says 2 throughout: the label that flips and packs show, None where there is none."""
    rows, _, label, _ = case
    other = make_rows([None], [["2"]])
    found = compare(rows, other, labels=SCALE, values=None, rng=rng_for("modal"), margin=0.03, resamples=50, slices=())
    assert [flip.before for flip in found.flips] == ([] if label == "2" else [label])
    pack = Pack("p", (PackEntry("item00000", "become", "2"),))
    assert check_pack(pack, before=rows, after=other, labels=SCALE)[0].before == label


def test_eligibility_counts_the_modal_verdict(case):
    """Task completion counts conversations by the same names."""
    rows, name, _, _ = case
    found = task_completion(rows, rows, rng=np.random.default_rng(0), resamples=50).overall
    assert found.eligibility == {name: 1}


def test_consensus_of_a_trace(case):
    """MLflow's one trace an item: the label or None, the share of repeats, votes by kind of failure."""
    rows, _, label, share = case
    records = rows.astype(object).where(rows.notna(), None).to_dict("records")
    found, agreement, ballot = consensus(records)
    assert (found, agreement) == (label, pytest.approx(share))
    assert sum(ballot.values()) == len(rows)


def test_nothing_asked_is_no_verdict():
    """No repeat: no verdict, share 0; pandas' missing cells are failures, too."""
    assert modal_of([]) == (NO_VERDICT, 0.0)
    assert (said_by(float("nan"), pd.NA), said_by(None, "abstained"), said_by("1", None)) == (None, NOT_APPLICABLE, "1")
