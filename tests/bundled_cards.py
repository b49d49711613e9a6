"""What a bundled set's card must say of its data: rows and phrases computed from the records. What a test needs, not a checker."""

from __future__ import annotations

import re
import statistics
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from eva.edges.datasets.findings import LabelledItem, labelled_items
from eva.types import NOT_APPLICABLE, Dataset, JudgeSpec, Record

RULE_ROW = re.compile(r"^\| ([A-Z]+\d+[a-z]?(?:, [A-Z]*\d+[a-z]?)*) \|", re.MULTILINE)
UNTESTED = re.compile(r"^Not tested: ([A-Z]+\d+)", re.MULTILINE)
BEST_FIRST = ("participant_eligibility", "task_completion_tool_call")
"""Cards that count the good label first, then the failure, then the doubt."""


def squeezed(text: str) -> str:
    """One space wherever there are some: a line break inside a sentence does not count."""
    return " ".join(text.split())


def rules_of(card: str) -> set[str]:
    """Rule ids that begin a row of the card's tables."""
    return {name for row in RULE_ROW.findall(card) for name in row.split(", ")}


def untested_of(card: str) -> set[str]:
    """Rules that the card says no record tests."""
    return set(UNTESTED.findall(card))


def said_by(judge: JudgeSpec, dataset: Dataset, card: str) -> list[str]:
    """Everything that the card must hold."""
    return [*_UNITS[judge.unit](judge, dataset, card), *_rule_counts(list(labelled_items(dataset)), card)]


def _turns(judge: JudgeSpec, dataset: Dataset, card: str) -> Iterator[str]:
    """Sets of judges of turns: rows `| dev (16 conversations) | 100 | 32 | 34 | 34 |`, cells `| de (2) | 3 / 4 / 5 |`."""
    with_na = "| not applicable |" in card
    columns = [*judge.scale.labels, *([NOT_APPLICABLE] if with_na else [])]
    items = [item for item in labelled_items(dataset) if item.label in columns]
    rated = sum(item.label in judge.scale.labels for item in items)

    def row(name: str, chosen: Iterable[LabelledItem]) -> str:
        counts = _counts(chosen, columns)
        return f"| {name} | {sum(counts)} | {' | '.join(map(str, counts))} |"

    yield f"{len(dataset.records)} phone conversations"
    yield f"{rated} rated {judge.speaker} turns"
    yield row("all", items)
    for split in ("dev", "test"):
        records = sum(record.split == split for record in dataset.records)
        yield row(f"{split} ({records} conversations)", (item for item in items if item.record.split == split))
    labelled = _by_record(items)
    ends = [(min(own, key=_place), max(own, key=_place)) for own in labelled.values()]
    speaker = "assistant " if with_na else ""
    yield row(f"first {speaker}turn of its conversation", (first for first, _ in ends))
    yield row("last turn", (last for _, last in ends))
    for language in _languages(dataset):
        own = [item for item in items if item.record.language == language]
        records = sum(record.language == language for record in dataset.records)
        word = " conversations" if language == "en" else ""
        yield f"| {language} ({records}{word}) | {' / '.join(map(str, _counts(own, columns)))} |"
    yield from _flag_counts(judge, items, card)


def _flag_counts(judge: JudgeSpec, items: Sequence[LabelledItem], card: str) -> Iterator[str]:
    """`| verbosity_or_filler | 21 | 38 |` by label, or `gloss 23` in a sentence; and how many items have two."""
    for flag in judge.flags:
        counts = [sum(flag in item.gold.flags for item in items if item.label == x) for x in judge.scale.labels[:-1]]
        yield f"| {flag} | {' | '.join(map(str, counts))} |" if len(counts) > 1 else f"{flag} {sum(counts)}"
    if judge.flags:
        several = sum(len(item.gold.flags) == 2 for item in items)
        yield f"{_NUMBER_WORDS.get(several, several)} items have two"


def _conversations(judge: JudgeSpec, dataset: Dataset, card: str) -> Iterator[str]:
    """Sets of judges of conversations: one item a record."""
    failure, *doubt = judge.scale.labels
    labels = (doubt.pop(), failure, *doubt) if judge.name in BEST_FIRST else judge.scale.labels
    items = list(labelled_items(dataset))
    yield f"| records, items | {len(dataset.records)}, {len(items)} "
    yield "| labels | " + ", ".join(
        f"{count} × {label}" for label, count in zip(labels, _counts(items, labels), strict=True)
    )
    yield from _shape(dataset)
    for language in _languages(dataset):
        own = [item for item in items if item.record.language == language]
        yield f"| {language} | {' | '.join(map(str, _counts(own, labels)))} |"
    for dimension in judge.dimensions:
        rated = Counter(item.gold.details["dimensions"][dimension] for item in items)
        yield f"| {dimension} | {' | '.join(str(rated[label]) for label in judge.scale.labels[:-1])} |"
    pipelines = Counter(str(record.context.get("pipeline") or "cascade") for record in dataset.records)
    if len(pipelines) > 1:
        yield from (f"{count} {pipeline}" for pipeline, count in pipelines.items())


