"""Packs on disk: a YAML list of items with the move that a change must make, or must not make.

- item: call-07#3         # an item id, as in verdicts.parquet and reports
  must_become: 0          # or must_stay: 3
  tolerance: 1            # repeats that may say otherwise (a whole number, or a share such as 0.2); default 0
  note: gloss in parentheses
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

import yaml

from eva.edges.datasets.fields import shown
from eva.edges.datasets.labels import label_text
from eva.errors import DataError
from eva.metrics.packs import Pack, PackEntry

FIELDS = ("item", "must_become", "must_stay", "tolerance", "note")


def read_pack(path: Path) -> Pack:
    """The pack of one file, named after it. Raises DataError with file, entry and field for what is not understood."""
    try:
        loaded = yaml.safe_load(path.read_text(encoding="utf-8-sig"))
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise DataError(f"is no YAML: {error}", file=path.name) from None
    except OSError as error:
        raise DataError(f"cannot be read: {error.strerror}", file=str(path)) from None
    if not isinstance(loaded, list) or not loaded:
        raise DataError(f"holds {shown(loaded)}, not a list of items", file=path.name)
    entries = tuple(_entry(value, f"{path.name}, entry {number}") for number, value in enumerate(loaded, start=1))
    seen: set[str] = set()
    for entry in entries:
        if entry.item_id in seen:
            raise DataError(f"names {entry.item_id} twice", file=path.name)
        seen.add(entry.item_id)
    return Pack(path.stem, entries)


def _entry(value: object, where: str) -> PackEntry:
    if not isinstance(value, Mapping):
        raise DataError(f"is {shown(value)}, not a mapping with `item` and `must_become` or `must_stay`", file=where)
    strange = sorted(str(key) for key in value if key not in FIELDS)
    if strange:
        raise DataError(f"is unknown; there are: {', '.join(FIELDS)}", file=where, field=strange[0])
    item = label_text(value.get("item"))
    if item is None:
        raise DataError(f"is {shown(value.get('item'))}, not an item id", file=where, field="item")
    given = [name for name in ("must_become", "must_stay") if value.get(name) is not None]
    if len(given) != 1:
        raise DataError("needs one of `must_become` and `must_stay`", file=where)
    label = label_text(value[given[0]])
    if label is None:
        raise DataError(f"is {shown(value[given[0]])}, not a label", file=where, field=given[0])
    must: Literal["become", "stay"] = "become" if given[0] == "must_become" else "stay"
    return PackEntry(item, must, label, _tolerance(value.get("tolerance"), where), str(value.get("note") or ""))


def _tolerance(value: Any, where: str) -> float:
    if value is None:
        return 0
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if not number or value < 0 or (value >= 1 and value != int(value)):
        raise DataError(f"is {shown(value)}, not a number of repeats or a share below 1", file=where, field="tolerance")
    return float(value)
