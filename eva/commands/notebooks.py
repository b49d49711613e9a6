"""Execute the notebooks on runs that are there, into copies with outputs; the files in notebooks/ stay without any.

python -m eva notebooks [--home mlruns] [--out executed/]
python -m eva notebooks compare_versions --judge faithfulness --before v1 --after v2
python -m eva notebooks --strip          take outputs out of notebooks/ before a commit
"""

from __future__ import annotations

import argparse
import importlib
import os
import sys
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from eva.commands.places import add_home, home_of
from eva.edges import runs
from eva.edges.provenance import ROOT
from eva.errors import ConfigError, UnknownChoice

HELP = "execute the notebooks on finished runs"
FOLDER = ROOT / "notebooks"
PACKAGES = ("nbformat", "nbclient", "ipykernel")
KERNEL = {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}}


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("notebook", nargs="*", help="names of files in notebooks/ (default: all)")
    parser.add_argument("--out", type=Path, help="folder of the executed copies (default: notebooks/ below --home)")
    for name, told in (
        ("judge", "whose runs (default: any)"),
        ("before", "run or prompt version before (default: the baseline of the run after)"),
        ("after", "run or prompt version to look at (default: the newest finished run that fits)"),
    ):
        parser.add_argument(f"--{name}", default="", help=told)
    parser.add_argument("--timeout", type=int, default=600, help="seconds that one cell may take")
    parser.add_argument("--strip", action="store_true", help="take outputs out of the files in notebooks/, run nothing")
    add_home(parser)


def run(given: argparse.Namespace) -> int:
    nbformat = _installed()
    files = _files(given.notebook)
    if given.strip:
        for path in files:
            runs.write_text(path, _text(nbformat, stripped(nbformat.read(path, as_version=4))))
        return 0
    out = (given.out or home_of(given) / "notebooks").resolve()
    if out == FOLDER:
        raise ConfigError(f"--out {given.out}: that is where the notebooks without outputs are; name another folder.")
    variables = {f"EVA_{name.upper()}": getattr(given, name) for name in ("judge", "before", "after")}
    variables["EVA_HOME"] = str(home_of(given))
    _check_runs(files, variables)
    failed = 0
    for path in files:
        notebook = nbformat.read(path, as_version=4)
        problem = _execute(notebook, variables, timeout=given.timeout)
        runs.write_text(out / path.name, _text(nbformat, notebook))
        print(f"{out / path.name}")
        if problem:
            print(f"{path.name}: {problem}", file=sys.stderr)
            failed += 1
    return 1 if failed else 0


def stripped(notebook: Any) -> Any:
    """The notebook as it is committed: no outputs, no execution counts, no metadata of whoever ran it."""
    notebook.metadata = dict(KERNEL)
    for cell in notebook.cells:
        cell.metadata = {}
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
    return notebook


def _execute(notebook: Any, variables: Mapping[str, str], *, timeout: int) -> str:
    """Run all cells in place, in a kernel of this very Python; what went wrong, "" where nothing did."""
    jupyter, nbclient = importlib.import_module("jupyter_client"), importlib.import_module("nbclient")
    ends = importlib.import_module("nbclient.exceptions")  # the package itself does not name them all
    where = {"metadata": {"path": str(ROOT)}}
    with tempfile.TemporaryDirectory() as scratch:
        manager = jupyter.AsyncKernelManager(
            # Without the user's own kernels `python3` can only be this Python, whatever is installed beside it.
            kernel_spec_manager=jupyter.kernelspec.KernelSpecManager(kernel_dirs=[]),
            connection_file=str(Path(scratch) / "kernel.json"),
            **_sockets(Path(scratch)),
        )
        client = nbclient.NotebookClient(
            notebook, km=manager, kernel_name="python3", timeout=timeout, resources=where, record_timing=False
        )
        environment = {**os.environ, **variables, "IPYTHONDIR": scratch, "PYTHONPATH": _python_path()}
        try:
            client.execute(env=environment, cleanup_kc=True)
        except ends.CellExecutionError as error:
            return f"{error.ename}: {error.evalue} (the copy shows where)"
        except (ends.CellTimeoutError, ends.DeadKernelError) as error:
            return str(error).strip()
    return ""


def _sockets(scratch: Path) -> dict[str, str]:
    """Sockets that are files of this user instead of ports that anybody here can reach, where the system has such."""
    return {"transport": "ipc", "ip": str(scratch / "s")} if os.name == "posix" else {}


def _python_path() -> str:
    """The checkout first: a kernel starts in it, but only an installed package is found without."""
    return os.pathsep.join(part for part in (str(ROOT), os.environ.get("PYTHONPATH", "")) if part)


def _check_runs(files: list[Path], variables: Mapping[str, str]) -> None:
    """What a notebook would look for and not find is said here, in one sentence instead of a traceback in a cell."""
    from eva import notebook

    asked = notebook.wanted(variables)
    needs: dict[str, Callable[[notebook.Wanted], object]] = {
        "judge_quality": notebook.one_run,
        "compare_versions": notebook.two_runs,
    }
    for find in (needs[path.stem] for path in files if path.stem in needs):
        find(asked)


def _files(names: list[str]) -> list[Path]:
    known = {path.stem: path for path in sorted(FOLDER.glob("*.ipynb"))}
    stems = [Path(name).stem for name in names]
    unknown = [stem for stem in stems if stem not in known]
    if unknown:
        raise UnknownChoice("notebook", unknown[0], known, hint="They are files in notebooks/.")
    return [known[stem] for stem in stems] if stems else list(known.values())


def _text(nbformat: Any, notebook: Any) -> str:
    return str(nbformat.writes(notebook)).rstrip("\n") + "\n"


def _installed() -> Any:
    """nbformat, where all that executes notebooks is there. Raises ConfigError that says how to install it."""
    try:
        nbformat, *_ = (importlib.import_module(name) for name in PACKAGES)
    except ImportError as error:
        raise ConfigError(
            f'notebooks need the extra `notebooks` ({error.name} is missing): pip install -e ".[notebooks]"'
        ) from None
    return nbformat
