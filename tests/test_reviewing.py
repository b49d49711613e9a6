"""Moved items to reviewers and back: sheets, answers, labels, a run that is measured against them; packs and the floor."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest

from eva.__main__ import main
from eva.edges.runs import RunFolder
from eva.errors import ComparisonError, ConfigError
from eva.measuring import compare_runs
from eva.report import machine
from eva.reviewing import write_sheets
from tests.flow_runs import Run, call, home, run, turn_reply, write_lines

__all__ = ["home", "run"]  # fixtures

LANGUAGES = ("de", "fr")
CALLS = [f"call-{n:02d}" for n in range(12)]
BAD = ["gloss"]


def rating(n: int, turn: int, *, arm: str) -> tuple[int, str, list[str]]:
    """Turn 1 of the even calls becomes a gloss; turn 2 of call 3 is forgiven; all else stays good."""
    if arm == "after" and turn == 1 and n % 2 == 0:
        return 0, "The term stands beside its translation.", BAD
    if arm == "before" and turn == 2 and n == 3:
        return 0, "An emoji is written.", ["emoji"]
    return 1, "Can be said.", []


@pytest.fixture
def data(tmp_path: Path) -> Path:
    rows = [call(name, ["=Hallo.", "Bis bald."], language=LANGUAGES[n % 3 == 0]) for n, name in enumerate(CALLS)]
    return write_lines(tmp_path / "calls.jsonl", rows)


@pytest.fixture
def arms(run: Run, data: Path) -> tuple[RunFolder, RunFolder]:
    """v1 and v2 of speakability on 24 turns: six fall, one rises."""
    found = [
        run(
            "judge=speakability", f"prompt={prompt}", "task=rescore", "baseline=none", "language=auto", data=data,
            replies=replies(arm),
        )
        for arm, prompt in (("before", "v1"), ("after", "v2"))
    ]  # fmt: skip
    return found[0], found[1]


def replies(arm: str) -> list[dict[str, Any]]:
    return [
        turn_reply(name, {turn: rating(n, turn, arm=arm) for turn in (1, 2)}, flags="violations")
        for n, name in enumerate(CALLS)
    ]


def rows_of(path: Path) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(path.read_text(encoding="utf-8-sig"), newline="")))


def test_sheets_are_blind_and_the_key_lies_apart(arms: tuple[RunFolder, RunFolder], tmp_path: Path) -> None:
    """A sheet a language with every moved item; the key beside the folder says which is which."""
    before, after = arms
    made = write_sheets(before, after, out=tmp_path / "sheets", size=100)
    key = json.loads(made.key.read_text(encoding="utf-8"))
    by_item = {item["item_id"]: item for item in key["items"]}
    shown = [row for file in made.files if file.suffix == ".csv" for row in rows_of(file)]

    assert (made.items, made.moved, made.hidden) == (7, 7, 0)
    assert {path.name for path in made.files} == {
        f"review-speakability-{language}.{kind}" for language in LANGUAGES for kind in ("html", "csv")
    }
    assert made.key == tmp_path / "sheets.key.json"
    assert {path.name for path in (tmp_path / "sheets").iterdir()} == {path.name for path in made.files}
    assert len({item["a"] for item in key["items"]}) == 2
    for row in shown:
        item = by_item[row["item_id"]]
        first, second = ("before", "after") if item["a"] == "before" else ("after", "before")
        assert (row["verdict_a"], row["verdict_b"]) == (item[first], item[second])
        assert "v1" not in "".join(row.values())
    again = write_sheets(before, after, out=tmp_path / "again", size=100)
    assert [file.read_bytes() for file in again.files] == [file.read_bytes() for file in made.files]


def test_a_small_sample_keeps_both_languages_and_directions(arms: tuple[RunFolder, RunFolder], tmp_path: Path) -> None:
    made = write_sheets(*arms, out=tmp_path / "sheets", size=3)
    strata = {
        (item["language"], item["direction"], item["flag"])
        for item in json.loads(made.key.read_text(encoding="utf-8"))["items"]
    }
    assert strata == {("de", "down", "gloss"), ("fr", "down", "gloss"), ("fr", "up", "emoji")}


def test_sheets_that_came_back_are_never_written_over(arms: tuple[RunFolder, RunFolder], tmp_path: Path) -> None:
    write_sheets(*arms, out=tmp_path / "sheets", size=5)
    with pytest.raises(ConfigError, match="holds something already"):
        write_sheets(*arms, out=tmp_path / "sheets", size=5)
    with pytest.raises(ConfigError, match="nothing moved"):
        write_sheets(arms[0], arms[0], out=tmp_path / "none", size=5)


def test_filled_in_sheets_become_labels_that_a_run_is_measured_against(
    arms: tuple[RunFolder, RunFolder],
    home: Path,
    data: Path,
    run: Run,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """The whole way by its commands: review, answers (glosses are bad; the emoji was bad), label, run."""
    before, after = arms
    out = tmp_path / "sheets"
    assert main(["review", before.run_id, after.run_id, "--out", str(out), "--home", str(home)]) == 0
    assert f"--data {data} --judge speakability" in capsys.readouterr().out
    for file in out.glob("*.csv"):
        rows = rows_of(file)
        for row in rows:
            side = "a" if row["verdict_a"] == "0" else "b"
            row.update({f"agree_{side}": "yes", "annotator": "Jo", "comment": "-> heard twice"})
        with file.open("w", encoding="utf-8-sig", newline="") as sheet:
            table = csv.DictWriter(sheet, list(rows[0]))
            table.writeheader()
            table.writerows(rows)
    labelled = tmp_path / "labelled.jsonl"
    sheets = [str(file) for file in sorted(out.glob("*.csv"))]
    code = main(
        [
            "datasets", "label", "--from", *sheets, "--judge", "speakability", "--data", str(data), "--out", str(labelled),
            "--key", str(tmp_path / "sheets.key.json"),
        ]
    )  # fmt: skip
    said = capsys.readouterr().out

    assert code == 0
    assert "reviewers agree with before 1, after 6, neither 0" in said
    finished = run("judge=speakability", "prompt=v2", "baseline=none", data=labelled, replies=replies("after"))
    assert finished.summary["n_labelled"] == 7
    assert finished.summary["accuracy"]["mean"] == pytest.approx(6 / 7)
    with pytest.raises(SystemExit):
        main(
            [
                "datasets",
                "label",
                "--from",
                *sheets,
                "--judge",
                "speakability",
                "--data",
                str(data),
                "--out",
                str(labelled),
            ]
        )


def test_compare_tells_why_items_moved_and_what_packs_ask(
    arms: tuple[RunFolder, RunFolder], home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """`6 of 6` glosses is a row; a pack's failed item fails the gate that reads the comparison."""
    pack = tmp_path / "glosses.yaml"
    pack.write_text(
        "- {item: call-00#1, must_become: 0}\n- {item: call-01#1, must_stay: 1}\n- {item: call-05#2, must_become: 0}\n",
        encoding="utf-8",
    )
    command = ["compare", arms[0].run_id, arms[1].run_id, "--home", str(home), "--pack", str(pack)]
    assert main([*command, "--full"]) == 0
    text = capsys.readouterr().out
    assert "6 of 6" in text
    assert "2 of 3 as they should be" in text
    out = tmp_path / "comparison.json"
    assert main([*command, "--format", "json", "--out", str(out)]) == 0
    (pair,) = machine.from_json(out.read_text(encoding="utf-8"))
    assert pair.attribution is not None
    assert [(group.direction, group.name, group.items, group.of) for group in pair.attribution.groups] == [
        ("down", "gloss", 6, 6),
        ("up", "emoji", 1, 1),
    ]
    capsys.readouterr()
    assert main(["gate", str(out), "gate.coverage_at_least=null", "gate.largest_drop={}", "--home", str(home)]) == 1
    assert "pack glosses: 2 of 3 items as they should be; call-05#2" in capsys.readouterr().out


