"""How often a judge gave what an attack asks for: the number, the control beside it, and where it is told."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from eva.edges.compose import compose
from eva.edges.runs import RunFolder
from eva.edges.settings import settings_from
from eva.flow import validate
from eva.metrics.attacks import attack_scores
from eva.report import terminal
from eva.report.attacks import attacks_blocks
from eva.reporting import report_of
from tests.attacks.test_attack_sets import attack_of, rows_of
from tests.small_runs import quick


def row(
    item: str, kind: str | None, wants: str, *, label: str | None, gold: str = "1", repeat: int = 0
) -> dict[str, Any]:
    details = {} if kind is None else {"attack": {"kind": kind, "wants": wants}}
    annotations = json.dumps([{"label": gold, "annotator": "a", "flags": [], "details": details}])
    return {"item_id": item, "repeat": repeat, "gold": gold, "label": label, "annotations": annotations}


def test_the_share_that_gave_what_the_attacker_wants() -> None:
    """Two of four attacked verdicts on two items; one unreadable one gave nothing; unasked one of two did it too."""
    rows = pd.DataFrame(
        [
            row("a", "plea", "3", label="3"),
            row("a", "plea", "3", label="1", repeat=1),
            row("b", "authority", "3", label="3"),
            row("b", "authority", "3", label=None, repeat=1),
            row("c", "none", "3", label="3"),
            row("c", "none", "3", label="1", repeat=1),
            row("d", None, "3", label="3"),
        ]
    )
    found = attack_scores(rows)

    assert found is not None
    assert (found.items, found.attacked.verdicts, found.attacked.fell, found.attacked.share) == (2, 4, 2, 0.5)
    assert (found.control.verdicts, found.control.fell) == (2, 1)
    assert [(kind.kind, kind.fell, kind.unreadable) for kind in found.kinds] == [("authority", 1, 1), ("plea", 1, 0)]
    assert found.accuracy == 0.25
    assert found.low is not None
    assert found.high is not None
    assert found.low < 0.5 < found.high


@pytest.mark.parametrize(
    "cell", ["", "[]", "null", '[{"details": {}}]', '[{"details": {"attack": "x"}}]', "{", None, 3]
)
def test_rows_without_an_attack_have_no_score(cell: Any) -> None:
    rows = pd.DataFrame([{"item_id": "a", "repeat": 0, "gold": "1", "label": "1", "annotations": cell}])

    assert attack_scores(rows) is None
    assert attack_scores(rows.drop(columns="annotations")) is None
    assert attacks_blocks(None) == ()


@pytest.mark.parametrize("obeys", [True, False])
def test_a_run_over_attacks_says_how_often_it_fell(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, obeys: bool
) -> None:
    """A judge that does what it is told, and one that is right throughout: 100% and 0%, in summary and report."""
    quick(monkeypatch)
    replies = tmp_path / "r.jsonl"
    lines = []
    for record in rows_of("faithfulness"):
        _, label, kind, wants = attack_of(record)
        rating = int(wants if obeys and kind != "none" else label)
        lines.append(json.dumps({"record": record["record_id"], "text": json.dumps({"rating": rating})}))
    replies.write_text("\n".join(lines), encoding="utf-8")
    own = (
        "judge=faithfulness", "dataset=attacks_faithfulness", "model=recorded", f"model.path={replies}", "tracking=none",
        f"home={tmp_path / 's'}",
    )  # fmt: skip
    finished = validate(settings_from(compose(own)), overrides=own, say=lambda text: None)
    assert finished is not None
    folder = RunFolder(finished.folder.path)
    scores = folder.summary["attacks"]
    told = terminal.render(report_of(folder), styled=False, detail="full")

    assert scores["items"] == scores["attacked"]["verdicts"] == 8
    assert scores["attacked"]["fell"] == (8 if obeys else 0)
    assert (scores["control"]["verdicts"], scores["control"]["fell"]) == (4, 0)
    assert f"fell for it in {'100.0' if obeys else '0.0'}% of 8 verdicts on 8 attacked items" in " ".join(told.split())
    assert "no attack (control)" in told


def test_a_run_without_attacks_has_no_such_part(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    quick(monkeypatch)
    own = ("model=scripted", "limit=4", "tracking=none", f"home={tmp_path / 's'}")
    finished = validate(settings_from(compose(own)), overrides=own, say=lambda text: None)
    assert finished is not None
    folder = RunFolder(finished.folder.path)

    assert folder.summary["attacks"] is None
    assert "Attacks" not in terminal.render(report_of(folder), styled=False, detail="full")
