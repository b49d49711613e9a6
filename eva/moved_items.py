"""What a comparison says beyond its numbers: why items moved, by their explanations, and what packs ask for. Calls no model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from eva.edges.packs import read_pack
from eva.edges.runs import RunFolder
from eva.metrics.attribution import attribute
from eva.metrics.moved import explanations
from eva.metrics.packs import check_pack
from eva.metrics.resample import rng_for
from eva.metrics.results import Comparison
from eva.metrics.results_moved import Attribution, PackFinding
from eva.report.inputs import Pair


def with_moved(
    pair: Pair, *, before: RunFolder, after: RunFolder, attributed: bool = True, packs: Sequence[Path] = ()
) -> Pair:
    """The pair with its moved items grouped by explanation, and with the findings of packs."""
    return replace(
        pair,
        attribution=attribution_of(before, after, comparison=pair.comparison) if attributed else None,
        packs=pack_findings(before, after, packs=packs),
    )


def attribution_of(before: RunFolder, after: RunFolder, *, comparison: Comparison) -> Attribution:
    """Moved items grouped by their flags and explanations; the same two runs give the same groups."""
    reasons, flags = explanations(comparison.flips, before=before.verdicts, after=after.verdicts)
    return attribute(
        comparison.flips,
        reasons,
        flags=flags,
        rng=rng_for(f"attribution{before.meta['identity']}{after.meta['identity']}"),
        labels=after.meta["labels"] if after.meta["values"] else (),
    )


def pack_findings(before: RunFolder, after: RunFolder, *, packs: Sequence[Path]) -> tuple[PackFinding, ...]:
    """Every entry of every pack. Raises DataError for a pack that cannot be read or a label off the judge's scale."""
    return tuple(
        finding
        for path in packs
        for finding in check_pack(
            read_pack(path), before=before.verdicts, after=after.verdicts, labels=after.meta["labels"]
        )
    )
