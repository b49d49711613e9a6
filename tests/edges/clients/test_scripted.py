"""The scripted client: answers by script, by table, by one text, or made up from the contract; and it counts."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace

import pytest

from eva.edges.clients import open_client
from eva.edges.clients.contract import Transient
from eva.edges.clients.scripted import ScriptedClient, made_up
from eva.types import ModelSpec, Reply
from tests.stub_server.samples import SCHEMA, make_request

SPEC = ModelSpec(name="s", kind="scripted", id="s-1", free=True)


def ask(client: object, record: str = "r1", repeat: int = 0) -> Reply:
    return asyncio.run(client.ask(make_request(record, schema=SCHEMA), repeat))  # type: ignore[attr-defined]  # any client


def test_a_script_may_be_a_function_a_table_or_one_text() -> None:
    assert (
        ask(ScriptedClient(SPEC, script=lambda request, repeat: f"{request.record_id}/{repeat}"), repeat=2).text
        == "r1/2"
    )
    assert ask(ScriptedClient(SPEC, script={("r1", 0): "t"})).text == "t"
    assert ask(open_client(replace(SPEC, params={"text": "same"}))).text == "same"


def test_a_script_may_hold_whole_replies_and_errors() -> None:
    given = Reply(record_id="?", repeat=9, digest="?", text="x", finish_reason="length")
    reply = ask(ScriptedClient(SPEC, script=lambda request, repeat: given), repeat=1)
    assert (reply.record_id, reply.repeat, reply.digest, reply.finish_reason) == (
        "r1", 1, make_request("r1", schema=SCHEMA).digest, "length"
    )  # fmt: skip
    with pytest.raises(Transient):
        ask(ScriptedClient(SPEC, script=lambda request, repeat: Transient("busy")))


def test_without_a_script_replies_fit_the_contract_and_are_the_same_every_time() -> None:
    first = json.loads(ask(open_client(SPEC)).text or "")
    assert first["rating"] in (1, 2, 3)
    assert isinstance(first["explanation"], str)
    assert json.loads(ask(open_client(SPEC)).text or "") == first
    ratings = {json.loads(ask(open_client(SPEC), repeat=repeat).text or "")["rating"] for repeat in range(20)}
    assert ratings == {1, 2, 3}


def test_made_up_values_fit_every_part_of_a_contract() -> None:
    import random

    schema = {
        "type": "array",
        "prefixItems": [{"type": "object", "properties": {"turn_id": {"const": 3}, "ok": {"type": "boolean"}}}],
        "items": {"anyOf": [{"type": "null"}, {"type": ["string", "null"], "maxLength": 4}]},
        "minItems": 3,
    }
    rows = made_up(schema, random.Random(1))
    assert rows[0]["turn_id"] == 3
    assert isinstance(rows[0]["ok"], bool)
    assert len(rows) == 3
    assert all(row is None or len(row) <= 4 for row in rows[1:])


def test_it_counts_what_it_was_asked() -> None:
    client = ScriptedClient(SPEC, script=lambda request, repeat: "x")
    for record in ("a", "b", "a"):
        ask(client, record)
    assert client.counts == {("a", 0): 2, ("b", 0): 1}
