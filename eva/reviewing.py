"""Two runs → review sheets for native speakers: a sample of what moved, blind, a sheet a language; the key lies apart."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from eva.edges import runs
from eva.edges.runs import RunFolder
from eva.errors import ConfigError
from eva.measuring import check_comparable
from eva.metrics.flips import find_flips
from eva.metrics.moved import FlagSides, Sides, explanations
from eva.metrics.pairing import pair_arms
from eva.metrics.resample import rng_for
from eva.metrics.results import Flip
from eva.metrics.sampling import Drawn, move_strata, stratified_sample
from eva.report.blocks import ItemFacts
from eva.report.inputs import conversations_of, facts_of
from eva.report.review_sheet import ReviewItem, Side, a_is_before, csv_sheet, html_sheet
from eva.reporting import rows_of
from eva.types import NOT_APPLICABLE


@dataclass(frozen=True)
class Sheets:
    """What was written."""

    files: tuple[Path, ...]
    key: Path
    """Which of A and B is which, beside the folder: it does not go to reviewers."""
    items: int
    moved: int
    hidden: int
    """Moved items without a verdict in one arm: they cannot be shown as A and B."""


def write_sheets(before: RunFolder, after: RunFolder, *, out: Path, size: int, limit_to_common: bool = False) -> Sheets:
    """Draw up to `size` moved items by language, direction and flag, and write their sheets into the new folder `out`.

    The same two runs give the same sample and the same A and B. Raises ComparisonError for runs that cannot be
    compared, ConfigError where `out` holds something already or nothing moved.
    """
    check_comparable(before, after, limit_to_common=limit_to_common)
    _refuse_filled(out)
    seed = f"{before.meta['identity']}{after.meta['identity']}"
    labels: list[str] = after.meta["labels"]
    pair = pair_arms(before.verdicts, after.verdicts, labels=labels, values=after.meta["values"])
    flips = {flip.item_id: flip for flip in find_flips(before.verdicts, after.verdicts, pair=pair)[0]}
    reasons, flags = explanations(flips.values(), before=before.verdicts, after=after.verdicts)
    rows = after.verdicts[after.verdicts["item_id"].isin(flips)]
    facts = facts_of(rows_of(rows))
    languages = {item: fact.language for item, fact in facts.items()}
    strata = move_strata(
        list(flips.values()), flags, languages=languages, labels=labels if after.meta["values"] else ()
    )
    if not strata:
        raise ConfigError(f"nothing moved between {before.run_id} and {after.run_id}: there is nothing to review")
    drawn = stratified_sample(strata, size=size, rng=rng_for(f"review{seed}"))
    shown = _shown(drawn, flips, reasons=reasons, flags=flags, facts=facts, after=after, seed=seed)
    files = _write(out, shown, judge=str(after.meta["judge"]), labels=_choices(labels, after))
    key = out.with_name(f"{out.name}.key.json")
    runs.write_json(key, _key(drawn, flips, before=before, after=after, seed=seed))
    return Sheets(files, key, len(drawn), len(flips), len(flips) - len(strata))


def _refuse_filled(out: Path) -> None:
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise ConfigError(
            f"{out} holds something already; sheets that came back must not be written over: name a new folder"
        )


def _shown(
    drawn: Sequence[Drawn],
    flips: dict[str, Flip],
    *,
    reasons: Sides,
    flags: FlagSides,
    facts: dict[str, ItemFacts],
    after: RunFolder,
    seed: str,
) -> list[ReviewItem]:
    records = {facts[one.item_id].record_id for one in drawn}
    turns = conversations_of(row for row in after.lines("records.jsonl") if row["record_id"] in records)
    found = []
    for one in drawn:
        flip, fact = flips[one.item_id], facts[one.item_id]
        sides = [
            Side(str(label), tuple(sorted(flags[one.item_id][place])), reasons[one.item_id][place])
            for place, label in enumerate((flip.before, flip.after))
        ]
        first, second = sides if a_is_before(one.item_id, seed) else sides[::-1]
        found.append(ReviewItem(one.item_id, fact.language, fact.turn_id, turns.get(fact.record_id, ()), first, second))
    return found


def _choices(labels: Sequence[str], after: RunFolder) -> list[str]:
    """The scale, and `not_applicable` where some verdict says so."""
    return [*labels, *([NOT_APPLICABLE] if (after.verdicts["label"] == NOT_APPLICABLE).any() else [])]


def _write(out: Path, shown: Sequence[ReviewItem], *, judge: str, labels: Sequence[str]) -> tuple[Path, ...]:
    files = []
    for language in sorted({item.language for item in shown}):
        part = [item for item in shown if item.language == language]
        stem = f"review-{judge}-{language or 'unknown'}"
        title = f"Review of {judge}, language {language or 'unknown'}: {len(part)} items"
        page = html_sheet(part, title=title, labels=labels, file_name=f"{stem}.csv")
        runs.write_text(out / f"{stem}.html", page)
        runs.write_text(out / f"{stem}.csv", "\ufeff" + csv_sheet(part))  # spreadsheet programs know UTF-8 by the mark
        files += [out / f"{stem}.html", out / f"{stem}.csv"]
    return tuple(files)


def _key(
    drawn: Sequence[Drawn], flips: dict[str, Flip], *, before: RunFolder, after: RunFolder, seed: str
) -> dict[str, Any]:
    return {
        "judge": after.meta["judge"],
        "before": before.run_id,
        "after": after.run_id,
        "moved": len(flips),
        "items": [
            {
                "item_id": one.item_id,
                "a": "before" if a_is_before(one.item_id, seed) else "after",
                "before": flips[one.item_id].before,
                "after": flips[one.item_id].after,
                "language": one.stratum[0],
                "direction": one.stratum[1],
                "flag": one.stratum[2],
                "weight": one.weight,
            }
            for one in drawn
        ],
    }
