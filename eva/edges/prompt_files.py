"""All prompts of conf/, compiled: every judge, version, language and pipeline; and the files behind each version."""

from __future__ import annotations

import hashlib
import json
import subprocess
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from eva.edges.compose import CONF, choices, compose, languages, read_yaml
from eva.edges.settings import judge_from
from eva.errors import ConfigError
from eva.prompts.compile import compile_prompt
from eva.prompts.lock import Version, lock_of, version_order
from eva.prompts.nodes import PIPELINES
from eva.types import JudgeSpec

LOCK = CONF / "prompt" / "lock.json"
GOLDEN = CONF.parent / "tests" / "golden" / "prompts"


def load_version(judge_name: str, name: str) -> tuple[Version, JudgeSpec, dict[str, Any]]:
    """One version compiled for every language and pipeline; its judge; its composed config."""
    config = compose([f"judge={judge_name}", f"prompt={name}"])
    judge = judge_from(config["judge"])
    known = languages()
    compiled = {
        f"{code}.{pipeline}": compile_prompt(config["prompt"], judge, language=language, pipeline=pipeline)
        for code, language in known.items()
        if code != "auto"
        for pipeline in PIPELINES
    }
    first = compiled["en.cascade"]
    version = Version(
        judge=judge_name,
        name=name,
        parent=first.parent,
        draft=first.draft,
        compiled=compiled,
        sources=_sources(judge_name, name),
    )
    return version, judge, config


def judges_with_prompts() -> tuple[str, ...]:
    return tuple(judge for judge in choices("judge") if choices(f"prompt/{judge}"))


def all_versions(judges: Iterable[str] | None = None) -> list[Version]:
    """Every version of these judges (default: all), oldest first."""
    return [
        load_version(judge, name)[0]
        for judge in (judges or judges_with_prompts())
        for name in sorted(choices(f"prompt/{judge}"), key=version_order)
    ]


def current_lock() -> dict[str, Any]:
    return lock_of(all_versions())


def written_lock() -> dict[str, Any]:
    """conf/prompt/lock.json; empty where there is none."""
    return _lock(LOCK.read_text(encoding="utf-8"), "conf/prompt/lock.json") if LOCK.exists() else {}


def base_lock(ref: str) -> dict[str, Any]:
    """The lock of a git revision; empty where that revision has none. Raises ConfigError for an unknown revision."""
    root = CONF.parent
    known = subprocess.run(  # noqa: S603  # fixed program; the revision is an argument, not a shell word
        ["git", "-C", str(root), "rev-parse", "--verify", "--quiet", "--end-of-options", f"{ref}^{{commit}}"],  # noqa: S607  # user's git
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    if known.returncode:
        raise ConfigError(f"--base {ref!r}: git does not know this revision. In CI, fetch it first (fetch-depth: 0).")
    shown = subprocess.run(  # noqa: S603  # as above
        ["git", "-C", str(root), "show", f"{known.stdout.strip()}:conf/prompt/lock.json"],  # noqa: S607  # user's git
        capture_output=True, text=True, encoding="utf-8", check=False,
    )  # fmt: skip
    return _lock(shown.stdout, f"{ref}:conf/prompt/lock.json") if shown.returncode == 0 else {}


def lock_text(lock: dict[str, Any]) -> str:
    return json.dumps(lock, indent=1, ensure_ascii=False) + "\n"


def _lock(text: str, where: str) -> dict[str, Any]:
    try:
        loaded = json.loads(text)
    except ValueError as error:
        raise ConfigError(f"{where}: {error}. Restore it from git; `make golden` writes it.") from None
    if not isinstance(loaded, dict):
        raise ConfigError(f"{where}: an object is wanted.")
    return loaded


def _sources(judge: str, version: str) -> dict[str, str]:
    """The version's file, the files that its defaults name, theirs, and every language file."""
    found: dict[str, str] = {}
    _add(CONF / "prompt" / judge / f"{version}.yaml", found)
    _add(CONF / "prompt" / f"{version}.yaml", found)
    _add(CONF / "judge" / f"{judge}.yaml", found)
    for code in choices("language"):
        _add(CONF / "language" / f"{code}.yaml", found)
    return found


def _add(path: Path, found: dict[str, str]) -> None:
    name = path.relative_to(CONF).as_posix()
    if name in found or not path.is_file():
        return
    found[name] = hashlib.sha256(path.read_bytes().replace(b"\r\n", b"\n")).hexdigest()[:16]
    for entry in read_yaml(path).get("defaults") or ():
        target = entry if isinstance(entry, str) else next(iter(entry), "")
        target = str(target).split("@", 1)[0]
        if target not in ("_self_", ""):
            _add(
                CONF / f"{target.lstrip('/')}.yaml" if target.startswith("/") else path.parent / f"{target}.yaml", found
            )
