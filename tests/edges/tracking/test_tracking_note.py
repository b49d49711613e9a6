"""The run's note in MLflow: the same numbers, printed as every report prints them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from eva.edges.tracking.folder import read
from eva.edges.tracking.note import note
from eva.edges.tracking.spec import Links
from tests.edges.tracking.run_folder import make_run

LINKS = Links(run="http://run", traces="http://traces", comparison=None, open_ui="python -m eva server")


def written(folder: Path) -> str:
    return note(read(folder), LINKS, traces=3)


def differing(folder: Path, **difference: Any) -> Path:
    """A run whose first difference to its baseline says so."""
    before = make_run(folder / "runs", prompt="v1")
    after = make_run(folder / "runs", prompt="v2", before=before, minute=3)
    comparison = json.loads((after / "comparison.json").read_text())
    comparison["differences"][0] |= {"before": 0.7, "after": 0.7, "difference": difference}
    (after / "comparison.json").write_text(json.dumps(comparison))
    return after


def test_what_rounds_to_zero_has_no_sign(tmp_path: Path) -> None:
    """Never −0.0: a difference of −0.00001 is 0.0 in the headline and in the table; the minus is a minus."""
    text = written(differing(tmp_path, value=-0.00001, low=-0.025, high=0.031))

    assert "against v1 0.0 [−2.5, +3.1]: **cannot tell**" in text
    assert "| accuracy | 70.00% | 70.00% | 0.0 | [−2.5, +3.1] | **cannot tell** |" in text
    assert "-0.0" not in text
    assert "−0.0 " not in text


def test_what_has_no_number_is_a_dash(tmp_path: Path) -> None:
    """No interval, no brackets around nothing."""
    text = written(differing(tmp_path, value=0.012, low=None, high=None))

    assert "against v1 +1.2: **cannot tell**" in text
    assert "| +1.2 | – |" in text
