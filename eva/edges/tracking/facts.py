"""run.json as params and tags, within MLflow's limits.

Params are write-once, so they hold only what defines the experiment; whatever may differ between two attempts at the
same run (status, versions, git, command) is a tag. Long text goes into artifacts, never into either.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from eva.edges.tracking.folder import RunFolder
from eva.edges.tracking.names import slug

TAG_CHARS = 5000
"""MLflow cuts a param at 6,000 characters and a tag at 8,000 with a warning; ours say that they are cut."""
DATASET_DIGEST_CHARS = 36
"""MLflow's limit; the whole sha256 is the tag `eva.dataset.sha256`."""
STATUS = {"finished": "FINISHED", "interrupted": "KILLED", "running": "KILLED", "failed": "FAILED"}
PAGE_IS_EVALUATION = {"mlflow.runType": "genai_evaluate"}


def params(folder: RunFolder) -> dict[str, str]:
    """What defines the run: judge, prompt, model and its parameters, language, dataset, repeats, digests."""
    run = folder.run
    dataset = run.get("dataset") or {}
    model = run.get("model") or {}
    pairs: dict[str, Any] = {
        "judge": run.get("judge"),
        "prompt": run.get("prompt"),
        "parent": run.get("parent"),
        "model": model.get("name"),
        "model.id": model.get("id"),
        "model.kind": model.get("kind"),
        "language": run.get("language"),
        "dataset": dataset.get("name"),
        "dataset.items": dataset.get("items"),
        "repeats": run.get("repeats"),
        "identity": run.get("identity"),
    }
    pairs |= {f"model.{slug(str(key))}": value for key, value in (model.get("params") or {}).items()}
    pairs |= {f"digest.{slug(str(key))}": value for key, value in (run.get("digests") or {}).items()}
    return _texts(pairs)


def tags(folder: RunFolder) -> dict[str, str]:
    """What is said about the run: ids, git, versions, status, models that answered. All start with `eva.`."""
    run = folder.run
    model, dataset, git = run.get("model") or {}, run.get("dataset") or {}, run.get("git") or {}
    pairs: dict[str, Any] = {
        "eva.run_id": folder.run_id,
        "eva.status": folder.status,
        "eva.judge": folder.judge,
        "eva.prompt": run.get("prompt"),
        "eva.prompt_edited": "true" if run.get("prompt_edited") else None,
        "eva.prompt_sha256": run.get("prompt_sha256"),
        "eva.model.requested": model.get("requested") or model.get("id"),
        "eva.model.answered": ", ".join(map(str, model.get("answered") or ())),
        "eva.language": run.get("language"),
        "eva.dataset": dataset.get("name"),
        "eva.dataset.sha256": dataset.get("sha256"),
        "eva.dataset.reader": dataset.get("reader"),
        "eva.identity": run.get("identity"),
        "eva.baseline": folder.baseline,
        "eva.task": run.get("task"),
        "eva.sweep": run.get("sweep"),
        "eva.command": run.get("command"),
        "eva.folder": folder.path.name,
        "eva.created": run.get("created"),
        "eva.finished": run.get("finished"),
        "eva.verdict": headline_verdict(folder.comparison),
        "mlflow.source.name": "eva",
        "mlflow.source.git.commit": git.get("commit"),
        "eva.git.dirty": git.get("dirty"),
    }
    pairs |= {f"eva.version.{slug(str(key))}": value for key, value in (run.get("versions") or {}).items()}
    return _texts(pairs)


def dataset_input(folder: RunFolder) -> dict[str, str]:
    """The run's dataset as MLflow shows it among its inputs: name, short digest, where it came from, counts."""
    dataset = folder.run.get("dataset") or {}
    counts = {key: dataset.get(key) for key in ("records", "items", "clusters", "classes", "sha256")}
    return {
        "name": str(dataset.get("name") or "dataset"),
        "digest": str(dataset.get("sha256") or "unknown")[:DATASET_DIGEST_CHARS],
        "source": json.dumps({"uri": str(dataset.get("reader") or dataset.get("name"))}),
        "profile": json.dumps(counts, ensure_ascii=False),
    }


def headline_verdict(comparison: Mapping[str, Any] | None) -> str | None:
    """The word of the first difference (accuracy, or mean score without labels); None without a comparison."""
    rows = (comparison or {}).get("differences") or ()
    return f"{rows[0]['statistic']}: {rows[0]['verdict']}" if rows else None


def repeat_tags(folder: RunFolder, repeat: int) -> dict[str, str]:
    """Tags of the child run of one repeat."""
    return _texts({"eva.parent_run_id": folder.run_id, "eva.repeat": repeat, "eva.judge": folder.judge})


def _texts(pairs: Mapping[str, Any]) -> dict[str, str]:
    return dict(_kept(pairs))


def _kept(pairs: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for key, value in pairs.items():
        if value is None or value == "":
            continue
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        if len(text) > TAG_CHARS:
            text = f"{text[: TAG_CHARS - 40]} … cut; whole in the run's artifacts"
        yield key, text
