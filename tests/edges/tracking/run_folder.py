"""Makes realistic run folders with plain pandas and json: two arms of one judge, some turns of some conversations."""

from __future__ import annotations

import hashlib
import json
import random
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from statistics import mean, stdev
from typing import Any

import pandas as pd

from eva.metrics import results as r

LABELS = ("1", "2", "3")
PNG = bytes.fromhex(
    "89504e470d0a1a0a0000000d4948445200000001000000010802000000907753de"
    "0000000c4944415408d763f8ffff3f0005fe02fea735810a0000000049454e44ae426082"
)


def make_run(
    root: Path,
    *,
    prompt: str = "v1",
    items: int = 30,
    repeats: int = 3,
    skill: float = 0.7,
    before: Path | None = None,
    status: str = "finished",
    judge: str = "conciseness",
    minute: int = 0,
    changes: Mapping[str, Any] | None = None,
) -> Path:
    """A run folder `root/<run id>`: `items` turns, three a conversation; `before`: compared with that run."""
    run_id = f"{judge}-{prompt}-{minute:02d}"
    folder = root / run_id
    (folder / "plots").mkdir(parents=True)
    people = _items(items)
    verdicts = _verdicts(people, repeats, skill, random.Random(f"{prompt}/{skill}"))
    summary = _summary(people, verdicts, repeats)
    base = json.loads((before / "run.json").read_text()) if before else None
    run = _run(run_id, judge, prompt, items, repeats, status, minute, base) | dict(changes or {})
    comparison = _comparison(folder, before, verdicts, base, run) if before and base else None
    extra = {key: run[key] for key in ("judge", "prompt", "model", "language", "dataset")}
    diff = None if comparison is None else {"accuracy": comparison["differences"][0]["difference"]["value"]}
    _write(folder / "run.json", run)
    _write(folder / "summary.json", {**summary, **extra, "spend": _spend(items, repeats), "diff": diff})
    if comparison is not None:
        _write(folder / "comparison.json", comparison)
    pd.DataFrame(verdicts).astype({"turn_id": "Int64"}).to_parquet(folder / "verdicts.parquet")
    shown = ("item_id", "record_id", "title", "request")
    _write_lines(folder / "items.jsonl", [{key: item[key] for key in shown} for item in people])
    _write_lines(folder / "records.jsonl", [])
    rules = f"## Rules\n\n- Be brief. ({prompt})"
    parts = {"sections.role": f"You rate turns, as {prompt} says.", "sections.rules": rules}
    _write(folder / "prompt_parts.json", {"en.cascade": parts})
    (folder / "prompt.md").write_text("\n\n".join(parts.values()))
    (folder / "config.yaml").write_text(f"judge: {judge}\nprompt: {prompt}\n")
    (folder / "report.html").write_text(f"<html><body><h1>{judge} {prompt}</h1></body></html>")
    (folder / "plots" / "confusion.png").write_bytes(PNG)
    (folder / "plots" / "confusion.svg").write_bytes(b"<svg/>")
    return folder


def _items(count: int) -> list[dict[str, Any]]:
    chance = random.Random("people")
    out = []
    for place in range(count):
        record, turn = f"rec{place // 3:04d}", place % 3 + 1
        gold = chance.choice(LABELS)
        out.append(
            {
                "item_id": f"{record}#{turn}",
                "record_id": record,
                "turn_id": turn,
                "language": "fr" if place % 5 == 0 else "en",
                "domain": "airline",
                "gold": gold,
                "title": f"{record}, {turn}",
                "request": f"Turn {turn} of {record}\n  assistant: Booking K7Q{place} is yours.\n\nBefore:\n  user: Hi",
            }
        )
    return out


