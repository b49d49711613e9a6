"""The one redactor: no credential leaves, and ordinary text that looks like one stays as it is."""

from __future__ import annotations

import base64

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eva.edges.secrets import MASK, know_key_variable, redact, without_credentials

# Canaries: made up, of the shapes that providers give out.
OPENAI = "sk-proj-Ab3dEf6hIj9lMn2pQr5tUv8x"
ANTHROPIC = "sk-ant-api03-Zy8xWv5uTs2rQp9o-Nm6lKj3i"
GOOGLE = "AIzaSyA1b2C3d4E5f6G7h8I9j0KlMnOpQrStUvW"
GITHUB = "ghp_1a2B3c4D5e6F7g8H9i0J1k2L3m4N5o6P7q8R"
AWS = "AKIAIOSFODNN7EXAMPLE"
JWT = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N"


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        (f"Incorrect API key provided: {OPENAI}.", OPENAI),
        (f"x-api-key: {ANTHROPIC}", ANTHROPIC),
        (f"url 'https://x/v1beta/models/m:generateContent?key={GOOGLE}'", GOOGLE),
        (f"https://x/v1?alt=json&key={GOOGLE}&x=1", GOOGLE),
        (f"Authorization: Bearer {OPENAI}", OPENAI),
        ("Authorization: Bearer abcdef0123456789ABCDEF", "abcdef0123456789ABCDEF"),
        ("{'Authorization': 'Bearer abcdef0123456789ABCDEF'}", "abcdef0123456789ABCDEF"),
        ("Authorization: Basic dXNlcjpwYXNzd29yZDEyMw==", "dXNlcjpwYXNzd29yZDEyMw"),
        ("https://alice:hunter22@host.example/v1", "hunter22"),
        ("postgresql://eva:p%40ss@db:5432/mlflow", "p%40ss"),
        ("https://onlytoken99@host/x", "onlytoken99"),
        ("http://h/x?access_token=qwertyuiop", "qwertyuiop"),
        ('{"api_key": "0123456789abcdef0123"}', "0123456789abcdef0123"),
        ("api-key=0123456789abcdef", "0123456789abcdef"),
        (f"token {GITHUB} end", GITHUB),
        (f"aws {AWS}", AWS),
        (f"cookie {JWT}", JWT),
        (f"{OPENAI}{OPENAI}", OPENAI),
    ],
)
def test_credentials_of_every_shape_go(text: str, secret: str) -> None:
    """C93."""
    assert secret not in redact(text)
    assert MASK in redact(text)
    assert redact(redact(text)) == redact(text)


@pytest.mark.parametrize(
    "text",
    [
        "Your booking code is K7Q2MD and the ticket is 0165550123456.",
        "task-force, disk-usage, ask-me-anything-about-flights-in-2026, risk-adjusted-return-2026-q1-report",
        "sk-", "sk-learn", "sk-SK", "sk-learn-like-API-and-more-words", "sk-learn-2026-notes-for-us",
        "sha256:b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
        "the bearer of this ticket", "Bearer token authentication is supported", "bearer responsibilities",
        "https://example.org/a/b?page=2&keyword=fee#top", "mail me at anna@example.org", "see http://host:8000/v1",
        "user: my key is the brass one", "api_key: see the docs", "the API key variable is OPENAI_API_KEY",
        "ratio 3:4@home", "price://", "AIza", "ghp_short", "é 確 हिन्दी", "", "\ud83d",
        '{"rating": 3, "explanation": "The agent read the token number 42."}',
        "Authorization: required", "SmolLM2-135M-Instruct-Q4_1", "us.anthropic.claude-opus-4-6-v1",
        "model.key_env=OPENAI_API_KEY", "?key=", "monkey=banana12345",
    ],
)  # fmt: skip
def test_ordinary_text_stays_as_it_is(text: str) -> None:
    assert redact(text) == text


