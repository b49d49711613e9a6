"""Agent configurations: role, instructions and tools that many records share, in a YAML file of their own."""

from __future__ import annotations

import datetime
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from eva.edges.datasets.fields import Fields, shown
from eva.edges.datasets.jsonl import BOM, open_data
from eva.edges.datasets.places import Place
from eva.errors import DataError

NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}")
MAX_BYTES = 1024 * 1024
MAX_NODES = 100_000
"""Values in one file with its aliases written out: a few lines of YAML can stand for billions."""
KEYS = {"agent_role": "role", "agent_instructions": "instructions", "tools": "tools"}
"""Our key -> the key of ServiceNow/eva's agent files."""


def read_agent(path: Path) -> dict[str, Any]:
    """`agent_role`, `agent_instructions` and `tools` of a YAML file, in our spelling or ServiceNow/eva's.

    Those that the file does not have are absent. Raises DataError for a file that has none, or is not plain data.
    """
    place = Place(path.name)
    try:
        data = _plain(_parsed(path, place), place, [MAX_NODES])
    except RecursionError:
        raise place.error("holds a value that contains itself, or nests too deep") from None
    if not isinstance(data, dict):
        raise place.error(f"holds a {type(data).__name__}, not keys and values")
    fields = Fields(data, place)
    agent: dict[str, Any] = {}
    for ours, theirs in KEYS.items():
        name = ours if data.get(ours) is not None else theirs
        if data.get(name) is not None:
            agent[ours] = fields.items(name) if ours == "tools" else fields.text(name)
    if not agent:
        raise place.error(f"has none of {', '.join(KEYS)}")
    return agent


class Agents:
    """The folder `agents` beside a dataset file; each file is read once."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "agents"
        self._read: dict[str, Mapping[str, Any]] = {}

    def get(self, name: object, place: Place) -> Mapping[str, Any]:
        """The configuration that a record names. Raises DataError for a name that is none or leaves the folder."""
        if not isinstance(name, str) or not NAME.fullmatch(name):
            raise place.error(f"is {shown(name)}, not a name of a-z, 0-9, `_`, `-`", "context.agent")
        if name not in self._read:
            path = inside(self.folder, f"{name}.yaml", place, name="context.agent")
            if not path.is_file():
                there = ", ".join(sorted(p.stem for p in self.folder.glob("*.yaml"))) or "none"
                raise place.error(f"there is no agents/{name}.yaml beside the file, only: {there}", "context.agent")
            self._read[name] = read_agent(path)
        return self._read[name]


def inside(folder: Path, relative: str, place: Place, *, name: str) -> Path:
    """The path below the folder, symlinks followed. Raises DataError where it leaves the folder."""
    if "\x00" in relative or "\\" in relative or Path(relative).is_absolute():
        raise place.error(f"is {shown(relative)}, not a path below the dataset's folder written with `/`", name)
    path = (folder / relative).resolve()
    if not path.is_relative_to(folder.resolve()):
        raise place.error(f"{shown(relative)} leaves the folder {folder.name}/", name)
    return path


def _parsed(path: Path, place: Place) -> Any:
    with open_data(path) as file:
        raw = file.read(MAX_BYTES + 1)
    if len(raw) > MAX_BYTES:
        raise place.error(f"is longer than {MAX_BYTES // 2**20} MiB, the largest agent file that is read")
    try:
        return yaml.safe_load(raw.removeprefix(BOM).decode("utf-8"))
    except UnicodeDecodeError:
        raise place.error("is not UTF-8") from None
    except (yaml.YAMLError, RecursionError) as error:
        raise DataError(f"is not YAML: {error}", file=path.name) from None


def _plain(value: Any, place: Place, budget: list[int]) -> Any:
    """The value with dates as text and nothing that JSON does not have; stops where aliases blow up."""
    budget[0] -= 1
    if budget[0] < 0:
        raise place.error(f"stands for more than {MAX_NODES} values (aliases written out)")
    if isinstance(value, dict):
        return {str(key): _plain(inner, place, budget) for key, inner in value.items()}
    if isinstance(value, list):
        return [_plain(inner, place, budget) for inner in value]
    if isinstance(value, datetime.date):
        return value.isoformat()
    if value is None or isinstance(value, str | int | float):
        return value
    raise place.error(f"holds {shown(value)}, which is not text, number, list or mapping")
