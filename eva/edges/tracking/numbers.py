"""summary.json and comparison.json as metrics under names that stay the same across judges and time.

    accuracy  accuracy/std  accuracy/low  accuracy/high  macro_f1 …       one run
    class.2/f1  lang.fr/accuracy  flag.hallucination/rate  rule.…         parts of it
    diff/accuracy  diff/accuracy/low  diff/fixed  diff/broken …           against the baseline
    spend/calls  spend/cost_usd …                                         what it took
    repeat/accuracy (step = repeat)                                       single values, under keys of their own

A number that is undefined (None, NaN, infinite) is left out: MLflow would show it as 0 or refuse the page.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from eva.edges.tracking.names import slug

ONE_REPEAT = (
    "accuracy",
    "macro_f1",
    "coverage",
    "accuracy_readable",
    "kappa",
    "weighted_kappa",
    "mae",
    "bias",
    "mean_score",
    "n",
    "n_correct",
)
ESTIMATES = ("mean_score", "kappa", "weighted_kappa", "mae", "bias", "coverage")
SLICES = {"language": "lang", "cluster size": "cluster_size"}
"""How a slice's name is written where it is not simply its own."""
COUNTS = ("fixed", "broken", "moved", "undecided", "up", "down", "unchanged")

Numbers = dict[str, float]


def run_numbers(summary: Mapping[str, Any], comparison: Mapping[str, Any] | None) -> Numbers:
    """All single numbers of a run: those of its summary, and those of its comparison where there is one."""
    pairs = [*_headline(summary), *_parts(summary), *_noise(summary), *_spend(summary)]
    if comparison is not None:
        pairs += [*_differences(comparison), *_counts(comparison), *_difference_parts(comparison)]
    return defined(pairs)


def repeat_numbers(summary: Mapping[str, Any]) -> dict[int, Numbers]:
    """The numbers of each repeat, by repeat: for the child runs."""
    return {
        int(row["repeat"]): defined([(key, row.get(key)) for key in ONE_REPEAT] + list(_classes(row.get("per_class"))))
        for row in summary.get("repeats") or ()
    }


def repeat_series(summary: Mapping[str, Any]) -> list[tuple[str, float, int]]:
    """(key, value, step = repeat) for the parent: under `repeat/…`, since the newest step of a key is its value."""
    return [
        (f"repeat/{key}", value, repeat)
        for repeat, numbers in sorted(repeat_numbers(summary).items())
        for key, value in numbers.items()
        if "/" not in key
    ]


def defined(pairs: Iterable[tuple[str, Any]]) -> Numbers:
    """The pairs whose value is a finite number. Booleans are not numbers."""
    return {
        key: float(value)
        for key, value in pairs
        if isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
    }


def _headline(summary: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for key in ("accuracy", "macro_f1"):
        spread = summary.get(key) or {}
        yield key, spread.get("mean")
        yield f"{key}/std", spread.get("std")
        yield from _interval(key, summary.get(f"{key}_interval"))
    for key in ESTIMATES:
        estimate = summary.get(key) or {}
        yield key, estimate.get("value")
        yield from _interval(key, estimate)
    for key in ("accuracy_readable", "n_items", "n_labelled", "n_clusters", "over_answered"):
        yield key, summary.get(key)


def _interval(key: str, estimate: Mapping[str, Any] | None) -> Iterator[tuple[str, Any]]:
    yield f"{key}/low", (estimate or {}).get("low")
    yield f"{key}/high", (estimate or {}).get("high")


def _classes(rows: Iterable[Mapping[str, Any]] | None) -> Iterator[tuple[str, Any]]:
    for row in rows or ():
        for key in ("precision", "recall", "f1", "support", "predicted"):
            yield f"class.{slug(str(row['label']))}/{key}", row.get(key)


def _parts(summary: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    yield from _classes(summary.get("per_class"))
    for row in summary.get("flags") or ():
        name = f"flag.{slug(str(row['flag']))}"
        yield f"{name}/rate", (row.get("rate") or {}).get("value")
        for key in ("items", "clusters", "precision", "recall"):
            yield f"{name}/{key}", row.get(key)
    for row in summary.get("slices") or ():
        name = _slice_name(row)
        yield f"{name}/n_items", row.get("n_items")
        for key in ("accuracy", "macro_f1", "mean_score"):
            yield f"{name}/{key}", (row.get(key) or {}).get("value")
    for kind, count in (summary.get("failures") or {}).items():
        yield f"failures/{slug(str(kind))}", count
    for rule, count in (summary.get("broken_rules") or {}).items():
        yield f"broken_rules/{slug(str(rule))}", count
    for name, row in _baselines(summary.get("baselines")):
        yield f"baseline.{slug(name)}/accuracy", row.get("accuracy")
        yield f"baseline.{slug(name)}/macro_f1", row.get("macro_f1")


def _baselines(rows: Any) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Given by name or as a list of rows that hold their name."""
    if isinstance(rows, Mapping):
        yield from ((str(name), row or {}) for name, row in rows.items())
    else:
        yield from ((str(row["name"]), row) for row in rows or ())


def _noise(summary: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    noise = summary.get("noise") or {}
    for key in ("stability", "self_agreement"):
        yield key, (noise.get(key) or {}).get("value")
    yield "alpha", noise.get("alpha")
    yield "unstable_items", noise.get("unstable_items")


def _spend(summary: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for key, value in (summary.get("spend") or {}).items():
        yield f"spend/{slug(str(key))}", value


def _differences(comparison: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for row in comparison.get("differences") or ():
        name = f"diff/{slug(str(row['statistic']))}"
        estimate = row.get("difference") or {}
        yield name, estimate.get("value")
        yield from _interval(name, estimate)
        yield f"{name}/p", row.get("p_value")
        yield f"{name}/smallest_visible", row.get("smallest_visible")


def _counts(comparison: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    counts, floor = comparison.get("counts") or {}, comparison.get("floor") or {}
    for key in COUNTS:
        yield f"diff/{key}", counts.get(key)
    yield "diff/mcnemar_p", counts.get("mcnemar_p")
    yield "diff/common_items", comparison.get("n_items")
    for key in ("before", "after", "between", "excess"):
        yield f"diff/floor/{key}", (floor.get(key) or {}).get("value")


def _difference_parts(comparison: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for row in comparison.get("flags") or ():
        yield f"diff/flag.{slug(str(row['flag']))}/rate", (row.get("difference") or {}).get("value")
    for row in comparison.get("slices") or ():
        inner = row.get("difference") or {}
        value = (inner.get("difference") or {}).get("value")
        yield f"diff/{_slice_name(row)}/{slug(str(inner.get('statistic', 'accuracy')))}", value


def _slice_name(row: Mapping[str, Any]) -> str:
    by = str(row["by"])
    return f"{slug(SLICES.get(by, by))}.{slug(str(row['value']))}"
