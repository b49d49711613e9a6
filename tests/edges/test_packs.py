"""Packs on disk: one list, each mistake named with its place."""

from __future__ import annotations

from pathlib import Path

import pytest

from eva.edges.packs import read_pack
from eva.errors import DataError
from eva.metrics.packs import Pack, PackEntry


def write(path: Path, text: str) -> Path:
    file = path / "glosses.yaml"
    file.write_text(text, encoding="utf-8")
    return file


def test_a_pack_is_read(tmp_path: Path) -> None:
    """Numbers and booleans are labels; the name is the file's."""
    text = """
- {item: "call-07#3", must_become: 0, tolerance: 1, note: gloss}
- item: call-08
  must_stay: true
  tolerance: 0.2
- item: 12
  must_stay: "3"
"""
    assert read_pack(write(tmp_path, text)) == Pack(
        "glosses",
        (
            PackEntry("call-07#3", "become", "0", 1.0, "gloss"),
            PackEntry("call-08", "stay", "true", 0.2),
            PackEntry("12", "stay", "3"),
        ),
    )


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "glosses.yaml: holds None, not a list of items"),
        ("item: a", "not a list of items"),
        ("- a", "glosses.yaml, entry 1: is 'a', not a mapping"),
        ("- {item: a}", "entry 1: needs one of"),
        ("- {item: a, must_stay: 1, must_become: 2}", "entry 1: needs one of"),
        ("- {item: a, must_be: 1}", "entry 1, field `must_be`: is unknown"),
        ("- {must_stay: 1}", "field `item`: is None"),
        ("- {item: a, must_stay: [1]}", "field `must_stay`: is"),
        ("- {item: a, must_stay: 1, tolerance: 1.5}", "field `tolerance`: is 1.5"),
        ("- {item: a, must_stay: 1, tolerance: true}", "field `tolerance`: is True"),
        ("- {item: a, must_stay: 1}\n- {item: a, must_stay: 1}", "names a twice"),
        ("- {item: a, must_stay: 1", "is no YAML"),
    ],
)
def test_mistakes_are_named(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(DataError, match=said):
        read_pack(write(tmp_path, text))


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="cannot be read"):
        read_pack(tmp_path / "none.yaml")
