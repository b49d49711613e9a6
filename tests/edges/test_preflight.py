"""One look before paid work: what cannot work is said before the first call, and what is really sent is recorded."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from eva.edges.preflight import prepare
from eva.errors import ConfigError, CredentialsError, ModelError
from eva.types import ModelSpec


@pytest.fixture(autouse=True)
def _keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY"):
        monkeypatch.setenv(name, "sk-canary-1234567890")
    monkeypatch.delenv("NO_KEY", raising=False)


def hosted(model_id: str, **changes: Any) -> ModelSpec:
    return ModelSpec(**{"name": "m", "kind": "litellm", "id": model_id, "params": {"max_tokens": 100}, **changes})


def endpoint(**changes: Any) -> ModelSpec:
    values = {"name": "m", "kind": "endpoint", "id": "x", "api_base": "http://localhost:8000/v1"}
    return ModelSpec(**{**values, **changes})


def test_a_parameter_that_is_not_taken_is_an_error_unless_it_may_be_dropped() -> None:
    """C52, C53: never dropped silently; what was dropped is recorded, and the effective model is without it."""
    spec = hosted("anthropic/claude-opus-4-6", send_seed=True)
    with pytest.raises(ConfigError, match=r"does not take seed.*allow_dropped=\[seed\]"):
        prepare(spec)
    found = prepare(hosted("anthropic/claude-opus-4-6", send_seed=True, allow_dropped=("seed",)))
    assert found.dropped == ("seed",)
    assert not found.seed_sent
    assert not found.spec.send_seed
    assert any("seed is not sent" in warning for warning in found.warnings)
    gpt = hosted("openai/gpt-5.2", params={"temperature": 0, "reasoning_effort": "medium"})
    with pytest.raises(ConfigError, match="temperature"):
        prepare(gpt)
    dropped = prepare(
        hosted(
            "openai/gpt-5.2", params={"temperature": 0, "reasoning_effort": "medium"}, allow_dropped=("temperature",)
        )
    )
    assert dropped.spec.params == {"reasoning_effort": "medium"}
    assert "temperature" not in dropped.sent


def test_what_is_sent_is_recorded_under_the_providers_names() -> None:
    found = prepare(hosted("openai/gpt-5.2", structured_output=True, send_seed=True))
    assert found.sent == {"max_completion_tokens": 100}
    assert (found.structured, found.seed_sent) == ("json_schema", True)
    gemini = prepare(hosted("gemini/gemini-3-flash-preview", structured_output=True))
    assert gemini.sent == {"max_output_tokens": 100}
    assert gemini.structured == "json_schema"


def test_an_emulated_contract_is_said_and_does_not_go_with_thinking() -> None:
    """C54: two ways out, never an automatic switch."""
    found = prepare(hosted("anthropic/claude-3-7-sonnet-20250219", structured_output=True))
    assert found.structured == "tool_call"
    assert any("emulated" in warning for warning in found.warnings)
    thinking = hosted(
        "anthropic/claude-3-7-sonnet-20250219", structured_output=True, params={"max_tokens": 9000, "reasoning_effort": "high"}
    )  # fmt: skip
    with pytest.raises(ConfigError, match=r"structured_output=false.*reasoning_effort"):
        prepare(thinking)
    native = prepare(
        hosted(
            "anthropic/claude-opus-4-6", structured_output=True, params={"max_tokens": 9000, "reasoning_effort": "high"}
        )
    )
    assert native.structured == "json_schema"


def test_a_missing_key_is_said_with_its_variable_unless_nothing_will_be_asked() -> None:
    with pytest.raises(CredentialsError, match="NO_KEY"):
        prepare(hosted("openai/gpt-5.2", key_env="NO_KEY"))
    assert prepare(hosted("openai/gpt-5.2", key_env="NO_KEY"), will_ask=False).spec.id == "openai/gpt-5.2"
    with pytest.raises(CredentialsError, match="NO_KEY"):
        prepare(endpoint(key_env="NO_KEY"))


def test_a_provider_without_its_own_key_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MISTRAL_API_KEY", raising=False)
    with pytest.raises(CredentialsError, match="MISTRAL_API_KEY"):
        prepare(hosted("mistral/mistral-large-latest"))


def test_an_unknown_provider_is_an_error() -> None:
    with pytest.raises(ModelError, match="provider/name"):
        prepare(hosted("gpt-of-nobody"))


def test_sound_needs_a_model_that_hears() -> None:
    with pytest.raises(ConfigError, match="hears"):
        prepare(hosted("openai/gpt-5.2"), "audio")
    assert prepare(hosted("gemini/gemini-3-flash-preview", audio=True), "audio").spec.audio


@pytest.mark.parametrize(
    ("model_id", "warns"),
    [
        ("openai/gpt-5.2-chat-latest", "moves"),
        ("openai/gpt-5.2", "gpt-5.2-2025-12-11"),
        ("openai/gpt-5.2-2025-12-11", None),
    ],
)
def test_names_that_float_are_warned_about(model_id: str, warns: str | None) -> None:
    """C56."""
    warnings = prepare(hosted(model_id)).warnings
    if warns is None:
        assert warnings == ()
    else:
        assert any(warns in warning for warning in warnings)


def test_a_model_without_a_price_is_warned_about() -> None:
    assert any("cost is unknown" in warning for warning in prepare(hosted("openai/of-tomorrow")).warnings)
    assert prepare(hosted("openai/of-tomorrow")).price == "unknown"
    assert prepare(hosted("openai/gpt-5.2")).price.startswith("litellm ")


@pytest.mark.parametrize(
    "changes",
    [
        {"concurrency": 0}, {"max_attempts": 0}, {"timeout_s": 0.0}, {"requests_per_minute": 0}, {"tokens_per_minute": 0},
        {"bounded_strings": 0}, {"params": {"model": "x"}}, {"params": {"n": 3}}, {"params": {"stream": True}},
        {"params": {"api_key": "sk-x"}}, {"params": {"extra_headers": {"Authorization": "Bearer x"}}},
        {"price": {"input": 1.0}}, {"api_base": "localhost:8000"}, {"api_base": None},
        {"api_base": "http://user:secret@localhost/v1"}, {"api_base": "http://localhost/v1?key=abc"},
    ],
)  # fmt: skip
def test_settings_that_cannot_work_are_refused(changes: dict[str, Any]) -> None:
    with pytest.raises(ConfigError) as caught:
        prepare(endpoint(**changes))
    assert "secret" not in str(caught.value)


def test_an_endpoint_sends_its_parameters_as_they_stand() -> None:
    found = prepare(endpoint(params={"temperature": 0.1, "top_k": 5}, structured_output=True, send_seed=True))
    assert found.sent == {"temperature": 0.1, "top_k": 5}
    assert (found.structured, found.seed_sent, found.dropped) == ("json_schema", True, ())


def test_a_key_over_plain_http_to_another_machine_is_warned_about() -> None:
    far = endpoint(api_base="http://models.example/v1", key_env="OPENAI_API_KEY")
    assert any("without encryption" in warning for warning in prepare(far).warnings)
    assert prepare(endpoint(key_env="OPENAI_API_KEY")).warnings == ()


def test_recorded_and_local_files_must_exist(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="no such file"):
        prepare(ModelSpec(name="r", kind="recorded", id="r", path=str(tmp_path / "no.jsonl"), free=True))
    local = prepare(ModelSpec(name="l", kind="local", id="l", structured_output=True, send_seed=True, free=True))
    assert (local.structured, local.seed_sent, local.price) == ("grammar", True, "free")


def test_copies_of_each_other_are_warned_about() -> None:
    found = prepare(endpoint(params={"temperature": 0}, send_seed=True))
    assert any("copies" in warning for warning in found.warnings)
