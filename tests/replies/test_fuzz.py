"""Whatever a model sends back: no exception, one verdict an item, each a label of the scale or a failure of a named kind."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from eva.edges.compose import choices
from eva.edges.settings import load_judge
from eva.judges import unit_of
from eva.judges.table import verdict_rows
from eva.types import NOT_APPLICABLE, Event, Failure, JudgeSpec, Record, Reply, Verdict

JUDGES = {name: load_judge(name) for name in choices("judge")}
RECORD = Record(
    record_id="r1",
    cluster="r1",
    events=(
        Event(turn_id=0, type="assistant", text="Hello."),
        Event(turn_id=1, type="user", text="Book it, K7Q2MD."),
        Event(turn_id=1, type="tool_call", name="book", arguments={"code": "K7Q2MD"}),
        Event(turn_id=1, type="tool_response", name="book", status="success", response={"turn_id": 1, "rating": 3}),
        Event(turn_id=1, type="assistant", text="Booked."),
        Event(turn_id=2, type="user", text="Thanks."),
        Event(turn_id=2, type="assistant", text="Goodbye."),
    ),
    context={"golden_turns": [{"turn_id": 1, "golden": "Booked.", "expected_calls": [{"name": "book"}]}]},
)
FINISH = st.sampled_from([None, "stop", "length", "content_filter", "MAX_TOKENS", "tool_calls", "refusal", "\ud800"])
SNIPPETS = (
    '{"rating": 3}', '{"rating": "2.0"', "[", "]", "{", "}", "```json\n", "\n```", "<think>", "</think>", "I cannot", '"', "\\",
    '[{"turn_id": 1, "rating": 1}]', '"turn_id": "1"', '{"turn": 1, "kb_grounding": true}', "null", "NaN", "-Infinity", "1e999",
    '{"dimensions": {"hallucination": {"rating": 1, "rating": 3}}}', "\ufeff", "\x00", "\ud83d", "\u2028", "\u202e", "٣", "二",
    '"rating": ', ", ", '{"final_judgments": ', '{"result": ', "9" * 60, "<|channel|>final<|message|>", "[THINK]", "\r",
)  # fmt: skip


def check(judge: JudgeSpec, reply: Reply) -> tuple[Verdict, ...]:
    """What must hold of any reply."""
    unit = unit_of(judge)
    verdicts = unit.read(judge, RECORD, reply=reply)
    assert [verdict.item_id for verdict in verdicts] == [item.item_id for item in unit.items(judge, RECORD)]
    allowed = {*judge.scale.labels, *((NOT_APPLICABLE,) if judge.scale.allows_not_applicable else ())}
    for verdict in verdicts:
        assert (verdict.label is None) is (verdict.failure is not None)
        assert verdict.label is None or verdict.label in allowed
        assert verdict.failure is None or isinstance(verdict.failure, Failure)
        assert set(verdict.flags) <= {*judge.flags, *judge.dimensions}
        assert set(verdict.dimensions.values()) <= allowed
        written = json.dumps([verdict.reason, verdict.broken_rules, verdict.model_label], ensure_ascii=False)
        assert written.encode()  # can be written to a file
        assert len(verdict.broken_rules) <= 40
    return verdicts


def names_of(judge: JudgeSpec) -> list[str]:
    """Keys that a reply to this judge may have, and some that it may not."""
    return [
        judge.label_field, judge.reason_field, judge.flags_field or "flags", *judge.dimensions, "dimensions", "turn_id", "turn",
        "turns", "final_judgments", "result", "evidence", "flagged", "has_entities", "Rating", " rating ", "RATING", "x",
    ]  # fmt: skip


def values_for(judge: JudgeSpec) -> st.SearchStrategy[Any]:
    """JSON values made of what matters to this judge."""
    leaf = st.one_of(
        st.none(), st.booleans(), st.integers(-2, 4), st.floats(), st.integers(), st.text(max_size=6),
        st.sampled_from([*judge.scale.labels, *judge.flags, *judge.dimensions, "2.0", "not_applicable", "Success.", "1/3"]),
    )  # fmt: skip
    keys = st.sampled_from(names_of(judge))
    return st.recursive(
        leaf, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(keys, inner, max_size=6), max_leaves=14
    )


def random_reply(judge: JudgeSpec, rng: random.Random) -> Reply:
    """Bytes and broken JSON, as a fuzzer of bytes would make them: no library chooses the examples."""
    makers: tuple[Callable[[], str], ...] = (
        lambda: rng.randbytes(rng.randint(0, 200)).decode("utf-8", "surrogateescape"),
        lambda: "".join(rng.choice(SNIPPETS) for _ in range(rng.randint(1, 25))),
        lambda: _mutated(_contract(judge, rng), rng),
        lambda: rng.choice(SNIPPETS) + _contract(judge, rng) + rng.choice(SNIPPETS),
    )
    return Reply(
        record_id="r1", repeat=0, digest="d", text=rng.choice(makers)(),
        tool_arguments=rng.choice([None, None, rng.choice(makers)()]),
        finish_reason=rng.choice([None, "stop", "length", "safety"]),
    )  # fmt: skip


def _contract(judge: JudgeSpec, rng: random.Random) -> str:
    from eva.edges.clients.scripted import made_up

    return json.dumps(made_up(unit_of(judge).schema(judge, RECORD, max_chars=rng.choice([None, 20])), rng))


def _mutated(text: str, rng: random.Random) -> str:
    data = bytearray(text.encode())
    for _ in range(rng.randint(1, 6)):
        place = rng.randrange(len(data) + 1)
        cut = rng.choice([0, 0, 1, 3, 20])
        data[place : place + cut] = rng.choice([b"", rng.randbytes(1), rng.choice(SNIPPETS).encode("utf-8", "replace")])
    return data.decode("utf-8", "replace")


@pytest.mark.parametrize("name", JUDGES)
@settings(max_examples=60, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_any_json_is_read_without_an_exception(name: str, data: st.DataObject) -> None:
    judge = JUDGES[name]
    value = data.draw(values_for(judge))
    text = json.dumps(value)
    around = data.draw(st.sampled_from(["{}", "```json\n{}\n```", "<think>{}</think>", "so: {}", "{} or {}", "[{}]"]))
    finish = data.draw(FINISH)
    check(judge, Reply(record_id="r1", repeat=0, digest="d", text=around.replace("{}", text), finish_reason=finish))
    check(judge, Reply(record_id="r1", repeat=0, digest="d", tool_arguments=text, finish_reason=finish))


@pytest.mark.parametrize("name", JUDGES)
@settings(max_examples=60, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(parts=st.lists(st.one_of(st.text(max_size=20), st.sampled_from(SNIPPETS)), max_size=12), finish=FINISH)
def test_any_text_is_read_without_an_exception(name: str, parts: list[str], finish: str | None) -> None:
    check(JUDGES[name], Reply(record_id="r1", repeat=0, digest="d", text="".join(parts), finish_reason=finish))


@pytest.mark.parametrize("count", [250, pytest.param(40_000, marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", JUDGES)
def test_random_bytes_are_read_without_an_exception(name: str, count: int) -> None:
    rng = random.Random(f"{name}/{count}")
    readable = 0
    for _ in range(count):
        readable += any(verdict.label is not None for verdict in check(JUDGES[name], random_reply(JUDGES[name], rng)))

    assert readable > count // 50  # else the fuzzer would only ever see failures


def test_a_reply_in_the_contract_is_read_whole() -> None:
    """The other half: what keeps the contract is never lost."""
    rng = random.Random(0)
    for judge in JUDGES.values():
        for _ in range(20):
            verdicts = check(judge, Reply(record_id="r1", repeat=0, digest="d", text=_contract(judge, rng)))
            if judge.unit == "conversation":
                assert verdicts[0].label is not None


def test_the_rows_of_any_reply_can_be_written(tmp_path: Any) -> None:
    """What was read lands in verdicts.parquet, whatever characters the model used."""
    from types import SimpleNamespace

    judge = JUDGES["conciseness"]
    items = unit_of(judge).items(judge, RECORD)
    entries = [
        {"turn_id": n, "explanation": "\ud83d\x00", "failure_modes": ["\udc00", "a\x1b"], "rating": 2}
        for n in (0, 1, 9)
    ]
    reply = Reply(record_id="r1", repeat=0, digest="d", text=json.dumps(entries), model="m\ud83d")
    plan = SimpleNamespace(items={"r1": items})
    verdict_rows(plan, check(judge, reply), [reply]).to_parquet(tmp_path / "v.parquet")  # type: ignore[arg-type]  # all that is used of a plan