def test_a_floor_is_a_second_run_of_the_before_arm(
    arms: tuple[RunFolder, RunFolder], run: Run, data: Path, home: Path
) -> None:
    """One turn moves up and two down when nothing changed: the floor of six down and one up. Another prompt is no floor."""
    moved = replies("before")
    for n, ratings in ((3, {1: (1, "", []), 2: (1, "", [])}), (7, {1: (0, "", BAD), 2: (0, "", BAD)})):
        moved[n] = turn_reply(CALLS[n], ratings, flags="violations")  # type: ignore[arg-type]  # literal tuples
    again = run(
        "judge=speakability", "prompt=v1", "task=rescore", "baseline=none", "language=auto", data=data, replies=moved
    )
    found = compare_runs(*arms, margin=0.03, rerun=again)

    assert (found.floor.up, found.floor.down) == (1, 6)
    assert (found.floor.floor_up, found.floor.floor_down) == (1, 2)
    assert main(["compare", arms[0].run_id, arms[1].run_id, "--floor", again.run_id, "--home", str(home)]) == 0
    with pytest.raises(ComparisonError, match=r"no second run of .*: prompt differ"):
        compare_runs(*arms, margin=0.03, rerun=arms[1])
    with pytest.raises(ComparisonError, match="is the before run itself"):
        compare_runs(*arms, margin=0.03, rerun=arms[0])


def test_a_set_is_checked_from_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Exit code 1 where a label is off the scale; the judge is the file's name, or said."""
    bad = write_lines(
        tmp_path / "calls.jsonl", [call("a", ["x"], labels=[{"item": "turn:1", "label": 7, "annotator": "Jo"}])]
    )
    assert main(["datasets", "check", str(bad), "--judge", "speakability"]) == 1
    assert "'7' is not on the judge's scale" in capsys.readouterr().out
    assert main(["datasets", "check", "bundled:speakability.jsonl"]) == 0
    with pytest.raises(SystemExit):
        main(["datasets", "check", str(bad)])
    assert "Say whose labels" in capsys.readouterr().err


def test_ids_of_a_dataset_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    """As a run would judge them: what packs, must-not-break lists and recordings name."""
    assert main(["datasets", "ids", "judge=speakability", "limit=2"]) == 0
    rows = [line.split("\t") for line in capsys.readouterr().out.splitlines()]

    assert len(rows) > 2
    assert all(
        item.startswith("sp-") and "#" in item and language and label in {"0", "1"} for item, language, label in rows
    )
    with pytest.raises(SystemExit, match="2"):
        main(["datasets", "ids", "judge=nobody"])
