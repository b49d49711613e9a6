"""Prompt config → compiled prompt: named parts in order, switched off by null, strict in its variables (pitfalls C61, C64)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from eva.errors import PromptError
from eva.prompts.compile import compile_prompt
from tests.factories import FAITHFULNESS

ENGLISH = {"code": "en", "name": "English"}
FRENCH = {"code": "fr", "name": "European French", "guidance": {"faithfulness": {"courtesy": "- « je vous en prie »"}}}


def prompt(**sections: Any) -> dict[str, Any]:
    return {
        "release": {"name": "v1", "parent": None, "summary": "first"},
        "order": list(sections) or ["role"],
        "sections": sections or {"role": "You judge."},
        "user": "{{ conversation }}\n",
    }


def compiled(config: dict[str, Any], language: dict[str, Any] = ENGLISH, pipeline: str = "cascade") -> str:
    return compile_prompt(config, FAITHFULNESS, language=language, pipeline=pipeline).system


def test_sections_follow_the_order_and_list_items_stand_together() -> None:
    config = prompt(
        rules={
            "title": "Rules",
            "text": "Mind:",
            "one": "- a",
            "two": "- b",
            "off": None,
            "deep": {"title": "deep", "text": "c"},
        },
        role="You judge.",
    )
    config["order"] = ["role", "rules"]

    assert compiled(config) == "You judge.\n\n## Rules\n\nMind:\n\n- a\n- b\n\n### deep\n\nc\n"


def test_a_section_without_text_vanishes_with_its_title() -> None:
    assert compiled(prompt(role="You judge.", rules={"title": "Rules", "one": None})) == "You judge.\n"


def test_guidance_fills_its_slot_and_leaves_no_trace_where_there_is_none() -> None:
    """v3 without guidance is byte-identical to v2."""
    slot = {"title": "Guidance for {{ language_name }}", "slot": "guidance"}

    assert compiled(prompt(role="You judge.", guidance=slot)) == compiled(prompt(role="You judge."))
    assert compiled(prompt(role="You judge.", guidance=slot), FRENCH).endswith(
        "## Guidance for European French\n\n- « je vous en prie »\n"
    )


def test_text_by_pipeline() -> None:
    config = prompt(
        role="You judge.",
        source={"by_pipeline": {"cascade": "heard by a recogniser", "audio_llm": "", "s2s": "spoken"}},
    )

    assert compiled(config).endswith("recogniser\n")
    assert compiled(config, pipeline="audio_llm") == "You judge.\n"


@pytest.mark.parametrize(
    "text",
    ['Return {"rating": 1, "why": "..."} or {x.__class__} or 50% or ${fee} or {{not a name}}', "{% if a %} {# note }"],
)
def test_braces_percent_signs_and_dollars_are_text(text: str) -> None:
    """C61: sent as written."""
    assert compiled(prompt(role=text)) == text + "\n"


def test_line_ends_and_byte_order_marks_do_not_change_a_prompt() -> None:
    """C64: the four spellings of one file are one prompt."""
    shas = {
        compile_prompt(prompt(role=text), FAITHFULNESS, language=ENGLISH).sha256
        for text in ("a\nb", "a\r\nb", "a\nb\n", "\ufeffa\nb")
    }

    assert len(shas) == 1


@pytest.mark.parametrize("value", [False, 1.10, 750, ["a"]])
def test_values_that_yaml_did_not_read_as_text_are_named(value: Any) -> None:
    with pytest.raises(PromptError, match=r"sections\.role.*not text"):
        compiled(prompt(role=value))


def test_every_variable_is_declared_and_used() -> None:
    config = {**prompt(), "user": "{{ conversation }}\n{{ tools }}\n"}
    judge = replace(FAITHFULNESS, variables=("conversation", "scenario"))

    with pytest.raises(PromptError, match=r"\{\{ tools \}\}; not used: scenario"):
        compile_prompt(config, judge, language=ENGLISH)


def test_the_rubric_names_no_record_variable() -> None:
    with pytest.raises(PromptError, match="same for every record"):
        compiled(prompt(role="Judge {{ conversation }}"))


def test_a_variable_stands_alone_on_its_line() -> None:
    with pytest.raises(PromptError, match="alone on its line"):
        compile_prompt({**prompt(), "user": "Here: {{ conversation }}"}, FAITHFULNESS, language=ENGLISH)


def test_order_and_sections_must_agree() -> None:
    with pytest.raises(PromptError, match="Not in order: \\['rules'\\]"):
        compiled({**prompt(role="a", rules="b"), "order": ["role"]})


def test_parts_name_every_rule() -> None:
    parts = compile_prompt(
        prompt(rules={"title": "Rules", "one": "- a", "two": "- b"}), FAITHFULNESS, language=ENGLISH
    ).parts

    assert list(parts) == ["sections.rules.one", "sections.rules.two", "user"]
    assert parts["sections.rules.two"] == "- b\n"
