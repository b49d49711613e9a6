"""Dataset + prompt → everything that will be asked, before anything is: compiled prompts, requests, items. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from eva.errors import DataError, PromptError
from eva.judges import unit_of
from eva.judges.variables import variable_texts
from eva.prompts.compile import compile_prompt
from eva.prompts.request import build_request, digest_of, record_values
from eva.types import CompiledPrompt, Dataset, Item, JudgeSpec, Record, Request

AUTO = "auto"
"""The language code that stands for each record's own."""


@dataclass(frozen=True)
class Plan:
    """What a run will ask."""

    judge: JudgeSpec
    dataset: Dataset
    compiled: Mapping[str, CompiledPrompt]
    """By `language.pipeline`: one rubric for all records of that kind."""
    requests: tuple[Request, ...]
    """One a record, in dataset order."""
    items: Mapping[str, tuple[Item, ...]]
    """By record id."""
    notes: tuple[str, ...] = ()

    @property
    def prompt(self) -> CompiledPrompt:
        """Any of the compiled prompts: they share version, parent and summary."""
        return next(iter(self.compiled.values()))

    @property
    def prompt_sha256(self) -> str:
        """One digest over all compiled prompts of the run."""
        return digest_of({key: compiled.sha256 for key, compiled in self.compiled.items()})

    @property
    def n_items(self) -> int:
        return sum(len(items) for items in self.items.values())


def make_plan(
    *,
    judge: JudgeSpec,
    prompt: Mapping[str, Any],
    language: Mapping[str, Any],
    languages: Mapping[str, Mapping[str, Any]],
    dataset: Dataset,
    model_identity: Mapping[str, Any],
    structured_output: bool = False,
    max_chars: int | None = None,
    audio_digests: Mapping[str, tuple[str, str]] | None = None,
) -> Plan:
    """Compile what the records need and build their requests.

    `language` is the run's, `languages` all known ones by code. `audio_digests`: record id → (sha256, path), audio judges only.
    Raises PromptError or DataError that lists the records concerned.
    """
    unit = unit_of(judge)
    compiled: dict[str, CompiledPrompt] = {}
    requests, items, lacking = [], {}, []
    for record in dataset.records:
        own = _own_language(record, languages)
        spoken = own if language["code"] == AUTO else language
        pipeline = str(record.context.get("pipeline") or "cascade")
        key = f"{spoken['code']}.{pipeline}"
        if key not in compiled:
            compiled[key] = compile_prompt(prompt, judge, language=spoken, pipeline=pipeline)
        texts = variable_texts(judge, record, language_name=str(own["name"]))
        try:
            values = record_values(judge, texts, record_id=record.record_id)
        except PromptError as error:
            lacking.append(str(error))
            continue
        sha256, path = (audio_digests or {}).get(record.record_id, (None, None))
        requests.append(
            build_request(
                compiled[key],
                values,
                record_id=record.record_id,
                model_identity=model_identity,
                response_schema=unit.schema(judge, record, max_chars=max_chars) if structured_output else None,
                audio_sha256=sha256,
                audio_path=path,
            )
        )
        items[record.record_id] = unit.items(judge, record)
    if lacking:
        more = f"\n… and {len(lacking) - 5} more records" if len(lacking) > 5 else ""
        raise DataError("\n".join(lacking[:5]) + more)
    if not requests:
        raise DataError("the dataset has no records to judge", file=dataset.name)
    notes = _language_note(dataset, prompt, judge, language=language, languages=languages)
    return Plan(judge=judge, dataset=dataset, compiled=compiled, requests=tuple(requests), items=items, notes=notes)


def _own_language(record: Record, languages: Mapping[str, Mapping[str, Any]]) -> Mapping[str, Any]:
    if record.language not in languages or record.language == AUTO:
        known = ", ".join(sorted(set(languages) - {AUTO}))
        raise DataError(
            f"record {record.record_id!r}: language {record.language!r} is not known. There are: {known}. "
            f"Add conf/language/{record.language}.yaml with `code` and `name`.",
        )
    return languages[record.language]


def _language_note(
    dataset: Dataset,
    prompt: Mapping[str, Any],
    judge: JudgeSpec,
    *,
    language: Mapping[str, Any],
    languages: Mapping[str, Mapping[str, Any]],
) -> tuple[str, ...]:
    """Said where records would get other guidance in their own language; silent where the text is the same."""
    if language["code"] == AUTO:
        return ()
    used = compile_prompt(prompt, judge, language=language).sha256
    codes = {record.language for record in dataset.records} - {language["code"]}
    differ = {code for code in codes if compile_prompt(prompt, judge, language=languages[code]).sha256 != used}
    others = sum(record.language in differ for record in dataset.records)
    if not others:
        return ()
    note = (
        f"{others} of {len(dataset.records)} records are in languages with guidance of their own, which "
        f"language={language['code']} does not give them; language=auto gives each record its own."
    )
    return (note,)
