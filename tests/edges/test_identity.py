"""A model's identity holds what can change an answer, and nothing else."""

from __future__ import annotations

import dataclasses
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from eva.edges.clients.weights import GGUF_SHA256
from eva.edges.identity import LEFT_OUT, model_identity
from eva.errors import ModelError
from eva.types import ModelSpec

SPEC = ModelSpec(name="m", kind="endpoint", id="x", api_base="http://h/v1", params={"temperature": 0.1})


@pytest.mark.parametrize(
    "changes",
    [
        {"name": "other"}, {"key_env": "K"}, {"concurrency": 99}, {"timeout_s": 1.0}, {"max_attempts": 1},
        {"requests_per_minute": 5}, {"tokens_per_minute": 5}, {"price": {"input": 1.0, "output": 1.0}}, {"free": True},
        {"audio": True}, {"default_limit": 3}, {"allow_dropped": ("seed",)}, {"api_base": "http://u:p@h/v1/?key=abc"},
    ],
)  # fmt: skip
def test_what_cannot_change_an_answer_is_left_out(changes: dict[str, Any]) -> None:
    assert model_identity(replace(SPEC, **changes)) == model_identity(SPEC)


@pytest.mark.parametrize(
    "changes",
    [
        {"id": "y"}, {"api_base": "http://other/v1"}, {"params": {"temperature": 0.2}}, {"send_seed": True},
        {"structured_output": True}, {"bounded_strings": 60}, {"kind": "litellm"},
    ],
)  # fmt: skip
def test_what_can_change_an_answer_is_in(changes: dict[str, Any]) -> None:
    """C37: litellm's own cache leaves several of these out."""
    assert model_identity(replace(SPEC, **changes)) != model_identity(SPEC)


def test_every_field_of_a_model_is_either_in_or_left_out_by_name() -> None:
    """A new field cannot be forgotten: it must be put on one side."""
    inside = set(model_identity(SPEC)) - {"file_sha256"}
    assert inside | set(LEFT_OUT) == {field.name for field in dataclasses.fields(ModelSpec)}
    assert not inside & set(LEFT_OUT)


def test_files_enter_by_their_content_and_not_by_their_name(tmp_path: Path) -> None:
    for name, content in (("a.jsonl", b"x"), ("b.jsonl", b"x"), ("c.jsonl", b"y")):
        (tmp_path / name).write_bytes(content)
    spec = ModelSpec(name="r", kind="recorded", id="r")
    found = [model_identity(replace(spec, path=str(tmp_path / name))) for name in ("a.jsonl", "b.jsonl", "c.jsonl")]
    assert found[0] == found[1] != found[2]
    (tmp_path / "a.jsonl").write_bytes(b"longer")
    assert model_identity(replace(spec, path=str(tmp_path / "a.jsonl"))) not in found
    with pytest.raises(ModelError, match="No such file"):
        model_identity(replace(spec, path=str(tmp_path / "no.jsonl")))


def test_the_default_models_identity_needs_no_download() -> None:
    spec = ModelSpec(name="local", kind="local", id="l", context_tokens=8192)
    assert model_identity(spec)["file_sha256"] == GGUF_SHA256
    assert model_identity(replace(spec, context_tokens=4096)) != model_identity(spec)
    json.dumps(model_identity(spec), allow_nan=False)
