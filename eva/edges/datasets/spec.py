"""Which data a run reads: the settings of `conf/dataset/*.yaml`, typed; and what a reader is."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, get_args

from eva.edges.datasets.places import Notes, Sourced
from eva.errors import ConfigError, UnknownChoice

Unlabelled = Literal["refuse", "keep", "drop"]
SPLITS = ("dev", "test")


@dataclass(frozen=True)
class DatasetSpec:
    """Where the data lies and which part of it counts. Paths are as the user gave them."""

    reader: str = "native"
    path: str = ""
    """A file or folder, or `bundled:<file>` for a set that comes with the package."""
    name: str = "file"
    agent_config: str | None = None
    """YAML with agent role, instructions and tools: for records that do not bring their own."""
    split: str | None = None
    languages: tuple[str, ...] = ()
    """Empty: all."""
    domains: tuple[str, ...] = ()
    limit: int | None = None
    """Records, after the filters."""
    balanced: bool = True
    """With `limit`: so that the classes of the items are as even as can be; else the first ones."""
    prefer_short: bool = False
    """With `limit` and `balanced`: shorter records first among equals (small local models)."""
    drop_invalid: bool = False
    """Leave out rows that the dataset itself marks invalid."""
    unlabelled: Unlabelled = "refuse"
    """What happens to records without labels in a file where others have some."""
    options: Mapping[str, Any] = field(default_factory=dict)
    """What only this reader knows."""

    def __post_init__(self) -> None:
        if not self.path:
            raise ConfigError("dataset.path is empty: give the file or folder that holds the data")
        if self.split is not None and self.split not in SPLITS:
            raise UnknownChoice("dataset.split", self.split, SPLITS)
        if self.unlabelled not in get_args(Unlabelled):
            raise UnknownChoice("dataset.unlabelled", self.unlabelled, get_args(Unlabelled))
        if self.limit is not None and (isinstance(self.limit, bool) or self.limit < 1):
            raise ConfigError(f"dataset.limit is {self.limit!r}: it is a number of records, 1 or more, or null")


@dataclass(frozen=True)
class Reader:
    """One file format."""

    version: str
    """Goes up when the same file would give other records."""
    read: Callable[[Path, DatasetSpec, Notes], Iterator[Sourced]]
    options: tuple[str, ...] = ()
    """The names that `dataset.options` may have."""
    paths: Literal["file", "folder", "any"] = "file"
    """What it reads."""
