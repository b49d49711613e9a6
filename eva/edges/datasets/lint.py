"""What is wrong or odd with a labelled set: `python -m eva datasets check` prints the findings.

An error makes numbers false, a warning needs a look, an info is a figure that a card should state.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping

from eva.edges.datasets.findings import Finding, LabelledItem, labelled_items, listed
from eva.edges.datasets.labels import allowed_labels, label_problem
from eva.edges.datasets.lint_leaks import leaks
from eva.edges.datasets.lint_texts import contradictions, duplicates, odd_characters, similar_pairs, split_leaks
from eva.types import NOT_APPLICABLE, Dataset, Scale, Speaker

SMALL_CLASS = 0.05
"""A class with a smaller share of its kind of items is too thin to say anything about."""
FEW = 8
"""The same as a number of items."""
NEAR = 0.5
"""Jaccard similarity of character 5-grams from which two conversations count as one with small changes."""


def lint(
    dataset: Dataset,
    scale: Scale,
    *,
    flags: Collection[str] = (),
    no_flags_at: str | None = None,
    speaker: Speaker | None = None,
    near: float = NEAR,
) -> tuple[Finding, ...]:
    """All findings, errors first.

    flags: the judge's; empty: flags are not looked at. no_flags_at: the label that must have none (default: the
    scale's best). speaker: of the turns that a judge of turns rates, to count those without a label.
    near: similarity in [0, 1] from which two conversations count as near-duplicates.
    """
    items = tuple(labelled_items(dataset))
    pairs = similar_pairs(dataset.records, near=near)
    best = no_flags_at if no_flags_at is not None else scale.labels[-1]
    found = [
        *_labels(dataset, scale, flags),
        *_unlabelled(dataset, speaker),
        *_classes(items, scale),
        *_languages(items, scale),
        *(_flags(items, best) if flags else ()),
        *_annotators(dataset),
        *_rules(items),
        *duplicates(dataset, pairs),
        *split_leaks(dataset, pairs),
        *contradictions(dataset, items),
        *odd_characters(dataset),
        *leaks(dataset, items),
    ]
    order = {"error": 0, "warning": 1, "info": 2}
    return tuple(sorted(found, key=lambda finding: order[finding.level]))


def class_table(dataset: Dataset, scale: Scale) -> Mapping[str, Mapping[str, int]]:
    """Language -> label -> gold items, `not_applicable` last where there are some."""
    return _table(tuple(labelled_items(dataset)), scale)


def _labels(dataset: Dataset, scale: Scale, flags: Collection[str]) -> Iterator[Finding]:
    allowed = allowed_labels(scale)
    for record in dataset.records:
        for item, found in record.labels.items():
            problems = {label_problem(annotation, allowed, flags) for annotation in found} - {""}
            for problem in sorted(problems):
                yield Finding("error", "label", f"{record.record_id}, {item}: {problem}", (record.record_id,))


def _unlabelled(dataset: Dataset, speaker: Speaker | None) -> Iterator[Finding]:
    bare = [record.record_id for record in dataset.records if not record.labels]
    if bare and len(bare) < len(dataset.records):
        said = f"{len(bare)} of {len(dataset.records)} records have no label: {listed(bare)}"
        yield Finding("warning", "unlabelled", said, tuple(bare))
    if not bare or len(bare) < len(dataset.records):
        yield from _unlabelled_turns(dataset, speaker)


def _unlabelled_turns(dataset: Dataset, speaker: Speaker | None) -> Iterator[Finding]:
    """Turns of the judge's speaker that carry no label, in records where other turns do."""
    missing, turns = [], 0
    for record in dataset.records:
        labelled = {int(key.removeprefix("turn:").split("/")[0]) for key in record.labels if key.startswith("turn:")}
        spoken = {event.turn_id for event in record.events if event.type == speaker}
        if labelled and speaker:
            turns += len(spoken)
            missing += [f"{record.record_id}#{turn}" for turn in sorted(spoken - labelled)]
    if missing:
        yield Finding(
            "info", "unlabelled", f"{len(missing)} of {turns} {speaker} turns have no label: {listed(missing)}"
        )


def _classes(items: tuple[LabelledItem, ...], scale: Scale) -> Iterator[Finding]:
    for kind in sorted({item.kind for item in items}):
        counts = Counter(item.label for item in items if item.kind == kind and item.label != NOT_APPLICABLE)
        total = sum(counts.values())
        clusters = len({item.record.cluster for item in items if item.kind == kind})
        shown = ", ".join(f"{label}: {counts[label]}" for label in scale.labels)
        figures = {label: float(counts[label]) for label in scale.labels}
        yield Finding("info", "classes", f"{total} {kind} items in {clusters} clusters; {shown}", figures=figures)
        for label in scale.labels:
            if not counts[label]:
                yield Finding("error", "class_balance", f"no {kind} item is labelled {label!r}")
            elif counts[label] < FEW or counts[label] < SMALL_CLASS * total:
                yield Finding("warning", "class_balance", f"only {counts[label]} of {total} {kind} items are {label!r}")


def _languages(items: tuple[LabelledItem, ...], scale: Scale) -> Iterator[Finding]:
    table = _table(items, scale)
    for language, counts in table.items():
        shown = ", ".join(f"{label}: {count}" for label, count in counts.items())
        yield Finding("info", "languages", f"{language}: {shown}", figures={k: float(v) for k, v in counts.items()})
        filled = [label for label in scale.labels if counts.get(label)]
        if len(filled) == 1 and sum(counts.values()) > 1:
            said = f"all {counts[filled[0]]} items in {language} are {filled[0]!r}: the language gives the label away"
            yield Finding("warning", "languages", said)


def _table(items: tuple[LabelledItem, ...], scale: Scale) -> dict[str, dict[str, int]]:
    counts: dict[str, Counter[str]] = {}
    for item in items:
        counts.setdefault(item.record.language, Counter())[item.label] += 1
    columns = [*scale.labels, NOT_APPLICABLE]
    return {
        language: {
            label: counts[language][label] for label in columns if label in scale.labels or counts[language][label]
        }
        for language in sorted(counts)
    }


def _flags(items: tuple[LabelledItem, ...], best: str) -> Iterator[Finding]:
    for item in items:
        flags = item.gold.flags
        if item.label == best and flags:
            yield Finding("error", "contradiction", f"{item.name} is {best!r} and flags {listed(flags)}", item.ids)
        elif item.label not in (best, NOT_APPLICABLE) and not flags:
            yield Finding("warning", "contradiction", f"{item.name} is {item.label!r} without any flag", item.ids)


def _annotators(dataset: Dataset) -> Iterator[Finding]:
    for record in dataset.records:
        for item, found in record.labels.items():
            by_name: dict[str, set[str]] = {}
            for annotation in found:
                by_name.setdefault(annotation.annotator, set()).add(annotation.label)
            for name, labels in by_name.items():
                if len(labels) > 1:
                    said = f"{record.record_id}, {item}: {name or 'one annotator'} says {listed(sorted(labels))}"
                    yield Finding("error", "contradiction", said, (record.record_id,))


def _rules(items: tuple[LabelledItem, ...]) -> Iterator[Finding]:
    without = [item.name for item in items if not item.gold.rules]
    counts = Counter(rule for item in items for rule in item.gold.rules)
    if counts:
        said = f"{len(counts)} rules are tested: " + ", ".join(
            f"{rule} {count}" for rule, count in counts.most_common()
        )
        yield Finding("info", "rules", said, figures={rule: float(count) for rule, count in counts.items()})
        if without:
            yield Finding("warning", "rules", f"{len(without)} items name no rule: {listed(without)}")
