"""Datasets: one reader a format, all of them in the dict below.

`load_dataset(spec)` gives the records with their labels, a sha256 of their content, and notes in words on what was
left out or filled in; `stream_records(spec)` gives them one by one.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from eva.edges.datasets.eva_agent_speech_fidelity import read_eva_agent_speech_fidelity
from eva.edges.datasets.eva_conciseness import read_eva_conciseness
from eva.edges.datasets.eva_conversation_progression import read_eva_conversation_progression
from eva.edges.datasets.eva_faithfulness import read_eva_faithfulness
from eva.edges.datasets.eva_runs import read_eva_runs
from eva.edges.datasets.labels import check_labels
from eva.edges.datasets.limit import limit_records
from eva.edges.datasets.loading import audio_path, dataset_path, load, stream
from eva.edges.datasets.mlflow_traces import read_mlflow_traces
from eva.edges.datasets.native import read_native
from eva.edges.datasets.native_json import label_free, record_to_json, write_native
from eva.edges.datasets.places import Notes
from eva.edges.datasets.spec import DatasetSpec, Reader
from eva.edges.datasets.turn_benchmark import read_turn_benchmark
from eva.errors import UnknownChoice
from eva.types import Dataset, Record, Scale

READERS: dict[str, Reader] = {
    "native": Reader("1", read_native),
    "eva_faithfulness": Reader("1", read_eva_faithfulness),
    "eva_conciseness": Reader("1", read_eva_conciseness, options=("pairing",)),
    "eva_conversation_progression": Reader("1", read_eva_conversation_progression),
    "eva_agent_speech_fidelity": Reader("1", read_eva_agent_speech_fidelity, options=("audio_folder",)),
    "eva_runs": Reader("1", read_eva_runs, options=("runs", "audio", "skip_broken"), paths="folder"),
    "turn_benchmark": Reader("1", read_turn_benchmark, options=("golden",), paths="any"),
    "mlflow_traces": Reader("1", read_mlflow_traces),
}
"""`reader:` in conf/dataset -> the code that reads it."""

__all__ = [
    "READERS",
    "DatasetSpec",
    "Notes",
    "Reader",
    "audio_path",
    "check_labels",
    "dataset_path",
    "label_free",
    "limit_records",
    "load_dataset",
    "record_to_json",
    "stream_records",
    "write_native",
]


def load_dataset(spec: DatasetSpec, *, scale: Scale | None = None, flags: Collection[str] = ()) -> Dataset:
    """Read, filter, check and limit a dataset.

    scale: labels are checked against it while file and line are known; flags: the judge's, checked where given.
    Raises DataError (file, line, field, value), UnknownChoice for a reader, option or bundled set that does not exist,
    ConfigError for a path of the wrong kind.
    """
    return load(spec, reader_of(spec), scale=scale, flags=flags)


def stream_records(spec: DatasetSpec, notes: Notes | None = None) -> Iterator[Record]:
    """Records one by one, memory flat: filters apply, `limit` takes the first ones; `notes` fills while reading."""
    return stream(spec, reader_of(spec), notes if notes is not None else Notes())


def reader_of(spec: DatasetSpec) -> Reader:
    """The reader that a spec names. Raises UnknownChoice."""
    if spec.reader not in READERS:
        raise UnknownChoice("Dataset reader", spec.reader, READERS)
    return READERS[spec.reader]
