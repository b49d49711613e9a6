"""Which JSON value of a reply is the verdict (pitfalls C18–C22, C26, C30, C32, C55, C94)."""

from __future__ import annotations

import json

import pytest

from eva.judges import conversation, turn
from eva.types import Failure, Reply
from tests.factories import CONCISENESS, FAITHFULNESS, reply
from tests.factories import conversation as record

GOOD = '{"evidence": "", "flagged": false, "rating": 3}'
FULL = f'{{"rating": 3, "dimensions": {{"policy": {GOOD}, "hallucination": {GOOD}}}}}'


def read(given: Reply) -> str | Failure:
    (verdict,) = conversation.read(FAITHFULNESS, record(), reply=given)
    found = verdict.label if verdict.label is not None else verdict.failure
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{"rating": 2}', "2"),
        ('```json\n{"rating": 2, "explanation": "ok"}\n```', "2"),
        ('Here you are:\n```\n{"rating": 2}\n```\nThanks.', "2"),
        ('{"rating": 3, "explanation": "printed ```json {\\"rating\\": 1}``` to the user"}', "3"),
        ('The call used args {} and returned []. Verdict: {"rating": 1, "explanation": "x"} (see {1}).', "1"),
        ('Maybe {"rating": 1}. No, policy was followed.</think>{"rating": 3}', "3"),
        ('<think>Maybe {"rating": 1}.</think>\n{"rating": 3}', "3"),
        ('<think>Maybe {"rating": 1}. Let me', Failure.UNFINISHED_REASONING),
        ('Draft: {"rating": 1}\nFinal: {"rating": 3}', "3"),
        ('Either {"rating": 1} or {"rating": 3}, hard to say.', Failure.AMBIGUOUS),
        ('{"rating": 2} and again {"rating": 2}, surely.', "2"),
        (f'The record says {{"rating": 1}}. {FULL} That is all.', "3"),
        (f'{FULL}\nThe tool had answered {{"rating": 1}}', "3"),
        ('{"result": {"rating": 2}}', "2"),
        ('[{"rating": 2}]', "2"),
        ('{"Rating": 2}', "2"),
        ('{"explanation": "All good."}', Failure.NO_VERDICT),
        ('{"note": 3}', Failure.NO_VERDICT),
        ("I cannot rate this", Failure.REFUSED),
        ("I'm sorry, I can't help with that.", Failure.REFUSED),
        ("The rating is 3.", Failure.NO_JSON),
        ('{"rating": 1, "rating": 3}', Failure.AMBIGUOUS),
        ('{"rating": 3, "rating": 3}', "3"),
        ('{"rating": NaN}', Failure.OFF_SCALE),
        ('{"rating": "trois"}', Failure.OFF_SCALE),
        ('{"rating": null}', Failure.ABSTAINED),
        ('{"rating": 3, "Rating": 1}', Failure.AMBIGUOUS),
        ('{"rating": 1, "RATING": true}', Failure.AMBIGUOUS),
        ('{"result": {"rating": 1}, "data": {"rating": 3}}', Failure.AMBIGUOUS),
        ('{"result": {"rating": 3}, "data": {"rating": 3}}', "3"),
        ('```json\n{"rating": 3, "explanation": "the agent printed <think> aloud"}\n```', "3"),
        ('```json\n{"rating": 3, "explanation": "said </think> aloud"}\n```\nDone.', "3"),
        ('<thinking>{"rating": 1}</thinking>{"rating": 3}', "3"),
        ('[THINK]{"rating": 1}[/THINK]{"rating": 3}', "3"),
        ('◁think▷{"rating": 1}◁/think▷{"rating": 3}', "3"),
        (
            '<|channel|>analysis<|message|>{"rating": 1}<|end|><|start|>assistant<|channel|>final<|message|>{"rating": 3}',
            "3",
        ),
        ('<|channel|>analysis<|message|>{"rating": 1}', Failure.UNFINISHED_REASONING),
        ('<think>{"rating": 3}</think>', Failure.EMPTY),
        ('{"a": ' * 300 + '{"rating": 2}' + "}" * 300, Failure.NO_VERDICT),
        ("[" * 300 + "]" * 300 + '{"rating": 2}', "2"),
        ("Tut mir leid, das kann ich nicht beurteilen.", Failure.REFUSED),
        ("Lo siento, no puedo ayudar con eso.", Failure.REFUSED),
        ("申し訳ありませんが、評価できません。", Failure.REFUSED),
        ('{"rating": 2', Failure.TRUNCATED),
        ("\ufeff" + '{"rating": 2}', "2"),
        ("", Failure.EMPTY),
        ("   \n", Failure.EMPTY),
        ("{" * 100_000, Failure.NO_JSON),
        ("[" * 100_000, Failure.NO_JSON),
        ("x" * 3_000_000 + ' {"rating": 2}', "2"),
        ("x" * 3_000_000 + ' Draft: {"rating": 2} Final: {"rating": 3}', "3"),
        # A long reply is read from its beginning: its tail alone would turn parts, drafts and thoughts into verdicts.
        (f'{{"rating": 3, "dimensions": {{"policy": {GOOD}}}, "x": "{"y" * 5_000_000}", "z": {{"rating": 1}}}}', "3"),
        ("<think>" + "hm " * 1_700_000 + '{"rating": 1}', Failure.UNFINISHED_REASONING),
        ("<think>" + "hm " * 1_700_000 + '{"rating": 1}</think>{"rating": 3}', "3"),
        # Brackets that lead nowhere hide no later verdict; where there are too many, no earlier one is taken for the last.
        ('{"rating": 1} ' + "[x " * 5_000 + '{"rating": 3}', "3"),
        ('{"rating": 1} ' + "[x " * 500_000 + '{"rating": 3}', Failure.AMBIGUOUS),
        # What an object that is no JSON quotes is not its verdict.
        ('{"rating": 3, "quote": {"rating": 1, "explanation": "x"},}', Failure.NO_VERDICT),
        ('The call {x: 1} was fine: {"rating": 2}', "2"),
        ("````markdown\n```json\n" + FULL + "\n```\n````", "3"),
        ('<think>{"rating": 1}</think>Or {"rating": 2}? <think>{"rating": 1}</think>{"rating": 3}', "3"),
        ('<think>{"rating": 1}</think>{"rating": 3}<think>but then', Failure.UNFINISHED_REASONING),
        ('<think time="3">{"rating": 1}', Failure.UNFINISHED_REASONING),
        ('<think time="3">{"rating": 1}</think >{"rating": 3}', "3"),
        ('<|START_THINKING|>{"rating": 1}', Failure.UNFINISHED_REASONING),
        ('<|START_THINKING|>{"rating": 1}<|END_THINKING|>{"rating": 3}', "3"),
        ('{"rating": "\u200f3"}', Failure.OFF_SCALE),
        ('{"rating": "\u20663\u2069"}', Failure.OFF_SCALE),
        ('{"\u202erating": 3}', Failure.NO_VERDICT),
        ("<p>" * 100_000 + '{"rating": 3}', "3"),
    ],
)
def test_the_verdict_among_other_text(text: str, expected: str | Failure) -> None:
    assert read(reply(text)) == expected


