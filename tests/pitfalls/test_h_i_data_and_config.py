"""Sections H and I of the list: datasets that look right, and a config language with a mind of its own."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from eva.edges import provenance, runs
from eva.edges.compose import compose, read_yaml
from eva.edges.datasets import DatasetSpec, load_dataset
from eva.edges.early import SWEEP_VARIABLE
from eva.edges.settings import settings_from
from eva.errors import ConfigError, DataError, StoreError
from eva.sweep import finish_sweep, note_job
from eva.types import Dataset, Scale
from tests.small_runs import ROOT, start

EVENTS = [{"turn_id": 1, "type": "user", "text": "hello"}, {"turn_id": 1, "type": "assistant", "text": "hi"}]
SCALE = Scale(labels=("1", "2", "3"), ordinal=True)


def load(path: Path, text: str, **settings: object) -> Dataset:
    path.write_bytes(text.encode("utf-8"))
    return load_dataset(DatasetSpec(path=str(path), **settings), scale=SCALE)  # type: ignore[arg-type]  # a test's shorthand


def row(record_id: object = None, label: object = 1, text: str = "hello") -> str:
    events = [{**EVENTS[0], "text": text}, EVENTS[1]]
    known = {} if record_id is None else {"record_id": record_id}
    return json.dumps({**known, "events": events, "labels": [{"item": "record", "label": label, "annotator": "a"}]})


def test_c69_ids_that_read_alike_are_refused_with_both_lines(tmp_path: Path) -> None:
    for other in ('"7"', "7.0", "7"):
        text = row("X").replace('"X"', "7") + "\n" + row("X", text="other").replace('"X"', other) + "\n"
        with pytest.raises(DataError) as caught:
            load(tmp_path / "d.jsonl", text)
        assert "line 2" in str(caught.value)
        assert "line 1" in str(caught.value)


def test_c69_rows_without_an_id_keep_theirs_when_the_file_is_reordered(tmp_path: Path) -> None:
    lines = [row(text="one"), row(text="two"), row(text="three")]
    found = [
        {
            record.events[0].text: record.record_id
            for record in load(tmp_path / "d.jsonl", "\n".join(order) + "\n").records
        }
        for order in (lines, lines[::-1])
    ]

    assert found[0] == found[1]
    assert len(set(found[0].values())) == 3


def test_c71_marks_blank_lines_and_line_separators(tmp_path: Path) -> None:
    text = (
        "\ufeff"
        + row("a", text="first\u2028second\u0085third").replace("\\u2028", "\u2028")
        + "\r\n\n"
        + row("b")
        + "\n\n"
    )
    found = load(tmp_path / "d.jsonl", text)

    assert [record.record_id for record in found.records] == ["a", "b"]
    with pytest.raises(DataError, match="line 2"):
        load(tmp_path / "e.jsonl", row("a") + "\n" + row("b")[:-20])


def test_c72_partly_labelled_data_is_refused_unless_told(tmp_path: Path) -> None:
    """Ten rows, three without a label."""
    text = "\n".join(row(f"r{n}", None if n < 3 else 1, text=f"t{n}") for n in range(10)) + "\n"
    with pytest.raises(DataError, match="7 of 10"):
        load(tmp_path / "d.jsonl", text)
    found = load(tmp_path / "d.jsonl", text, unlabelled="keep")

    assert len(found.records) == 10
    assert "7 of 10 records are labelled" in found.notes


@pytest.mark.parametrize("override", ["name=a=b", "name=hello, world", "q=tell me!", "name=#1", "nosuch.key=1"])
def test_c74_what_hydra_does_not_understand_stops_with_2(tmp_path: Path, override: str) -> None:
    """A comma makes no sweep by accident: Hydra refuses it without -m. (The cases run side by side.)"""
    process = start("model=scripted", "tracking=none", "dry_run=true", f"home={tmp_path}", override)
    _, err = process.communicate(timeout=120)

    assert process.returncode == 2
    assert err.strip()


def test_c74_a_dictionary_where_text_is_meant_is_named() -> None:
    with pytest.raises(ConfigError, match="`name`"):
        settings_from(compose(["name={a:b}"]))


def test_c76_no_two_runs_share_a_folder(tmp_path: Path) -> None:
    names = {provenance.new_run_id(("faithfulness", "v1")) for _ in range(500)}
    runs.create(tmp_path, "one")

    assert len(names) == 500
    with pytest.raises(StoreError, match="File exists"):
        runs.create(tmp_path, "one")


def test_c77_a_sweep_tells_how_each_job_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("eva.sweep.ROOT", tmp_path)
    monkeypatch.setenv(SWEEP_VARIABLE, "sweep-test")
    note_job("sweep-test", ("prompt=v1",), code=0)
    note_job("sweep-test", ("prompt=missing",), code=2, problem="prompt 'missing' does not exist")
    note_job("sweep-test", ("prompt=v2",), code=0)
    code = finish_sweep(["tracking=none"])
    told = capsys.readouterr().out

    assert code == 2
    assert "3 jobs" in told
    assert "exit 2  prompt=missing: prompt 'missing' does not exist" in told


def test_c78_config_files_run_no_code(tmp_path: Path) -> None:
    bait = tmp_path / "pwned"
    file = tmp_path / "x.yaml"
    file.write_text(f'x: !!python/object/apply:os.system ["touch {bait}"]\n', encoding="utf-8")
    with pytest.raises(ConfigError):
        read_yaml(file)
    for override in ("+judge._target_=subprocess.check_output", "+model._target_=os.system", "+_target_=os.system"):
        with pytest.raises(ConfigError, match="_target_"):
            settings_from(compose([override]))
    texts = [path.read_text(encoding="utf-8") for path in (ROOT / "eva").rglob("*.py")]

    assert not bait.exists()
    assert not [
        text for text in texts if "yaml.load(" in text or "hydra.utils" in text or "eval(" in text.replace("_eval(", "")
    ]


def test_c79_hydra_writes_no_folder_of_its_own() -> None:
    """What was given on the command line is in the run folder, redacted, and nowhere else: no .hydra, no log, no outputs/."""
    hydra = read_yaml(ROOT / "conf" / "config.yaml")["hydra"]

    assert hydra["output_subdir"] is None
    assert hydra["run"]["dir"] == "."
    assert hydra["job"]["chdir"] is False
    assert {"override hydra/hydra_logging": "none"} in read_yaml(ROOT / "conf" / "config.yaml")["defaults"]
    assert {"override hydra/job_logging": "none"} in read_yaml(ROOT / "conf" / "config.yaml")["defaults"]
    assert not (ROOT / ".hydra").exists()
    assert not (ROOT / "outputs").exists()
