"""Composed config → typed, checked settings. Everything wrong is said here, before any call."""

from __future__ import annotations

import copy
import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from eva.edges.compose import CONF, choices, compose, read_yaml
from eva.edges.credentials import refuse_credentials
from eva.edges.datasets import DatasetSpec
from eva.edges.tracking import TrackingSpec
from eva.edges.typed import typed
from eva.errors import ConfigError, UnknownChoice
from eva.judges import unit_of
from eva.types import JudgeSpec, ModelSpec, Scale

MOST_JOBS_CHECKED = 64
"""A sweep of more jobs is checked that far ahead; composing takes a twentieth of a second a job."""


@dataclass(frozen=True)
class RunOptions:
    """The top-level settings of conf/config.yaml."""

    task: Literal["validate", "rescore"] = "validate"
    seeds: int = 1
    limit: int | None = None
    baseline: str = "auto"
    margin: float = 0.03
    max_usd: float | None = None
    max_failures: float = 1.0
    on_unreadable: Literal["keep", "ask_again"] = "keep"
    ask_again: int = 1
    attribute: Literal["explanations", "none"] = "explanations"
    dry_run: bool = False
    without: str | None = None
    name: str | None = None
    home: str = "mlruns"


@dataclass(frozen=True)
class Settings:
    """One run's settings; nothing below sees a DictConfig."""

    judge: JudgeSpec
    prompt: Mapping[str, Any]
    """release, order, sections, user: unresolved text."""
    language: Mapping[str, Any]
    """code, name, guidance; code `auto`: each record's own."""
    model: ModelSpec
    dataset: DatasetSpec
    tracking: TrackingSpec
    gate: Mapping[str, Any]
    options: RunOptions
    config: Mapping[str, Any]
    """The whole composed config, as it goes into the run folder."""


def settings(*overrides: str) -> Settings:
    """What `python run.py <overrides>` would run, composed and checked. Raises ConfigError."""
    return settings_from(compose(overrides))


def check_jobs(arguments: Sequence[str]) -> None:
    """Compose and check every job that a command line asks for, before the first one starts. Raises ConfigError.

    Lists (`prompt=v1,v2`) are multiplied out as Hydra's own sweeper does; a command line with flags of Hydra's (`--config-dir`)
    or with its sweep functions is left to Hydra, which has the same checks job by job.
    """
    overrides = [word for word in arguments if word not in ("-m", "--multirun")]
    if any(word.startswith("-") for word in overrides) or any(
        "range(" in word or "choice(" in word for word in overrides
    ):
        return
    sweeps = "-m" in arguments or "--multirun" in arguments
    kept = [word for word in overrides if not word.startswith("hydra")]
    choices_of = [_alternatives(word) if sweeps else [word] for word in kept]
    for job in itertools.islice(itertools.product(*choices_of), MOST_JOBS_CHECKED):
        settings_from(compose(job))


def _alternatives(override: str) -> list[str]:
    """`prompt=v1,v2` as its two overrides; quotes and brackets hold their commas together."""
    key, equals, value = override.partition("=")
    if not equals or value.startswith(("[", "{", "'", '"')):
        return [override]
    return [f"{key}={one}" for one in value.split(",")]


def settings_from(config: Mapping[str, Any]) -> Settings:
    """Build and check settings. Raises ConfigError that names the group, the key and the value."""
    known = set(RunOptions.__dataclass_fields__)
    groups = ("judge", "prompt", "language", "model", "dataset", "tracking", "gate")
    unknown = sorted(set(config) - known - set(groups))
    if unknown:
        raise ConfigError(f"unknown settings: {', '.join(unknown)}. There are: {', '.join([*groups, *sorted(known)])}.")
    refuse_credentials(config)
    options = _options({key: config[key] for key in known if key in config})
    judge = judge_from(config["judge"])
    model = typed(ModelSpec, config["model"], where="model")
    dataset = typed(DatasetSpec, config["dataset"], where="dataset")
    if options.limit is not None:
        dataset = replace(dataset, limit=options.limit)
    return Settings(
        judge=judge,
        prompt=switched_off(config["prompt"], options.without),
        language=_language(config["language"]),
        model=model,
        dataset=dataset,
        tracking=typed(TrackingSpec, config["tracking"], where="tracking"),
        gate=config.get("gate") or {},
        options=options,
        config=config,
    )


