"""Before Hydra composes anything: a wrong choice, or a key on the command line, is said at once and written nowhere."""

from __future__ import annotations

import atexit
import gc
import io
import os
import secrets as entropy
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from eva.edges.compose import check_choices
from eva.edges.credentials import check_setting
from eva.edges.secrets import redact
from eva.errors import ConfigError, EvaError

SWEEP_VARIABLE = "EVA_SWEEP"
"""Carries the sweep's tag to its jobs, those in other processes included."""


def check_command_line(arguments: Sequence[str]) -> None:
    """Raise ConfigError or UnknownChoice for what cannot be right; name the sweep if there is one."""
    overrides = [word for word in arguments if "=" in word and not word.startswith("-")]
    for override in overrides:
        key, _, value = override.partition("=")
        check_setting(key.lstrip("+~"), value)
        if value.startswith(("'", '"')) and not value.endswith(value[0]):
            raise ConfigError(f"`{override}`: the quote is not closed. In a shell, write '{key}=\"…\"'.")
    check_choices(overrides)
    if {"-m", "--multirun"} & set(arguments):
        os.environ[SWEEP_VARIABLE] = f"sweep-{entropy.token_hex(4)}"


def show_what_can_be_shown() -> None:
    """A terminal of another encoding gets `\\u2019` for what it has no letter for, as stderr does anyway; never an exception."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")


def spare_collections() -> None:
    """Some 3,000 modules never go: the collector looks through them rarely, and at the exit (a second) not at all."""
    gc.set_threshold(100_000, 20, 100)
    atexit.register(gc.freeze)


@contextmanager
def leave() -> Iterator[None]:
    """Turn what users can mend into one message and its exit code: 2 stopped, 130 interrupted; no traceback."""
    show_what_can_be_shown()
    try:
        yield
    except EvaError as error:
        print(f"eva: {redact(str(error))}", file=sys.stderr)
        raise SystemExit(error.exit_code) from None
    except BrokenPipeError:  # the reader of our output, such as `head`, has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise SystemExit(0) from None
    except OSError as error:
        if error.filename is None:
            raise
        print(f"eva: {redact(str(error.filename))}: {error.strerror}", file=sys.stderr)
        raise SystemExit(2) from None
    except KeyboardInterrupt:
        print("eva: interrupted. The same command goes on where this one stopped.", file=sys.stderr)
        raise SystemExit(130) from None
