"""What people said about a record's items: read from rows, and checked against a judge's scale."""

from __future__ import annotations

import re
from collections.abc import Collection

from eva.edges.datasets.fields import Fields, shown, whole_number
from eva.edges.datasets.places import SHOWN
from eva.errors import DataError
from eva.types import NOT_APPLICABLE, Annotation, Dataset, Scale

LABEL_FIELDS = (
    "item", "label", "flags", "rules", "annotator", "provenance", "note", "label_strict", "label_lenient", "details",
)  # fmt: skip
POLICIES = ("strict", "lenient")
ITEM = re.compile(r"record|turn:(0|[1-9]\d{0,5})(/[a-z][a-z0-9_]{0,63})?")

Labels = dict[str, tuple[Annotation, ...]]


def read_labels(rows: list[Fields], turns: Collection[int]) -> tuple[Labels, int]:
    """The annotations by item, in the file's order (the first is gold), and how many labels are `null`.

    `turns`: the turn ids of the record. Raises DataError with line and field.
    """
    labels: dict[str, list[Annotation]] = {}
    empty = 0
    for row in rows:
        row.refuse_unknown(LABEL_FIELDS)
        item = _item(row, turns)
        if row.data.get("label") is None:
            empty += 1
            continue
        labels.setdefault(item, []).extend(_annotations(row))
    return {item: tuple(found) for item, found in labels.items()}, empty


def check_labels(dataset: Dataset, scale: Scale, *, flags: Collection[str] = ()) -> None:
    """Each label is on the scale (or `not_applicable` where the scale allows it), each flag is one of the judge's.

    `flags`: empty means that flags are not checked. Raises DataError with record, item and value of what is wrong.
    """
    allowed = allowed_labels(scale)
    wrong = []
    for record in dataset.records:
        for item, found in record.labels.items():
            for annotation in found:
                problem = label_problem(annotation, allowed, flags)
                if problem:
                    wrong.append(f"{record.record_id}, {item}: {problem}")
    if wrong:
        more = f"; and {len(wrong) - SHOWN} more" if len(wrong) > SHOWN else ""
        raise DataError("; ".join(wrong[:SHOWN]) + more, file=dataset.name)


def label_problem(annotation: Annotation, allowed: Collection[str], flags: Collection[str]) -> str:
    """What is wrong with a label on this scale, in words; empty where nothing is."""
    if annotation.label not in allowed:
        return f"label {annotation.label!r} is not on the judge's scale ({', '.join(allowed)})"
    strange = [flag for flag in annotation.flags if flags and flag not in flags]
    return f"flag {strange[0]!r} is not one of the judge's ({', '.join(flags)})" if strange else ""


def allowed_labels(scale: Scale) -> tuple[str, ...]:
    """The labels that gold may have, `not_applicable` included where the scale has it."""
    return (*scale.labels, NOT_APPLICABLE) if scale.allows_not_applicable else scale.labels


def label_text(value: object) -> str | None:
    """A label in its one spelling: 3 and 3.0 are "3", true is "true"; None for what cannot be a label."""
    if isinstance(value, bool):
        return "true" if value else "false"
    number = whole_number(value)
    if number is not None:
        return str(number)
    return value.strip() or None if isinstance(value, str) else None


def _item(row: Fields, turns: Collection[int]) -> str:
    item = row.text("item")
    match = ITEM.fullmatch(item)
    if not match:
        raise row.place.error(f"is {shown(item)}, not `record`, `turn:3` or `turn:3/dimension`", row.path("item"))
    if match[1] and int(match[1]) not in turns:
        there = ", ".join(str(turn) for turn in sorted(turns))
        raise row.place.error(f"is {shown(item)}; the record's turns are {there}", row.path("item"))
    return item


def _annotations(row: Fields) -> list[Annotation]:
    first = Annotation(
        label=_label(row, "label"),
        annotator=row.text("annotator", default=""),
        flags=row.texts("flags"),
        rules=row.texts("rules"),
        provenance=row.text("provenance", default=""),
        note=row.text("note", default=""),
        details=row.mapping("details"),
    )
    more = [
        Annotation(_label(row, f"label_{policy}"), policy, rules=first.rules, provenance=first.provenance)
        for policy in POLICIES
        if row.data.get(f"label_{policy}") is not None
    ]
    return [first, *more]


def _label(row: Fields, name: str) -> str:
    label = label_text(row.data[name])
    if label is None:
        raise row.place.error(f"is {shown(row.data[name])}, not a label", row.path(name))
    return label
