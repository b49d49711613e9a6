"""Which run a run is set against: one that differs in the prompt and in nothing else."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from eva.edges import runs
from eva.edges.compose import compose
from eva.edges.runs import RunFolder
from eva.edges.settings import Settings, settings_from
from eva.errors import ConfigError

SAME = ("judge", "language", "task")
"""Entries of run.json that must be equal."""
SAME_DIGESTS = ("model", "dataset")
"""Digests of run.json that must be equal: model and parameters, dataset content."""
NOT_THE_PARENTS = ("prompt", "without", "baseline", "dry_run")
"""Settings that the baseline does not take over from the command line."""


def parent_version(prompt: Mapping[str, Any]) -> str | None:
    """The version that this prompt is compared with: its release's parent."""
    parent = prompt["release"].get("parent")
    return None if parent is None else str(parent)


def edits(overrides: tuple[str, ...]) -> tuple[str, ...]:
    """The overrides that change the prompt's text."""
    kept = [o for o in overrides if o.lstrip("+~").startswith("prompt.") or o.startswith("without=")]
    return tuple(edit for edit in kept if edit != "without=null")


def is_edited(overrides: tuple[str, ...]) -> bool:
    """Whether the command line changes the prompt's text (a rule switched off): then it is not the released version."""
    return bool(edits(overrides))


def find_baseline(home: Path, meta: Mapping[str, Any], *, version: str) -> RunFolder | None:
    """The newest finished run of `version` that is like `meta` in all but the prompt."""
    fitting = [
        run
        for run in runs.all_runs(home)
        if run.meta.get("status") == "finished"
        and not run.meta.get(
            "lost"
        )  # calls that no reply came to: an outage is no baseline; the same command asks them again
        and run.meta.get("prompt") == version
        and run.meta.get("prompt_edited") is not True
        and run.run_id != meta.get("run_id")
        and all(run.meta.get(key) == meta.get(key) for key in SAME)
        and all(run.meta["digests"].get(key) == meta["digests"].get(key) for key in SAME_DIGESTS)
    ]
    return fitting[-1] if fitting else None


def parent_overrides(overrides: tuple[str, ...], *, version: str) -> tuple[str, ...]:
    """The command line of the baseline: the same, with the parent's prompt as it was released."""
    kept = [
        override
        for override in overrides
        if override.lstrip("+~").split("=", 1)[0].split(".", 1)[0].split("@", 1)[0] not in NOT_THE_PARENTS
    ]
    return (*kept, f"prompt={version}", "baseline=none")


def resolve(
    settings: Settings,
    meta: Mapping[str, Any],
    *,
    home: Path,
    overrides: tuple[str, ...],
    run_parent: Callable[[Settings, tuple[str, ...]], RunFolder],
    say: Callable[[str], None],
) -> RunFolder | None:
    """The baseline that `baseline=` asks for.

    `auto`: the newest fitting run of the parent version; where there is none, a free model makes one, a paid one is told the
    command. `run`: makes the parent's run (stored replies cost nothing). `none`: none. Else: a run id.
    """
    wanted = settings.options.baseline
    if wanted == "none":
        return None
    if wanted not in ("auto", "run"):
        return runs.find_run(home, wanted)
    edited = bool(meta.get("prompt_edited"))
    version = str(meta["prompt"]) if edited else parent_version(settings.prompt)
    if version is None:
        say(f"no baseline: prompt {meta['prompt']} has no parent version")
        return None
    found = find_baseline(home, meta, version=version) if wanted == "auto" else None
    if found is not None:
        return found
    own = parent_overrides(overrides, version=version)
    if settings.model.kind == "recorded":
        _needs_own_recording(version, wanted, say=say)
        return None
    if wanted == "run" or settings.model.free:
        why = (
            "judging it first"
            if wanted == "run"
            else "none like this one is there, the model is free: judging it first"
        )
        say(f"baseline {version}: {why}")
        return run_parent(settings_from(compose(own)), own)
    say(
        f"no baseline: no finished run of {version} with this model, language and data. This makes one:\n"
        f"  python run.py {' '.join(shlex.quote(override) for override in own[:-1])}"
    )
    return None


def _needs_own_recording(version: str, wanted: str, *, say: Callable[[str], None]) -> None:
    """Replies recorded for one prompt say nothing about another, so no baseline is made from them."""
    text = f"replies recorded with {version} are needed: python run.py prompt={version} model=recorded model.path=<their file>"
    if wanted == "run":
        raise ConfigError(f"baseline=run with model=recorded: {text}, then baseline=auto.")
    say(f"no baseline: {text}")