def test_the_values_of_known_variables_go_wherever_they_stand(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever a key looks like: its value is known."""
    monkeypatch.setenv("OPENAI_API_KEY", "plain looking words")
    monkeypatch.setenv("MY_TEAMS_KEY", "correct-horse-battery")
    assert redact("a plain looking words b") == f"a {MASK} b"
    assert redact("correct-horse-battery") == "correct-horse-battery"
    know_key_variable("MY_TEAMS_KEY")
    assert redact("x=correct-horse-battery;") == f"x={MASK};"


def test_a_key_in_other_spellings_goes_too(monkeypatch: pytest.MonkeyPatch) -> None:
    """As URLs, JSON and base64 headers spell it."""
    monkeypatch.setenv("OPENAI_API_KEY", "a/b+c=d?e&f g")
    assert "a%2Fb%2Bc%3Dd%3Fe%26f" not in redact("key is a%2Fb%2Bc%3Dd%3Fe%26f%20g here")


def test_a_very_short_value_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Else `OPENAI_API_KEY=test` would riddle every text."""
    monkeypatch.setenv("OPENAI_API_KEY", "test")
    assert redact("a test") == "a test"


@given(st.text())
def test_any_text_is_taken_and_twice_is_the_same_as_once(text: str) -> None:
    assert redact(redact(text)) == redact(text)


@given(st.from_regex(r"[A-Za-z0-9]{20,40}", fullmatch=True))
def test_no_bearer_token_survives(token: str) -> None:
    if any(char.isdigit() for char in token):
        assert token not in redact(f"Authorization: Bearer {token}")


def test_a_long_text_is_quick() -> None:
    """No pattern runs away on what a provider may send: megabytes of one word, of colons, of slashes."""
    import time

    start = time.perf_counter()
    for piece in (
        "a" * 1_000_000,
        "sk-" * 300_000,
        "x://" * 200_000,
        "?key=" * 200_000,
        "bearer " * 150_000,
        "eyJ." * 200_000,
    ):
        redact(piece)
    assert time.perf_counter() - start < 10.0


@pytest.mark.parametrize(
    ("url", "bare"),
    [
        ("https://u:p@h:1/v1?key=a#f", "https://h:1/v1"),
        ("http://h/v1/", "http://h/v1/"),
        ("https://h/a@b", "https://h/a@b"),
        ("not a url", "not a url"),
    ],
)
def test_an_address_is_stored_without_user_and_query(url: str, bare: str) -> None:
    assert without_credentials(url) == bare


def test_a_key_of_a_provider_that_nobody_listed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its library reads the variable by itself, and its error text may show the value."""
    monkeypatch.setenv("FIREWORKS_AI_API_KEY", "fw_3ZabcdEFGH12345678zz")

    assert redact("Incorrect API key provided: fw_3ZabcdEFGH12345678zz.") == "Incorrect API key provided: [redacted]."


@pytest.mark.parametrize("user", ["", "u", "us", "usr", "a longer name"])
def test_a_key_inside_a_basic_auth_header_goes_wherever_it_begins(user: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """C93: base64 spells it in three ways, by what stands before it; no sentence around it is needed to know it."""
    key = "zq9-canary/Key+77aa55"
    monkeypatch.setenv("OPENAI_API_KEY", key)
    for encode in (base64.b64encode, base64.urlsafe_b64encode):
        code = encode(f"{user}:{key}:tail".encode()).decode()
        said = redact(f"got {code} there")
        assert MASK in said
        left = said.removeprefix("got ").removesuffix(" there").split(MASK)
        assert len(left) == 2
        assert len(left[1]) <= len(encode(b":tail")) + 2


def test_a_key_in_an_address_goes_in_small_percent_letters_and_escaped_slashes_too(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "zq9-canary/Key+77aa55")
    for spelled in (
        "zq9-canary%2fKey%2b77aa55",
        "zq9-canary%2FKey%2B77aa55",
        r"zq9-canary\/Key+77aa55",
        "zq9-canary/Key%2B77aa55",
    ):
        assert redact(f"http://h/v1/{spelled}/chat") == f"http://h/v1/{MASK}/chat"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("GET https://h/x?X-Amz-Signature=abcdef0123456789&n=1", f"GET https://h/x?X-Amz-Signature={MASK}&n=1"),
        ("https://h/x?client_secret=abc&refresh_token=def", f"https://h/x?client_secret={MASK}&refresh_token={MASK}"),
        ("Ocp-Apim-Subscription-Key: 0123456789abcdef", f"Ocp-Apim-Subscription-Key: {MASK}"),
        ("{'x-amz-security-token': 'FwoGZXIvYXdzEJr1'}", f"{{'x-amz-security-token': '{MASK}'}}"),
        ("-----BEGIN RSA PRIVATE KEY-----\nMIIEabc\n-----END", f"-----BEGIN RSA PRIVATE KEY-----{MASK}-----END"),
        ("Please read out your signature=yes or no", "Please read out your signature=yes or no"),
        ("private-token: required", "private-token: required"),
        ("the id_token and the client_secret", "the id_token and the client_secret"),
    ],
)
def test_signed_addresses_and_other_headers(text: str, said: str) -> None:
    assert redact(text) == said
    assert redact(said) == said
