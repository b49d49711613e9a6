"""What a run ran on: git commit and dirtiness, versions, the command, the clock, a new run id."""

from __future__ import annotations

import platform
import re
import secrets
import shlex
import subprocess
import sys
from collections.abc import Iterable
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import eva
from eva.edges.compose import CONF
from eva.edges.secrets import redact

ROOT = CONF.parent
"""The checkout: relative state paths start here, so that runs from any folder land in one place."""
PACKAGES = ("hydra-core", "litellm", "mlflow", "numpy", "pandas", "scikit-learn", "scipy", "xllamacpp", "aiohttp")


def now() -> str:
    """UTC, ISO 8601, to the millisecond."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")


def new_run_id(parts: Iterable[str]) -> str:
    """Readable, sortable by what was run, unique: no two runs share a folder even in the same second."""
    words = [re.sub(r"[^A-Za-z0-9.]+", "_", part).strip("_") or "x" for part in parts if part]
    stamp = datetime.now(UTC).strftime("%Y%m%dT%H%M%S")
    return "-".join([*words, stamp, secrets.token_hex(3)])


def git_state() -> dict[str, Any]:
    """Commit and whether tracked files differ from it; nulls outside a checkout."""
    commit = _git("rev-parse", "HEAD")
    changed = _git("status", "--porcelain", "--untracked-files=no") if commit else None
    return {"commit": commit or None, "dirty": None if changed is None else bool(changed)}


def versions() -> dict[str, str]:
    """Of Python, eva and the libraries that can change a number."""
    found = {"python": platform.python_version(), "eva": eva.__version__}
    for package in PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            found[package] = "absent"
    return found


def command(overrides: Iterable[str] | None = None) -> str:
    """The command that makes this run again, without secrets and without the place of this machine's runs."""
    words = ["python", Path(sys.argv[0]).name, *sys.argv[1:]]
    if overrides is not None:
        own = [word for word in overrides if not word.startswith("home=")]
        # A question of the lab book is a config of its own, in a folder that Hydra has to be told of.
        lab_book = ["--config-dir", "experiments"] if any("@_global_=" in word for word in own) else []
        words = ["python", "run.py", *lab_book, *own]
    return redact(" ".join(shlex.quote(word) for word in words))


def _git(*arguments: str) -> str | None:
    try:
        done = subprocess.run(  # noqa: S603  # fixed program, our own arguments
            ["git", "-C", str(ROOT), *arguments],  # noqa: S607  # git is where the user's PATH has it
            capture_output=True,
            text=True,
            encoding="utf-8",
            timeout=10,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.strip() if done.returncode == 0 else None
