"""Prompt config → compiled prompt: sections in order, fragments and guidance in place, only record variables open."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

from eva.errors import PromptError
from eva.prompts.nodes import PIPELINES, Part, Setting, join, parts_of
from eva.prompts.template import PLACEHOLDER, check_names, substitute, variables_in
from eva.types import CompiledPrompt, JudgeSpec

COMPILE_VARIABLES = ("language_name",)
"""What the rubric may name; put in when the prompt is compiled."""
TOP_KEYS = frozenset({"release", "order", "sections", "user"})


def compile_prompt(
    prompt: Mapping[str, Any], judge: JudgeSpec, *, language: Mapping[str, Any], pipeline: str = "cascade"
) -> CompiledPrompt:
    """Compile one prompt for one language and pipeline.

    `prompt` is the composed config (plain containers, unresolved): release, order, sections, user. `language` is a file of
    conf/language: code, name, guidance by judge. Raises PromptError that names the part.
    """
    where = f"prompt {judge.name}/{prompt.get('release', {}).get('name', '?')}"
    _check_shape(prompt, where=where, pipeline=pipeline)
    setting = Setting(
        language=str(language["code"]),
        language_name=str(language["name"]),
        pipeline=pipeline,
        guidance=(language.get("guidance") or {}).get(judge.name) or {},
    )
    parts = _section_parts(prompt, setting=setting, where=where)
    system = _fill(join(parts), setting=setting, where=where)
    user = _user_template(prompt, judge, where=where)
    release = prompt["release"]
    return CompiledPrompt(
        judge=judge.name,
        version=str(release["name"]),
        language=setting.language,
        pipeline=pipeline,
        system=system,
        user=user,
        parts=_by_path(parts, user=user, setting=setting, where=where),
        sha256=text_digest(system, user),
        parent=release.get("parent"),
        summary=str(release.get("summary", "")).strip(),
        draft=bool(release.get("draft", False)),
    )


def text_digest(system: str, user: str) -> str:
    """sha256 over both texts, unambiguous about where one ends."""
    return hashlib.sha256(f"{len(system)}:{system}{len(user)}:{user}".encode()).hexdigest()


def render_markdown(compiled: CompiledPrompt) -> str:
    """The compiled prompt as one readable file: what golden files and `prompt.md` hold."""
    head = f"<!-- {compiled.judge} {compiled.version} · {compiled.language} · {compiled.pipeline} -->"
    return f"{head}\n\n{compiled.system}\n---\n\n{compiled.user}"


def _check_shape(prompt: Mapping[str, Any], *, where: str, pipeline: str) -> None:
    if pipeline not in PIPELINES:
        raise PromptError(f"{where}: pipeline {pipeline!r} does not exist. There are: {', '.join(PIPELINES)}.")
    unknown = sorted(set(prompt) - TOP_KEYS)
    lacking = sorted(TOP_KEYS - set(prompt))
    if unknown or lacking:
        raise PromptError(
            f"{where}: top-level keys must be {', '.join(sorted(TOP_KEYS))}; unknown: {unknown or 'none'}, "
            f"missing: {lacking or 'none'}."
        )
    if not isinstance(prompt["sections"], Mapping):
        raise PromptError(f"{where}: `sections` must be a mapping of names to text.")
    order, sections = list(prompt["order"]), list(prompt["sections"])
    if sorted(order) != sorted(sections):
        raise PromptError(
            f"{where}: `order` must list every section once. Not in order: {sorted(set(sections) - set(order)) or 'none'}; "
            f"not a section: {sorted(set(order) - set(sections)) or 'none'}; twice: "
            f"{sorted({name for name in order if order.count(name) > 1}) or 'none'}."
        )


def _section_parts(prompt: Mapping[str, Any], *, setting: Setting, where: str) -> list[Part]:
    parts: list[Part] = []
    for name in prompt["order"]:
        try:
            parts += parts_of(prompt["sections"][name], f"sections.{name}", depth=2, setting=setting)
        except PromptError as error:
            raise PromptError(f"{where}: {error}") from error
    if not parts:
        raise PromptError(f"{where}: no section has any text.")
    return parts


def _fill(text: str, *, setting: Setting, where: str) -> str:
    record_variables = [name for name in variables_in(text) if name not in COMPILE_VARIABLES]
    if record_variables:
        raise PromptError(
            f"{where}: the rubric names record variables ({', '.join(record_variables)}). It must be the same for every record: "
            "name them in `user` only."
        )
    values = {"language_name": setting.language_name}
    used = {name: values[name] for name in variables_in(text)}
    return substitute(text, used, where=where)


def _user_template(prompt: Mapping[str, Any], judge: JudgeSpec, *, where: str) -> str:
    user = prompt["user"]
    if not isinstance(user, str):
        raise PromptError(f"{where}: `user` must be text.")
    user = user.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n").strip("\n") + "\n"
    for line in user.split("\n"):
        if PLACEHOLDER.search(line) and not PLACEHOLDER.fullmatch(line.strip()):
            raise PromptError(f"{where}: in `user`, a variable must stand alone on its line; found {line.strip()!r}.")
    check_names(variables_in(user), judge.variables, where=f"{where}, `user`")
    return user


def _by_path(parts: list[Part], *, user: str, setting: Setting, where: str) -> dict[str, str]:
    texts: dict[str, str] = {}
    for part in parts:
        text = _fill(join([part]), setting=setting, where=where)
        texts[part.path] = f"{texts[part.path]}\n{text}" if part.path in texts else text
    return {**texts, "user": user}
