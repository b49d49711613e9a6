"""What is sent: messages as they are, parameters as they stand, seed and contract only where the model says so."""

from __future__ import annotations

import array
import base64
import hashlib
import io
import json
import wave
from dataclasses import replace
from pathlib import Path

import pytest

from eva.edges.clients.contract import RecordFailure
from eva.edges.clients.payload import bounded, chat_body
from eva.types import ModelSpec
from tests.stub_server.samples import SCHEMA, make_request, stub_spec

SPEC = stub_spec("http://x/v1", params={"temperature": 0.2, "extra": {"a": 1}}, send_seed=False)
ODD = 'It\'s < $5 & "fine" {{transcript}} {0.__class__} ${HOME} {% raw %} \u2028'


def test_messages_and_parameters_are_sent_as_they_are() -> None:
    """C62, C63."""
    request = make_request("r1", text=ODD)
    body = chat_body(request, 0, SPEC)
    assert body["messages"] == [dict(message) for message in request.messages]
    assert json.loads(json.dumps(body))["messages"][1]["content"].endswith(ODD)
    assert {key: body[key] for key in body if key != "messages"} == {"temperature": 0.2, "extra": {"a": 1}}


def test_the_seed_differs_by_repeat_and_is_sent_only_where_configured() -> None:
    """C53."""
    spec = replace(SPEC, send_seed=True)
    assert [chat_body(make_request("r1"), repeat, spec)["seed"] for repeat in range(3)] == [1, 2, 3]


def test_the_contract_is_sent_only_where_the_model_takes_it() -> None:
    request = make_request("r1", schema=SCHEMA)
    assert "response_format" not in chat_body(request, 0, SPEC)
    sent = chat_body(request, 0, replace(SPEC, structured_output=True))["response_format"]
    assert sent["type"] == "json_schema"
    assert sent["json_schema"]["schema"] == SCHEMA
    assert "response_format" not in chat_body(make_request("r1"), 0, replace(SPEC, structured_output=True))


def test_strings_are_bounded_and_the_order_of_keys_stays() -> None:
    schema = {
        "type": "object",
        "properties": {
            "why": {"type": "string"},
            "note": {"type": ["string", "null"]},
            "short": {"type": "string", "maxLength": 5},
            "label": {"type": "string", "enum": ["a", "b"]},
            "rows": {"type": "array", "items": {"type": "object", "properties": {"text": {"type": "string"}}}},
            "any": {"anyOf": [{"type": "string"}, {"type": "null"}]},
        },
    }
    found = bounded(schema, 60)["properties"]
    assert list(found) == list(schema["properties"])  # type: ignore[call-overload]  # a literal dict
    assert [found[name].get("maxLength") for name in ("why", "note", "short", "label")] == [60, 60, 5, None]
    assert found["rows"]["items"]["properties"]["text"]["maxLength"] == 60
    assert found["any"]["anyOf"][0]["maxLength"] == 60
    assert "maxLength" not in json.dumps(bounded({"type": "string"}, None))


def wav(samples: list[int]) -> bytes:
    data = io.BytesIO()
    with wave.open(data, "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(8000)
        file.writeframes(array.array("h", samples).tobytes())
    return data.getvalue()


LOUD = wav([0, 5000, -5000] * 100)


def audio_spec(tmp_path: Path, data: bytes, name: str = "a.wav") -> tuple[Path, ModelSpec]:
    path = tmp_path / name
    path.write_bytes(data)
    return path, replace(SPEC, audio=True)


def test_sound_is_sent_inline_behind_the_text(tmp_path: Path) -> None:
    path, spec = audio_spec(tmp_path, LOUD)
    digest = hashlib.sha256(LOUD).hexdigest()
    request = replace(make_request("r1"), audio_path=str(path), audio_sha256=digest)
    text, sound = chat_body(request, 0, spec)["messages"][-1]["content"]
    assert text == {"type": "text", "text": request.messages[-1]["content"]}
    assert sound["input_audio"]["format"] == "wav"
    assert base64.b64decode(sound["input_audio"]["data"]) == LOUD


def test_quiet_speech_and_telephone_sound_are_sent(tmp_path: Path) -> None:
    """C96: silence was once taken at -45 dBFS, which cut quiet speech; mu-law is legal WAV."""
    quiet = wav([0, 40, -40] * 100)
    mu_law = quiet[:20] + (7).to_bytes(2, "little") + quiet[22:]
    for data in (quiet, mu_law):
        path, spec = audio_spec(tmp_path, data)
        sound = chat_body(replace(make_request("r1"), audio_path=str(path)), 0, spec)["messages"][-1]["content"][1]
        assert base64.b64decode(sound["input_audio"]["data"]) == data


@pytest.mark.parametrize(
    ("data", "name", "sha256", "words"),
    [
        (b"", "a.wav", None, "empty"),
        (b"x", "a.txt", None, "no known kind"),
        (b"x", "a.wav", "0" * 64, "changed"),
        (b"ID3 and so on", "a.wav", None, "no WAV file"),
        (wav([]), "a.wav", None, "no sound"),
        (wav([0, 1, -1] * 100), "a.wav", None, "silent"),
        (LOUD[:20], "a.wav", None, "broken"),
        (None, "a.wav", None, "cannot be read"),
    ],
)
def test_sound_that_cannot_be_heard_is_said_before_it_is_paid_for(
    tmp_path: Path, data: bytes | None, name: str, sha256: str | None, words: str
) -> None:
    """C96: a rating without hearing is worse than none."""
    path, spec = audio_spec(tmp_path, data or b"", name)
    if data is None:
        path.unlink()
    request = replace(make_request("r1"), audio_path=str(path), audio_sha256=sha256)
    with pytest.raises(RecordFailure, match=words) as caught:
        chat_body(request, 0, spec)
    assert str(tmp_path) not in str(caught.value)
