"""The house rules that the design leans on: imports point down, pure floors stay pure, one outside library one module."""

from __future__ import annotations

import ast
from collections import defaultdict
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
EVA = ROOT / "eva"
FLOORS = {
    "types": 0, "errors": 0,
    "prompts": 1, "replies": 1, "metrics": 1, "report": 1,
    "judges": 2,
    "edges": 3,
    "commands": 5, "__main__": 5, "job": 5, "sweep": 5,
}  # fmt: skip
"""Room → floor; any other module directly below eva/ is floor 4."""
PURE = {"prompts", "replies", "metrics", "report"}
IMPURE = {
    "os",
    "pathlib",
    "time",
    "random",
    "socket",
    "subprocess",
    "sqlite3",
    "requests",
    "aiohttp",
    "shutil",
    "tempfile",
    "urllib.request",
}
ONE_MODULE = {"litellm", "mlflow", "xllamacpp", "aiohttp"}
CONFIG = {"hydra", "omegaconf"}


def modules() -> list[Path]:
    return sorted(EVA.rglob("*.py"))


def room(path: Path) -> str:
    parts = path.relative_to(EVA).with_suffix("").parts
    return parts[0]


def floor(name: str) -> int:
    return FLOORS.get(name, 4)


def imported(path: Path) -> set[str]:
    """Every module named by an import statement, wherever in the file it stands."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return names


@pytest.mark.parametrize("path", modules(), ids=lambda path: path.relative_to(ROOT).as_posix())
def test_imports_point_down_only(path: Path) -> None:
    mine = room(path)
    if mine == "__init__":
        return
    upward = {
        name
        for name in imported(path)
        if name.startswith("eva.") and (other := name.split(".")[1]) != mine and floor(other) > floor(mine)
    }

    assert not upward


@pytest.mark.parametrize(
    "path", [path for path in modules() if room(path) in PURE], ids=lambda path: path.relative_to(ROOT).as_posix()
)
def test_floor_one_is_pure(path: Path) -> None:
    """No file, clock, environment, network or global random state; of the rooms beside it, only results are shared."""
    text = path.read_text(encoding="utf-8")
    names = imported(path)

    assert not {name for name in names if name in IMPURE or name.split(".")[0] in IMPURE}
    assert "np.random.seed" not in text
    assert " open(" not in text
    assert "datetime.now" not in text
    beside = {name.split(".")[1] for name in names if name.startswith("eva.") and len(name.split(".")) > 1} & PURE - {
        room(path)
    }
    assert beside <= ({"metrics"} if room(path) == "report" else set())


def test_one_outside_library_one_module() -> None:
    users: dict[str, set[str]] = defaultdict(set)
    for path in modules():
        for name in imported(path):
            library = name.split(".")[0]
            if library in ONE_MODULE or library in CONFIG:
                users["hydra/omegaconf" if library in CONFIG else library].add(path.relative_to(EVA).as_posix())

    assert {library: found for library, found in users.items() if len(found) > 1} == {}


@pytest.mark.parametrize("path", modules(), ids=lambda path: path.relative_to(ROOT).as_posix())
def test_rooms_stay_small(path: Path) -> None:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    long = {node.name: length for node in functions if (length := (node.end_lineno or 0) - node.lineno + 1) > 60}

    assert len(path.read_text(encoding="utf-8").splitlines()) <= 300
    assert long == {}
