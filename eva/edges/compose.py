"""Hydra and OmegaConf, and nothing else of ours imports them: config files + overrides → plain containers.

Prompt and guidance text is read unresolved: `${name}` in it stays text and no resolver runs on it.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from eva.errors import ConfigError, UnknownChoice

CONF = Path(__file__).resolve().parents[2] / "conf"
TEXT_KEYS = ("prompt", "language")
"""Parts of the config that hold text and are never resolved."""
DEFAULT_JUDGE, DEFAULT_PROMPT = "faithfulness", "v1"
"""As in conf/config.yaml (a test holds the two together)."""
FREE_KEYS = ("model.params.", "model.price.", "gate.floor.", "gate.largest_drop.", "dataset.options.", "judge.options.")
"""Mappings whose keys are the user's own."""
_NO_SUCH_KEY = re.compile(r"Could not override '([^']+)'")
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")


def plain(config: Any) -> dict[str, Any]:
    """A composed DictConfig as plain containers: settings resolved, text as it is written."""
    from omegaconf import OmegaConf
    from omegaconf.errors import OmegaConfBaseException

    unresolved = OmegaConf.to_container(config, resolve=False, enum_to_str=True)
    assert isinstance(unresolved, dict)
    result = {str(key): value for key, value in unresolved.items() if key != "hydra"}
    try:
        for key in result:
            if key not in TEXT_KEYS:
                node = config._get_node(key)
                result[key] = OmegaConf.to_container(node, resolve=True) if OmegaConf.is_config(node) else config[key]
    except OmegaConfBaseException as error:
        raise ConfigError(f"config: {error}") from None
    return result


def compose(overrides: Iterable[str] = ()) -> dict[str, Any]:
    """The whole config with these overrides, as run.py would see it. Raises ConfigError."""
    import yaml
    from hydra import compose as hydra_compose
    from hydra import initialize_config_dir
    from hydra.core.global_hydra import GlobalHydra
    from hydra.errors import HydraException
    from omegaconf.errors import OmegaConfBaseException

    given = list(overrides)
    check_choices(given)
    try:
        if GlobalHydra.instance().is_initialized():
            return plain(hydra_compose(config_name="config", overrides=given))
        with initialize_config_dir(config_dir=str(CONF), version_base="1.3"):
            return plain(hydra_compose(config_name="config", overrides=given))
    except (HydraException, OmegaConfBaseException, yaml.YAMLError) as error:
        raise _explained(error, given) from None


def sweep_overrides() -> tuple[str, ...]:
    """The overrides of the job that is running."""
    from hydra.core.hydra_config import HydraConfig

    return tuple(HydraConfig.get().overrides.task)


def choices(group: str) -> tuple[str, ...]:
    """Names of a config group's files."""
    folder = CONF / group
    return tuple(sorted(path.stem for path in folder.glob("[!_]*.yaml"))) if folder.is_dir() else ()


def check_choices(overrides: Iterable[str]) -> None:
    """Raise UnknownChoice for a group choice that does not exist, before Hydra does with less to say.

    Looks at `group=name` and `group=a,b` of this project's groups, and at judge–prompt pairs.
    """
    chosen: dict[str, list[str]] = {}
    groups = {path.name for path in CONF.iterdir() if path.is_dir()} - {"fragment", "hydra"}
    for override in overrides:
        key, _, value = override.lstrip("+").partition("=")
        if key in groups and value and not value.startswith(("{", "[", "${")):
            chosen[key] = [name.strip().strip("'\"") for name in value.split(",")]
    for group, names in chosen.items():
        for name in names:
            if name != "null" and (not _NAME.fullmatch(name) or name not in choices(group)):
                raise UnknownChoice(group, name, choices(group), hint=f"They are files in conf/{group}/.")
    if not {"judge", "prompt"} & set(chosen):
        return
    for judge in chosen.get("judge", [DEFAULT_JUDGE]):
        for version in chosen.get("prompt", [DEFAULT_PROMPT]):
            known = choices(f"prompt/{judge}")
            if version not in known:
                raise UnknownChoice("prompt", version, known, hint=f"They are files in conf/prompt/{judge}/.")


def read_yaml(path: Path) -> dict[str, Any]:
    """One config file alone, without Hydra: for language names and guidance. Safe loading only."""
    import yaml

    try:
        loaded = yaml.safe_load(path.read_text(encoding="utf-8-sig"))
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path.name}: {error}") from None
    if not isinstance(loaded, dict):
        raise ConfigError(f"{path.name}: a mapping is wanted, not {type(loaded).__name__}.")
    return loaded


def languages() -> dict[str, dict[str, Any]]:
    """Every language of conf/language by code."""
    return {name: read_yaml(CONF / "language" / f"{name}.yaml") for name in choices("language")}


def to_yaml(config: Mapping[str, Any]) -> str:
    """The composed config as YAML, for the run folder; keys in their order."""
    import yaml

    return yaml.safe_dump(dict(config), sort_keys=False, allow_unicode=True, width=120)


def _no_such_key(path: str) -> str:
    """A setting that the config does not have, with the nearest that it has, and how a new key is added where keys are free."""
    *way, last = path.split(".")
    node: Any = compose([])
    for step in way:
        node = node.get(step) if isinstance(node, dict) else None
    known = sorted(str(key) for key in node) if isinstance(node, dict) else []
    near = difflib.get_close_matches(last, known, n=1)
    where = ".".join(way) or "the settings"
    hint = (
        f"Did you mean {'.'.join([*way, near[0]])!r}?" if near else f"{where} has: {', '.join(known) or 'no keys yet'}."
    )
    free = path.startswith(FREE_KEYS)
    return f"{path!r} is not a setting. {hint}" + (f" A new key is added with +{path}=…" if free else "")


def _explained(error: Exception, overrides: list[str]) -> ConfigError:
    """A Hydra error in our words; text that OmegaConf cannot parse gets the way to escape it."""
    text = str(error).strip()
    if match := _NO_SUCH_KEY.search(text):
        return ConfigError(_no_such_key(match.group(1)))
    if "Interpolation" in text or "GrammarParseError" in type(error).__name__ or "${" in text:
        return ConfigError(f"{text}\nIn prompt text, write a literal ${{ as \\${{ (config {' '.join(overrides)}).")
    return ConfigError(text)
