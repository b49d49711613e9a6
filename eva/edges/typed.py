"""Plain config values → a typed, frozen dataclass; every wrong key or value is named, with the way out.

pydantic does the checking (mlflow and litellm bring it anyway); this turns its findings into our errors.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import MISSING, fields
from typing import Any, TypeVar

from pydantic import TypeAdapter, ValidationError

from eva.errors import ConfigError, EvaError

T = TypeVar("T")


def typed(cls: type[T], values: Mapping[str, Any], *, where: str) -> T:
    """Build `cls` from config values. `where` names the config group or file.

    Raises ConfigError that lists unknown keys (with the nearest known), missing keys, and values of a wrong type.
    """
    known = {field.name: field for field in fields(cls)}  # type: ignore[arg-type]  # T is always a dataclass here
    problems = [_unknown(key, known) for key in values if key not in known]
    required = [n for n, f in known.items() if f.default is MISSING and f.default_factory is MISSING]
    problems += [f"`{name}` is missing" for name in required if values.get(name, "???") == "???"]
    unset = [name for name, value in values.items() if value == "???" and name not in required]
    problems += [f"`{name}` is not set: give {where}.{name}=…" for name in unset]
    booleans = [
        n
        for n, f in known.items()
        if isinstance(values.get(n), bool) and "bool" not in str(f.type) and "Mapping" not in str(f.type)
    ]
    problems += [f"`{name}`: {values[name]!r} is a boolean; {known[name].type} is wanted" for name in booleans]
    problems += [
        f"`{name}`: a list is wanted: {where}.{name}=[{value}]"
        for name, value in values.items()
        if isinstance(value, str) and name in known and "tuple" in str(known[name].type)
    ]
    if problems:
        raise ConfigError(f"{where}: {'; '.join(problems)}.")
    try:
        return TypeAdapter(cls).validate_python(dict(values))
    except ValidationError as error:
        for finding in error.errors():
            own = finding.get("ctx", {}).get("error")
            if isinstance(own, EvaError):  # the class itself said it better
                raise own from None
        raise ConfigError(f"{where}: {'; '.join(_finding(finding) for finding in error.errors())}.") from None


def _unknown(key: str, known: Mapping[str, Any]) -> str:
    near = difflib.get_close_matches(key, known, n=1)
    hint = f"did you mean `{near[0]}`?" if near else f"there are: {', '.join(known)}"
    return f"`{key}` is not a setting ({hint})"


def _finding(finding: Any) -> str:
    place = ".".join(str(part) for part in finding["loc"])
    return f"`{place}`: {finding['input']!r}: {finding['msg'].lower()}"
