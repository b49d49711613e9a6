"""A plan's replies: asked once, asked again where wanted, and what is left when a run is stopped."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from eva.edges import asking
from eva.edges.asking import Asked, ask_plan
from eva.edges.budget import estimate
from eva.edges.clients.scripted import ScriptedClient
from eva.edges.compose import compose
from eva.edges.settings import Settings, settings_from
from eva.errors import BudgetError, CredentialsError
from eva.flow import finish, plan_run, verdict_table
from eva.judges.plan import Plan
from eva.metrics.readings import readings
from eva.run_json import spend
from eva.types import Failure, Request

TURNS = ("1", "2", "3")
LABELS = [{"item": f"turn:{turn}", "label": 3, "annotator": "a"} for turn in TURNS]
EVENTS = [
    {"turn_id": turn, "type": kind, "text": f"{kind} {turn}"} for turn in (1, 2, 3) for kind in ("user", "assistant")
]


@pytest.fixture
def made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., tuple[Settings, Plan, ScriptedClient]]:
    """Settings and plan of two records of three turns, and a client that answers by a script."""

    def make(script: Callable[[Request, int], Any], *overrides: str) -> tuple[Settings, Plan, ScriptedClient]:
        data = tmp_path / "data.jsonl"
        rows = [{"record_id": name, "events": EVENTS, "labels": LABELS} for name in ("a", "b")]
        rows[1]["events"] = [{**event, "text": f"{event['text']}!"} for event in EVENTS]
        data.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
        own = [
            "judge=conciseness", "model=scripted", "dataset=file", f"dataset.path={data}", "tracking=none",
            f"home={tmp_path / 'state'}", *overrides,
        ]  # fmt: skip
        settings = settings_from(compose(own))
        client = ScriptedClient(settings.model, script=script)
        monkeypatch.setattr(asking, "open_client", lambda spec: client)
        return settings, plan_run(settings), client

    return make


def entries(*turns: int, rating: Any = 3) -> str:
    return json.dumps([{"turn_id": turn, "explanation": "x", "failure_modes": [], "rating": rating} for turn in turns])


def labels(plan: Plan, asked: Asked) -> dict[str, str]:
    table = verdict_table(plan, asked)
    said = table["label"].where(table["label"].notna(), table["failure"])
    return dict(zip(table["item_id"], said, strict=True))


AGAIN = ("on_unreadable=ask_again", "ask_again=2")


def test_nothing_is_asked_again_unless_it_is_wanted(made: Callable[..., Any]) -> None:
    """C31: off by default, and an unreadable first answer stays a failure."""
    settings, plan, client = made(lambda request, repeat: "I think it is fine.")
    asked = ask_plan(settings, plan)

    assert client.asked == [("a", 0), ("b", 0)]
    assert set(labels(plan, asked).values()) == {Failure.NO_JSON}
    assert (asked.again, asked.asks, asked.second) == ((), {}, ())


def test_only_missing_turns_are_asked_for_again(made: Callable[..., Any]) -> None:
    """C33: the turns that were read stand; the request for the others names them and has a digest of its own."""
    asked_for: list[str] = []

    def script(request: Request, repeat: int) -> str:
        user = str(request.messages[1]["content"])
        if repeat >= 1000:
            asked_for.append(user.rstrip().rsplit("\n", 1)[-1])
            return entries(2, rating=1)
        return entries(1, 3) if request.record_id == "a" else entries(1, 2, 3)

    settings, plan, client = made(script, *AGAIN)
    asked = ask_plan(settings, plan)

    assert client.asked == [("a", 0), ("b", 0), ("a", 1000)]
    assert asked_for == ["Give the entries of turn 2 only; leave all other turns out."]
    assert asked.again[0].digest not in {request.digest for request in plan.requests}
    assert labels(plan, asked)["a#2"] == Failure.SKIPPED  # on record: the first verdict
    assert [(verdict.item_id, verdict.label) for verdict in asked.second] == [("a#2", "1")]
    assert asked.asks == {("a", 0): 1}
    rows = verdict_table(plan, asked)
    assert list(rows["asks"]) == [1, 1, 1, 0, 0, 0]
    found = readings(rows, asked.second)
    assert (found.readable_first, found.readable_after, found.asked_again) == (5, 6, 1)
    assert (found.right_first, found.right_after, found.labelled) == (5, 5, 6)


def test_an_answer_that_cannot_be_read_at_all_is_asked_for_whole(made: Callable[..., Any]) -> None:
    """C31, as the list has it: two unreadable answers with a rating in prose, the third is JSON."""
    answers = {0: "I would give it a 1.", 1000: "Still a 1, I'd say.", 2000: entries(1, 2, 3)}
    settings, plan, client = made(lambda request, repeat: answers[repeat], *AGAIN)
    asked = ask_plan(settings, plan)

    assert client.counts == {(record, repeat): 1 for record in "ab" for repeat in (0, 1000, 2000)}
    assert {reply.digest for reply in asked.again} == {request.digest for request in plan.requests}
    assert set(labels(plan, asked).values()) == {Failure.NO_JSON}
    assert {verdict.label for verdict in asked.second} == {"3"}
    assert set(asked.asks.values()) == {2}
    again = ask_plan(settings, plan)
    assert len(client.asked) == 6  # all from the store
    assert [reply.text for reply in again.again] == [reply.text for reply in asked.again]


@pytest.mark.parametrize(
    ("text", "finish"),
    [
        (entries(1, 2, 3, rating="x")[:-9], "length"), (None, "content_filter"), ("I'm sorry, I can't help with that.", "stop"),
    ],
)  # fmt: skip
def test_what_the_same_request_meets_again_is_not_asked_again(
    made: Callable[..., Any], text: str | None, finish: str
) -> None:
    """C30: not with the same token limit; nor is a refusal asked away."""
    from eva.types import Reply

    answer = Reply(record_id="", repeat=0, digest="", text=text, finish_reason=finish)
    settings, plan, client = made(lambda request, repeat: answer, *AGAIN)
    asked = ask_plan(settings, plan)

    assert len(client.asked) == 2
    assert asked.again == ()


def test_summary_and_notes_tell_both_numbers(made: Callable[..., Any]) -> None:
    from eva.flow import _opening

    settings, plan, _ = made(lambda request, repeat: entries(1, 2, 3) if repeat >= 1000 else "no", *AGAIN)
    meta = _opening(settings, plan, overrides=(), sweep=None)
    finished = finish(settings, plan, ask_plan(settings, plan), trivial=None, meta=meta, baseline=None, say=print)
    summary = finished.folder.summary

    assert summary["readings"]["share_first"] == 0.0
    assert summary["readings"]["share_after"] == 1.0
    assert summary["accuracy"]["mean"] == 0.0
    assert summary["spend"]["asked_again"] == 2
    assert any("0.0% of all could be read at the first ask, 100.0% after" in note for note in summary["notes"])


def test_one_budget_holds_for_all_asks(made: Callable[..., Any]) -> None:
    """`max_usd` is for the run, not for each pass over it."""
    price = ("model.free=false", "model.price={input: 1000, output: 1000}", "+model.params.max_tokens=50")
    settings, plan, _ = made(lambda request, repeat: "no", *price)
    most = estimate(plan.requests, 1, settings.model).cost_usd
    assert most is not None
    limit = most[1]  # the first pass at its dearest
    settings, plan, client = made(
        lambda request, repeat: "no", "on_unreadable=ask_again", "ask_again=20", *price, f"max_usd={limit}"
    )
    asked = ask_plan(settings, plan)

    assert isinstance(asked.error, BudgetError)
    assert 2 < len(client.asked) < 40
    assert len(client.asked) * (asked.replies[0].cost_usd or 0.0) <= limit
    # What was paid for asking again is paid, though the run ended in the middle of it.
    assert len(asked.replies) == 2
    assert len(asked.replies) + len(asked.again) == len(client.asked)
    assert spend(asked, free=False)["calls"] == len(client.asked)


def test_what_had_come_before_an_error_is_kept(made: Callable[..., Any], tmp_path: Path) -> None:
    """The run's folder says that it failed, and why."""

    def script(request: Request, repeat: int) -> Any:
        return entries(1, 2, 3) if request.record_id == "a" else CredentialsError("The provider refuses the key")

    settings, plan, _ = made(script, "model.concurrency=1")
    asked = ask_plan(settings, plan)

    assert isinstance(asked.error, CredentialsError)
    assert [reply.record_id for reply in asked.replies] == ["a"]


