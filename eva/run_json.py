"""What a run's `run.json` and `summary.json` say: plain data, made from the plan, the replies and the numbers. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from eva.edges.asking import LOST, Asked
from eva.edges.secrets import redact
from eva.edges.settings import Settings
from eva.judges.plan import Plan
from eva.metrics.attacks import AttackScores
from eva.metrics.readings import Readings
from eva.metrics.results import Comparison, Summary
from eva.prompts.request import digest_of


def dataset_facts(plan: Plan) -> dict[str, Any]:
    """Name, content digest, counts of records, items, clusters and classes."""
    items = [item for items in plan.items.values() for item in items]
    classes = Counter(item.gold.label for item in items if item.gold is not None)
    order = [*plan.judge.scale.labels, *sorted(set(classes) - set(plan.judge.scale.labels))]
    return {
        "name": plan.dataset.name,
        "sha256": plan.dataset.sha256,
        "reader": plan.dataset.reader,
        "records": len(plan.dataset.records),
        "items": len(items),
        "clusters": len({item.cluster for item in items}),
        "classes": {label: classes[label] for label in order if label in classes},
        "languages": dict(sorted(Counter(record.language for record in plan.dataset.records).items())),
        "notes": list(plan.dataset.notes),
    }


def digests(plan: Plan, *, model_identity: Mapping[str, Any]) -> dict[str, str]:
    """What two runs must share to be compared, and what makes a run the run it is."""
    model = dict(model_identity)
    if model.get("kind") == "recorded":
        model.pop("file_sha256", None)  # each prompt version has a recording of its own; the model behind it is `id`
    spec = asdict(plan.judge)
    return {
        "prompt": plan.prompt_sha256,
        "dataset": plan.dataset.sha256,
        "model": digest_of(model),
        "judge": digest_of(spec),
        "requests": digest_of([request.digest for request in plan.requests]),
    }


def opening_meta(
    settings: Settings,
    plan: Plan,
    *,
    model_identity: Mapping[str, Any],
    prompt_edits: tuple[str, ...],
    facts: Mapping[str, Any],
) -> dict[str, Any]:
    """run.json before the first call. `facts`: run_id, created, command, git, versions, sweep."""
    options = settings.options
    found = digests(plan, model_identity=model_identity)
    return {
        "run_id": facts["run_id"],
        "created": facts["created"],
        "finished": None,
        "status": "running",
        "task": options.task,
        "command": facts["command"],
        "identity": digest_of(
            {**found, "language": settings.language["code"], "repeats": options.seeds, "reader": plan.dataset.reader}
        ),
        "digests": found,
        "git": facts["git"],
        "versions": facts["versions"],
        "judge": plan.judge.name,
        "judge_title": plan.judge.title,
        "unit": plan.judge.unit,
        "labels": list(plan.judge.scale.labels),
        "values": plan.judge.scale.values,
        "prompt": plan.prompt.version,
        "parent": plan.prompt.parent,
        "prompt_edited": bool(prompt_edits),
        "prompt_edits": list(prompt_edits),
        "prompt_sha256": plan.prompt_sha256,
        "summary": plan.prompt.summary,
        "draft": plan.prompt.draft,
        "model": {
            "name": settings.model.name,
            "id": settings.model.id,
            "kind": settings.model.kind,
            "params": dict(settings.model.params),
            "requested": settings.model.id,
            "answered": [],
            "structured_output": settings.model.structured_output,
            "seed_sent": settings.model.send_seed,
            "free": settings.model.free or settings.model.kind == "recorded",
        },
        "language": str(settings.language["code"]),
        "dataset": dataset_facts(plan),
        "repeats": options.seeds,
        "limit": settings.dataset.limit,
        "margin": options.margin,
        "attribute": options.attribute,
        "baseline": None,
        "sweep": facts["sweep"],
        "name": options.name,
        "notes": list(plan.notes),
    }


def closing_meta(meta: Mapping[str, Any], asked: Asked, *, finished: str, baseline: str | None) -> dict[str, Any]:
    """run.json after the last reply: who answered, how it ended."""
    answered = sorted({reply.model for reply in asked.replies if reply.model})
    return {
        **meta,
        "finished": finished,
        "status": "failed" if asked.error else "interrupted" if asked.interrupted else "finished",
        "lost": sum(reply.error in LOST for reply in asked.replies),
        "error": redact(f"{type(asked.error).__name__}: {asked.error}") if asked.error else None,
        "model": {**meta["model"], "answered": answered},
        "baseline": baseline,
    }


def unfinished_note(plan: Plan, asked: Asked, *, repeats: int, verdicts: int) -> tuple[str, ...]:
    """Said of a run that did not come to its end: what its numbers do not cover."""
    if asked.error is None and not asked.interrupted:
        return ()
    how = "failed" if asked.error else "interrupted"
    wanted = plan.n_items * repeats
    return (f"unfinished ({how}): {verdicts} of {wanted} verdicts are there, and the numbers are of these alone",)


def spend(asked: Asked, *, free: bool) -> dict[str, Any]:
    """Calls and tokens of this run; what came from the store costs nothing now. Unknown stays null, never 0.

    `free`: the model costs nothing, whatever is known of its usage.
    """
    replies = (*asked.replies, *asked.again)
    paid = [reply for reply in replies if not reply.cached]
    # A call that was refused is not billed; what a time-out cost nobody tells.
    costs = [reply.cost_usd for reply in paid if reply.error is None]
    return {
        "calls": len(paid),
        "cached": len(replies) - len(paid),
        "asked_again": len(asked.again),
        "errors": sum(reply.error is not None for reply in replies),
        "input_tokens": _total([reply.usage.input_tokens for reply in replies]),
        "output_tokens": _total([reply.usage.output_tokens for reply in replies]),
        "prefix_cached_tokens": _total([reply.usage.cached_tokens for reply in replies]),
        "cost_usd": _cost(costs, free=free),
        "cost_at_least_usd": _total(costs),
        "saved_usd": _total([reply.cost_usd for reply in replies if reply.cached]),
        "seconds_of_model": _total([reply.latency_s for reply in paid]),
    }


def summary_json(
    meta: Mapping[str, Any],
    summary: Summary,
    asked: Asked,
    *,
    read: Readings,
    attacks: AttackScores | None,
    comparison: Comparison | None,
    baseline: str | None,
) -> dict[str, Any]:
    """summary.json: the keys that scripts rely on, then everything of the Summary."""
    whole = asdict(summary)
    return {
        "run_id": meta["run_id"],
        "judge": meta["judge"],
        "prompt": meta["prompt"],
        "model": meta["model"]["name"],
        "language": meta["language"],
        "dataset": meta["dataset"],
        **whole,
        "confusion_columns": [*summary.labels, "no_verdict"],
        "baselines": {entry["name"]: entry for entry in whole["baselines"]},
        "readings": asdict(read),
        "attacks": None if attacks is None else asdict(attacks),
        "spend": spend(asked, free=bool(meta["model"]["free"])),
        "diff": None if comparison is None else diff_json(comparison, baseline=baseline),
    }


def diff_json(comparison: Comparison, *, baseline: str | None) -> dict[str, Any]:
    """The score diff against the baseline, short: after − before, with intervals and the verdict."""
    differences = {
        entry.statistic: {
            "before": entry.before,
            "after": entry.after,
            "difference": entry.difference.value,
            "low": entry.difference.low,
            "high": entry.difference.high,
            "smallest_visible": entry.smallest_visible,
            "p_value": entry.p_value,
            "verdict": entry.verdict,
        }
        for entry in comparison.differences
    }
    return {
        "baseline": baseline,
        "n_items": comparison.n_items,
        **differences,
        "fixed": comparison.counts.fixed,
        "broken": comparison.counts.broken,
        "moved": comparison.counts.moved,
        "undecided": comparison.counts.undecided,
        "up": comparison.counts.up,
        "down": comparison.counts.down,
    }


def _cost(costs: list[float | None], *, free: bool) -> float | None:
    if free:
        return 0.0
    return None if None in costs else sum(cost for cost in costs if cost is not None)


def _total(values: list[Any]) -> float | int | None:
    known = [value for value in values if value is not None]
    return sum(known) if known else None
