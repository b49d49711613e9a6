"""Compiled prompts in MLflow's prompt registry: one version a content, the release's summary as commit message."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from eva.edges.tracking.client import Store
from eva.edges.tracking.folder import RunFolder
from eva.edges.tracking.names import prompt_name
from eva.edges.tracking.stored import StoredPrompt
from eva.prompts.lock import version_order

LONGEST_TEXT = 100_000
"""Characters that a version's text may have in MLflow."""
RELEASED, CANDIDATE = "released", "candidate"


@dataclass(frozen=True)
class PromptText:
    """One compiled prompt of a run: languages and pipelines differ."""

    name: str
    text: str
    message: str
    tags: Mapping[str, str]
    alias: str | None
    """None for a text that no release holds: one edited on the command line."""

    @property
    def sha256(self) -> str:
        return self.tags["sha256"]


def prompt_texts(folder: RunFolder) -> list[PromptText]:
    """The run's compiled prompts, one per language and pipeline, in the order of prompt_parts.json."""
    run = folder.run
    edited = bool(run.get("prompt_edited"))
    alias = CANDIDATE if run.get("draft", run.get("parent") is not None) else RELEASED
    summary = str(run.get("summary") or run.get("prompt") or "")
    out = []
    for key, parts in folder.parts.items():
        language, _, pipeline = key.partition(".")
        text = "\n\n".join(parts.values())
        tags: dict[str, Any] = {
            "eva.prompt": run.get("prompt"),
            "language": language,
            "pipeline": pipeline or None,
            "parent": run.get("parent"),
            "edited": "true" if edited else None,
            "path": f"conf/prompt/{folder.judge}/{run.get('prompt')}.yaml",
            "git.commit": (run.get("git") or {}).get("commit"),
            "sha256": hashlib.sha256(text.encode()).hexdigest(),
            "eva.prompt_sha256": run.get("prompt_sha256"),
        }
        out.append(
            PromptText(
                name=prompt_name(folder.judge, language, pipeline or "cascade"),
                text=text,
                message=f"{run.get('prompt')}, edited on the command line" if edited else summary,
                tags={key: str(value) for key, value in tags.items() if value},
                alias=None if edited else alias,
            )
        )
    return out


def register(store: Store, prompt: PromptText, *, experiment_id: str) -> StoredPrompt | None:
    """The version that holds this text: found by its sha256, else made. None where MLflow cannot hold so long a text.

    Two processes that make it at once both look again afterwards; the later one removes its own.
    """
    if len(prompt.text) > LONGEST_TEXT:
        return None
    versions = store.prompt_versions(prompt.name)
    found = _of(versions, prompt.sha256)
    if found is None:
        made = store.create_prompt(
            prompt.name, prompt.text, message=prompt.message, tags=prompt.tags, experiment_id=experiment_id
        )
        versions = store.prompt_versions(prompt.name)
        found = _of(versions, prompt.sha256) or StoredPrompt(prompt.name, made, dict(prompt.tags))
        if found.version != made:
            store.delete_prompt_version(prompt.name, made)
    _point(store, prompt, found, versions)
    return found


def _of(versions: Sequence[StoredPrompt], sha256: str) -> StoredPrompt | None:
    """The oldest version of this content."""
    return next((row for row in versions if row.tags.get("sha256") == sha256), None)


def _point(store: Store, prompt: PromptText, found: StoredPrompt, versions: Sequence[StoredPrompt]) -> None:
    """Move the alias here, unless it already stands at a later release: measuring v1 again does not un-release v2."""
    if prompt.alias is None:
        return
    there = store.aliased(prompt.name, prompt.alias)
    holder = next((row for row in versions if row.version == there), None)
    if holder is None or _order(holder) < _order(found):
        store.set_alias(prompt.name, prompt.alias, found.version)


def _order(row: StoredPrompt) -> tuple[tuple[int, str], int]:
    """v2 before v10; among texts of one release the later registered."""
    return version_order(row.tags.get("eva.prompt", "")), row.version
