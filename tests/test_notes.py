"""What a run says before it asks: each note once."""

from __future__ import annotations

from pathlib import Path

import pytest

from eva.edges.compose import compose
from eva.edges.settings import settings_from
from eva.flow import each_note_once, validate


def test_a_note_is_said_once_and_all_else_as_often_as_it_comes() -> None:
    """A baseline that runs first says the same of the same data; its headline is its own."""
    heard: list[str] = []
    say = each_note_once(heard.append)
    for text in ("note: limit 12", "v2", "note: limit 12", "v2", "note: other"):
        each_note_once(say)(text)

    assert heard == ["note: limit 12", "v2", "v2", "note: other"]


@pytest.mark.parametrize(("limit", "told"), [((), "limit 12: 12 of "), (("limit=3",), "limit 3: 3 of ")])
def test_a_limit_is_told_in_one_note(
    limit: tuple[str, ...], told: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """What was taken and, where the model set the limit, that it did and how to change it."""
    own = ("judge=faithfulness", "model=local", "dry_run=true", *limit, f"home={tmp_path}", "tracking=none")
    heard: list[str] = []
    validate(settings_from(compose(own)), overrides=own, say=heard.append)
    capsys.readouterr()

    about = [text for text in heard if "limit" in text]
    assert len(about) == 1
    assert about[0].startswith(f"note: {told}")
    assert ("model 'local' sets this limit" in about[0]) == (not limit)


@pytest.mark.parametrize(("task", "notes"), [("validate", 1), ("rescore", 0)])
def test_data_without_labels_is_said_before_anything_is_asked(
    task: str, notes: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "x.jsonl"
    path.write_text('{"record_id": "c1", "events": [{"turn_id": 1, "type": "assistant", "text": "Hi."}]}\n')
    own = (
        "judge=conciseness", f"task={task}", "model=scripted", "dataset=file", f"dataset.path={path}", "dry_run=true",
        f"home={tmp_path}", "tracking=none",
    )  # fmt: skip
    heard: list[str] = []
    validate(settings_from(compose(own)), overrides=own, say=heard.append)
    capsys.readouterr()

    assert len([text for text in heard if "no item of" in text and "task=rescore" in text]) == notes
    assert any("1 items × 1 repeat\n" in text for text in heard)
