"""May this change go in? Thresholds are in conf/gate/.

  python -m eva compare v1 v2 --judge faithfulness --format json --out comparison.json
  python -m eva gate comparison.json [gate=strict] [gate.largest_drop.accuracy=0.03]

Exit codes: 0 pass, 1 fail, 2 cannot tell, 3 the check itself broke.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from eva.commands.places import add_home, home_of
from eva.edges.compose import compose
from eva.edges.runs import RunFolder
from eva.edges.secrets import redact
from eva.edges.typed import typed
from eva.errors import EvaError
from eva.gate import GateResult
from eva.report import untrusted
from eva.report.blocks import Run
from eva.report.inputs import Arm

HELP = "pass, fail or cannot tell"


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("comparison", type=Path, help="what `compare --format json` wrote")
    parser.add_argument("overrides", nargs="*", help="gate=… settings, as for run.py")
    add_home(parser)


def run(given: argparse.Namespace) -> int:
    try:
        return _decide(given)
    except (EvaError, OSError) as error:  # a broken check is neither pass nor fail
        print(f"eva: the check itself broke: {redact(str(error))}", file=sys.stderr)
        return 3


def _decide(given: argparse.Namespace) -> int:
    from eva.gate import Rule, Thresholds, combine, decide
    from eva.pack_rules import pack_rules
    from eva.report import machine, words

    pairs = machine.from_json(given.comparison.read_text(encoding="utf-8"))
    values: dict[str, Any] = dict(compose(given.overrides)["gate"])
    if isinstance(values.get("must_not_break"), list):
        values["must_not_break"] = tuple(values["must_not_break"])
    thresholds = typed(Thresholds, values, where="gate")
    rules: list[Rule] = []
    for pair in pairs:
        decided = decide(
            pair.comparison,
            pair.after.summary,
            thresholds,
            after_rows=_rows(given, str(pair.after.meta["run_id"])),
            status=str(pair.after.meta["status"]),
            lost={"before": _lost(pair.before), "after": _lost(pair.after)},
            verdicts=None if pair.after.readings is None else int(pair.after.readings["verdicts"]),
        )
        result = combine([*decided.rules, *pack_rules(pair.packs)])
        for told in _told(result, words.name_of(pair, pairs)):
            print(told)
        rules += result.rules
    return combine(rules).exit_code


def _told(result: GateResult, name: str) -> list[str]:
    """The outcome with the rules that decided it, then every rule's finding; ids and labels without terminal codes."""
    decided = ", ".join(dict.fromkeys(rule.name for rule in result.decided_by))
    by = "" if result.outcome == "pass" else f", decided by {decided}"
    findings = ((rule.outcome, f"{rule.name}: {''.join(_text(part) for part in rule.told)}") for rule in result.rules)
    return [
        untrusted.one_line(f"{name}: {result.outcome}{by}", None),
        *(f"  {outcome:<12} {untrusted.one_line(text, None)}" for outcome, text in findings),
    ]


def _text(part: Run) -> str:
    return part if isinstance(part, str) else part.text


def _lost(arm: Arm) -> int:
    """Calls that got no reply at all; of a run made before they were counted, the verdicts that this cost."""
    from eva.edges.asking import LOST

    counted = arm.meta.get("lost")
    return sum(arm.summary.failures.get(kind.value, 0) for kind in LOST) if counted is None else int(counted)


def _rows(given: argparse.Namespace, run_id: str) -> list[dict[str, Any]] | None:
    """The after run's verdicts, where its folder is here."""
    from eva.reporting import rows_of

    path = home_of(given) / "runs" / run_id
    return rows_of(RunFolder(path).verdicts) if (path / "run.json").exists() else None