def _verdicts(people: list[dict[str, Any]], repeats: int, skill: float, chance: random.Random) -> list[dict[str, Any]]:
    rows = []
    for item in people:
        for repeat in range(repeats):
            label: str | None = item["gold"] if chance.random() < skill else chance.choice(LABELS)
            failure = "no_json" if chance.random() < 0.02 else None
            rows.append(
                {
                    **{key: item[key] for key in ("item_id", "record_id", "turn_id", "language", "domain", "gold")},
                    "cluster": item["record_id"],
                    "dimension": None,
                    "split": "test",
                    "gold_flags": [],
                    "rules": ["brevity"],
                    "annotations": json.dumps([{"label": item["gold"], "annotator": "ana"}]),
                    "repeat": repeat,
                    "label": None if failure else label,
                    "failure": failure,
                    "flags": ["verbosity_or_filler"] if label == "1" else [],
                    "reason": "" if failure else f"It takes {label} breaths (repeat {repeat}).",
                    "model_label": None,
                    "broken_rules": [],
                    "dimensions": "{}",
                    "repaired": False,
                    "input_tokens": 900,
                    "output_tokens": 40,
                    "latency_s": 0.8 + 0.1 * repeat,
                    "cost_usd": 0.001,
                    "cached": False,
                    "request_digest": hashlib.sha256(item["item_id"].encode()).hexdigest(),
                    "model_answered": "gpt-5.2-2026",
                }
            )
    return rows


