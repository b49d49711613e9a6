"""How commands that report hand out what they found: format, file, picture."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import Literal

from eva.edges import runs
from eva.errors import ConfigError

FORMATS = ("terminal", "markdown", "html", "json")


def add_output(parser: argparse.ArgumentParser, *, plot: bool = True) -> None:
    parser.add_argument("--format", choices=FORMATS, default="terminal")
    parser.add_argument("--out", type=Path, help="file to write to (default: the terminal)")
    parser.add_argument("--full", action="store_true", help="terminal: every section")
    if plot:
        parser.add_argument("--plot", type=Path, help="a picture too: .png or .svg")


def write_or_print(given: argparse.Namespace, text: str) -> None:
    """To the file that was named, whose path is printed; else to the terminal."""
    if given.out is None:
        print(text, end="")
        return
    runs.write_text(given.out, text)
    print(given.out)


def write_plot(given: argparse.Namespace, draw: Callable[[Literal["png", "svg"]], bytes]) -> None:
    """The picture, where one was asked for. Raises ConfigError for another kind of file."""
    if given.plot is None:
        return
    kinds: dict[str, Literal["png", "svg"]] = {".png": "png", ".svg": "svg"}
    if given.plot.suffix not in kinds:
        raise ConfigError(f"--plot {given.plot}: the name ends in {' or '.join(kinds)}")
    given.plot.parent.mkdir(parents=True, exist_ok=True)
    given.plot.write_bytes(draw(kinds[given.plot.suffix]))
