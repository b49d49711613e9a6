"""The sticky comment against a local stand-in of GitHub's REST API: what is sent, and what is left alone."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from eva.edges.github import HARD_LIMIT, GitHubError, Posted, post_comment
from eva.report import markdown, sections
from tests.report import made

TOKEN = "ghs_0123456789abcdefghijklmnopqrstuvwxyzAB"
BOT = "github-actions[bot]"
MARKER = "<!-- eva-report:judges -->"


class Stub:
    """Comments of one pull request, every request seen, and answers to give instead."""

    def __init__(self) -> None:
        self.comments: list[dict[str, Any]] = []
        self.login: str | None = None
        """None: the token may not ask, as in a workflow."""
        self.requests: list[tuple[str, str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.instead: list[tuple[int, str, dict[str, str]] | None] = []
        """Per request: another answer, or None for the proper one."""
        self.api = ""

    def add(self, body: str, login: str = BOT) -> dict[str, Any]:
        comment = {
            "id": 100 + len(self.comments),
            "body": body,
            "user": {"login": login},
            "html_url": f"https://github.example/c/{100 + len(self.comments)}",
        }
        self.comments.append(comment)
        return comment

    def answer(self, method: str, path: str, body: Any) -> tuple[int, Any]:
        if path == "/user":
            return (
                (403, {"message": "Resource not accessible by integration"})
                if self.login is None
                else (200, {"login": self.login})
            )
        if method == "GET" and path.startswith("/repos/o/r/issues/7/comments?per_page=100&page="):
            page = int(path.rpartition("=")[2])
            return 200, self.comments[(page - 1) * 100 : page * 100]
        if method == "POST" and path == "/repos/o/r/issues/7/comments":
            return 201, self.add(body["body"], self.login or BOT)
        if method == "PATCH" and path.startswith("/repos/o/r/issues/comments/"):
            found = next(c for c in self.comments if c["id"] == int(path.rpartition("/")[2]))
            found["body"] = body["body"]
            return 200, found
        return 404, {"message": "Not Found"}


@pytest.fixture
def stub() -> Iterator[Stub]:
    state = Stub()

    class Handler(BaseHTTPRequestHandler):
        def handle_any(self) -> None:
            length = int(self.headers.get("Content-Length") or 0)
            body = json.loads(self.rfile.read(length)) if length else None
            state.requests.append((self.command, self.path, body))
            state.headers.append(dict(self.headers))
            instead = state.instead.pop(0) if state.instead else None
            if instead is not None:
                status, text, headers = instead
            else:
                status, value = state.answer(self.command, self.path, body)
                text, headers = json.dumps(value), {}
            data = text.encode()
            self.send_response(status)
            for name, value in {"Content-Length": str(len(data)), **headers}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(data)

        do_GET = do_POST = do_PATCH = do_PUT = do_DELETE = handle_any

        def log_message(self, *arguments: Any) -> None:
            """Quiet."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    state.api = f"http://127.0.0.1:{server.server_address[1]}"
    yield state
    server.shutdown()
    server.server_close()
    thread.join()


def post(stub: Stub, body: str = f"{MARKER}\nhello\n", **options: Any) -> Posted:
    given: dict[str, Any] = {"repository": "o/r", "number": 7, "token": TOKEN, "api": stub.api, "sleep": lambda s: None}
    return post_comment(body, **(given | options))


def writes(stub: Stub) -> list[tuple[str, str]]:
    return [(method, path) for method, path, _ in stub.requests if method != "GET"]


def test_posted_twice_is_one_comment(stub: Stub) -> None:
    """Created, then updated, then left as it is."""
    assert post(stub).action == "created"
    changed = post(stub, f"{MARKER}\nchanged\n")
    assert changed == Posted("updated", "https://github.example/c/100")
    assert post(stub, f"{MARKER}\nchanged\n").action == "unchanged"

    assert [comment["body"] for comment in stub.comments] == [f"{MARKER}\nchanged\n"]
    assert writes(stub) == [("POST", "/repos/o/r/issues/7/comments"), ("PATCH", "/repos/o/r/issues/comments/100")]


def test_line_ends_that_github_changes_are_no_change(stub: Stub) -> None:
    """It stores CRLF."""
    stub.add(f"{MARKER}\r\nhello\r\n")

    assert post(stub).action == "unchanged"


@pytest.mark.parametrize(
    ("body", "login"),
    [
        (f"{MARKER}\nmine, says somebody", "octocat"),  # somebody else with our marker
        (f"look: {MARKER}\nhello", BOT),  # the marker is not the first line
        (f"> {MARKER}", BOT),
        ("<!-- eva-report:other -->\nhello", BOT),  # another report's comment
        ("", BOT),
    ],
)
def test_no_other_comment_is_touched(stub: Stub, body: str, login: str) -> None:
    """First line and author must both be ours."""
    stub.add(body, login)

    assert post(stub).action == "created"
    assert stub.comments[0]["body"] == body


def test_a_person_s_token_finds_that_person_s_comment(stub: Stub) -> None:
    """The bot's comment of an earlier workflow run is then somebody else's."""
    stub.add(f"{MARKER}\nby the bot")
    mine = stub.add(f"{MARKER}\nby me", "me")
    stub.login = "me"

    assert post(stub).action == "updated"
    assert mine["body"] == f"{MARKER}\nhello\n"
    assert stub.comments[0]["body"] == f"{MARKER}\nby the bot"


def test_comments_without_an_author_are_nobody_s(stub: Stub) -> None:
    """GitHub gives null for deleted accounts, and null bodies happen."""
    stub.add(f"{MARKER}\nx")["user"] = None
    stub.add("")["body"] = None

    assert post(stub).action == "created"


