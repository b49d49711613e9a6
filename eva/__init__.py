"""A bench for LLM judges of voice agents: what did a prompt change do, and how sure are we?

What one may import; everything else may move:

    eva.settings(*overrides)                     the command line's settings, checked
    eva.validate(settings, overrides=…, say=…)   one run, from settings to MLflow
    eva.compare_runs(before, after, margin=…)    what changed between two run folders
    eva.all_runs(home), eva.find_run(home, name) run folders
    eva.Record, eva.Item, eva.Verdict, …         the border types (eva.types)
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

__version__ = "0.1.0"

_PLACES = {
    "validate": "eva.flow",
    "settings": "eva.edges.settings",
    "compare_runs": "eva.measuring",
    "all_runs": "eva.edges.runs",
    "find_run": "eva.edges.runs",
    "RunFolder": "eva.edges.runs",
    "load_dataset": "eva.edges.datasets",
    "EvaError": "eva.errors",
    **dict.fromkeys(
        ("Annotation", "Dataset", "Event", "Failure", "Item", "JudgeSpec", "Record", "Reply", "Scale", "Verdict"),
        "eva.types",
    ),
}
"""Public name → its module, imported when it is first used: `import eva` alone costs nothing."""
__all__ = tuple(_PLACES)


def __getattr__(name: str) -> Any:
    if name not in _PLACES:
        raise AttributeError(f"module 'eva' has no attribute {name!r}")
    return getattr(import_module(_PLACES[name]), name)
