"""A judge's rate on unlabelled conversations, corrected by how it errs on labelled ones; refused where it cannot be."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from eva.__main__ import main
from eva.edges.runs import RunFolder
from eva.errors import ComparisonError, UnknownChoice
from eva.rates import corrected_rate
from tests.flow_runs import Run, call, home, run, turn_reply, write_lines

__all__ = ["home", "run"]  # fixtures


def made(run: Run, folder: Path, *, gold: str | None, said: str, prompt: str = "v1", language: str = "en") -> RunFolder:
    """A run on one-turn calls: what people say of each (None: nobody does), and what the judge says."""
    rows = [
        call(
            f"call-{n:03d}",
            ["Hello."],
            language=language,
            **({"labels": [{"item": "turn:1", "label": gold[n], "annotator": "Jo"}]} if gold else {}),
        )
        for n in range(len(said))
    ]
    data = write_lines(folder / f"{len(said)}{'l' if gold else 'u'}{language}.jsonl", rows)
    replies = [
        turn_reply(f"call-{n:03d}", {1: (int(label), "why", [])}, flags="violations") for n, label in enumerate(said)
    ]
    task = "validate" if gold else "rescore"
    return run("judge=speakability", f"prompt={prompt}", f"task={task}", "baseline=none", data=data, replies=replies)


def labelled(run: Run, folder: Path, *, hits: int = 46, false_alarms: int = 8) -> RunFolder:
    """50 bad and 50 good items; `hits` of the bad and `false_alarms` of the good are called bad (0)."""
    said = "0" * hits + "1" * (50 - hits) + "0" * false_alarms + "1" * (50 - false_alarms)
    return made(run, folder, gold="0" * 50 + "1" * 50, said=said)


def test_the_corrected_rate_is_rogan_gladens(
    run: Run, tmp_path: Path, home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Se .92, Sp .84; 60 of 200 called bad: (.30 + .84 − 1) / .76 = .184. PPI++ beside it, both with interval."""
    one, other = labelled(run, tmp_path), made(run, tmp_path, gold=None, said="0" * 60 + "1" * 140)
    found = corrected_rate(one, other, target=["0"])

    assert (found.sensitivity.value, found.specificity.value, found.raw.value) == (0.92, 0.84, 0.3)
    assert found.rogan_gladen.value == pytest.approx((0.3 + 0.84 - 1) / 0.76)
    assert found.rogan_gladen.low is not None
    assert found.prediction_powered.low is not None
    assert main(["rate", one.run_id, other.run_id, "--home", str(home), "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["rogan_gladen"]["value"] == pytest.approx(0.184, abs=0.001)
    assert main(["rate", one.run_id, other.run_id, "--home", str(home)]) == 0
    assert "The judge says 30.00%" in capsys.readouterr().out


def test_a_judge_no_better_than_chance_is_not_corrected(
    run: Run, tmp_path: Path, home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    one = labelled(run, tmp_path, hits=26, false_alarms=25)
    other = made(run, tmp_path, gold=None, said="0" * 60 + "1" * 140)
    found = corrected_rate(one, other, target=["0"])

    assert found.rogan_gladen.value is None
    assert "no better than chance" in found.rogan_gladen.note
    assert main(["rate", one.run_id, other.run_id, "--home", str(home)]) == 0
    assert "No correction" in capsys.readouterr().out


def test_another_prompt_says_nothing_about_these_errors(run: Run, tmp_path: Path) -> None:
    """Nor does a run without labels, and a label must be one; another language is said."""
    one = labelled(run, tmp_path)
    other = made(run, tmp_path, gold=None, said="01" * 20, prompt="v2")
    bare = made(run, tmp_path, gold=None, said="01" * 30)
    german = made(run, tmp_path, gold=None, said="01" * 25, language="de")

    with pytest.raises(ComparisonError, match=r"unlike prompt \(v1 and v2\)"):
        corrected_rate(one, other, target=["0"])
    with pytest.raises(ComparisonError, match="has no human labels"):
        corrected_rate(bare, german, target=["0"])
    with pytest.raises(UnknownChoice, match="label '7' does not exist"):
        corrected_rate(one, bare, target=["7"])
    assert corrected_rate(one, german, target=["0"]).notes == [
        "no labelled item is in de: whether the judge errs there alike is not known"
    ]
