"""From a spec to a dataset: find the file, read it, fill in the agent, filter, check, limit, and say what was done."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator
from dataclasses import replace
from pathlib import Path

import eva
from eva.edges.datasets.agents import inside, read_agent
from eva.edges.datasets.labels import allowed_labels, label_problem
from eva.edges.datasets.limit import limit_records
from eva.edges.datasets.native_json import content_sha256, record_sha256
from eva.edges.datasets.places import Notes, Place, Sourced
from eva.edges.datasets.spec import DatasetSpec, Reader
from eva.errors import ConfigError, DataError, UnknownChoice
from eva.types import Dataset, Record, Scale

BUNDLED = "bundled:"
BUNDLED_NAME = re.compile(r"[a-z0-9][a-z0-9_]*\.jsonl")


def load(spec: DatasetSpec, reader: Reader, *, scale: Scale | None = None, flags: Collection[str] = ()) -> Dataset:
    """All that `load_dataset` does, with the reader given."""
    notes = Notes()
    sourced = list(_rows(spec, reader, notes))
    if scale is not None:
        _check_labels(sourced, scale, flags)
    _refuse_twins(sourced)
    kept, notes = _filtered(sourced, spec, notes)
    kept = _with_labels(kept, spec, notes)
    records = tuple(row.record for row in kept)
    dataset = Dataset(
        name=spec.name,
        records=records,
        sha256=content_sha256(record_sha256(record) for record in records),
        reader=f"{spec.reader}/{reader.version}",
        notes=notes.lines(),
    )
    if spec.limit is None:
        return dataset
    return limit_records(dataset, spec.limit, balanced=spec.balanced, prefer_short=spec.prefer_short)


def stream(spec: DatasetSpec, reader: Reader, notes: Notes) -> Iterator[Record]:
    """Records one by one, for sets that do not fit into memory: filters apply, `limit` takes the first ones.

    What was left out is in `notes` once the last record is read. Ids are not compared with one another.
    """
    given = 0
    for row in _rows(spec, reader, notes):
        if spec.limit is not None and given >= spec.limit:
            return
        if _wanted(row.record, spec):
            given += 1
            yield row.record


def dataset_path(spec: DatasetSpec) -> Path:
    """Where the spec's data lies. Raises UnknownChoice for a bundled set that does not exist, DataError for a path."""
    if spec.path.startswith(BUNDLED):
        name = spec.path.removeprefix(BUNDLED)
        folder = bundled_folder()
        if not BUNDLED_NAME.fullmatch(name) or not (folder / name).is_file():
            raise UnknownChoice("Bundled dataset", name, [path.name for path in folder.glob("*.jsonl")])
        return folder / name
    path = Path(spec.path).expanduser()
    if not path.exists():
        raise DataError(f"dataset.path={spec.path}: there is no such file or folder")
    return path


def bundled_folder() -> Path:
    """The folder of the sets that come with the package."""
    return Path(eva.__file__).parent / "data"


def audio_path(spec: DatasetSpec, record: Record) -> Path | None:
    """The full path of a record's sound, or None where it has none. Raises DataError where it leaves the folder."""
    if record.audio is None:
        return None
    path = dataset_path(spec)
    folder = path if path.is_dir() else path.parent
    return inside(folder, record.audio, Place(record.record_id), name="audio")


def _rows(spec: DatasetSpec, reader: Reader, notes: Notes) -> Iterator[Sourced]:
    strange = sorted(set(spec.options) - set(reader.options))
    if strange:
        raise UnknownChoice(f"Option of dataset reader {spec.reader}", strange[0], reader.options)
    path = dataset_path(spec)
    given = "folder" if path.is_dir() else "file"
    if reader.paths not in ("any", given):
        raise ConfigError(f"dataset.path={spec.path} is a {given}; reader {spec.reader} reads a {reader.paths}")
    agent = read_agent(Path(spec.agent_config).expanduser()) if spec.agent_config else {}
    for row in reader.read(path, spec, notes):
        if agent and not set(agent) <= set(row.record.context):
            context = {**agent, **row.record.context}
            notes.count(f"records got the agent's configuration from {Path(str(spec.agent_config)).name}")
            yield replace(row, record=replace(row.record, context=context))
        else:
            yield row


def _wanted(record: Record, spec: DatasetSpec) -> bool:
    return (
        (spec.split is None or record.split == spec.split)
        and (not spec.languages or record.language in spec.languages)
        and (not spec.domains or record.domain in spec.domains)
    )


def _filtered(rows: list[Sourced], spec: DatasetSpec, notes: Notes) -> tuple[list[Sourced], Notes]:
    if not rows:
        raise DataError("holds no record", file=spec.path)
    kept = [row for row in rows if _wanted(row.record, spec)]
    filters = {"split": spec.split, "languages": ", ".join(spec.languages), "domains": ", ".join(spec.domains)}
    asked = "; ".join(f"{name} {value}" for name, value in filters.items() if value)
    if not kept:
        there = "; ".join(f"{name}: {_counted(rows, name)}" for name in ("split", "language", "domain"))
        raise DataError(f"no record is left by {asked}; there are {there}", file=spec.path)
    if asked:
        notes.say(f"{len(kept)} of {len(rows)} records are of {asked}")
    return kept, notes


def _counted(rows: list[Sourced], name: str) -> str:
    counts = Counter(str(getattr(row.record, name)) or "(none)" for row in rows)
    return ", ".join(f"{value} {count}" for value, count in sorted(counts.items()))


def _with_labels(rows: list[Sourced], spec: DatasetSpec, notes: Notes) -> list[Sourced]:
    bare = [row for row in rows if not row.record.labels]
    empty = sum(row.unlabelled for row in rows if row.record.labels)
    labelled = len(rows) - len(bare)
    if not labelled:
        notes.say(f"none of the {len(rows)} records is labelled")
        return rows
    if not bare and not empty:
        return rows
    said = f"{labelled} of {len(rows)} records are labelled" + (f", {empty} labels in them are null" if empty else "")
    if spec.unlabelled == "refuse":
        first = next(row for row in rows if row.unlabelled or not row.record.labels)
        way = "dataset.unlabelled=keep judges the others without scoring them, dataset.unlabelled=drop leaves them out"
        raise first.place.error(f"{said}; the first without is {first.record.record_id!r}. {way}", "labels")
    notes.say(said + ("" if spec.unlabelled == "keep" else f"; {len(bare)} records without labels are left out"))
    return rows if spec.unlabelled == "keep" else [row for row in rows if row.record.labels]


def _check_labels(rows: list[Sourced], scale: Scale, flags: Collection[str]) -> None:
    allowed = allowed_labels(scale)
    for row in rows:
        for item, found in row.record.labels.items():
            for annotation in found:
                if problem := label_problem(annotation, allowed, flags):
                    raise row.place.error(f"{row.record.record_id}, {item}: {problem}", "labels")


def _refuse_twins(rows: list[Sourced]) -> None:
    seen: dict[str, Place] = {}
    for row in rows:
        first = seen.setdefault(row.record.record_id, row.place)
        if first is not row.place:
            raise row.place.error(f"{row.record.record_id!r} stands there already ({first})", "record_id")
