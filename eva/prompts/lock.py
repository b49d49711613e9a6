"""The version lock: a released prompt's compiled text never changes without a new version.

`conf/prompt/lock.json` holds, by judge and version, the digest of every compiled text and of the files behind it. What a change
is checked against is the lock of the base revision, so that regenerating the file in the same step proves nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from eva.types import CompiledPrompt

Lock = Mapping[str, Mapping[str, Mapping[str, Any]]]
"""judge → version → {draft, parent, texts: {language.pipeline: sha256}, sources: {file: sha256}}."""


@dataclass(frozen=True)
class Version:
    """One version of one judge's prompt with everything that it compiles to."""

    judge: str
    name: str
    parent: str | None
    draft: bool
    compiled: Mapping[str, CompiledPrompt]
    """By `language.pipeline`."""
    sources: Mapping[str, str]
    """File below conf/ → sha256: the version's own, its ancestors', fragments', languages'."""


def lock_of(versions: Iterable[Version]) -> dict[str, Any]:
    """The lock that these versions make, in stable order."""
    lock: dict[str, Any] = {}
    for version in sorted(versions, key=lambda one: (one.judge, one.name)):
        lock.setdefault(version.judge, {})[version.name] = {
            "draft": version.draft,
            "parent": version.parent,
            "texts": {key: version.compiled[key].sha256 for key in sorted(version.compiled)},
            "sources": dict(sorted(version.sources.items())),
        }
    return lock


def against_base(base: Lock, current: Lock) -> list[str]:
    """Why the current prompts may not follow the base: released text that changed or vanished, naming what is behind it."""
    problems: list[str] = []
    for judge, versions in base.items():
        for name, was in versions.items():
            if was["draft"]:
                continue
            now = current.get(judge, {}).get(name)
            if now is None:
                problems.append(f"{judge}/{name} was released and is gone: restore it, or keep it beside a new version")
            elif now["draft"]:
                problems.append(
                    f"{judge}/{name} was released and is now marked draft: a release cannot be taken back; add a new version"
                )
            else:
                problems += _changed(judge, name, was, now)
    return problems


def by_itself(current: Lock, written: Lock) -> list[str]:
    """What is wrong without any base: a lock file that is not up to date, a release that stands on a draft."""
    problems = []
    if _plain(current) != _plain(written):
        stale = sorted(
            f"{judge}/{name}"
            for judge in {*current, *written}
            for name in {*current.get(judge, {}), *written.get(judge, {})}
            if _plain(current.get(judge, {}).get(name)) != _plain(written.get(judge, {}).get(name))
        )
        problems.append(
            f"conf/prompt/lock.json is not up to date for {', '.join(stale)}: run `make golden` and commit it"
        )
    for judge, versions in current.items():
        for name, version in versions.items():
            parent = versions.get(version["parent"] or "")
            if parent and parent["draft"] and not version["draft"]:
                problems.append(
                    f"{judge}/{name} is released and stands on the draft {version['parent']}: release that first, or mark "
                    "both draft"
                )
        newest = max(versions, key=version_order, default=None)
        released = [name for name in versions if not versions[name]["draft"]]
        if newest and versions and not released:
            problems.append(
                f"{judge}: every version is a draft; the newest released version is what people compare with"
            )
    return problems


def changed_judges(base: Lock, current: Lock) -> dict[str, tuple[str | None, str]]:
    """Judges with something new to validate: judge → (version before, version after)."""
    found: dict[str, tuple[str | None, str]] = {}
    for judge, versions in current.items():
        was = base.get(judge, {})
        fresh = [name for name in versions if name not in was or was[name]["texts"] != versions[name]["texts"]]
        if fresh:
            newest = max(fresh, key=version_order)
            found[judge] = (versions[newest]["parent"], newest)
    return found


def version_order(name: str) -> tuple[int, str]:
    """v2 before v10."""
    digits = "".join(char for char in name if char.isdigit())
    return int(digits or 0), name


def _changed(judge: str, name: str, was: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
    keys = sorted(key for key in was["texts"] if was["texts"][key] != now["texts"].get(key))
    if not keys:
        return []
    files = sorted(
        file for file in {*was["sources"], *now["sources"]} if was["sources"].get(file) != now["sources"].get(file)
    )
    shown = ", ".join(keys[:6]) + (f" and {len(keys) - 6} more" if len(keys) > 6 else "")
    problem = (
        f"{judge}/{name} is released and its compiled text changed for {shown}. Behind it: {', '.join(files) or 'the compiler'}. "
        f"Leave {name} as it was and put the change into a new version (conf/prompt/{judge}/…, defaults: [{name}, _self_])."
    )
    return [problem]


def _plain(value: Any) -> Any:
    return {key: _plain(inner) for key, inner in value.items()} if isinstance(value, Mapping) else value
