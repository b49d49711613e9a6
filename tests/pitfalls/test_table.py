"""The table of tests/README.md: every case of the list once, every test that it names is there."""

from __future__ import annotations

import ast
import re
from functools import lru_cache
from pathlib import Path

import pytest

TESTS = Path(__file__).resolve().parents[1]
ROW = re.compile(r"^\| (C\d\d) \| (.+?) \| (.+) \|$", re.MULTILINE)
NUMBERS = (
    1, 2, 4, 5, 6, 7, 8, 9, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 22, 23, 25, 26, 28, 29, 30, 31, 32, 33, 34, 36, 37, 38, 40, 41,
    42, 43, 44, 46, 47, 48, 49, 51, 52, 53, 54, 55, 56, 57, 58, 59, 61, 62, 63, 64, 65, 66, 67, 69, 70, 71, 72, 74, 75, 76, 77, 78,
    79, 80, 81, 82, 83, 85, 86, 87, 88, 89, 90, 92, 93, 94, 95, 96,
)  # fmt: skip
"""The numbers of the list, which has gaps."""
ROWS = ROW.findall((TESTS / "README.md").read_text(encoding="utf-8"))


def test_every_case_stands_in_the_table_once_and_in_order() -> None:
    assert len(NUMBERS) == 82
    assert [case for case, _, _ in ROWS] == [f"C{number:02d}" for number in NUMBERS]


@pytest.mark.parametrize(("case", "held"), [(case, held) for case, _, held in ROWS], ids=[case for case, _, _ in ROWS])
def test_every_named_test_exists(case: str, held: str) -> None:
    """Or the row says why the case does not apply."""
    named = re.findall(r"`([\w/]+\.py)::(\w+)`", held)

    assert named or held.startswith("does not apply: ")
    for file, name in named:
        assert name in functions(file), f"{case}: {file} has no {name}"


def test_every_test_named_by_a_number_is_in_the_table() -> None:
    """So that none can be added or renamed past the table."""
    table = (TESTS / "README.md").read_text(encoding="utf-8")
    numbered = [
        (path.name, name)
        for path in (TESTS / "pitfalls").glob("test_*.py")
        for name in functions(path.relative_to(TESTS).as_posix())
        if re.match(r"test_c\d\d_", name)
    ]

    assert numbered
    assert not [name for _, name in numbered if f"C{name[6:8]} " not in table]


@lru_cache
def functions(file: str) -> frozenset[str]:
    path = TESTS / file
    if not path.is_file():
        return frozenset()
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return frozenset(node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))
