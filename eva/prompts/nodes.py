"""A prompt is a tree of named nodes; this walks it into text.

A node is a string, null (switched off) or a mapping. In a mapping `title` is a heading, `text` the opening text, `slot` and
`by_pipeline` choose text when the prompt is compiled, and every other key is a named child, in order.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from eva.errors import PromptError

RESERVED = frozenset({"title", "text", "slot", "by_pipeline"})
PIPELINES = ("cascade", "audio_llm", "s2s")


@dataclass(frozen=True)
class Setting:
    """What a prompt is compiled for."""

    language: str
    language_name: str
    pipeline: str
    guidance: Mapping[str, Any]
    """Rule name -> text, for this judge in this language; empty where it needs none."""


@dataclass(frozen=True)
class Part:
    """One piece of compiled text under its path; what diffs and switches name."""

    path: str
    heading: str
    """The heading line that opens it, or ''."""
    text: str


def parts_of(node: Any, path: str, *, depth: int, setting: Setting) -> Iterator[Part]:
    """Yield the parts of a node in order. A node without any text yields nothing, its heading included.

    Raises PromptError for values that are not text (`no`, `1.10`, `12:30` in YAML) and for unknown slots and pipelines.
    """
    if node is None:
        return
    if isinstance(node, str):
        text = _clean(node)
        if text:
            yield Part(path=path, heading="", text=text)
        return
    if not isinstance(node, Mapping):
        raise PromptError(
            f"{path}: {node!r} is {_kind(node)}, not text. Put it in quotes, or use null to switch the part off."
        )
    inner = list(_inner_parts(node, path, depth=depth, setting=setting))
    if not inner:
        return
    title = _title(node, path)
    if title:
        first = inner[0]
        heading = "#" * depth + " " + title
        joined = heading if not first.heading else f"{heading}\n\n{first.heading}"
        inner[0] = Part(path=first.path, heading=joined, text=first.text)
    yield from inner


def _inner_parts(node: Mapping[str, Any], path: str, *, depth: int, setting: Setting) -> Iterator[Part]:
    if "text" in node:
        yield from parts_of(_only_text(node["text"], f"{path}.text"), path, depth=depth, setting=setting)
    if "by_pipeline" in node:
        yield from parts_of(_for_pipeline(node["by_pipeline"], path, setting), path, depth=depth, setting=setting)
    if "slot" in node:
        if node["slot"] != "guidance":
            raise PromptError(f"{path}.slot: {node['slot']!r} is not a slot. There is one: guidance.")
        for name, text in setting.guidance.items():
            yield from parts_of(text, f"{path}.{name}", depth=depth + 1, setting=setting)
    for key, child in node.items():
        if key not in RESERVED:
            yield from parts_of(child, f"{path}.{key}", depth=depth + 1, setting=setting)


def join(parts: list[Part]) -> str:
    """The compiled text: list items follow each other by a line end, everything else by a blank line."""
    text = ""
    for part in parts:
        block = f"{part.heading}\n\n{part.text}" if part.heading else part.text
        if not text:
            text = block
        elif block.startswith("- ") and _last_paragraph(text).startswith("- "):
            text += "\n" + block
        else:
            text += "\n\n" + block
    return text + "\n" if text else ""


def _last_paragraph(text: str) -> str:
    return text.rsplit("\n\n", 1)[-1]


def _clean(text: str) -> str:
    """Line ends and byte-order mark normalised, so that a prompt is the same bytes on every machine."""
    return text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n").strip("\n")


def _only_text(value: Any, path: str) -> str | None:
    if value is None or isinstance(value, str):
        return value
    raise PromptError(f"{path}: {value!r} is {_kind(value)}, not text. Put it in quotes.")


def _title(node: Mapping[str, Any], path: str) -> str:
    title = _only_text(node.get("title"), f"{path}.title")
    return title.strip() if title else ""


def _for_pipeline(choices: Any, path: str, setting: Setting) -> Any:
    if not isinstance(choices, Mapping) or set(choices) != set(PIPELINES):
        raise PromptError(f"{path}.by_pipeline: must give text for {', '.join(PIPELINES)}, and for nothing else.")
    return choices[setting.pipeline]


def _kind(value: Any) -> str:
    names = {bool: "a boolean", int: "a number", float: "a number", list: "a list"}
    return names.get(type(value), f"a {type(value).__name__}")
