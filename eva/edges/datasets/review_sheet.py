"""Review sheets that came back: what native speakers said about moved items becomes labels.

A sheet is a table (CSV; comma, semicolon or tab) with a row an item. Columns that are read:

| column | meaning |
|---|---|
| `item_id` | `record`, `record#3` or `record#3/dimension` |
| `verdict_a`, `verdict_b` | the two verdicts, blind |
| `agree_a`, `agree_b` | yes or no; empty: not reviewed |
| `label` | the reviewer's own label, where neither is right |
| `annotator` | who; as given |
| `comment` | why |

`label` wins; else the verdict that the reviewer agrees with. Other columns (the conversation) are for people.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from eva.edges.datasets.fields import shown
from eva.edges.datasets.native_json import content_sha256, record_sha256
from eva.edges.datasets.places import Notes, Place
from eva.errors import DataError
from eva.replies.labels import normalise_gold
from eva.types import Annotation, Dataset, Record, Scale

NEEDED = ("item_id", "verdict_a", "verdict_b", "agree_a", "agree_b", "label", "comment")
YES = ("yes", "y", "true", "1", "agree", "x")
NO = ("no", "n", "false", "0", "disagree")
GUARDED = ("=", "+", "-", "@", "\t", "\r")
"""A cell that begins so would be a formula: writers of sheets put an apostrophe before it."""
MAX_BYTES = 64 * 1024 * 1024


@dataclass(frozen=True)
class SheetLabels:
    """Labels by item id, in the order of the sheets, and what was left out."""

    annotations: Mapping[str, tuple[Annotation, ...]]
    notes: tuple[str, ...]


def read_sheets(paths: Sequence[Path], scale: Scale, *, annotator: str = "") -> SheetLabels:
    """The labels of one or more returned sheets.

    annotator: for rows that name none. Raises DataError with file, line and column for a value that is not understood,
    a label off the scale, a reviewer who agrees with two different verdicts, or one who labels an item twice.
    """
    notes = Notes()
    found: dict[str, list[Annotation]] = {}
    for path in paths:
        for place, row in _rows(path):
            annotation = _annotation(row, place, scale, annotator, path.stem)
            if annotation is None:
                notes.count(
                    "rows are not reviewed, or say that neither verdict is right without a label", row["item_id"]
                )
                continue
            said = found.setdefault(row["item_id"], [])
            if any(one.annotator == annotation.annotator for one in said):
                raise place.error(f"{annotation.annotator} labelled {row['item_id']} already", "item_id")
            if said and said[0].label != annotation.label:
                notes.count(
                    "items are labelled differently by different people; the first sheet's is gold", row["item_id"]
                )
            said.append(annotation)
    if not found:
        raise DataError("no row of the sheets holds a label", file=", ".join(path.name for path in paths))
    notes.say(f"{len(found)} items are labelled by {len({a.annotator for one in found.values() for a in one})} people")
    return SheetLabels({item: tuple(said) for item, said in found.items()}, notes.lines())


def labelled_dataset(dataset: Dataset, sheets: SheetLabels, *, add: bool = False) -> Dataset:
    """The records that the sheets label, with these labels, ready to be written in the native format.

    add: behind the labels that a record has already (the first stays gold); else in their place.
    Raises DataError for items of records that the dataset does not have.
    """
    by_record: dict[str, dict[str, tuple[Annotation, ...]]] = {}
    for item_id, said in sheets.annotations.items():
        record_id, key = item_key(item_id)
        by_record.setdefault(record_id, {})[key] = said
    strange = sorted(set(by_record) - {record.record_id for record in dataset.records})
    if strange:
        raise DataError(
            f"{len(strange)} labelled records are not in this dataset, {strange[0]} first", file=dataset.name
        )
    records = tuple(
        replace(record, labels=_merged(record, by_record[record.record_id], add=add))
        for record in dataset.records
        if record.record_id in by_record
    )
    digest = content_sha256(record_sha256(record) for record in records)
    return replace(dataset, records=records, sha256=digest, notes=(*dataset.notes, *sheets.notes))


def item_key(item_id: str) -> tuple[str, str]:
    """`rec#3/dim` → (`rec`, `turn:3/dim`); `rec` → (`rec`, `record`)."""
    record_id, _, rest = item_id.partition("#")
    return (record_id, f"turn:{rest}") if rest else (record_id, "record")


def _merged(
    record: Record, new: Mapping[str, tuple[Annotation, ...]], *, add: bool
) -> dict[str, tuple[Annotation, ...]]:
    if not add:
        return dict(new)
    return {**record.labels, **{key: (*record.labels.get(key, ()), *found) for key, found in new.items()}}


def _annotation(row: Mapping[str, str], place: Place, scale: Scale, annotator: str, sheet: str) -> Annotation | None:
    chosen = row["label"] or _agreed(row, place)
    if not chosen:
        return None
    label = normalise_gold(chosen, scale)
    if label is None:
        raise place.error(f"is {shown(chosen)}, not on the scale ({', '.join(scale.labels)})", "label")
    name = row.get("annotator") or annotator
    if not name:
        raise place.error("is empty: say who reviewed (in the sheet, or for all rows)", "annotator")
    details = {key: row[key] for key in ("verdict_a", "verdict_b", "agree_a", "agree_b") if row[key]}
    return Annotation(label, name, provenance=f"review sheet {sheet}", note=row["comment"], details=details)


def _agreed(row: Mapping[str, str], place: Place) -> str:
    agreed = [row[f"verdict_{side}"] for side in "ab" if _yes(row[f"agree_{side}"], place, f"agree_{side}")]
    if len(set(agreed)) > 1:
        raise place.error(f"agrees with both {agreed[0]!r} and {agreed[1]!r}", "agree_b")
    return agreed[0] if agreed else ""


def _yes(value: str, place: Place, name: str) -> bool:
    answer = value.casefold()
    if answer and answer not in (*YES, *NO):
        raise place.error(f"is {shown(value)}, not yes or no", name)
    return answer in YES


def _rows(path: Path) -> Iterator[tuple[Place, dict[str, str]]]:
    try:
        if path.stat().st_size > MAX_BYTES:
            raise DataError(f"is longer than {MAX_BYTES // 2**20} MiB", file=path.name)
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise DataError("is not UTF-8: save the sheet as `CSV UTF-8`", file=path.name) from None
    except OSError as error:
        raise DataError(f"cannot be read: {error.strerror}", file=path.name) from None
    head = text.partition("\n")[0]
    rows = csv.DictReader(io.StringIO(text, newline=""), delimiter=max(",;\t", key=head.count))
    rows.fieldnames = [name.strip().lower() for name in rows.fieldnames or ()]
    missing = [name for name in NEEDED if name not in rows.fieldnames]
    if missing:
        raise DataError(f"has no column {', '.join(missing)}; it has {', '.join(rows.fieldnames)}", file=path.name)
    for row in rows:
        yield Place(path.name, rows.line_num), {str(key): _cell(value) for key, value in row.items() if key is not None}


def _cell(value: object) -> str:
    text = value.strip() if isinstance(value, str) else ""
    return text[1:] if text.startswith("'") and text[1:].startswith(GUARDED) else text
