"""Which of our errors a provider's refusal becomes, whatever its wording, and what of its words is kept."""

from __future__ import annotations

import email.utils
import time

import pytest

from eva.edges.clients.contract import RecordFailure, Transient
from eva.edges.clients.refusals import LONGEST_ERROR, clean, error_for, http_status, retry_after
from eva.errors import CredentialsError, ModelError, QuotaError
from eva.types import Failure


@pytest.mark.parametrize(
    ("status", "words"),
    [
        (
            400,
            "This model's maximum context length is 128000 tokens. However, your messages resulted in 130001 tokens.",
        ),
        (400, "Input tokens exceed the configured limit of 272000 tokens. Your messages resulted in 400000 tokens."),
        (400, "prompt is too long: 210000 tokens > 200000 maximum"),
        (400, "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576)."),
        (400, "request (10031 tokens) exceeds the available context size (8192 tokens), try increasing it"),
        (400, "exceed_context_size_error"),
        (400, "Prompt contains 40000 tokens ... too large for model with 32768 maximum context length"),
        (400, "The input (9000 tokens) is longer than the model's context length (8192 tokens)."),
        (400, "Input is too long for requested model."),
        (413, "Payload Too Large"),
    ],
)
def test_too_long_is_known_however_it_is_worded(status: int, words: str) -> None:
    """C47."""
    error = error_for(status, words)
    assert isinstance(error, RecordFailure)
    assert error.failure == Failure.TOO_LONG


@pytest.mark.parametrize(
    ("status", "words", "kind"),
    [
        (401, "Incorrect API key provided", CredentialsError),
        (403, "Forbidden", CredentialsError),
        (400, "API key not valid. Please pass a valid API key.", CredentialsError),
        (404, "The model `gpt-9` does not exist or you do not have access to it.", ModelError),
        (404, "models/gemini-9 is not found for API version v1beta", ModelError),
        (400, "invalid model ID", ModelError),
        (429, "You exceeded your current quota, please check your plan", QuotaError),
        (429, "insufficient_quota", QuotaError),
        (402, "anything", QuotaError),
        (400, "Your credit balance is too low to access the Anthropic API.", QuotaError),
        (429, "Rate limit reached for requests", Transient),
        (500, "internal", Transient),
        (529, "overloaded_error", Transient),
        (408, "timeout", Transient),
        (307, "moved", ModelError),
    ],
)
def test_each_refusal_has_one_meaning(status: int, words: str, kind: type[Exception]) -> None:
    assert type(error_for(status, words)) is kind


@pytest.mark.parametrize(
    ("words", "failure"),
    [
        ("The response was filtered by Azure OpenAI's content management policy.", Failure.FILTERED),
        ("content_policy_violation", Failure.FILTERED),
        ("Your input was flagged by our moderation system", Failure.FILTERED),
        ("Unsupported value: 'temperature' does not support 0", Failure.BAD_REQUEST),
        ("Invalid schema for response_format 'reply': property 'flagged' is missing", Failure.BAD_REQUEST),
    ],
)  # fmt: skip
def test_a_400_fails_its_record_only(words: str, failure: Failure) -> None:
    error = error_for(400, words)
    assert isinstance(error, RecordFailure)
    assert error.failure == failure


def test_an_echo_of_the_record_does_not_stop_the_run() -> None:
    """A caller of a bank says "insufficient quota"; a validation error quotes it far behind its own words."""
    echo = (
        "1 validation error for Request: body.messages.0.content: " + "x" * 500 + " insufficient_quota invalid_api_key"
    )
    error = error_for(400, echo)
    assert isinstance(error, RecordFailure)
    assert error.failure == Failure.BAD_REQUEST


def test_only_rate_limits_and_overload_slow_everybody_down() -> None:
    limited = [getattr(error_for(status, "x"), "limited", None) for status in (429, 503, 529, 500, 502, 408)]
    assert limited == [True, True, True, False, False, False]


def test_words_are_kept_in_one_short_line_without_markup_or_key() -> None:
    """C89, C93: an error may echo the whole request, and the key."""
    page = "<!DOCTYPE html><html><style>p{color:red}</style><body><h1>502 Bad\nGateway</h1></body></html>"
    assert clean(page) == "HTML page: 502 Bad Gateway"
    assert len(clean("data:" + "A" * 20_000_000)) <= LONGEST_ERROR + 2
    leak = "Client error '404 Not Found' for url 'https://x/v1beta/models/m:generateContent?key=AIzaSyTESTTESTTEST'"
    assert "AIza" not in clean(leak)
    assert "404 Not Found" in clean(leak)


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"Retry-After": "2"}, 2.0),
        ({"retry-after": "0.5"}, 0.5),
        ({"retry-after-ms": "250", "Retry-After": "9"}, 0.25),
        ({"Retry-After": "-3"}, 0.0),
        ({"Retry-After": "soon"}, None),
        ({"Retry-After": "nan"}, None),
        ({"Retry-After": "inf"}, None),
        ({}, None),
    ],
)
def test_retry_after_is_read_in_all_its_forms(headers: dict[str, str], seconds: float | None) -> None:
    assert retry_after(headers) == seconds


def test_retry_after_may_be_a_date() -> None:
    seconds = retry_after({"Retry-After": email.utils.formatdate(time.time() + 30, usegmt=True)})
    assert seconds == pytest.approx(30, abs=2)
    assert retry_after({"Retry-After": "Wed, 21 Oct 2015 07:28:00 GMT"}) == 0.0
    assert retry_after({"Retry-After": "Sun, 06 Nov 99999 08:49:37 GMT"}) is None


def test_a_date_without_a_zone_is_utc(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    time.tzset()
    try:
        at = email.utils.formatdate(time.time() + 30, usegmt=True).replace("GMT", "-0000")
        assert retry_after({"Retry-After": at}) == pytest.approx(30, abs=2)
    finally:
        monkeypatch.undo()
        time.tzset()


def test_what_a_terminal_obeys_is_spelled_out() -> None:
    """A provider's words reach terminals and logs: they may not clear, colour, rename or turn them round."""
    said = clean("no \x1b]0;title\x07\x1b[2J\x9b31m \u202egnp.exe\ud800 \u0915\u094d\u200d\u0937")
    assert said == r"no \x1b]0;title\x07\x1b[2J\x9b31m \u202egnp.exe\ud800 " + "\u0915\u094d\u200d\u0937"


@pytest.mark.parametrize("page", ["", "<!DOCTYPE html>"])
def test_no_half_of_a_key_stands_where_an_error_is_cut(page: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """C93: looked for before the cut; a piece of it after that would be no shape that one knows."""
    monkeypatch.setenv("OPENAI_API_KEY", "qwertzuiopasdfghjkl-0815")
    for blanks in range(19_960, 20_001, 3):
        assert "qwert" not in clean(f"{page}no{' ' * blanks}qwertzuiopasdfghjkl-0815 tail")


@pytest.mark.parametrize(
    ("code", "status"),
    [(429, 429), ("503", 503), (503.0, 503), (float("inf"), 0), (float("nan"), 0), ("1302", 0), (1302, 0), (True, 0),
     ("overloaded", 0), (None, 0), ([500], 0), (-1, 0), ("9" * 5000, 0)],
)  # fmt: skip
def test_a_status_is_one_of_http_or_none(code: object, status: int) -> None:
    assert http_status(code) == status