def switched_off(prompt: Mapping[str, Any], path: str | None) -> Mapping[str, Any]:
    """The prompt without one part (`sections.rules.glosses`). Raises UnknownChoice that lists the parts beside it."""
    if path is None:
        return prompt
    changed = copy.deepcopy(dict(prompt))
    node: Any = changed
    *way, last = path.split(".")
    for step in way:
        node = _child(node, step, path=path)
    _child(node, last, path=path)
    node[last] = None
    return changed


def _child(node: Any, name: str, *, path: str) -> Any:
    if not isinstance(node, dict) or name not in node:
        raise UnknownChoice(f"without={path}: part", name, node if isinstance(node, dict) else ())
    return node[name]


def judge_from(values: Mapping[str, Any]) -> JudgeSpec:
    """A file of conf/judge as a JudgeSpec; its unit must exist and its labels must be distinct."""
    where = f"judge {values.get('name', '?')!r}"
    raw = dict(values)
    scale = dict(raw.pop("scale", None) or {})
    lists: dict[str, Any] = {key: tuple(raw[key] or ()) for key in ("dimensions", "flags", "variables") if key in raw}
    judge = typed(JudgeSpec, {**raw, **lists, "scale": _scale(scale, where=where)}, where=where)
    unit_of(judge)
    return judge


def load_judge(name: str) -> JudgeSpec:
    """The judge of conf/judge/<name>.yaml."""
    if name not in choices("judge"):
        raise UnknownChoice("judge", name, choices("judge"), hint="They are files in conf/judge/.")
    return judge_from(read_yaml(CONF / "judge" / f"{name}.yaml"))


def _scale(values: Mapping[str, Any], *, where: str) -> Scale:
    unknown = sorted(set(values) - {"labels", "ordinal", "not_applicable", "aliases"})
    if unknown:
        raise ConfigError(
            f"{where}, scale: unknown keys {', '.join(unknown)}; there are labels, ordinal, not_applicable, aliases."
        )
    labels = tuple(_label(label) for label in values.get("labels") or ())
    if len(labels) < 2 or len(set(labels)) != len(labels):
        raise ConfigError(
            f"{where}, scale.labels: two or more distinct labels are wanted, worst first; got {list(labels)}."
        )
    aliases = {str(_label(key)): _label(value) for key, value in (values.get("aliases") or {}).items()}
    strange = sorted(set(aliases.values()) - set(labels))
    if strange:
        raise ConfigError(
            f"{where}, scale.aliases: {', '.join(strange)} is not a label; there are {', '.join(labels)}."
        )
    return Scale(
        labels=labels,
        ordinal=bool(values.get("ordinal", False)),
        allows_not_applicable=bool(values.get("not_applicable", False)),
        aliases=aliases,
    )


def _label(value: Any) -> str:
    """YAML reads `true` and `1` as what they are; labels are their names."""
    return ("true" if value else "false") if isinstance(value, bool) else str(value)


def _options(values: Mapping[str, Any]) -> RunOptions:
    options = typed(RunOptions, values, where="config")
    rules = (
        (options.seeds >= 1, "seeds", options.seeds, "a whole number from 1"),
        (options.limit is None or options.limit >= 1, "limit", options.limit, "a whole number from 1, or null"),
        (0 < options.margin < 1, "margin", options.margin, "a share between 0 and 1"),
        (options.max_usd is None or options.max_usd > 0, "max_usd", options.max_usd, "an amount above 0, or null"),
        (0 <= options.max_failures <= 1, "max_failures", options.max_failures, "a share from 0 to 1"),
        (options.ask_again >= 1, "ask_again", options.ask_again, "a whole number from 1"),
    )
    wrong = [f"`{name}`: {value!r} is not {wanted}" for right, name, value, wanted in rules if not right]
    if wrong:
        raise ConfigError(f"config: {'; '.join(wrong)}.")
    return options


def _language(values: Mapping[str, Any]) -> Mapping[str, Any]:
    lacking = [key for key in ("code", "name") if not isinstance(values.get(key), str)]
    if lacking:
        raise ConfigError(f"language: {', '.join(lacking)} must be text (in YAML, `no` must be quoted).")
    guided = values.get("guidance") or {}
    unknown = sorted(set(guided) - set(choices("judge")))
    if unknown:
        raise ConfigError(f"language {values['code']}: guidance for judges that do not exist: {', '.join(unknown)}.")
    return values
