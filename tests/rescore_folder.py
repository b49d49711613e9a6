"""Stored conversations as ServiceNow/eva leaves them, and arms of a re-scoring whose moves are known.

310 conversations in eight languages: the bundled records of those languages over and over, each copy with a reference
of its own, a run folder a language. The arms repeat the figures of the published pull request.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from eva.edges.datasets import DatasetSpec, load_dataset
from eva.edges.settings import load_judge
from eva.judges import unit_of
from eva.types import Event, Record
from tests.edges.datasets.run_builders import context, write_manifest

LANGUAGES = ("de", "es", "fr", "fr-CA", "hi", "it", "ja", "ko")
SETS = ("conciseness", "faithfulness", "speakability")
CONVERSATIONS = 310
MEANS = (0.812, 0.829)
"""Mean rating before and after, 1–3 put on 0–1."""


@dataclass(frozen=True)
class Said:
    """What one arm says about one item."""

    rating: int
    flags: tuple[str, ...] = ()
    reason: str = "Fits."


Arm = Mapping[tuple[str, int], Said]
"""(record, turn) → what is said."""


def write_folder(output: Path) -> Path:
    """Runs `<language>` with records, manifest, and a failed attempt that no manifest names."""
    pools = {language: _bundled(language) for language in LANGUAGES}
    names: dict[str, list[str]] = {language: [] for language in LANGUAGES}
    for n in range(CONVERSATIONS):
        language = LANGUAGES[n % len(LANGUAGES)]
        pool = pools[language]
        name = f"{1 + n // 50}.{1 + n % 50}"
        _write(output / language, name, pool[(n // len(LANGUAGES)) % len(pool)], reference=n)
        names[language].append(name)
    for language, completed in names.items():
        _write(output / language, f"{completed[0]}_failed_attempt_1", pools[language][0], reference=9999)
        write_manifest(output / language, completed)
    return output


def item_keys(output: Path, judge: str) -> list[tuple[str, int]]:
    """(record, turn) of everything that the judge rates, in order."""
    dataset = load_dataset(DatasetSpec(reader="eva_runs", path=str(output), name="eva_runs"))
    spec = load_judge(judge)
    return [
        (record.record_id, item.turn_id or 0)
        for record in dataset.records
        for item in unit_of(spec).items(spec, record)
    ]


def conciseness_arms(keys: Sequence[tuple[str, int]]) -> tuple[Arm, Arm, Arm]:
    """Before, after (226 up, 148 down; verbosity 552 → 502, density 208 → 181), and before again (182 up, 180 down)."""
    order = [keys[int(place)] for place in np.random.default_rng(250).permutation(len(keys))]
    deficit = round((1 - MEANS[0]) * 2 * len(keys))
    flagged = 600
    ones = deficit - flagged
    before = dict.fromkeys(order, 3)
    before |= dict.fromkeys(order[:ones], 1) | dict.fromkeys(order[ones:flagged], 2)
    doubles = 226 - 148 - (deficit - round((1 - MEANS[1]) * 2 * len(keys)))
    one, two, three = order[:ones], order[ones:flagged], order[flagged:]
    after = dict(before)
    after |= dict.fromkeys(two[:200], 3) | dict.fromkeys(one[:26], 2)
    after |= dict.fromkeys(two[-28:], 1) | dict.fromkeys(three[: 120 - doubles], 2)
    after |= dict.fromkeys(three[120 - doubles : 120], 1)
    again = dict(before)
    again |= dict.fromkeys(two[100:260], 3) | dict.fromkeys(one[-22:], 2)
    again |= dict.fromkeys(two[-30:], 1) | dict.fromkeys(three[-150:], 2)
    return (
        _with_flags(before, order, verbose=552, dense=208),
        _with_flags(after, order, verbose=502, dense=181),
        _with_flags(again, order, verbose=550, dense=205),
    )


def speakability_arms(keys: Sequence[tuple[str, int]]) -> tuple[Arm, Arm]:
    """Before and after: 70 turns fall, 66 of them for a gloss; five rise."""
    order = [keys[int(place)] for place in np.random.default_rng(251).permutation(len(keys))]
    emoji = Said(0, ("emoji",), "An emoji is written, which no voice can say.")
    before = dict.fromkeys(order, Said(1)) | dict.fromkeys(order[:40], emoji)
    after = dict(before) | dict.fromkeys(order[:5], Said(1))
    for n, key in enumerate(order[100:166]):
        reason = f"Term {n} stands beside its translation in parentheses, so that it is heard twice."
        after[key] = Said(0, ("gloss",), reason)
    for key, flag in zip(order[200:204], ("markdown", "markdown", "missing_spaces", "emoji"), strict=True):
        after[key] = Said(0, (flag,), f"There is {flag} in the text.")
    return before, after


def replies(arm: Arm, flags_field: str) -> list[dict[str, Any]]:
    """Recorded replies of a turn judge, one a record."""
    by_record: dict[str, list[dict[str, Any]]] = {}
    for (record, turn), said in sorted(arm.items()):
        entry = {"turn_id": turn, "explanation": said.reason, flags_field: list(said.flags), "rating": said.rating}
        by_record.setdefault(record, []).append(entry)
    return [
        {"record": record, "repeat": 0, "text": json.dumps(entries, ensure_ascii=False)}
        for record, entries in by_record.items()
    ]


def _with_flags(
    ratings: Mapping[tuple[str, int], int], order: Sequence[tuple[str, int]], *, verbose: int, dense: int
) -> Arm:
    """Every rating below 3 has a flag: the first `verbose` verbosity, the last `dense` density, some both."""
    rated = [key for key in order if ratings[key] < 3]
    assert verbose <= len(rated) <= verbose + dense
    arm = {key: Said(3) for key in order}
    for place, key in enumerate(rated):
        flags = ["verbosity_or_filler"] if place < verbose else []
        flags += ["excess_information_density"] if place >= len(rated) - dense else []
        arm[key] = Said(ratings[key], tuple(flags), f"Too much: {' and '.join(flags)}.")
    return arm


def _bundled(language: str) -> list[Record]:
    """The bundled records of a language, longest first."""
    found = [
        record
        for name in SETS
        for record in load_dataset(
            DatasetSpec(path=f"bundled:{name}.jsonl", name=name, languages=(language,), unlabelled="keep")
        ).records
    ]
    return sorted(found, key=lambda record: (-len(record.events), record.record_id))


def _write(run: Path, name: str, record: Record, *, reference: int) -> None:
    trace = [_entry(event) for event in record.events]
    first = next(entry for entry in trace if entry.get("role") == "user")
    first["content"] = f"{first['content']} [{reference:04d}]"
    made = context(conversation_trace=trace, language=record.language, user_goal=f"Goal {reference}.")
    folder = run / "records" / name
    folder.mkdir(parents=True)
    data = {"record_id": name, "context": made, "metrics": {}}
    (folder / "metrics.json").write_text(json.dumps(data, ensure_ascii=False), encoding="utf-8")


def _entry(event: Event) -> dict[str, Any]:
    if event.type == "tool_call":
        return {
            "tool_name": event.name, "parameters": dict(event.arguments or {}), "type": "tool_call",
            "turn_id": event.turn_id,
        }  # fmt: skip
    if event.type == "tool_response":
        response = event.response if isinstance(event.response, dict) else {"value": event.response}
        return {"tool_name": event.name, "tool_response": response, "type": "tool_response", "turn_id": event.turn_id}
    kind = "transcribed" if event.type == "user" else "intended"
    return {"role": event.type, "content": event.text or "", "type": kind, "turn_id": event.turn_id}
