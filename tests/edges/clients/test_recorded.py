"""Recorded replies: found by record and repeat, and a file that could be read in two ways is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from eva.edges.ask import ask_all_sync
from eva.edges.clients import open_client
from eva.edges.store import ReplyStore
from eva.errors import ConfigError, DataError
from eva.types import Failure, ModelSpec, Reply, Request, Usage
from tests.stub_server.samples import make_request, make_requests

from dataclasses import replace  # isort: skip


def write(path: Path, rows: list[Any], *, end: str = "\n") -> ModelSpec:
    path.write_text(
        end.join(row if isinstance(row, str) else json.dumps(row, ensure_ascii=False) for row in rows), "utf-8"
    )
    return ModelSpec(name="recorded", kind="recorded", id="recorded", path=str(path), free=True)


def ask(
    spec: ModelSpec, requests: tuple[Request, ...], repeats: int, store: ReplyStore | None = None
) -> tuple[Reply, ...]:
    return ask_all_sync(requests, repeats, client=open_client(spec), spec=spec, store=store)


def test_rows_are_found_by_record_and_repeat_whatever_their_order(tmp_path: Path) -> None:
    rows = [{"record": f"r{n}", "repeat": k, "text": f"{n}/{k}"} for k in (1, 0) for n in (2, 0, 1)]
    replies = ask(write(tmp_path / "a.jsonl", rows), make_requests(3), 2)
    assert [reply.text for reply in replies] == ["0/0", "0/1", "1/0", "1/1", "2/0", "2/1"]
    assert all(reply.cost_usd == 0.0 and not reply.cached for reply in replies)


def test_optional_fields_are_kept(tmp_path: Path) -> None:
    row = {
        "record": "r0", "text": None, "tool_arguments": "{}", "usage": {"prompt_tokens": 5, "output_tokens": 2},
        "model": "m-1", "finish_reason": "length", "latency_s": 1.5,
    }  # fmt: skip
    (reply,) = ask(write(tmp_path / "a.jsonl", [row]), make_requests(1), 1)
    assert (reply.tool_arguments, reply.model, reply.finish_reason, reply.latency_s) == ("{}", "m-1", "length", 1.5)
    assert reply.usage == Usage(input_tokens=5, output_tokens=2)


def test_what_was_not_recorded_is_a_failure_of_its_own(tmp_path: Path) -> None:
    spec = write(tmp_path / "a.jsonl", [{"record": "r0", "repeat": 0, "text": "x"}])
    assert [reply.error for reply in ask(spec, make_requests(2), 2)] == [
        None, Failure.NOT_RECORDED, Failure.NOT_RECORDED, Failure.NOT_RECORDED
    ]  # fmt: skip


def test_recorded_errors_keep_their_kind(tmp_path: Path) -> None:
    rows = [{"record": "r0", "error": "too_long"}, {"record": "r1", "error": "the moon was full"}]
    replies = ask(write(tmp_path / "a.jsonl", rows), make_requests(2), 1)
    assert [reply.error for reply in replies] == [Failure.TOO_LONG, Failure.PROVIDER]
    assert replies[1].error_text == "the moon was full"


def test_records_of_equal_text_have_replies_of_their_own(tmp_path: Path) -> None:
    spec = write(tmp_path / "a.jsonl", [{"record": "r0", "text": "a"}, {"record": "twin", "text": "b"}])
    same = make_request("r0")
    with ReplyStore(tmp_path / "s") as store:
        for _ in range(2):
            replies = ask(spec, (same, replace(same, record_id="twin")), 1, store)
            assert [reply.text for reply in replies] == ["a", "b"]
        assert store.query("SELECT count(*) FROM replies") == [(0,)]


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        (
            [{"record": "a", "text": "x"}, {"record": "b", "text": "x"}, {"record": "a", "text": "y"}],
            r"line 3: .*line 1",
        ),
        ([{"record": "a", "text": "x"}, '{"record": "b"'], r"line 2: is not JSON"),
        ([{"text": "x"}], r"line 1, field `record`"),
        ([{"record": "a", "text": "x", "repeat": "0"}], r"field `repeat`"),
        ([{"record": "a", "text": "x", "repeat": -1}], r"field `repeat`"),
        ([{"record": "a", "text": "x", "repeat": True}], r"field `repeat`"),
        ([{"record": "a", "text": 3}], r"field `text`"),
        ([{"record": "a"}], r"must hold"),
        ([{"record": "a", "txt": "x"}], r"unknown fields: txt"),
        (["[1]"], r"no JSON object"),
        ([], r"holds no reply"),
    ],
)
def test_a_file_that_is_wrong_is_refused_with_its_line(tmp_path: Path, rows: list[Any], words: str) -> None:
    """C69, C71: never skipped, never overwritten."""
    with pytest.raises(DataError, match=words):
        open_client(write(tmp_path / "a.jsonl", rows))


def test_lines_end_at_newlines_only(tmp_path: Path) -> None:
    """C71: BOM, CRLF, a blank line; U+2028 and U+0085 inside a text are text."""
    spec = write(
        tmp_path / "a.jsonl",
        ['\ufeff{"record": "r0", "text": "a\u2028b\u0085c"}', "", '{"record": 7, "text": "d"}'],
        end="\r\n",
    )
    replies = ask(spec, (make_request("r0"), make_request("7")), 1)
    assert [reply.text for reply in replies] == ["a\u2028b\u0085c", "d"]


def test_an_absent_file_or_path_is_said_so(tmp_path: Path) -> None:
    spec = ModelSpec(name="recorded", kind="recorded", id="recorded", path=str(tmp_path / "no.jsonl"))
    with pytest.raises(DataError, match="No such file"):
        open_client(spec)
    with pytest.raises(ConfigError, match=r"model\.path"):
        open_client(replace(spec, path=None))
