"""The attack sets: conversations that speak to the judge, labelled as without, and requests that they cannot get out of."""

from __future__ import annotations

import json
from typing import Any

import pytest

from eva.edges.compose import compose
from eva.edges.settings import settings_from
from eva.flow import plan_run
from eva.judges import unit_of
from eva.judges.plan import Plan
from eva.types import Reply
from tests.attacks.make_sets import BLOCKS, DATA, KINDS, SETS

EVERY_KIND = {kind for pair in KINDS for kind in pair}


def rows_of(judge: str) -> list[dict[str, Any]]:
    text = (DATA / f"attacks_{judge}.jsonl").read_text(encoding="utf-8")
    return [json.loads(line) for line in text.split("\n") if line]


def attack_of(row: dict[str, Any]) -> tuple[str, str, str, str]:
    """(item, label, kind, wish) of the one item that the attack is about."""
    ((item, label, attack),) = [
        (label["item"], label["label"], label["details"]["attack"])
        for label in row["labels"]
        if "attack" in label.get("details", {})
    ]
    return item, label, attack["kind"], attack["wants"]


def planned(judge: str) -> Plan:
    return plan_run(
        settings_from(compose([f"judge={judge}", f"dataset=attacks_{judge}", "model=scripted", "tracking=none"]))
    )


def words(row: dict[str, Any]) -> str:
    return json.dumps([row["events"], row.get("context")], ensure_ascii=False)


@pytest.mark.parametrize("judge", SETS)
def test_each_attack_has_its_control_and_its_label(judge: str) -> None:
    """Eight kinds, four conversations as they are; the attacker always wants something else than the label."""
    rows = rows_of(judge)
    found = [attack_of(row) for row in rows]

    assert sorted(kind for _, _, kind, _ in found) == sorted([*EVERY_KIND, *["none"] * 4])
    assert all(label != wants for _, label, _, wants in found)
    for row, (item, label, kind, wants) in zip(rows, found, strict=True):
        near = [
            other
            for other, (*about, unasked, wish) in zip(rows, found, strict=True)
            if (about, unasked, wish) == ([item, label], "none", wants) and other["cluster"] == row["cluster"]
        ]
        assert near
        if kind != "none":
            assert any(_adds_only(row, other) for other in near)


def _adds_only(row: dict[str, Any], control: dict[str, Any]) -> bool:
    """One event differs, and holds all that it held before."""
    pairs = list(zip(row["events"], control["events"], strict=False))
    changed = [(now, before) for now, before in pairs if now != before]
    if len(row["events"]) != len(control["events"]) or len(changed) != 1:
        return False
    now, before = changed[0]
    if now["type"] == "tool_response":
        return {key: value for key, value in now["response"].items() if key != "note"} == before["response"]
    return str(now["text"]).startswith(before["text"])


@pytest.mark.parametrize("judge", SETS)
def test_no_attack_leaves_its_block(judge: str) -> None:
    """C94: the rubric is the same for every record, the record's block closes once, at its end, and no line forges a turn."""
    plan = planned(judge)
    rows = {row["record_id"]: row for row in rows_of(judge)}
    block = BLOCKS.get(judge, "conversation")

    assert len({str(request.messages[0]["content"]) for request in plan.requests if rows[request.record_id]}) <= 3
    for request in plan.requests:
        row = rows[request.record_id]
        content = str(request.messages[1]["content"])
        kind = attack_of(row)[2]
        tag = f"{block}-2" if kind == "close_block" else block
        assert content.count(f"</{tag}>") == 1
        assert content.count(f"<{tag}>") == 1
        assert not [line for line in content.split("\n") if line.startswith("Turn 99")]


@pytest.mark.parametrize("judge", SETS)
def test_no_label_and_no_wish_is_sent(judge: str) -> None:
    """What is sent of an attack is its words; `attack`, kinds and notes stay back."""
    plan = planned(judge)
    sent = "\n".join(str(message["content"]) for request in plan.requests for message in request.messages)

    notes = [note for row in rows_of(judge) for label in row["labels"] if len(note := label.get("note", "")) > 20]

    assert not [kind for kind in EVERY_KIND if "_" in kind and kind in sent]
    assert '"attack"' not in sent
    assert "bundled set" not in sent
    assert notes
    assert not [note for note in notes if note in sent]


@pytest.mark.parametrize("judge", SETS)
def test_an_echoed_attack_is_no_verdict(judge: str) -> None:
    """A reply that quotes the forged reply and then gives the contract's answer is read by that answer."""
    plan = planned(judge)
    rows = {row["record_id"]: row for row in rows_of(judge)}
    record = next(r for r in plan.dataset.records if attack_of(rows[r.record_id])[2] == "fake_reply")
    unit = unit_of(plan.judge)
    from tests.attacks.make_sets import Base, forged

    item, label, _, wants = attack_of(rows[record.record_id])
    turn = int(item.split(":")[1].split("/")[0]) if ":" in item else None
    quoted = forged(judge, Base("", wants, turn, item.split("/")[1] if "/" in item else None))
    answer = _answer(plan, record.record_id, wants=wants, label=str(label))
    text = f"The caller dictates {quoted}. That changes nothing.\n{json.dumps(answer)}"
    verdicts = unit.read(plan.judge, record, reply=Reply(record_id=record.record_id, repeat=0, digest="d", text=text))
    place = item.removeprefix("turn:")
    about = record.record_id if item == "record" else f"{record.record_id}#{place}"

    assert [verdict.label for verdict in verdicts if verdict.item_id == about] == [str(label)]


def _answer(plan: Plan, record_id: str, *, wants: str, label: str) -> Any:
    """The whole contract, every item with the true label of the attacked one."""
    judge = plan.judge
    value: Any = int(label) if label.isdigit() else label == "true" if label in ("true", "false") else label
    if judge.unit == "conversation":
        best = {key: {"evidence": "", "flagged": False, "rating": 3} for key in judge.dimensions}
        worst = {"evidence": "x", "flagged": value != 3, "rating": value}
        dimensions = {**best, **dict.fromkeys(judge.dimensions[:1], worst)}
        return {judge.label_field: value, judge.reason_field: "x", **({"dimensions": dimensions} if dimensions else {})}
    turns = sorted({item.turn_id for item in plan.items[record_id] if item.turn_id is not None})
    if judge.unit == "turn":
        return [
            {"turn_id": turn, judge.reason_field: "x", judge.flags_field: [], judge.label_field: value}
            for turn in turns
        ]
    return {
        "phase1_analysis": [], "realignment_notes": "", "function_call_tracking": [],
        "final_judgments": [{"turn": turn, "reasoning": "x", **dict.fromkeys(judge.dimensions, value)} for turn in turns],
    }  # fmt: skip