def _run(
    run_id: str, judge: str, prompt: str, items: int, repeats: int, status: str, minute: int, base: Any
) -> dict[str, Any]:
    return {
        "run_id": run_id,
        "created": f"2026-11-30T20:{minute:02d}:00+00:00",
        "finished": f"2026-11-30T20:{minute:02d}:50+00:00",
        "status": status,
        "task": "validate",
        "command": f"python run.py judge={judge} prompt={prompt} seeds={repeats}",
        "identity": hashlib.sha256(run_id.encode()).hexdigest(),
        "digests": {key: hashlib.sha256(f"{key}{prompt}".encode()).hexdigest() for key in ("prompt", "model")},
        "git": {"commit": "58acce7" * 5 + "58acc", "dirty": True},
        "versions": {"eva": "0.1.0", "mlflow": "3.17.2"},
        "judge": judge,
        "prompt": prompt,
        "parent": base["prompt"] if base else None,
        "prompt_sha256": hashlib.sha256(prompt.encode()).hexdigest(),
        "summary": f"What {prompt} is about",
        "model": {
            "name": "gpt-5.2",
            "kind": "litellm",
            "id": "openai/gpt-5.2",
            "params": {"temperature": 0.0, "max_tokens": 2000},
            "requested": "openai/gpt-5.2",
            "answered": ["gpt-5.2-2026"],
        },
        "language": "en",
        "dataset": {
            "name": judge,
            "sha256": hashlib.sha256(b"dataset").hexdigest(),
            "records": (items + 2) // 3,
            "items": items,
            "clusters": (items + 2) // 3,
            "classes": {"1": items // 3, "2": items // 3, "3": items - 2 * (items // 3)},
            "reader": "native 1",
        },
        "repeats": repeats,
        "baseline": base["run_id"] if base else None,
        "sweep": None,
    }


def _right(rows: list[dict[str, Any]]) -> float:
    return mean(row["label"] == row["gold"] for row in rows)


def _estimate(value: float | None, n: int) -> r.Estimate:
    low, high = (None, None) if value is None else (value - 0.05, value + 0.05)
    return r.Estimate(value, low, high, n, n // 3, 3, "made up")


def _summary(people: list[dict[str, Any]], verdicts: list[dict[str, Any]], repeats: int) -> dict[str, Any]:
    n = len(people)
    classes = tuple(r.ClassScores(label, n // 3, n // 3, 0.7, 0.6, 0.65 if label != "1" else None) for label in LABELS)
    scores = []
    for repeat in range(repeats):
        rows = [row for row in verdicts if row["repeat"] == repeat]
        right = _right(rows)
        table = ((1, 2, 3, 0),) * 3
        scores.append(r.RepeatScores(repeat, n, round(right * n), right, right - 0.02, 3, 0.98, right, classes, table))
    values = tuple(row.accuracy for row in scores)
    middle, spread = mean(values), stdev(values) if repeats > 1 else None
    moving = len({row["item_id"] for row in verdicts})
    summary = r.Summary(
        labels=LABELS,
        n_items=n,
        n_labelled=n,
        n_clusters=n // 3,
        repeats=tuple(scores),
        accuracy=r.Spread(middle, spread, values),
        macro_f1=r.Spread(middle - 0.02, spread, values),
        accuracy_interval=_estimate(middle, n),
        accuracy_interval_t=_estimate(middle, n),
        macro_f1_interval=_estimate(middle - 0.02, n),
        mean_score=_estimate(2.1, n),
        per_class=classes,
        confusion=((1.0, 2.0, 3.0, 0.0),) * 3,
        kappa=_estimate(0.5, n),
        weighted_kappa=_estimate(None, n),
        mae=_estimate(0.4, n),
        bias=_estimate(-0.1, n),
        coverage=_estimate(0.98, n),
        accuracy_readable=middle,
        failures=dict(Counter(row["failure"] for row in verdicts if row["failure"])),
        failures_by_class={},
        failures_by_language={},
        over_answered=0,
        noise=r.Noise(_estimate(0.9, n), _estimate(0.85, n), 0.7, moving // 4),
        baselines=(r.Baseline("majority", 0.34, 0.17),),
        flags=(r.FlagScores("verbosity_or_filler", n / 3, n / 9, _estimate(0.33, n)),),
        slices=(r.Slice("language", "fr", n // 5, n // 15, _estimate(0.6, n), _estimate(0.5, n), _estimate(2.0, n)),),
    )
    return asdict(summary)


def _modal(rows: list[dict[str, Any]]) -> str | None:
    votes = Counter(row["label"] or row["failure"] for row in rows).most_common(2)
    return None if len(votes) > 1 and votes[0][1] == votes[1][1] else votes[0][0]


def _comparison(
    folder: Path, before: Path, verdicts: list[dict[str, Any]], base: dict[str, Any], run: dict[str, Any]
) -> dict[str, Any]:
    old = pd.read_parquet(before / "verdicts.parquet").to_dict("records")
    groups: dict[str, list[list[dict[str, Any]]]] = {}
    for place, rows in enumerate((old, verdicts)):
        for row in rows:
            groups.setdefault(row["item_id"], [[], []])[place].append(row)
    flips = []
    for item_id, (left, right) in groups.items():
        a, b, gold = _modal(left), _modal(right), right[0]["gold"]
        if a != b:
            kind = "fixed" if b == gold else "broken" if a == gold else "undecided" if None in (a, b) else "moved"
            flips.append(r.Flip(item_id, kind, gold, a, b, {}, {}, 1.0))
    count = Counter(flip.kind for flip in flips)
    n = len(groups)
    change = _right(verdicts) - _right(old)
    comparison = r.Comparison(
        n_items=n,
        n_clusters=n // 3,
        only_before=0,
        only_after=0,
        differences=tuple(
            r.Difference(name, 0.6, 0.6 + change, _estimate(change, n), 0.04, 0.05, None, "cannot tell")
            for name in ("accuracy", "macro_f1", "mean_score")
        ),
        flips=tuple(flips),
        counts=r.FlipCounts(*(count[k] for k in ("fixed", "broken", "moved", "undecided")), 3, 4, n - len(flips), 0.5),
        floor=r.NoiseFloor(*(_estimate(share, n) for share in (0.1, 0.1, 0.2, 0.1)), 2, 2, 1, 1),
    )
    names = {"judge": run["judge"], "prompt_before": base["prompt"], "prompt_after": run["prompt"]}
    return {**asdict(comparison), "before": base["run_id"], "after": run["run_id"], **names}


def _spend(items: int, repeats: int) -> dict[str, Any]:
    calls = items * repeats
    tokens = {"input_tokens": 900 * calls, "output_tokens": 40 * calls}
    return {"calls": calls, "cached": 0, **tokens, "cost_usd": 0.001 * calls}


def _write(path: Path, value: object) -> None:
    path.write_text(json.dumps(value, ensure_ascii=False, allow_nan=False), encoding="utf-8")


def _write_lines(path: Path, rows: list[dict[str, Any]]) -> None:
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
