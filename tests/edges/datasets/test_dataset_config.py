"""conf/dataset: each file gives a spec whose reader and options exist."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest
import yaml

from eva.edges.datasets import READERS, DatasetSpec

FOLDER = Path(__file__).resolve().parents[3] / "conf" / "dataset"
FILES = sorted(path for path in FOLDER.glob("*.yaml") if path.stem != "_base")
BASE = yaml.safe_load((FOLDER / "_base.yaml").read_text(encoding="utf-8"))


def test_the_base_has_every_setting_and_no_other() -> None:
    """Any of them can be overridden on the command line; defaults are those of the code."""
    assert set(BASE) == {field.name for field in fields(DatasetSpec)}
    settable = {name: value for name, value in BASE.items() if value != "???"}
    spec = DatasetSpec(path="x")
    assert {name: list(v) if isinstance(v := getattr(spec, name), tuple) else v for name in settable} == settable


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_each_choice_is_complete(file: Path) -> None:
    """Its name is the file's (or `file`), its reader exists, its options are the reader's; the path may lack."""
    given: dict[str, Any] = {**BASE, **yaml.safe_load(file.read_text(encoding="utf-8"))}
    assert given.pop("defaults") == ["_base", "_self_"]
    assert given["name"] == file.stem
    reader = READERS[given["reader"]]
    assert set(given["options"]) <= set(reader.options)
    if given["path"] == "???":
        given["path"] = "data.jsonl"
    else:
        assert given["path"] == f"bundled:{file.stem}.jsonl"
    DatasetSpec(**{**given, "languages": tuple(given["languages"]), "domains": tuple(given["domains"])})


def test_every_reader_has_a_choice() -> None:
    """A format that nobody can choose is no format."""
    chosen = {yaml.safe_load(file.read_text(encoding="utf-8")).get("reader", "native") for file in FILES}
    assert chosen == set(READERS)
