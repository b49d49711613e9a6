"""One sticky comment per pull request, through GitHub's REST API.

The comment is found by its first line (the marker) and by its author: a comment of somebody else that carries the same
marker is never touched. Reads are tried again, writes are not: a comment that was written although the answer got lost
is found and updated by the next run.
"""

from __future__ import annotations

import json
import re
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from http.client import HTTPException
from typing import Any, Final, Literal
from urllib.parse import urlsplit

from eva.edges.secrets import redact
from eva.errors import EvaError
from eva.report.markdown import marker
from eva.report.untrusted import one_line

API: Final = "https://api.github.com"
ACTIONS_BOT: Final = "github-actions[bot]"
"""Who a workflow's own token writes as; that token may not ask who it is."""
HARD_LIMIT: Final = 65_536
"""GitHub's own limit of a comment, in UTF-16 units."""
PAGE: Final = 100
MAX_PAGES: Final = 100
MAX_ANSWER: Final = 32 * 1024 * 1024
ATTEMPTS: Final = 3
_AGAIN: Final = frozenset({500, 502, 503, 504})
_REPOSITORY: Final = re.compile(r"[A-Za-z0-9-]{1,39}/(?!\.{1,2}$)[A-Za-z0-9._-]{1,100}")


class GitHubError(EvaError):
    """GitHub refuses or cannot be reached."""


@dataclass(frozen=True)
class Posted:
    action: Literal["created", "updated", "unchanged"]
    url: str
    """Where the comment can be read."""


@dataclass(frozen=True)
class _Answer:
    status: int
    body: Any


def post_comment(
    body: str,
    *,
    repository: str,
    number: int,
    token: str,
    key: str = "judges",
    api: str = API,
    timeout_s: float = 30.0,
    sleep: Callable[[float], None] = time.sleep,
) -> Posted:
    """Write `body` as the sticky comment of pull request `number` of `repository` (`owner/name`).

    `body` is what `eva.report.markdown.render(…, key=key)` gave: its first line is the marker of `key`. Creates the
    comment, or updates the one that this token's owner wrote before, or does nothing where it says the same already.
    Raises GitHubError, in whose text no token ever stands; ValueError for a body without marker or beyond the limit.
    """
    first = marker(key)
    if body.split("\n", 1)[0] != first:
        raise ValueError(f"the body must start with the line {first}")
    if len(body.encode("utf-16-le")) // 2 > HARD_LIMIT:
        raise ValueError(f"the body is longer than {HARD_LIMIT} UTF-16 units; render it with a limit")
    client = _Client(_checked_api(api), token, timeout_s=timeout_s, sleep=sleep)
    if not _REPOSITORY.fullmatch(repository) or number < 1:
        raise GitHubError(
            f"no pull request of GitHub: {one_line(repository, 80)!r} number {number}; owner/name is wanted"
        )
    issue = f"/repos/{repository}/issues/{number}"
    mine = _own_comment(client, issue, first)
    if mine is None:
        answer = client.send("POST", f"{issue}/comments", {"body": body})
        return Posted("created", _url_of(answer))
    if str(mine.get("body", "")).replace("\r\n", "\n").rstrip() == body.rstrip():
        return Posted("unchanged", str(mine.get("html_url", "")))
    answer = client.send("PATCH", f"/repos/{repository}/issues/comments/{int(mine['id'])}", {"body": body})
    return Posted("updated", _url_of(answer))


def _own_comment(client: _Client, issue: str, first: str) -> Mapping[str, Any] | None:
    """The oldest comment whose first line is the marker and whose author is the token's owner."""
    author = client.login()
    for comment in _comments(client, issue):
        lines = str(comment.get("body") or "").replace("\r\n", "\n").split("\n", 1)
        user = comment.get("user")
        if lines[0] == first and isinstance(user, Mapping) and user.get("login") == author:
            return comment
    return None


def _comments(client: _Client, issue: str) -> Iterator[Mapping[str, Any]]:
    """All comments, oldest first, page by page."""
    for page in range(1, MAX_PAGES + 1):
        found = client.get(f"{issue}/comments?per_page={PAGE}&page={page}").body
        if not isinstance(found, list):
            raise GitHubError("GitHub's list of comments is no list; is the API's address right?")
        yield from (comment for comment in found if isinstance(comment, Mapping))
        if len(found) < PAGE:
            return
    raise GitHubError(f"the pull request has more than {MAX_PAGES * PAGE} comments; ours was not among them")


