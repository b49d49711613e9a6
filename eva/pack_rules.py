"""Packs as rules of the gate: one rule a pack, as grave as its gravest item."""

from __future__ import annotations

from collections.abc import Sequence

from eva.gate import Outcome, Rule
from eva.metrics.results_moved import PackFinding
from eva.report import numbers
from eva.report.blocks import Quoted, Run, line
from eva.report.packs import ORDER

SHOWN = 5


def pack_rules(found: Sequence[PackFinding]) -> tuple[Rule, ...]:
    """What `eva.gate.combine` takes beside the rules of `decide`; none where no pack was given."""
    return tuple(
        _rule(name, [one for one in found if one.pack == name]) for name in dict.fromkeys(p.pack for p in found)
    )


def _rule(name: str, mine: Sequence[PackFinding]) -> Rule:
    outcome: Outcome = min((one.outcome for one in mine), key=ORDER.index)
    gravest = [one for one in mine if one.outcome == outcome]
    passed = sum(one.outcome == "pass" for one in mine)
    pieces: list[Run] = [f"{passed} of {numbers.counted(len(mine), 'item')} as they should be"]
    for one in gravest[:SHOWN] if outcome != "pass" else ():
        pieces += ["; ", Quoted(one.item_id, limit=80), ": ", Quoted(one.told)]
    if outcome != "pass" and len(gravest) > SHOWN:
        pieces.append(f"; and {len(gravest) - SHOWN} more")
    return Rule(f"pack {name}", outcome, line(*pieces))
