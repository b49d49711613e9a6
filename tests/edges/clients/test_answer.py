"""An answer is kept as it came: nothing read into it, nothing lost, and unknown counts stay unknown."""

from __future__ import annotations

from typing import Any

import pytest

from eva.edges.clients.answer import reply_from, usage_from
from eva.edges.clients.contract import RecordFailure, Transient
from eva.types import Reply, Usage
from tests.stub_server.samples import make_request


def read(answer: dict[str, Any]) -> Reply:
    return reply_from(answer, make_request("r1"), 2, latency_s=0.1, client="c 1")


def message(**values: Any) -> dict[str, Any]:
    return {"choices": [{"message": values, "finish_reason": "stop"}], "model": "m-2026-01-01"}


def test_the_reply_carries_what_was_asked_and_who_answered() -> None:
    """C56: the model that answered is stored per call."""
    reply = read(message(content='{"rating": 2}'))
    assert (reply.record_id, reply.repeat, reply.text, reply.finish_reason, reply.model, reply.client) == (
        "r1", 2, '{"rating": 2}', "stop", "m-2026-01-01", "c 1"
    )  # fmt: skip
    assert reply.digest == make_request("r1").digest
    assert reply.created


def test_an_answer_in_a_tool_call_is_kept_apart() -> None:
    """C55."""
    call = {"function": {"name": "json_tool_call", "arguments": '{"rating": 2}'}}
    reply = read(message(content=None, tool_calls=[call]))
    assert (reply.text, reply.tool_arguments) == (None, '{"rating": 2}')


def test_reasoning_is_kept_apart_from_the_text() -> None:
    reply = read(message(content="x", reasoning_content="maybe 1, no 3"))
    assert (reply.text, reply.reasoning) == ("x", "maybe 1, no 3")


def test_a_refusal_field_becomes_text_with_its_own_finish_reason() -> None:
    """C32."""
    reply = read(message(content=None, refusal="I cannot help with that."))
    assert (reply.text, reply.finish_reason) == ("I cannot help with that.", "refusal")


@pytest.mark.parametrize(
    ("content", "text"),
    [("", ""), (None, None), ([{"type": "text", "text": "a"}, {"type": "x"}, {"text": "b"}], "ab"), (7, None)],
)
def test_content_of_any_form_is_text_or_nothing(content: Any, text: str | None) -> None:
    assert read(message(content=content)).text == text


@pytest.mark.parametrize(
    "answer", [{"choices": []}, {"choices": None}, {"choices": ["x"]}, {"choices": [{"message": 3}]}]
)
def test_an_answer_without_a_message_is_an_empty_reply(answer: dict[str, Any]) -> None:
    assert read(answer).text is None


def test_an_error_that_came_with_200_is_an_error() -> None:
    with pytest.raises(Transient):
        read({"error": {"code": 503, "message": "overloaded"}})
    with pytest.raises(RecordFailure):
        read({"error": {"message": "maximum context length"}, "choices": []})
    with pytest.raises(RecordFailure):
        read({"error": "no"})


def test_usage_is_read_with_its_details_and_unknown_is_none() -> None:
    """C58, C59: an unknown count is never 0."""
    usage = {
        "prompt_tokens": 27147, "completion_tokens": 5,
        "prompt_tokens_details": {"cached_tokens": 27146, "audio_tokens": 3},
        "completion_tokens_details": {"reasoning_tokens": 4},
    }  # fmt: skip
    assert usage_from(usage) == Usage(27147, 5, 27146, 4, 3)
    assert usage_from(None) == Usage()
    assert usage_from({"prompt_tokens": "7", "completion_tokens": True, "prompt_tokens_details": None}) == Usage()
