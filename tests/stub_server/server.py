"""The stub itself: aiohttp, in a thread of its own, with exact counts of what it was asked."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import json
import re
import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from aiohttp import web

from tests.stub_server.behaviours import Step, error_body, parse_plan

RECORD = re.compile(r"record=([\w.-]+)")
OK = (Step("ok"),)
Answer = Callable[[str, dict[str, Any]], str]


def rating(record: str, body: dict[str, Any]) -> str:
    """A rating that depends on record and seed only."""
    digest = hashlib.sha256(f"{record}/{body.get('seed')}".encode()).digest()
    return json.dumps({"rating": digest[0] % 3 + 1, "explanation": f"stub on {record}"})


class Stub:
    """Finds the record in the prompt (`record=<id>`) and does what its plan says."""

    def __init__(
        self,
        plans: Mapping[str, str] | None = None,
        *,
        latency_s: float = 0.0,
        per_second: int | None = None,
        retry_after_s: float = 1.0,
        answer: Answer = rating,
        model: str | None = None,
        redirect_to: str = "http://127.0.0.1:9/v1",
    ) -> None:
        self._plans = {record: parse_plan(text) for record, text in (plans or {}).items()}
        self._latency_s = latency_s
        self._per_second = per_second
        self._retry_after_s = retry_after_s
        self._answer = answer
        self._model = model
        self._redirect_to = redirect_to
        self._recent: deque[float] = deque()
        self.counts: Counter[str] = Counter()
        """Attempts by record."""
        self.seeds: Counter[tuple[str, Any]] = Counter()
        """Attempts by (record, seed)."""
        self.bodies: deque[dict[str, Any]] = deque(maxlen=2000)
        """The last 2,000 bodies."""
        self.keys: set[str] = set()
        """Authorization headers seen."""
        self.secrets: set[str] = set()
        """Values of all headers in which providers take keys."""
        self.in_flight = self.most_in_flight = 0
        self.url = ""

    @property
    def total(self) -> int:
        """All attempts."""
        return sum(self.counts.values())

    def app(self) -> web.Application:
        """The aiohttp application."""
        app = web.Application(client_max_size=200 * 2**20)
        app.router.add_post("/v1/chat/completions", self._chat)
        app.router.add_post("/v1/messages", self._chat)  # where Anthropic's clients ask
        app.router.add_get("/v1/models", self._models)
        app.router.add_get("/stub/counts", self._show_counts)
        return app

    async def _models(self, request: web.Request) -> web.Response:
        return web.json_response({"object": "list", "data": [{"id": self._model or "stub", "object": "model"}]})

    async def _show_counts(self, request: web.Request) -> web.Response:
        return web.json_response({"total": self.total, "by_record": self.counts})

    async def _chat(self, request: web.Request) -> web.StreamResponse:
        body = await request.json()
        content = body["messages"][-1]["content"]
        text = content if isinstance(content, str) else " ".join(str(part.get("text", "")) for part in content)
        match = RECORD.search(text)
        record = match.group(1) if match else "?"
        number = self.counts[record]
        self.counts[record] += 1
        self.seeds[record, body.get("seed")] += 1
        self.bodies.append(body)
        self.keys.add(request.headers.get("Authorization", ""))
        names = ("Authorization", "x-api-key", "x-goog-api-key", "api-key")
        self.secrets |= {request.headers[name] for name in names if name in request.headers}
        plan = self._plans.get(record, OK)
        self.in_flight += 1
        self.most_in_flight = max(self.most_in_flight, self.in_flight)
        try:
            return await self._do(plan[min(number, len(plan) - 1)], request, record, body)
        finally:
            self.in_flight -= 1

    async def _do(self, step: Step, request: web.Request, record: str, body: dict[str, Any]) -> web.StreamResponse:
        if self._limited():
            return self._refuse("429", self._retry_after_s)
        if step.name == "silence":
            await asyncio.sleep(600)
        await asyncio.sleep(step.seconds if step.name == "slow" and step.seconds else self._latency_s)
        if step.name == "reset":
            assert request.transport is not None
            request.transport.abort()
            return web.Response()
        if step.name in ("html", "html500"):
            page = "<!DOCTYPE html><html><head><style>b{}</style></head><body><h1>502 Bad Gateway</h1></body></html>"
            return web.Response(text=page, content_type="text/html", status=200 if step.name == "html" else 500)
        if step.name == "echo":
            words = f"cannot parse headers {dict(request.headers)} of http://u:p4ssw0rd@host/x?key=AIza{'x1' * 16}"
            return web.json_response({"error": {"message": words}}, status=400)
        if step.name == "redirect":
            return web.Response(status=307, headers={"Location": f"{self._redirect_to}/chat/completions"})
        if step.name in ("badkey", "context", "filter", "nomodel", "quota") or step.name.isdigit():
            return self._refuse(step.name, step.seconds)
        if step.name == "deep":
            return web.Response(text="[" * 100_000, content_type="application/json", status=500)
        return await self._reply(step.name, step.seconds or 0.0, request, record, body)

    def _limited(self) -> bool:
        if self._per_second is None:
            return False
        now = time.monotonic()
        while self._recent and now - self._recent[0] > 1.0:
            self._recent.popleft()
        if len(self._recent) >= self._per_second:
            return True
        self._recent.append(now)
        return False

    def _refuse(self, name: str, seconds: float | None) -> web.Response:
        status, body = error_body(name)
        headers = {} if seconds is None else {"Retry-After": f"{seconds:g}"}
        return web.json_response(body, status=status, headers=headers)

    async def _reply(
        self, kind: str, seconds: float, request: web.Request, record: str, body: dict[str, Any]
    ) -> web.StreamResponse:
        if kind == "badjson":
            return web.Response(text='{"choices": [', content_type="application/json")
        if kind == "error200":
            return web.json_response({"error": {"code": 503, "message": "upstream overloaded"}})
        if kind == "busy200":
            return web.json_response({"error": {"type": "overloaded_error", "message": "Overloaded"}})
        if kind == "odd200":
            return web.Response(text='{"error": {"code": 1e999, "message": "no"}}', content_type="application/json")
        if kind == "garbled":
            headers = {"Content-Encoding": "gzip", "Content-Type": "application/json"}
            return await _in_pieces(request, [b"\x1f\x8b no gzip" * 50], headers=headers)
        data = json.dumps(completion(kind, self._answer(record, body), body, model=self._model)).encode()
        if kind == "drip":
            pieces = [b" "] * int(seconds * 10) + [data]
            return await _in_pieces(request, pieces, headers={"Content-Type": "application/json"}, every_s=0.1)
        if kind == "cut":
            response = web.StreamResponse(
                headers={"Content-Type": "application/json", "Content-Length": str(len(data))}
            )
            await response.prepare(request)
            await response.write(data[: len(data) // 2])
            assert request.transport is not None
            request.transport.close()
            return response
        return web.Response(body=data, content_type="application/json")


async def _in_pieces(
    request: web.Request, pieces: Iterable[bytes], *, headers: Mapping[str, str], every_s: float = 0.0
) -> web.StreamResponse:
    response = web.StreamResponse(headers=headers)
    await response.prepare(request)
    with contextlib.suppress(ConnectionError):  # the caller gave up, as it should
        for piece in pieces:
            await response.write(piece)
            await asyncio.sleep(every_s)
        await response.write_eof()
    return response


def completion(kind: str, text: str, body: dict[str, Any], *, model: str | None) -> dict[str, Any]:
    """An OpenAI chat completion of the given kind."""
    message: dict[str, Any] = {"role": "assistant", "content": text}
    finish = "stop"
    if kind == "truncated":
        message["content"], finish = text[: len(text) // 2], "length"
    elif kind == "filtered":
        message["content"], finish = None, "content_filter"
    elif kind == "empty":
        message["content"] = ""
    elif kind == "surrogate":
        message["content"] = text + "\ud83d\x00"
    elif kind == "huge":
        message["content"] = text + " " * (33 * 2**20)
    elif kind == "reasoning":
        message["reasoning_content"] = "let me think"
    elif kind == "toolcall":
        message = {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"function": {"name": "reply", "arguments": text}}],
        }
    prompt = sum(len(str(part["content"])) // 4 for part in body["messages"])
    details = {"cached_tokens": prompt // 2, **({"audio_tokens": 0} if kind == "deaf" else {})}
    return {
        "id": "stub",
        "object": "chat.completion",
        "created": 0,
        "model": model or body["model"],
        "choices": [] if kind == "nochoices" else [{"index": 0, "message": message, "finish_reason": finish}],
        "usage": {
            "prompt_tokens": prompt,
            "completion_tokens": None if kind == "uncounted" else max(1, len(text) // 4),
            "total_tokens": prompt + max(1, len(text) // 4),
            "prompt_tokens_details": details,
        },
    }


async def _shut_down(runner: web.AppRunner) -> None:
    """Stop serving; handlers that are silent, or whose caller hung up, go too."""
    await runner.cleanup()
    others = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
    for task in others:
        task.cancel()
    await asyncio.gather(*others, return_exceptions=True)


@contextlib.contextmanager
def running_stub(
    plans: Mapping[str, str] | None = None,
    *,
    latency_s: float = 0.0,
    per_second: int | None = None,
    retry_after_s: float = 1.0,
    answer: Answer = rating,
    model: str | None = None,
    redirect_to: str = "http://127.0.0.1:9/v1",
) -> Iterator[Stub]:
    """A stub on 127.0.0.1 and a free port, `stub.url` ending in /v1, until the block ends."""
    stub = Stub(
        plans,
        latency_s=latency_s,
        per_second=per_second,
        retry_after_s=retry_after_s,
        answer=answer,
        model=model,
        redirect_to=redirect_to,
    )
    loop = asyncio.new_event_loop()
    runner = web.AppRunner(stub.app(), access_log=None, shutdown_timeout=0.1)

    async def start() -> None:
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0, backlog=1024)
        await site.start()
        stub.url = f"http://127.0.0.1:{runner.addresses[0][1]}/v1"

    loop.run_until_complete(start())
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    try:
        yield stub
    finally:
        asyncio.run_coroutine_threadsafe(_shut_down(runner), loop).result(30)
        loop.call_soon_threadsafe(loop.stop)
        thread.join(30)
        loop.close()