def test_where_no_call_could_be_sent_there_is_no_run(made: Callable[..., Any]) -> None:
    settings, plan, client = made(lambda request, repeat: "no", "model.free=false", "max_usd=1")

    with pytest.raises(BudgetError, match="unknown"):
        ask_plan(settings, plan)
    assert client.asked == []


def test_the_second_verdict_stands_beside_the_first_item_by_item(
    made: Callable[..., Any], capsys: pytest.CaptureFixture[str]
) -> None:
    """C31: a row per item and repeat that was asked for again, in the folder and in `show`; the table keeps the first."""
    from eva.__main__ import main
    from eva.edges.runs import find_run
    from eva.flow import _opening

    def script(request: Request, repeat: int) -> str:
        if request.record_id == "b":
            return entries(1, 2, 3)
        return {0: entries(1), 1000: entries(2, rating=1), 2000: "no"}[repeat]

    settings, plan, _ = made(script, *AGAIN)
    meta = _opening(settings, plan, overrides=(), sweep=None)
    home = Path(settings.options.home)
    folder = finish(settings, plan, ask_plan(settings, plan), trivial=None, meta=meta, baseline=None, say=print).folder
    whole = find_run(home, folder.run_id)

    rows = [
        {key: row[key] for key in row if key not in ("second_reason", "record_id")}
        for row in whole.lines("asked_again.jsonl")
    ]
    beside = {"repeat": 0, "gold": "3", "first_label": None, "first_failure": "skipped", "second_flags": []}
    assert rows == [
        {"item_id": "a#2", **beside, "second_label": "1", "second_failure": None, "ask": 1},
        {"item_id": "a#3", **beside, "second_label": None, "second_failure": "no_json", "ask": 2},
    ]
    assert list(whole.verdicts["label"].fillna("none")) == ["3", "none", "none", "3", "3", "3"]
    capsys.readouterr()
    assert main(["show", "last", "--home", str(home)]) == 0
    shown = capsys.readouterr().out
    assert "a#2 repeat 0: failure skipped → 1 (ask 1, gold 3)" in shown
    assert "a#3 repeat 0: failure skipped → failure no_json (ask 2, gold 3)" in shown


def test_where_nothing_was_asked_again_there_is_no_such_file(made: Callable[..., Any]) -> None:
    from eva.flow import _opening

    settings, plan, _ = made(lambda request, repeat: entries(1, 2, 3), *AGAIN)
    meta = _opening(settings, plan, overrides=(), sweep=None)
    finished = finish(settings, plan, ask_plan(settings, plan), trivial=None, meta=meta, baseline=None, say=print)

    assert not (finished.folder.path / "asked_again.jsonl").exists()
