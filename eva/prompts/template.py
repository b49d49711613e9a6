"""The one substitution that prompts have: `{{ name }}`. No logic, strict both ways, values never scanned again."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from eva.errors import PromptError

PLACEHOLDER = re.compile(r"\{\{\s*([A-Za-z_][A-Za-z0-9_]*)\s*\}\}")
"""A variable's name in double braces. Any other brace is plain text."""


def variables_in(text: str) -> tuple[str, ...]:
    """Names of the placeholders, in order of first use."""
    return tuple(dict.fromkeys(PLACEHOLDER.findall(text)))


def substitute(text: str, values: Mapping[str, str], *, where: str) -> str:
    """Put each value in, in one pass.

    Raises PromptError that lists all placeholders without a value and all values without a placeholder.
    """
    used = variables_in(text)
    check_names(used, values, where=where)
    return PLACEHOLDER.sub(lambda match: values[match.group(1)], text)


def check_names(used: Iterable[str], given: Iterable[str], *, where: str) -> None:
    """Raise PromptError unless the two sets of names are the same."""
    missing = sorted(set(used) - set(given))
    unused = sorted(set(given) - set(used))
    if missing or unused:
        parts = []
        if missing:
            parts.append(f"no value for {', '.join('{{ ' + name + ' }}' for name in missing)}")
        if unused:
            parts.append(f"not used: {', '.join(unused)}")
        raise PromptError(
            f"{where}: {'; '.join(parts)}. Use every declared variable once or more, and declare every one that is used."
        )
