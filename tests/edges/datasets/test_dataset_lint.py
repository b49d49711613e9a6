"""The linter: each defect that it is for is planted once and found; a sound set has no error."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from eva.edges.datasets import DatasetSpec, load_dataset
from eva.edges.datasets.findings import Finding
from eva.edges.datasets.lint import class_table, lint
from eva.types import Annotation, Event, Record, Scale
from tests.edges.datasets.dataset_builders import dataset, record

SCALE = Scale(("1", "2", "3"), ordinal=True, allows_not_applicable=True)
WORDS = [
    "train",
    "code",
    "seat",
    "fare",
    "delay",
    "refund",
    "window",
    "booking",
    "night",
    "ticket",
    "platform",
    "coffee",
]


def sentence(seed: int, *, words: int = 30) -> str:
    """Different words for each seed."""
    return " ".join(random.Random(seed).choices(WORDS, k=words)) + f" {seed}"


def sound_set(n: int = 60) -> list[Record]:
    """Labels drawn at random, texts unlike one another, all in one split."""
    draw = random.Random(1)
    return [record(f"r{draw.randrange(10**6)}", draw.choice("123"), text=sentence(n)) for n in range(n)]


def found(records: Sequence[Record], rule: str, **more: object) -> list[Finding]:
    """The findings of one check that need a look."""
    findings = lint(dataset(*records), SCALE, **more)  # type: ignore[arg-type]  # keywords of the caller
    return [finding for finding in findings if finding.rule == rule and finding.level != "info"]


def labelled(one: Record, **change: object) -> Record:
    """The record with its gold label changed."""
    gold = replace(one.labels["record"][0], **change)  # type: ignore[arg-type]  # keywords of the caller
    return replace(one, labels={"record": (gold,)})


def test_a_sound_set_has_no_error_and_no_warning() -> None:
    """And says its classes and figures."""
    findings = lint(dataset(*sound_set()), SCALE)
    assert {finding.level for finding in findings} == {"info"}
    assert {"classes", "languages", "leak"} <= {finding.rule for finding in findings}


def test_labels_off_the_scale_and_unknown_flags() -> None:
    """Named with record and item."""
    records = [*sound_set(), record("bad", "5"), labelled(record("odd", "1"), flags=("rude",))]
    messages = [finding.message for finding in found(records, "label", flags=("wordy",))]
    assert any(message.startswith("bad, record: label '5'") for message in messages)
    assert any(message.startswith("odd, record: flag 'rude'") for message in messages)


def test_missing_and_thin_classes() -> None:
    """A class without items is an error, one with a handful a warning."""
    records = [record(f"a{n}", "3", text=sentence(n)) for n in range(40)]
    records += [record(f"b{n}", "2", text=sentence(100 + n)) for n in range(3)]
    levels = {finding.level: finding.message for finding in found(records, "class_balance")}
    assert levels == {
        "error": "no record item is labelled '1'",
        "warning": "only 3 of 43 record items are '2'",
    }


def test_equal_and_nearly_equal_conversations() -> None:
    """Equal ones whatever their id; nearly equal ones unless they share a cluster."""
    text = sentence(7)
    near = record("near", "1", text=text + " please")
    assert [f.records for f in found([record("x", "1", text=text), record("y", "1", text=text)], "duplicate")] == [
        ("x", "y")
    ]
    pairs = found([record("x", "1", text=text), near], "near_duplicate")
    assert [pair.records for pair in pairs] == [("x", "near")]
    assert pairs[0].figures["similarity"] > 0.8
    assert not found([record("x", "1", text=text, cluster="c"), replace(near, cluster="c")], "near_duplicate")


def test_splits_that_share_something() -> None:
    """A cluster on both sides, nearly equal texts on both sides, records on no side."""
    text = sentence(3)
    records = [
        record("a", "1", text=sentence(1), cluster="c", split="dev"),
        record("b", "2", text=sentence(2), cluster="c", split="test"),
        record("d", "3", text=text, split="dev"),
        record("e", "3", text=text + " ok", split="test"),
        record("f", "3", text=sentence(4)),
    ]
    messages = [finding.message for finding in found(records, "split_leak")]
    assert any("1 clusters are in dev and in test: c" in message for message in messages)
    assert any("nearly the same conversation in dev and in test: d and e" in message for message in messages)
    assert any("1 records are in no split: f" in message for message in messages)


def test_the_same_text_with_different_labels() -> None:
    """Conversations and turns; short turns may depend on what stands around them."""
    text = sentence(5)
    turns = [record(name, *labels, text=text) for name, labels in (("x", ("1", "2")), ("y", ("1", "1")))]
    assert any("labelled 1 and 2" in finding.message for finding in found(turns, "contradiction"))
    whole = [record("x", "1", text=text), record("y", "3", text=text)]
    assert any("labelled 1 and 3: x, record, y, record" in f.message for f in found(whole, "contradiction"))
    assert not found([record("x", "1", "2", text="Thanks."), record("y", "1", text="Hello.")], "contradiction")


def test_flags_that_contradict_the_label() -> None:
    """The best label has no flag (error); a lower one has some (warning); checked only for judges with flags."""
    records = [labelled(record("best", "3"), flags=("wordy",)), record("low", "2", text="Other words.")]
    levels = {f.level: f.message for f in found(records, "contradiction", flags=("wordy",))}
    assert levels == {
        "error": "best, record is '3' and flags wordy",
        "warning": "low, record is '2' without any flag",
    }
    assert not found(records, "contradiction")


def test_one_annotator_with_two_labels() -> None:
    """Two people may differ; one may not differ from himself."""
    one = record("a", "1")
    twice = replace(one, labels={"record": (Annotation("1", "ann"), Annotation("3", "ann"), Annotation("2", "bob"))})
    assert [finding.message for finding in found([twice], "contradiction")] == ["a, record: ann says 1, 3"]


def test_unlabelled_records_and_turns() -> None:
    """Counted, with names."""
    some = record("a", "1", "2", text=sentence(1))
    partly = replace(some, labels={"turn:1": some.labels["turn:1"]})
    findings = lint(dataset(partly, record("b", text="Nothing.")), SCALE, speaker="assistant")
    messages = [finding.message for finding in findings if finding.rule == "unlabelled"]
    assert messages == ["1 of 2 records have no label: b", "1 of 2 assistant turns have no label: a#2"]


@pytest.mark.parametrize(
    ("text", "language", "said"),
    [
        ("cafe\u0301", "fr", "text that is not NFC"),
        ("zero\u200bwidth", "en", "U+200B"),
        ("Ã©tÃ©", "fr", "wrong encoding"),
        ("a\u00a0b", "en", "U+00A0"),
    ],
)
def test_odd_characters(text: str, language: str, said: str) -> None:
    """Composition, characters that nobody sees, wrong encodings."""
    assert said in found([record("a", "1", text=text, language=language)], "characters")[0].message


@pytest.mark.parametrize(("text", "language"), [("क्\u200dष", "hi"), ("Oui\u202f!", "fr-CA"), ("확인", "ko")])
def test_characters_that_a_language_needs(text: str, language: str) -> None:
    """Joiners in Hindi and narrow spaces in French are spelling."""
    assert not found([record("a", "1", text=text, language=language)], "characters")


def leaky(one: Record, place: int, feature: str) -> Record:
    """The record with one kind of metadata that follows its label (or a label that follows its place)."""
    label = one.labels["record"][0].label
    alone = replace(one, cluster=f"c{place}")
    if feature == "id":
        return replace(alone, record_id=f"{['bad', 'mid', 'good'][int(label) - 1]}-{place}")
    if feature == "place in the file":
        return labelled(alone, label="321"[place % 3])
    if feature == "provenance":
        return labelled(alone, provenance=f"made for {label}")
    if feature == "length":
        return replace(alone, events=(Event(1, "user", text="long " * int(label) * 20),))
    return replace(alone, domain=f"domain {label}")


@pytest.mark.parametrize("feature", ["id", "place in the file", "provenance", "length", "domain"])
def test_label_leaks_are_found_with_their_figures(feature: str) -> None:
    """A trivial model that sees only this tells the label: warned with accuracy beside majority."""
    records = [leaky(one, place, feature) for place, one in enumerate(sound_set())]
    leaks = [finding for finding in found(records, "leak") if f"from {feature} alone" in finding.message]
    assert len(leaks) == 1
    assert leaks[0].figures["balanced_accuracy"] > 0.8
    assert leaks[0].figures["accuracy"] > leaks[0].figures["majority"]


def test_a_language_with_one_class_gives_it_away() -> None:
    """The table of classes by language, and a warning where one class is all there is."""
    records = [
        *sound_set(),
        record("x", "3", text=sentence(91), language="ko"),
        record("y", "3", text=sentence(92), language="ko"),
    ]
    assert class_table(dataset(*records), SCALE)["ko"] == {"1": 0, "2": 0, "3": 2}
    assert "all 2 items in ko are '3'" in found(records, "languages")[0].message


def test_the_known_leaks_of_the_real_set(shared_data: Path) -> None:
    """Whether versions are stated tells 67% of the real faithfulness labels; the hashed ids tell nothing."""
    spec = DatasetSpec(reader="eva_faithfulness", path=str(shared_data / "eva" / "faithfulness.jsonl"))
    findings = {f.message.split(" alone")[0]: f for f in lint(load_dataset(spec), SCALE) if f.rule == "leak"}
    provenance = findings["record labels from provenance"]
    assert provenance.level == "warning"
    assert provenance.figures["accuracy"] == pytest.approx(0.672, abs=0.001)
    assert findings["record labels from id"].level == "info"
