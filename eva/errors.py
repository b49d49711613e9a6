"""All errors that users meet. Each says what is wrong, where, the value, and the way out.

    EvaError
    ├── ConfigError          a setting: file, key, value, what is allowed
    │   └── UnknownChoice    a name that does not exist; lists those that do
    ├── DataError            a dataset: file, line, field, value
    ├── PromptError          a prompt, fragment or guidance
    ├── ModelError           the model cannot be asked at all
    │   ├── CredentialsError     key missing or refused
    │   ├── QuotaError           quota or credit used up
    │   └── BudgetError          max_usd reached or cannot be guarded
    ├── StoreError           the reply store or a run folder
    ├── TrackingError        MLflow
    ├── GitHubError          the pull request's server (eva/edges/github.py)
    └── ComparisonError      two runs that cannot be compared

`ConfigError` and its kin derive from `ValueError` where the caller passed the value; none carries a traceback to the
terminal: `run.py` and `python -m eva` print the message and leave with `exit_code`.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class EvaError(Exception):
    """Something the user can mend."""

    exit_code = 2


class ConfigError(EvaError, ValueError):
    """A setting is wrong."""


class UnknownChoice(ConfigError):
    """A name that does not exist, with those that do."""

    def __init__(self, kind: str, value: object, choices: Iterable[str], *, hint: str = "") -> None:
        names = sorted(choices)
        near = difflib.get_close_matches(str(value), names, n=1)
        meant = f" Did you mean {near[0]!r}?" if near else ""
        known = ", ".join(names) if names else "none"
        super().__init__(f"{kind} {value!r} does not exist.{meant} There are: {known}.{' ' + hint if hint else ''}")


class DataError(EvaError, ValueError):
    """A dataset holds something that cannot be used."""

    def __init__(self, message: str, *, file: str = "", line: int | None = None, field: str = "") -> None:
        where = file + (f", line {line}" if line is not None else "") + (f", field `{field}`" if field else "")
        super().__init__(f"{where}: {message}" if where else message)


class PromptError(EvaError, ValueError):
    """A prompt cannot be compiled."""


class ModelError(EvaError):
    """The model cannot be asked."""


class CredentialsError(ModelError):
    """The key is missing or the provider refuses it."""


class QuotaError(ModelError):
    """Quota or credit is used up."""


class BudgetError(ModelError):
    """`max_usd` is reached, or cannot be guarded."""


class StoreError(EvaError):
    """The reply store or a run folder cannot be read or written."""


class TrackingError(EvaError):
    """MLflow refuses or cannot be reached; the run folder keeps everything."""


class ComparisonError(EvaError, ValueError):
    """Two runs that cannot be compared."""
