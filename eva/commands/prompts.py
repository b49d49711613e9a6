"""Look at prompts and guard them.

python -m eva prompts show faithfulness v2 [--language de] [--pipeline s2s]
python -m eva prompts diff faithfulness v1 v2
python -m eva prompts golden              rewrite golden files and the lock
python -m eva prompts check [--base REF]  golden files and lock are up to date; released text did not change since REF
python -m eva prompts changed --base REF  judges with something new to validate
python -m eva prompts lint
"""

from __future__ import annotations

import argparse
import difflib
import json
import sys

from eva.edges import prompt_files, runs
from eva.edges.compose import choices
from eva.errors import UnknownChoice
from eva.judges.lint import lint_example
from eva.prompts.compile import render_markdown
from eva.prompts.golden import golden_files
from eva.prompts.lint import Finding, lint
from eva.prompts.lock import against_base, by_itself, changed_judges, lock_of
from eva.prompts.nodes import PIPELINES
from eva.types import CompiledPrompt

HELP = "show, compare, lint and guard prompts"


def arguments(parser: argparse.ArgumentParser) -> None:
    actions = parser.add_subparsers(dest="action", required=True)
    show = actions.add_parser("show", help="print a compiled prompt")
    show.add_argument("judge")
    show.add_argument("version")
    diff = actions.add_parser("diff", help="what a version changes, rule by rule")
    diff.add_argument("judge")
    diff.add_argument("before")
    diff.add_argument("after")
    for one in (show, diff):
        one.add_argument("--language", default="en")
        one.add_argument("--pipeline", default="cascade", choices=PIPELINES)
    actions.add_parser("golden", help="rewrite golden files and the lock")
    check = actions.add_parser("check", help="golden files, lock, and released text against a git revision")
    check.add_argument("--base", help="git revision whose lock counts")
    changed = actions.add_parser("changed", help="judges whose prompts changed since a git revision, as JSON lines")
    changed.add_argument("--base", required=True)
    linting = actions.add_parser("lint", help="what a careful reviewer would find")
    linting.add_argument("judge", nargs="*")


def run(given: argparse.Namespace) -> int:
    return ACTIONS[given.action](given)


def _compiled(given: argparse.Namespace, version: str) -> CompiledPrompt:
    for group, value in (("judge", given.judge), (f"prompt/{given.judge}", version), ("language", given.language)):
        if value not in choices(group):
            raise UnknownChoice(group.split("/")[0], value, choices(group), hint=f"They are files in conf/{group}/.")
    return prompt_files.load_version(given.judge, version)[0].compiled[f"{given.language}.{given.pipeline}"]


def _show(given: argparse.Namespace) -> int:
    print(render_markdown(_compiled(given, given.version)), end="")
    return 0


def _diff(given: argparse.Namespace) -> int:
    before, after = _compiled(given, given.before), _compiled(given, given.after)
    for path in dict.fromkeys([*before.parts, *after.parts]):
        old, new = before.parts.get(path, ""), after.parts.get(path, "")
        if old != new:
            print(f"\n{path}")
            lines = difflib.unified_diff(
                old.splitlines(), new.splitlines(), given.before, given.after, lineterm="", n=1
            )
            print("\n".join(line for line in lines if not line.startswith(("---", "+++", "@@"))))
    if before.sha256 == after.sha256:
        print("byte-identical")
    return 0


def _golden(given: argparse.Namespace) -> int:
    versions = prompt_files.all_versions()
    files = golden_files(versions)
    for path in prompt_files.GOLDEN.rglob("*.md"):
        if path.relative_to(prompt_files.GOLDEN).as_posix() not in files:
            path.unlink()
    for name, text in files.items():
        runs.write_text(prompt_files.GOLDEN / name, text)
    runs.write_text(prompt_files.LOCK, prompt_files.lock_text(lock_of(versions)))
    print(f"{len(files)} golden files, {len(versions)} versions in the lock")
    return 0


def _check(given: argparse.Namespace) -> int:
    versions = prompt_files.all_versions()
    current = lock_of(versions)
    problems = by_itself(current, prompt_files.written_lock())
    if given.base:
        problems += against_base(prompt_files.base_lock(given.base), current)
    files = golden_files(versions)
    root = prompt_files.GOLDEN
    there = {path.relative_to(root).as_posix(): path.read_text(encoding="utf-8") for path in root.rglob("*.md")}
    stale = sorted(name for name in {*files, *there} if files.get(name) != there.get(name))
    if stale:
        problems.append(
            f"golden files differ: {', '.join(stale[:10])}{' …' if len(stale) > 10 else ''}: run `make golden` and read the diff"
        )
    for problem in problems:
        print(problem, file=sys.stderr)
    print(
        f"{len(versions)} versions of {len(current)} judges, {len(files)} golden files: {'' if not problems else 'not '}in order"
    )
    return 1 if problems else 0


def _changed(given: argparse.Namespace) -> int:
    for judge, (before, after) in changed_judges(
        prompt_files.base_lock(given.base), prompt_files.current_lock()
    ).items():
        print(json.dumps({"judge": judge, "before": before, "after": after}))
    return 0


def _lint(given: argparse.Namespace) -> int:
    findings: set[Finding] = set()
    for judge_name in given.judge or prompt_files.judges_with_prompts():
        for name in choices(f"prompt/{judge_name}"):
            version, judge, config = prompt_files.load_version(judge_name, name)
            for compiled in version.compiled.values():
                findings |= {*lint(compiled, judge, prompt=config["prompt"]), *lint_example(compiled, judge)}
    for finding in sorted(findings):
        print(finding)
    print(f"{len(findings)} findings")
    return 1 if findings else 0


ACTIONS = {"show": _show, "diff": _diff, "golden": _golden, "check": _check, "changed": _changed, "lint": _lint}