def _shape(dataset: Dataset) -> Iterator[str]:
    """Clusters by size, splits, utterances and calls."""
    sizes = Counter(Counter(record.cluster for record in dataset.records).values())
    largest, *others = sorted(sizes.items(), reverse=True)
    first = f"{largest[1]} of {_NUMBER_WORDS[largest[0]]} records"
    rest = (f"{count} of {_NUMBER_WORDS[size]}" for size, count in others)
    yield f"| clusters | {sizes.total()}: {', '.join((first, *rest))} |"
    dev, test = (_split(dataset, name) for name in ("dev", "test"))
    yield f"dev {dev[0]} records in {dev[1]} clusters"
    yield f"test {test[0]} in {test[1]}"
    spoken = [sum(event.type in ("user", "assistant") for event in record.events) for record in dataset.records]
    yield f"| utterances | {min(spoken)} to {max(spoken)}, median {statistics.median(spoken):g} |"


def _dimensions(judge: JudgeSpec, dataset: Dataset, card: str) -> Iterator[str]:
    """The set of the judge of turns in several dimensions."""
    items = list(labelled_items(dataset))
    scored = [name for name in judge.dimensions if name not in judge.options["passthrough"]]
    turns = len({(item.record.record_id, item.turn) for item in items})
    yield f"{len(dataset.records)} scripted conversations"
    yield f"| records, turns | {len(dataset.records)}, {turns} "
    for name in scored:
        good, bad, out = _counts((item for item in items if item.kind == name), ("true", "false", NOT_APPLICABLE))
        share = f"{bad} ({100 * bad / (good + bad):.0f} %)"
        yield f"| {name} | {good + bad}{' rated' if out else ''} | {good} | {share} | {out or ''} |".replace(
            "|  |", "| |"
        )
    for language in _languages(dataset):
        own = [item for item in items if item.record.language == language]
        records = sum(record.language == language for record in dataset.records)
        cells = (_counts((item for item in own if item.kind == name), judge.scale.labels) for name in scored)
        yield f"| {language} | {records} | {' | '.join(f'{bad} / {good}' for bad, good in cells)} |"
    for place, name in enumerate(("dev", "test")):
        records, clusters = _split(dataset, name)
        yield (f"dev {records} records, {clusters} clusters" if place == 0 else f"test {records}, {clusters}")


def _rule_counts(items: Sequence[LabelledItem], card: str) -> Iterator[str]:
    """Where a table counts items a rule."""
    counts = Counter(rule for item in items for rule in item.gold.rules)
    if "| rule | items |" in card:
        yield from (f"| {rule} | {count} |" for rule, count in counts.items())
    if "| id | rule | records |" in card:
        yield from (f"| {rule} | … | {count} |" for rule, count in counts.items() if not _row_ends(card, rule, count))
    if "is how many labels name the rule" in squeezed(card):
        yield from _bracketed(items, counts, card)


def _row_ends(card: str, rule: str, count: int) -> bool:
    return re.search(rf"^\| {rule} \| [^|]* \| {count} \|$", card, re.MULTILINE) is not None


def _bracketed(items: Sequence[LabelledItem], counts: Mapping[str, int], card: str) -> Iterator[str]:
    """`| J4, J4b | … (2), … (2) |`: a number for each id in order, or one for the labels that name any of them."""
    for ids, text in re.findall(r"^\| (J\d[^|]*) \| (.*) \|$", card, re.MULTILINE):
        names = ids.split(", ")
        said = [int(number) for number in re.findall(r"\((\d+)\)", text)]
        any_of_them = sum(bool({*names} & {*item.gold.rules}) for item in items)
        if said not in ([counts[name] for name in names], [any_of_them]):
            yield f"| {ids} | … {[counts[name] for name in names]} |"


def _counts(items: Iterable[LabelledItem], labels: Sequence[str]) -> list[int]:
    found = Counter(item.label for item in items)
    return [found[label] for label in labels]


def _by_record(items: Iterable[LabelledItem]) -> dict[str, list[LabelledItem]]:
    found: dict[str, list[LabelledItem]] = {}
    for item in items:
        found.setdefault(item.record.record_id, []).append(item)
    return found


def _place(item: LabelledItem) -> int:
    assert item.turn is not None
    return item.turn


def _split(dataset: Dataset, name: str) -> tuple[int, int]:
    own: list[Record] = [record for record in dataset.records if record.split == name]
    return len(own), len({record.cluster for record in own})


def _languages(dataset: Dataset) -> list[str]:
    return sorted({record.language for record in dataset.records})


_UNITS: dict[str, Callable[[JudgeSpec, Dataset, str], Iterator[str]]] = {
    "turn": _turns,
    "conversation": _conversations,
    "turn_dimensions": _dimensions,
}
_NUMBER_WORDS = {1: "one", 2: "two", 3: "three", 4: "four", 5: "five", 7: "seven"}
