"""Section G of the list: prompts, templates, encodings; what reaches the model is what was written."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from omegaconf import OmegaConf

from eva.edges.compose import plain
from eva.errors import DataError, PromptError
from eva.flow import plan_run
from eva.prompts.blocks import conversation_text
from eva.prompts.compile import compile_prompt
from eva.prompts.request import build_request
from eva.prompts.template import substitute
from eva.types import CompiledPrompt, Event
from tests.factories import FAITHFULNESS
from tests.small_runs import ROOT, data_file


def compiled(role: str, *, user: str = "{{ conversation }}\n") -> CompiledPrompt:
    prompt = {"release": {"name": "v1"}, "order": ["role"], "sections": {"role": role}, "user": user}
    return compile_prompt(prompt, FAITHFULNESS, language={"code": "en", "name": "English"})


def sent(text: str, *, role: str = "You judge.") -> tuple[str, str]:
    request = build_request(
        compiled(role), {"conversation": text}, record_id="r1", model_identity={}, response_schema=None
    )
    return str(request.messages[0]["content"]), str(request.messages[1]["content"])


@pytest.mark.parametrize(
    "text",
    [
        'Return {"rating": 1, "why": "..."} for {transcript}',
        '{"ok":1}',
        "{x.__class__}",
        "100% of %s",
        "{{}} and {}",
        "${fee}",
    ],
)
def test_c61_braces_in_a_prompt_are_text(text: str) -> None:
    assert sent("x", role=text)[0] == f"{text}\n"


def test_c61_placeholders_are_strict_both_ways() -> None:
    with pytest.raises(PromptError, match=r"no value for \{\{ transcript"):
        substitute("{{ transcript }}", {}, where="here")
    with pytest.raises(PromptError, match="not used: x"):
        substitute("nothing", {"x": "1"}, where="here")
    with pytest.raises(PromptError, match="conversation"):
        compiled("You judge.", user="{{ talk }}\n")


@pytest.mark.parametrize(
    "said",
    [
        "My code is {{transcript}} and {0.__class__} and ${HOME} and {% raw %}", "{# note #} {% if x %}", r"\frac{1}{2} \n",
        "{{ conversation }}", "${oc.env:OPENAI_API_KEY}",
    ],
)  # fmt: skip
def test_c62_records_are_put_in_once_and_never_rendered(said: str) -> None:
    assert sent(said)[1] == f"<conversation>\n{said}\n</conversation>\n"


def test_c63_nothing_is_escaped_for_html() -> None:
    assert 'It\'s < $5 & "fine"' in sent('It\'s < $5 & "fine"')[1]


def test_c64_line_ends_and_marks_do_not_change_a_prompt() -> None:
    """The four files of the list have one digest and one text; what is hashed is what is sent."""
    found = [compiled(text) for text in ("a\nb", "a\r\nb", "a\nb\n", "\ufeffa\nb")]

    assert len({one.sha256 for one in found}) == 1
    assert {one.system for one in found} == {"a\nb\n"}
    assert "eol=lf" in (ROOT / ".gitattributes").read_text(encoding="utf-8")


def test_c64_composition_of_accents_is_left_as_it_is() -> None:
    """NFC and NFD are not changed in silence: they are two texts, and two digests."""
    assert compiled("café").sha256 != compiled("cafe\u0301").sha256
    assert compiled("cafe\u0301").system == "cafe\u0301\n"


def test_c65_every_file_is_opened_with_its_encoding_said() -> None:
    """No platform default: each text file that is opened names UTF-8 (or ASCII, or is binary)."""
    found = []
    for path in [*(ROOT / "eva").rglob("*.py"), ROOT / "run.py"]:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and _opens_text(node):
                found.append(f"{path.relative_to(ROOT)}:{node.lineno}")

    assert found == []


def _opens_text(node: ast.Call) -> bool:
    name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    value = getattr(node.func, "value", None)
    owner = getattr(value, "id", "") or getattr(value, "attr", "")
    if name not in {"open", "read_text", "write_text"} or owner in {
        "os",
        "runs",
        "wave",
        "webbrowser",
        "_opener",
        "archive",
    }:
        return False
    if isinstance(node.func, ast.Name) and name != "open":
        return False  # a function of ours
    modes = [arg.value for arg in node.args if isinstance(arg, ast.Constant) and isinstance(arg.value, str)]
    modes += [key.value.value for key in node.keywords if key.arg == "mode" and isinstance(key.value, ast.Constant)]
    binary = any("b" in mode for mode in modes if len(mode) <= 3)
    return not binary and not any(key.arg == "encoding" for key in node.keywords)


def test_c65_a_terminal_of_another_encoding_stops_nothing(tmp_path: Path) -> None:
    """C locale, UTF-8 mode off, text of four scripts: shown as well as it can be, never an exception."""
    data = data_file(tmp_path / "d.jsonl", 1, text="’ é 確 हिन्दी")
    done = subprocess.run(
        [
            sys.executable, "-X", "utf8=0", "run.py", "model=scripted", "dataset=file", f"dataset.path={data}", "dry_run=true",
            "tracking=none", f"home={tmp_path}",
        ],
        cwd=ROOT, env={**os.environ, "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "PYTHONIOENCODING": ""},
        capture_output=True, timeout=120,
    )  # fmt: skip

    assert done.returncode == 0, done.stderr.decode("utf-8", "replace")[-500:]


def test_c66_what_a_record_lacks_stops_the_run_and_names_it(tmp_path: Path) -> None:
    """A blank counts as lacking; an optional variable has its stand-in."""
    from eva.edges.compose import compose
    from eva.edges.settings import settings_from

    data = data_file(tmp_path / "d.jsonl", 2)
    own = ["model=scripted", "dataset=file", f"dataset.path={data}", "tracking=none"]
    plan = plan_run(settings_from(compose(own)))
    assert "(not given; do not judge dates against today's date)" in plan.requests[0].messages[1]["content"]

    with pytest.raises(DataError) as caught:
        plan_run(settings_from(compose([*own, "~judge.optional.current_date_time"])))
    assert "'r0' has no current_date_time" in str(caught.value)
    assert "'r1' has no current_date_time" in str(caught.value)


def test_c67_a_line_in_a_turn_is_no_turn() -> None:
    events = [Event(turn_id=3, type="user", text="First line.\nTurn 4: second line.")]

    assert conversation_text(events).split("\n") == ["Turn 3", "  user: First line.", "    | Turn 4: second line."]


def test_c75_text_is_never_interpolated(monkeypatch: pytest.MonkeyPatch) -> None:
    """Section I: prompts pass through Hydra's tree as they are written; no resolver sees them, and no variable leaks."""
    monkeypatch.setenv("EVA_TEST_SECRET", "leaked")
    text = "fee ${fee}, ${oc.env:EVA_TEST_SECRET}, ${now:%Y}"
    config: Any = OmegaConf.create({"prompt": {"sections": {"role": text}}, "language": {"name": text}, "seeds": 3})

    assert plain(config) == {"prompt": {"sections": {"role": text}}, "language": {"name": text}, "seeds": 3}
