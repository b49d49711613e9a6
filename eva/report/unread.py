"""Verdicts that could not be read, and, apart from them, replies that were read and break a rule of the judge."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from eva.report import numbers
from eva.report.blocks import Block, Bullets, Column, Line, Paragraph, Quoted, Table, line
from eva.report.inputs import Arm, Pair, RuleBreak

RULES: Final[Mapping[str, str]] = {
    "overall_is_not_the_rule": "the overall label is not the one that the judge's rule gives from its dimensions; "
    "the rule's label counts",
    "overall_unreadable": "the overall label could not be read; the one that the judge's rule gives counts",
    "dimensions_missing": "no dimension was rated; the overall label counts",
    "dimension_missing": "this dimension was not rated; the others count",
    "flag_against_rating": "this dimension is flagged though rated best, or rated below the best and not flagged",
    "turn_repeated": "a turn was rated more than once",
    "turn_id_unreadable": "a rating does not say which turn it is for; it was left out",
    "unknown_turn": "a turn was rated that is not to be rated; it was left out",
    "unknown_flag": "a flag that the judge does not have; it was left out",
    "not_copied_from_input": "the reply contradicts what its own input says of this turn; the rating counts",
}
"""Rule → what breaking it means. A name may go on with `:` and the place."""
_AT_BEST: Final = "flags stand beside a rating that has none; the rating counts, the flags do not"
_COUNTS_AS_WRONG: Final = "All repeats together. A verdict that could not be read counts as wrong."


def failures_blocks(arm: Arm) -> tuple[Block, ...]:
    """Kinds of failure of one run; nothing where every verdict could be read."""
    summary = arm.summary
    rows = [(line(Quoted(name, limit=60)), line(numbers.count(n))) for name, n in sorted(summary.failures.items()) if n]
    columns = (Column("No verdict because"), Column("Verdicts", "right"))
    table = (Table(columns, tuple(rows), note=_COUNTS_AS_WRONG),) if rows else ()
    return (*table, *_over_answered(summary.over_answered))


def failures_pair_blocks(pair: Pair) -> tuple[Block, ...]:
    """The same before and after, by kind, class and language; coverage, which is no kind of failure, apart."""
    before, after = pair.before.summary, pair.after.summary
    coverage = f"{numbers.percent(before.coverage.value, 1)} → {numbers.percent(after.coverage.value, 1)}"
    told: list[Block] = []
    if after.n_labelled or before.n_labelled:
        told.append(Paragraph(line(f"Coverage (labelled items with a readable verdict): {coverage}.")))
    rows = _rows("", before.failures, after.failures)
    for what, old, new in (
        ("class", before.failures_by_class, after.failures_by_class),
        ("language", before.failures_by_language, after.failures_by_language),
    ):
        totals = [{key: sum(kinds.values()) for key, kinds in by.items()} for by in (old, new)]
        rows += _rows(f"{what} ", totals[0], totals[1])
    if rows:
        columns = (Column("No verdict"), Column("Before", "right"), Column("After", "right"))
        told.append(Table(columns, tuple(rows), note=_COUNTS_AS_WRONG))
    else:
        told.append(Paragraph(line("Every verdict of both runs could be read.")))
    if before.over_answered or after.over_answered:
        both = f"{numbers.count(before.over_answered)} before, {numbers.count(after.over_answered)} after"
        told.append(Paragraph(line(f"Verdicts on items that people call not applicable: {both}.")))
    return tuple(told)


def rules_blocks(arm: Arm) -> tuple[Block, ...]:
    """Rules of the judge that replies of one run break, with what the reply said and what counts."""
    kept = _kept(arm)
    if not kept:
        return ()
    rows = tuple((*_both_labels(one), line(numbers.count(n))) for one, n in kept.items())
    columns = (Column("Rule"), Column("The reply says"), Column("What counts"), Column("Verdicts", "right"))
    return (Table(columns, rows, note=_note(kept, known=arm.rule_breaks is not None), optional=True), _meanings(kept))


def rules_pair_blocks(pair: Pair) -> tuple[Block, ...]:
    """The same before and after."""
    before, after = _kept(pair.before), _kept(pair.after)
    names = sorted({*before, *after}, key=lambda one: (-max(before.get(one, 0), after.get(one, 0)), _key(one)))
    if not names:
        return ()
    rows = tuple(
        (*_both_labels(one), line(numbers.count(before.get(one, 0))), line(numbers.count(after.get(one, 0))))
        for one in names
    )
    columns = (
        *(Column(name) for name in ("Rule", "The reply says", "What counts")),
        *(Column(name, "right") for name in ("Before", "After")),
    )
    note = _note(names, known=pair.before.rule_breaks is not None and pair.after.rule_breaks is not None)
    return (Table(columns, rows, note=note, optional=True), _meanings(names))


def _kept(arm: Arm) -> dict[RuleBreak, int]:
    """Rule and both labels → verdicts, most first; from the counts alone where the verdict rows are not at hand."""
    if arm.rule_breaks is None:
        return {RuleBreak(rule, None, None): n for rule, n in sorted(arm.summary.broken_rules.items()) if n}
    return dict(sorted(arm.rule_breaks, key=lambda found: (-found[1], _key(found[0]))))


def _key(one: RuleBreak) -> tuple[str, str, str]:
    return one.rule, one.said or "", one.counts or ""


def _both_labels(one: RuleBreak) -> tuple[Line, ...]:
    said: Line = line(Quoted(one.said, limit=40)) if one.said is not None else line("–")
    counts: Line = line(Quoted(one.counts, limit=40)) if one.counts is not None else line("–")
    return line(Quoted(one.rule, limit=60)), said, counts


def _note(kept: Iterable[RuleBreak], *, known: bool) -> str:
    told = "All repeats together. These replies could be read: what counts is a verdict like any other."
    unread = known and any(one.counts is None for one in kept)
    return told + (" A dash under “what counts”: that verdict could not be read." if unread else "")


def _meanings(kept: Iterable[RuleBreak]) -> Bullets:
    rules = dict.fromkeys(one.rule.split(":", maxsplit=1)[0] for one in kept)
    told = ((rule, RULES.get(rule, _AT_BEST if rule.startswith("flags_at_") else "")) for rule in rules)
    return Bullets(tuple(line(Quoted(rule, limit=60), f": {meaning}") for rule, meaning in told if meaning))


def _over_answered(n: int) -> tuple[Block, ...]:
    told = f"Verdicts on items that people call not applicable: {numbers.count(n)}."
    return (Paragraph(line(told)),) if n else ()


def _rows(what: str, before: Mapping[str, int], after: Mapping[str, int]) -> list[tuple[Line, ...]]:
    pairs = {key: (before.get(key, 0), after.get(key, 0)) for key in sorted({*before, *after})}
    return [
        (line(what, Quoted(key, limit=60)), line(numbers.count(old)), line(numbers.count(new)))
        for key, (old, new) in pairs.items()
        if old or new
    ]