class _Client:
    """Requests with the token, to one host only."""

    def __init__(self, api: str, token: str, *, timeout_s: float, sleep: Callable[[float], None]) -> None:
        if not token or not token.isascii() or not token.isprintable() or " " in token:
            raise GitHubError("no usable token: set GITHUB_TOKEN (in a workflow: ${{ github.token }})")
        self._api = api
        self._token = token
        self._timeout_s = timeout_s
        self._sleep = sleep
        self._opener = urllib.request.build_opener(_NoRedirect)

    def login(self) -> str:
        """Who the token belongs to. A workflow's token is refused this question (403): it writes as the actions bot."""
        answer = self.get("/user", allowed=frozenset({403}))
        return ACTIONS_BOT if answer.status == 403 else str(answer.body["login"])

    def get(self, path: str, *, allowed: frozenset[int] = frozenset()) -> _Answer:
        """Read; tried again when the server or the line fails."""
        for attempt in range(1, ATTEMPTS + 1):
            last = attempt == ATTEMPTS
            try:
                answer = self._open("GET", path, None)
            except (OSError, HTTPException) as error:
                if last:
                    raise self._unreachable(error) from None
            else:
                if answer.status not in _AGAIN or last:
                    return self._accepted(answer, allowed)
            self._sleep(2.0 ** (attempt - 1))
        raise AssertionError("unreachable: the last attempt returns or raises")

    def send(self, method: str, path: str, values: Mapping[str, str]) -> _Answer:
        """Write, once."""
        try:
            answer = self._open(method, path, json.dumps(values).encode())
        except (OSError, HTTPException) as error:
            raise self._unreachable(error) from None
        return self._accepted(answer, frozenset())

    def _open(self, method: str, path: str, data: bytes | None) -> _Answer:
        headers = {
            "Accept": "application/vnd.github+json",
            "Authorization": f"Bearer {self._token}",
            "Content-Type": "application/json",
            "User-Agent": "eva-judge-bench",
            "X-GitHub-Api-Version": "2022-11-28",
        }
        request = urllib.request.Request(self._api + path, data=data, headers=headers, method=method)  # noqa: S310 - _checked_api allows http(s) only
        try:
            with self._opener.open(request, timeout=self._timeout_s) as response:
                return _Answer(response.status, _parsed(response.read(MAX_ANSWER)))
        except urllib.error.HTTPError as error:
            with error:
                return _Answer(error.code, _parsed(error.read(MAX_ANSWER)))

    def _accepted(self, answer: _Answer, allowed: frozenset[int]) -> _Answer:
        if answer.status in allowed or (200 <= answer.status < 300 and answer.body is not None):
            return answer
        said = answer.body.get("message") if isinstance(answer.body, Mapping) else None
        words = self._safe(str(said)) if said else "no readable answer"
        raise GitHubError(f"GitHub answers {answer.status}: {words}{_way_out(answer.status)}")

    def _unreachable(self, error: Exception) -> GitHubError:
        return GitHubError(f"GitHub cannot be reached at {urlsplit(self._api).hostname}: {self._safe(str(error))}")

    def _safe(self, text: str) -> str:
        return one_line(redact(text.replace(self._token, "[redacted]")), 300)


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """A redirect would carry the token to wherever it points."""

    def redirect_request(self, *arguments: Any, **named: Any) -> None:
        return None


def _checked_api(api: str) -> str:
    """https, or http on the machine itself. Raises GitHubError."""
    parts = urlsplit(api)
    local = parts.hostname in {"127.0.0.1", "::1", "localhost"}
    if not parts.hostname or parts.username or parts.query or parts.fragment or parts.scheme not in {"https", "http"}:
        raise GitHubError("the API's address must look like https://api.github.com (GITHUB_API_URL)")
    if parts.scheme == "http" and not local:
        raise GitHubError(f"the token is not sent over plain http to {parts.hostname} (GITHUB_API_URL)")
    return api.rstrip("/")


def _way_out(status: int) -> str:
    if status == 401:
        return ". The token in GITHUB_TOKEN is wrong or has expired."
    if status in {403, 429}:
        return ". The token may not write here (`pull-requests: write` is needed), or a rate limit is reached."
    if status == 404:
        return ". The repository or pull request does not exist, or the token may not see it."
    if 300 <= status < 400:
        return ". The repository has moved: name it as it is called now."
    return ""


def _url_of(answer: _Answer) -> str:
    return str(answer.body.get("html_url", "")) if isinstance(answer.body, Mapping) else ""


def _parsed(body: bytes) -> Any:
    """The JSON of an answer; None where it is none (a proxy's HTML page)."""
    try:
        return json.loads(body)
    except ValueError:
        return None
