"""What a careful reviewer would find in a compiled prompt: dangling references, undefined tags, levels that do not exist."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from eva.types import CompiledPrompt, JudgeSpec

_TAG = re.compile(r"\[[a-z][a-z]+(?: [a-z]+)*\]")
_POINTER = re.compile(
    r"\b(?:as|see|described|listed|given|mentioned|defined|stated|explained)\s+(?:in\s+the\s+\w+\s+)?(?:above|below|earlier)\b"
    r"|\b(?:guidance|rules?|section|list|table|examples?)\s+(?:above|below)\b",
    re.IGNORECASE,
)
_NAMED_SECTION = re.compile(r"(?:section|under|in|see)\s+(?:the\s+)?(?:section\s+)?[\"“]([A-Z][^\"”\n]{2,60})[\"”]")
_GUIDANCE_POINTER = re.compile(r"language[- ]specific guidance", re.IGNORECASE)
_ARTICLE = re.compile(r"\b[Aa]n?\s+[*_\"“]*\{\{")
_LEVEL = re.compile(r"\brat(?:ing|ed|e|es)\b(?:\s+(?:of|as|is|it|at|most|least|to))*\s*[=:]?\s*`?(\d+)`?(?![\d.%-])")
_WRONG_ARTICLE = re.compile(
    r"\ba\s+(?:English|Italian)\b|\ban\s+(?:German|French|Dutch|Spanish|Hindi|Korean|Japanese)\b", re.IGNORECASE
)


@dataclass(frozen=True, order=True)
class Finding:
    """One thing to mend."""

    judge: str
    version: str
    language: str
    path: str
    rule: str
    message: str

    def __str__(self) -> str:
        return f"{self.judge}/{self.version} {self.language} {self.path}: {self.message} [{self.rule}]"


def lint(compiled: CompiledPrompt, judge: JudgeSpec, *, prompt: Mapping[str, Any]) -> list[Finding]:
    """All findings in one compiled prompt; `prompt` is the config that it was compiled from."""
    return [
        Finding(compiled.judge, compiled.version, compiled.language, path, rule, message)
        for path, rule, message in (
            *_raw_findings(prompt.get("sections"), "sections"),
            *_tag_findings(compiled),
            *_pointer_findings(compiled),
            *_level_findings(compiled, judge),
        )
    ]


def _raw_findings(node: Any, path: str) -> Iterator[tuple[str, str, str]]:
    if isinstance(node, str):
        if match := _ARTICLE.search(node):
            yield (
                path,
                "article",
                f"{match.group(0)!r}: an article before a placeholder reads wrong for some values; reword",
            )
    elif isinstance(node, Mapping):
        for key, child in node.items():
            yield from _raw_findings(child, f"{path}.{key}")


def _tag_findings(compiled: CompiledPrompt) -> Iterator[tuple[str, str, str]]:
    defining = {path: text for path, text in compiled.parts.items() if "interruption_tags" in path}
    defined = set(_TAG.findall(" ".join(defining.values())))
    for path, text in compiled.parts.items():
        for tag in sorted(set(_TAG.findall(text)) - defined):
            if path not in defining:
                where = "the tags that the prompt defines" if defined else "no section that defines tags"
                yield path, "undefined_tag", f"{tag} is not among {where}"


def _pointer_findings(compiled: CompiledPrompt) -> Iterator[tuple[str, str, str]]:
    titles = {line.lstrip("# ").strip().casefold() for line in compiled.system.split("\n") if line.startswith("#")}
    has_guidance = any("guidance" in title for title in titles)
    for path, text in compiled.parts.items():
        for match in _POINTER.finditer(text):
            yield path, "pointer", f"{match.group(0)!r} points somewhere by position; say the rule, or name the section"
        for match in _NAMED_SECTION.finditer(text):
            if match.group(1).strip().casefold() not in titles:
                yield path, "pointer", f"section {match.group(1)!r} does not exist"
        if _GUIDANCE_POINTER.search(text) and not has_guidance:
            yield path, "pointer", "points to language-specific guidance, which this compiled prompt does not have"
        if wrong := _WRONG_ARTICLE.search(text):
            yield path, "article", f"{wrong.group(0)!r}: the other article is right"


def _level_findings(compiled: CompiledPrompt, judge: JudgeSpec) -> Iterator[tuple[str, str, str]]:
    if not all(label.isdigit() for label in judge.scale.labels):
        return
    for path, text in compiled.parts.items():
        for match in _LEVEL.finditer(text):
            if match.group(1) not in judge.scale.labels:
                yield path, "level", f"{match.group(0)!r}: the scale has {', '.join(judge.scale.labels)}"
