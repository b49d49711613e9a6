"""`python -m tests.stub_server`: the stub by hand. Counts: GET /stub/counts."""

from __future__ import annotations

import argparse

from aiohttp import web

from tests.stub_server.server import Stub, rating


def main() -> None:
    """Serve until Ctrl-C."""
    parser = argparse.ArgumentParser(description="An OpenAI-compatible server that misbehaves on order.")
    parser.add_argument("--port", type=int, default=8099)
    parser.add_argument("--latency", type=float, default=0.0, help="seconds before each answer")
    parser.add_argument("--text", help="the answer to everything; default: a rating drawn from record and seed")
    parser.add_argument("--per-second", type=int, help="answer at most so many a second, refuse the rest with 429")
    parser.add_argument("--retry-after", type=float, default=1.0, help="seconds that those 429 ask for")
    parser.add_argument(
        "--do", action="append", default=[], metavar="RECORD=PLAN", help="as r1=429:1*2,ok; record=<id> in the prompt"
    )
    args = parser.parse_args()
    stub = Stub(
        dict(plan.split("=", 1) for plan in args.do),
        latency_s=args.latency,
        per_second=args.per_second,
        retry_after_s=args.retry_after,
        answer=rating if args.text is None else lambda record, body: str(args.text),
    )
    print(f"model=endpoint model.id=stub model.api_base=http://127.0.0.1:{args.port}/v1", flush=True)
    web.run_app(stub.app(), host="127.0.0.1", port=args.port, print=None, access_log=None)


if __name__ == "__main__":
    main()
