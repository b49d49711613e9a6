"""No setting holds a credential: what looks like one is refused before anything is asked, printed or written."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from eva.edges.secrets import know_key_variable, redact
from eva.errors import ConfigError

TEXTS = frozenset({"prompt", "language", "judge", "gate"})
"""Parts of the config that hold text for people and models: there, what only looks like a key stays as it is."""
ADDRESSES = frozenset({"tracking.uri", "tracking.ui"})
"""A database's address may carry its password in a file that is nobody else's; it is masked wherever it is written."""
KEY_NAME = re.compile(
    r"(^|[._-])(api[_-]?key|secret|password|token|bearer|authorization|cookie|credentials?)$", re.IGNORECASE
)
_KEY_VARIABLE = re.compile(r"\$\{\s*oc\.env:\s*\w*(key|token|secret|password|credential)\w*", re.IGNORECASE)


def check_setting(name: str, value: str) -> None:
    """Raise ConfigError, without the value, for a setting `name` (dotted) that carries a credential."""
    if (
        (KEY_NAME.search(name) and value.strip())
        or _KEY_VARIABLE.search(value)
        or redact(value) != value
        or redact(name) != name
    ):
        raise ConfigError(
            f"`{redact(name)}` looks like it carries a credential. No setting takes one: put it into an environment variable and "
            "name that with model.key_env=NAME."
        )


def refuse_credentials(config: Mapping[str, Any]) -> None:
    """Check a whole composed config. Raises ConfigError that names the setting and never shows what it holds."""
    model = config.get("model")
    if isinstance(model, Mapping) and isinstance(model.get("key_env"), str):
        know_key_variable(model["key_env"])
    for key, part in config.items():
        if key not in TEXTS:
            for name, value in _leaves(part, str(key)):
                if name not in ADDRESSES:
                    check_setting(name, value)


def _leaves(node: Any, name: str) -> Iterator[tuple[str, str]]:
    if isinstance(node, Mapping):
        for key, inner in node.items():
            yield from _leaves(inner, f"{name}.{key}")
    elif isinstance(node, list | tuple):
        for inner in node:
            yield from _leaves(inner, name)
    elif isinstance(node, str):
        yield name, node