def test_a_repaired_reply_is_marked() -> None:
    """C18: how many answers needed repair stays visible."""
    (plain,) = conversation.read(FAITHFULNESS, record(), reply=reply(FULL))
    (fenced,) = conversation.read(FAITHFULNESS, record(), reply=reply(f"```json\n{FULL}\n```"))

    assert (plain.repaired, fenced.repaired) == (False, True)
    assert plain.label == fenced.label == "3"


def test_the_token_limit_is_its_own_failure() -> None:
    """C30: truncated content, empty content with the budget spent on reasoning, and a provider that claims `stop`."""
    cut = '[{"turn_id":1,"rating":3},{"turn_id":2,"rat'
    for finish in ("length", "stop"):
        verdicts = turn.read(CONCISENESS, record(2), reply=reply(cut, finish_reason=finish))
        assert [verdict.failure for verdict in verdicts] == [Failure.TRUNCATED, Failure.TRUNCATED]
    assert read(reply("", finish_reason="length")) == Failure.TRUNCATED
    assert read(reply("<think>So the first", finish_reason="length")) == Failure.TRUNCATED
    assert read(reply(FULL, finish_reason="MAX_TOKENS")) == "3"


def test_a_content_filter_is_not_a_verdict() -> None:
    """C32."""
    assert read(reply(None, finish_reason="content_filter")) == Failure.FILTERED
    assert read(reply(FULL, finish_reason="content_filter")) == Failure.FILTERED
    for finish in ("SAFETY", "RECITATION", "PROHIBITED_CONTENT", "guardrail_intervened"):
        assert read(reply(None, finish_reason=finish)) == Failure.FILTERED
    assert read(reply("I'd rather not.", finish_reason="refusal")) == Failure.REFUSED


