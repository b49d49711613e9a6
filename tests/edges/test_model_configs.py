"""conf/model: every file is a whole model, says nothing that ModelSpec does not know, and passes pre-flight."""

from __future__ import annotations

import dataclasses
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from eva.edges.clients import KINDS
from eva.edges.preflight import prepare
from eva.types import ModelSpec

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "conf" / "model"
NAMES = sorted(path.stem for path in FOLDER.glob("[!_]*.yaml"))
FIELDS = {field.name for field in dataclasses.fields(ModelSpec)}


def read(name: str) -> dict[str, Any]:
    values: dict[str, Any] = yaml.safe_load((FOLDER / f"{name}.yaml").read_text(encoding="utf-8"))
    values.pop("defaults", None)
    return values


def spec_of(name: str, **given: Any) -> ModelSpec:
    values = {**read("_base"), **read(name), **given}
    assert "???" not in values.values(), name
    return ModelSpec(**{**values, "allow_dropped": tuple(values["allow_dropped"])})


def test_the_base_names_every_field_with_a_comment_and_no_other() -> None:
    assert set(read("_base")) == FIELDS
    lines = (FOLDER / "_base.yaml").read_text(encoding="utf-8").splitlines()
    assert all(" # " in line for line in lines if line and not line.startswith("#"))


@pytest.mark.parametrize("name", NAMES)
def test_each_file_is_named_as_its_model_and_states_only_what_differs(name: str) -> None:
    values, base = read(name), read("_base")
    assert values["name"] == name
    assert values["kind"] in KINDS
    assert set(values) <= FIELDS
    assert not [key for key in values if key in base and base[key] == values[key]]


NEEDED: dict[str, dict[str, Any]] = {
    "endpoint": {"id": "x", "api_base": "http://localhost:8000/v1"},
    "litellm": {"id": "openai/gpt-5.2", "key_env": "OPENAI_API_KEY"},
    "recorded": {"path": str(FOLDER / "_base.yaml")},
}


@pytest.mark.parametrize("name", NAMES)
def test_each_model_passes_pre_flight_with_nothing_dropped(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY"):
        monkeypatch.setenv(variable, "sk-canary-1234567890")
    spec = spec_of(name, **NEEDED.get(name, {}))
    found = prepare(spec, "audio" if spec.audio else "text")
    assert found.dropped == ()
    assert found.spec == spec
    assert (found.structured in ("json_schema", "grammar")) == (spec.structured_output and name != "scripted")


def test_asking_needs_no_slow_library() -> None:
    """litellm takes seconds to import, and xllamacpp loads a runtime: only the kind that uses them does so."""
    code = "import sys, eva.edges.ask, eva.edges.clients, eva.edges.preflight, eva.edges.store_care;"
    code += "print([name for name in ('litellm', 'xllamacpp', 'mlflow', 'hydra', 'aiohttp') if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
