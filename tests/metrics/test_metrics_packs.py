"""Packs: what must change and what must not, repeat by repeat; missing verdicts never pass."""

from __future__ import annotations

from collections.abc import Callable

import pandas as pd
import pytest

from eva.errors import DataError
from eva.metrics.packs import Pack, PackEntry, check_pack
from eva.metrics.results_moved import PackFinding

Rows = Callable[..., pd.DataFrame]


def check(make_rows: Rows, entry: PackEntry, before: list[str | None], after: list[str | None]) -> PackFinding:
    """One item, with a second one so that the run has all repeats."""
    arms = [make_rows([None, None], [[said, "1"] for said in arm], ids=["a", "other"]) for arm in (before, after)]
    (found,) = check_pack(Pack("p", (entry,)), before=arms[0], after=arms[1], labels=("0", "1"))
    return found


@pytest.mark.parametrize(
    ("tolerance", "after", "outcome", "told"),
    [
        (0, ["0", "0", "0"], "pass", "0 in 3 of 3 repeats, 3 needed"),
        (0, ["0", "0", "1"], "fail", "0 in 2 of 3 repeats, 3 needed"),
        (1, ["0", "0", "1"], "pass", "0 in 2 of 3 repeats, 2 needed"),
        (0.34, ["0", "0", "1"], "pass", "0 in 2 of 3 repeats, 2 needed"),
        (0.33, ["0", "0", "1"], "fail", "0 in 2 of 3 repeats, 3 needed"),
        (1, ["1", "1", "1"], "fail", "0 in 0 of 3 repeats, 2 needed; mostly 1, as before (1)"),
        (0, ["0", "0", "!no_json"], "fail", "0 in 2 of 3 repeats, 3 needed"),
        (0, ["0", "0", None], "cannot tell", "0 in 2 of 3 repeats, 3 needed, 1 missing or double"),
        (0, ["0", "1", None], "fail", "0 in 1 of 3 repeats, 3 needed, 1 missing or double"),
        (9, ["1", "1", "1"], "fail", "0 in 0 of 3 repeats, 1 needed; mostly 1, as before (1)"),
    ],
)
def test_must_become(make_rows: Rows, tolerance: float, after: list[str | None], outcome: str, told: str) -> None:
    """K − tolerance repeats must say so; a failure is another verdict, a missing one is unknown; never without any."""
    found = check(make_rows, PackEntry("a", "become", "0", tolerance), ["1", "1", "1"], after)
    assert (found.outcome, found.told) == (outcome, told)


def test_must_stay(make_rows: Rows) -> None:
    """A label that stays passes; one that moved fails; what it was before is said where that is not what it must be."""
    entry = PackEntry("a", "stay", "1", note="why")
    stays = check(make_rows, entry, ["1"], ["1"])
    moved = check(make_rows, entry, ["1"], ["0"])
    already = check(make_rows, entry, ["0"], ["0"])

    assert (stays.outcome, stays.told, stays.note) == ("pass", "1 in 1 of 1 repeats, 1 needed", "why")
    assert (moved.outcome, moved.before, moved.after) == ("fail", "1", "0")
    assert already.told.endswith("mostly 0, as before (0); it was 0 before")
    assert check(make_rows, PackEntry("a", "become", "0"), ["0"], ["0"]).told.endswith("; it was so before")


def test_items_that_are_not_there_or_there_twice(make_rows: Rows) -> None:
    rows = make_rows([None], [["1"]], ids=["a"])
    pack = Pack("p", (PackEntry("a", "stay", "1"), PackEntry("gone", "become", "0")))
    found = check_pack(pack, before=rows, after=pd.concat([rows, rows]), labels=("0", "1"))

    assert [one.outcome for one in found] == ["cannot tell", "cannot tell"]
    assert found[1].told == "is not in the after run"


def test_a_label_off_the_scale_is_refused(make_rows: Rows) -> None:
    rows = make_rows([None], [["1"]], ids=["a"])
    with pytest.raises(DataError, match="p: a: '7' is not on the scale"):
        check_pack(Pack("p", (PackEntry("a", "stay", "7"),)), before=rows, after=rows, labels=("0", "1"))