def test_an_answer_in_a_tool_call_is_read_and_marked() -> None:
    """C55."""
    (verdict,) = conversation.read(FAITHFULNESS, record(), reply=reply(None, tool_arguments='{"rating": 2}'))

    assert verdict.label == "2"
    assert verdict.repaired
    assert read(reply("I file my verdict.", tool_arguments=FULL)) == "3"
    assert read(reply('{"rating": 1}', tool_arguments=FULL)) == "1"
    assert read(reply("", tool_arguments='{"rating": ', finish_reason="length")) == Failure.TRUNCATED


def test_the_reasoning_field_is_no_answer() -> None:
    """A rating that the model only thought of is not its verdict."""
    assert read(reply(None, reasoning=FULL)) == Failure.EMPTY


def test_every_depth_of_nesting_is_survived() -> None:
    """Neither the JSON reader's stack nor that of what compares and prints values is a way to stop a run."""
    for depth in (99, 101, 900, 1_500):
        deep = "[" * depth + "]" * depth
        for text in (deep, f'{{"rating": 2, "explanation": {deep}}}', f'{{"rating": {deep}, "rating": {deep}}}'):
            assert read(reply(text)) in {"2", *Failure}


def test_a_reply_of_many_equal_keys_is_read_in_time() -> None:
    text = "{" + ",".join(f'"k{number}": 1' for number in range(50_000)) + ', "k0": 2, "rating": 2}'

    assert read(reply(text)) == "2"


def test_a_provider_error_keeps_its_kind() -> None:
    assert read(reply(None, error=Failure.TOO_LONG)) == Failure.TOO_LONG


def test_echoed_record_json_is_not_the_verdict() -> None:
    """C94: a tool response in the record that looks like a turn judge's answer, quoted by a conversation judge."""
    assert read(reply('The tool returned [{"turn_id": 1, "rating": 1}]. ' + FULL)) == "3"


def test_turns_in_a_list_with_a_comma_too_many_are_read() -> None:
    """Each names its turn, so that nothing is taken for another's."""
    text = '{"turns": [{"turn_id": 1, "explanation": "x", "failure_modes": [], "rating": 2},]}'
    (verdict,) = turn.read(CONCISENESS, record(1), reply=reply(text))
    assert (verdict.label, verdict.repaired) == ("2", True)


@pytest.mark.parametrize(("second", "said"), [(3, "3"), (1, Failure.REPEATED), (None, Failure.REPEATED)])
def test_a_turn_id_as_text_and_as_a_number_is_one_turn(second: int | None, said: str) -> None:
    entries = [
        {"turn_id": 1, "explanation": "x", "failure_modes": [], "rating": 3},
        {"turn_id": "1", "explanation": "x", "failure_modes": [], "rating": second},
    ]
    (verdict,) = turn.read(CONCISENESS, record(1), reply=reply(json.dumps(entries)))
    assert (verdict.label or verdict.failure) == said
    assert "turn_repeated" in verdict.broken_rules