def test_the_comment_is_found_on_a_later_page(stub: Stub) -> None:
    """A long discussion has more than 100 comments."""
    for n in range(230):
        stub.add(f"talk {n}", "octocat")
    stub.add(f"{MARKER}\nold")

    assert post(stub).action == "updated"
    assert len(stub.comments) == 231


def test_a_real_report_goes_through(stub: Stub) -> None:
    """With hostile text: the next run still finds the comment by its first line."""
    text = markdown.render(sections.comparison_report([made.pair(text=made.HOSTILE)]), key="judges")

    assert post(stub, text).action == "created"
    assert post(stub, text + "more").action == "updated"


def test_what_is_sent(stub: Stub) -> None:
    """The token in its header, the API's version, JSON."""
    post(stub)

    headers = stub.headers[-1]
    assert headers["Authorization"] == f"Bearer {TOKEN}"
    assert headers["X-Github-Api-Version"] == "2022-11-28"
    assert stub.requests[-1] == ("POST", "/repos/o/r/issues/7/comments", {"body": f"{MARKER}\nhello\n"})


def test_reads_are_tried_again_and_writes_are_not(stub: Stub) -> None:
    """A write whose answer is lost may have happened."""
    slept: list[float] = []
    stub.instead = [(502, "<html>bad gateway</html>", {}), None, (503, "", {}), None]
    assert post(stub, sleep=slept.append).action == "created"
    assert slept == [1.0, 1.0]

    stub.comments.clear()
    stub.instead = [None, None, (502, "<html>bad gateway</html>", {})]
    with pytest.raises(GitHubError, match="GitHub answers 502: no readable answer"):
        post(stub)
    assert writes(stub)[1:] == [("POST", "/repos/o/r/issues/7/comments")]


@pytest.mark.parametrize(
    ("status", "message", "words"),
    [
        (401, "Bad credentials", "wrong or has expired"),
        (403, "Resource not accessible by integration", "`pull-requests: write` is needed"),
        (404, "Not Found", "does not exist, or the token may not see it"),
        (422, "Body is too long", "422: Body is too long"),
        (429, "slow down", "rate limit"),
    ],
)
def test_a_refusal_says_what_to_do(stub: Stub, status: int, message: str, words: str) -> None:
    """GitHub's own words, and the way out."""
    stub.instead = [None, (status, json.dumps({"message": message}), {})]

    with pytest.raises(GitHubError) as caught:
        post(stub)
    assert message in str(caught.value)
    assert words in str(caught.value)


def test_no_token_in_any_error(stub: Stub) -> None:
    """Not even when the other side repeats it; nor an escape sequence."""
    stub.instead = [None, (500, json.dumps({"message": f"you sent {TOKEN}\x1b[31m"}), {})] + [
        (500, json.dumps({"message": f"you sent {TOKEN}\x1b[31m"}), {})
    ] * 2

    with pytest.raises(GitHubError) as caught:
        post(stub)
    assert TOKEN not in str(caught.value)
    assert "\x1b" not in str(caught.value)


def test_a_redirect_is_not_followed(stub: Stub) -> None:
    """It would carry the token to another host."""
    stub.instead = [(302, "", {"Location": f"{stub.api}/elsewhere"})]

    with pytest.raises(GitHubError, match="has moved"):
        post(stub)
    assert len(stub.requests) == 1


def test_nobody_there_is_said_after_three_attempts() -> None:
    """A closed port."""
    slept: list[float] = []
    with pytest.raises(GitHubError, match=r"cannot be reached at 127\.0\.0\.1"):
        post_comment(
            f"{MARKER}\nx", repository="o/r", number=7, token=TOKEN, api="http://127.0.0.1:9", sleep=slept.append
        )
    assert slept == [1.0, 2.0]


@pytest.mark.parametrize("repository", ["", "o", "o/r/x", "../..", "o/..", "o/r?x", "o/r#", "o r/x", "-/x\n"])
def test_a_repository_is_owner_and_name(stub: Stub, repository: str) -> None:
    """Nothing else reaches the address."""
    with pytest.raises(GitHubError, match="owner/name"):
        post(stub, repository=repository)
    with pytest.raises(GitHubError, match="number 0"):
        post(stub, number=0)
    assert stub.requests == []


@pytest.mark.parametrize(
    "api",
    ["http://api.github.com", "ftp://x", "file:///etc/passwd", "api.github.com", "https://u:p@h", "https://h?x=1", ""],
)
def test_the_token_goes_out_over_https_only(api: str) -> None:
    """Plain http is for the machine itself."""
    with pytest.raises(GitHubError, match="GITHUB_API_URL"):
        post_comment(f"{MARKER}\nx", repository="o/r", number=7, token=TOKEN, api=api)


@pytest.mark.parametrize("token", ["", "a b", "a\nb", "é" * 20])
def test_a_token_that_cannot_be_one_is_refused(stub: Stub, token: str) -> None:
    """Before anything is sent."""
    with pytest.raises(GitHubError, match="GITHUB_TOKEN"):
        post(stub, token=token)
    assert stub.requests == []


def test_a_body_must_carry_its_marker_and_fit(stub: Stub) -> None:
    """Without the marker the next run would post a second comment."""
    with pytest.raises(ValueError, match="must start with"):
        post(stub, "hello")
    with pytest.raises(ValueError, match="longer than"):
        post(stub, MARKER + "\n" + "x" * HARD_LIMIT)
    assert stub.requests == []
