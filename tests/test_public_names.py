"""What `import eva` promises is there, and `import eva` alone stays cheap."""

from __future__ import annotations

import subprocess
import sys

import pytest

import eva


@pytest.mark.parametrize("name", eva.__all__)
def test_every_public_name_can_be_used(name: str) -> None:
    assert getattr(eva, name) is not None


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = eva.nothing


@pytest.mark.parametrize("start", ["import eva", "from eva.edges.help import help_text; help_text()"])
def test_starting_imports_no_heavy_library(start: str) -> None:
    """`--help` answers without litellm, mlflow, Hydra or pandas."""
    heavy = "{'litellm', 'mlflow', 'hydra', 'omegaconf', 'pandas', 'sklearn', 'xllamacpp'}"
    done = subprocess.run(
        [sys.executable, "-c", f"{start}; import sys; print(sorted({heavy} & set(sys.modules)))"],
        capture_output=True,
        text=True,
        check=True,
    )

    assert done.stdout.strip() == "[]"


def test_settings_are_composed_and_checked() -> None:
    assert eva.settings("judge=conciseness", "prompt=v2", "model=scripted").judge.name == "conciseness"
