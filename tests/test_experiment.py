"""The lab book: one command runs every part of a question, labelled and not, and writes a report that says what it ran on."""

from __future__ import annotations

from pathlib import Path

import pytest

from eva.__main__ import main
from eva.commands import experiment
from eva.edges.provenance import ROOT

CONFIG = """# python -m eva experiment run short_question
name: short_question
seeds: 2
baseline: none
{task}hydra:
  sweeper:
    params:
      judge: speakability
      prompt: v1,v2
      model: scripted
      tracking: none
"""


def test_both_parts_run_and_are_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """Offline with the scripted model; the report names model and records, and that they are no evidence."""
    book = tmp_path / "book"
    folder = book / "short_question"
    folder.mkdir(parents=True)
    monkeypatch.setattr(experiment, "FOLDER", book)
    monkeypatch.setattr(experiment, "CONFIG_DIR", str(book))
    (folder / "experiment.yaml").write_text(CONFIG.format(task=""))
    (folder / "stored.yaml").write_text(CONFIG.format(task="task: rescore\n"))
    home = tmp_path / "home"

    assert main(["experiment", "run", "short_question", "--home", str(home), "limit=2"]) == 0
    report = (folder / "report.md").read_text()
    assert "# Labelled conversations" in report
    assert "# Stored conversations, without labels" in report
    assert "2 runs; speakability: 2 records" in report
    assert "answers nothing about a strong judge" in report
    assert "--config-dir experiments judge=speakability prompt=v2 model=scripted" in report
    assert str(tmp_path) not in report
    assert "part stored of short_question" in capfd.readouterr().err

    assert main(["experiment", "report", "short_question", "--home", str(home)]) == 0
    assert (folder / "report.md").read_text() == report


def test_an_unknown_part_names_those_there_are(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as left:
        main(["experiment", "run", "shared_multilingual_rules", "--part", "labelled"])
    told = capsys.readouterr().err

    assert left.value.code == 2
    assert "experiment" in told
    assert "stored" in told


@pytest.mark.parametrize(
    "folder", sorted(path.parent for path in (ROOT / "experiments").glob("*/experiment.yaml")), ids=lambda p: p.name
)
def test_a_question_is_whole(folder: Path) -> None:
    """Why, how, what came out, what was decided; the first line is the command that runs it; no path of a machine."""
    for name in ("question.md", "report.md", "decision.md"):
        text = (folder / name).read_text()
        assert len(text) > 200, name
        assert "/tmp/" not in text
        assert "/home/" not in text
    assert f"experiment run {folder.name}" in (folder / "experiment.yaml").read_text().splitlines()[0]
