"""Reports as values: `comparison_report` for one or more pairs of runs, `run_report` for one run."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from eva.report import (
    attribution,
    closing,
    details,
    flips,
    headline,
    main_table,
    noise,
    numbers,
    packs,
    run_parts,
    shift,
    titles,
    unread,
    words,
)
from eva.report.attacks import attacks_blocks
from eva.report.blocks import (
    Block,
    Bullets,
    Heading,
    IntervalPlot,
    Line,
    Paragraph,
    PromptDiff,
    Quoted,
    Report,
    Section,
    line,
)
from eva.report.inputs import Arm, Pair


def comparison_report(pairs: Sequence[Pair], *, command: str = "") -> Report:
    """What changed between two runs of each judge. `command` is the one that made this comparison, if it is known."""
    told = headline.ordered(pairs)
    first = _first_screen(told)
    parts: list[Section] = []
    if len(told) > main_table.FIRST_SCREEN_JUDGES:
        parts.append(Section("judges", line(f"All {headline.noun_of(told, len(told))}"), main_table.main_tables(told)))
    parts += [Section(key, title(told), _for_all(make, told)) for key, title, make in _PARTS]
    arms = [arm for pair in told for arm in _sides(pair, told)]
    used = {difference.verdict for pair in told for difference in pair.comparison.differences}
    parts += [
        Section("runs", line("Runs"), closing.runs_blocks(arms) + closing.warnings_blocks(told) + _ages(told)),
        Section("spend", line("Spend"), closing.spend_blocks(arms)),
        Section("reproduce", line("How to reproduce"), closing.reproduce_blocks(told, command=command)),
        Section("meanings", line("What the words mean"), closing.meanings_blocks(used)),
    ]
    return Report(
        titles.comparison_title(told),
        (*headline.outcome(told), *titles.states(arms)),
        (first, *(part for part in parts if part.blocks)),
    )


def run_report(arm: Arm, *, comparison: Pair | None = None) -> Report:
    """What one run measured; with `comparison`, the difference to its baseline too."""
    first = Section("headline", line("Headline"), run_parts.headline_blocks(arm), rank="first")
    parts = [Section(key, line(title), make(arm)) for key, title, make in run_parts.PARTS]
    arms = [("", arm)]
    if comparison is not None:
        against = Section("baseline", line("Against the version before"), _against(comparison), rank="first")
        parts = [against, *parts, *_moved(comparison)]
        arms = _sides(comparison, [comparison])
    again = closing.reproduce_blocks([comparison]) if comparison else closing.command_block(arm)
    parts += [
        Section("attacks", line("Attacks"), attacks_blocks(arm.attacks)),
        Section("runs", line("Runs" if comparison else "Run"), closing.runs_blocks(arms)),
        Section("spend", line("Spend"), closing.spend_blocks(arms)),
        Section("reproduce", line("How to reproduce"), again),
    ]
    return Report(titles.run_title(arm), run_parts.outcome(arm), (first, *(part for part in parts if part.blocks)))


def not_run_report(reason: str, judges: Sequence[str] = ()) -> Report:
    """What a pull request is told where nothing could be run: neutral, neither good nor bad news."""
    told = Bullets(tuple(line(Quoted(judge)) for judge in judges))
    parts = (Section("headline", line("Headline"), (told,), rank="first"),) if judges else ()
    sentence = line("The judges whose prompts this pull request changes were not run: ", Quoted(reason), ".")
    return Report(line("Judges: not run"), (sentence,), parts)


def _first_screen(pairs: Sequence[Pair]) -> Section:
    blocks: list[Block] = [*main_table.main_tables(pairs, limit=main_table.FIRST_SCREEN_JUDGES)]
    unlike = main_table.warnings(pairs)
    blocks = ([unlike] if unlike else []) + blocks
    if pairs:
        blocks.append(main_table.legend(pairs))
    if len(pairs) > 1:
        blocks.append(IntervalPlot(main_table.interval_rows(pairs)))
    return Section("headline", line("Headline"), tuple(blocks), rank="first")


def _against(pair: Pair) -> tuple[Block, ...]:
    unlike = main_table.warnings([pair])
    told = Paragraph(headline.sentence(pair, [pair]))
    table = main_table.main_tables([pair])
    return (
        told,
        *((unlike,) if unlike else ()),
        *table,
        *flips.counts_blocks(pair),
        Paragraph(line(main_table.DIFFERENCE_LEGEND)),
    )


def _moved(pair: Pair) -> tuple[Section, ...]:
    """What changed in the prompt and every flip: on a run's page and in the whole report, not at a run's end."""
    pairs = [pair]
    blocks = (flips.flips_block(pair, pairs),) if pair.comparison.flips else ()
    return (
        Section("baseline-prompt", _prompt_title(pairs), _prompt(pair, pairs)),
        Section("baseline-flips", flips.title(pairs), blocks),
    )


def _sides(pair: Pair, pairs: Sequence[Pair]) -> list[tuple[str, Arm]]:
    """Both runs of a pair under names that tell all runs of a report apart."""
    name = f"{words.name_of(pair, pairs)} " if len(pairs) > 1 else ""
    return [(f"{name}before", pair.before), (f"{name}after", pair.after)]


def _for_all(make: Callable[[Pair, Sequence[Pair]], tuple[Block, ...]], pairs: Sequence[Pair]) -> tuple[Block, ...]:
    """One part for every judge, each under its name where there are several."""
    found: list[Block] = []
    for pair in pairs:
        blocks = make(pair, pairs)
        if blocks and len(pairs) > 1:
            found.append(Heading(line(Quoted(words.name_of(pair, pairs)))))
        found.extend(blocks)
    return tuple(found)


def _ages(pairs: Iterable[Pair]) -> tuple[Block, ...]:
    return tuple(Paragraph(line(text)) for text in dict.fromkeys(closing.age(pair) for pair in pairs) if text)


def _prompt(pair: Pair, pairs: Sequence[Pair]) -> tuple[Block, ...]:
    if not pair.prompt_changes:
        return ()
    before, after = (words.prompt_of(arm.meta) for arm in (pair.before, pair.after))
    return (PromptDiff(before, after, pair.prompt_changes),)


def _flips(pair: Pair, pairs: Sequence[Pair]) -> tuple[Block, ...]:
    counted = flips.counts_blocks(pair)
    return (*counted, flips.flips_block(pair, pairs)) if pair.comparison.flips else counted


def _plain(title: str) -> Callable[[Sequence[Pair]], Line]:
    return lambda pairs: line(title)


def _prompt_title(pairs: Sequence[Pair]) -> Line:
    parts = numbers.counted(sum(len(pair.prompt_changes) for pair in pairs), "part")
    return line(f"What changed in the prompt{'s' if len(pairs) > 1 else ''}: {parts}")


def _packs_title(pairs: Sequence[Pair]) -> Line:
    return packs.packs_title([found for pair in pairs for found in pair.packs])


_PARTS: tuple[
    tuple[str, Callable[[Sequence[Pair]], Line], Callable[[Pair, Sequence[Pair]], tuple[Block, ...]]], ...
] = (
    ("prompt", _prompt_title, _prompt),
    ("packs", _packs_title, lambda pair, pairs: packs.packs_blocks(pair.packs)),
    ("flips", flips.title, _flips),
    ("attribution", _plain("Why items moved"), lambda pair, pairs: attribution.attribution_blocks(pair.attribution)),
    ("flags", _plain("Flags"), lambda pair, pairs: details.flags_blocks(pair)),
    ("slices", _plain("Slices"), lambda pair, pairs: details.slices_blocks(pair)),
    ("noise", _plain("Noise: what moves when nothing changed"), lambda pair, pairs: noise.noise_pair_blocks(pair)),
    ("shift", _plain("Labels before and after"), lambda pair, pairs: shift.shift_blocks(pair.comparison.shift)),
    ("statistics", _plain("Every statistic"), lambda pair, pairs: details.statistics_blocks(pair)),
    ("classes", _plain("Classes"), lambda pair, pairs: details.classes_blocks(pair)),
    ("failures", _plain("Verdicts that could not be read"), lambda pair, pairs: unread.failures_pair_blocks(pair)),
    ("rules", _plain("Replies that break a rule of the judge"), lambda pair, pairs: unread.rules_pair_blocks(pair)),
    ("people", _plain("What people reach"), lambda pair, pairs: details.people_blocks(pair.comparison.ceiling)),
)
"""The folded parts, each told for all judges before the next; the order in which a reviewer asks."""
