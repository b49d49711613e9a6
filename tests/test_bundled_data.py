"""The labelled sets that come with eva: large enough, sound, in ten languages, unlike one another, and as their cards say."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from functools import cache
from itertools import pairwise
from pathlib import Path

import jsonschema
import pytest
from threadpoolctl import threadpool_limits

from eva.edges.compose import choices, compose, read_yaml
from eva.edges.datasets import DatasetSpec, load_dataset
from eva.edges.datasets.findings import labelled_items
from eva.edges.datasets.lint import lint
from eva.edges.settings import load_judge, settings_from
from eva.flow import plan_run
from eva.judges import unit_of
from eva.judges.contract import flag_names
from eva.types import NOT_APPLICABLE, Dataset, JudgeSpec, Record, Reply
from tests import bundled_cards
from tests.bundled_replies import gold_reply, turn_of

ROOT = Path(__file__).resolve().parent.parent
DATA = ROOT / "eva" / "data"
JUDGES = choices("judge")
AUDIO = ("agent_speech_fidelity", "tts_fidelity", "user_speech_fidelity")
LANGUAGES = {"de", "en", "es", "fr", "fr-CA", "hi", "it", "ja", "ko", "nl"}
VERSIONS = ("v1", "v2", "v3")
VOICES = {"f1", "f2", "m1", "m2"}
each_judge = pytest.mark.parametrize("name", JUDGES)
each_audio_judge = pytest.mark.parametrize("name", AUDIO)


@cache
def bundled(name: str) -> tuple[JudgeSpec, Dataset]:
    """A judge and its set. Loading refuses unlabelled records, labels off the scale, unknown flags and unknown fields."""
    judge = load_judge(name)
    spec = DatasetSpec(reader="native", path=f"bundled:{name}.jsonl", name=name)
    return judge, load_dataset(spec, scale=judge.scale, flags=flag_names(judge))


def card_of(name: str) -> str:
    return (DATA / f"{name}.md").read_text(encoding="utf-8")


def test_every_judge_has_its_set_and_every_set_a_config_and_a_card() -> None:
    named = {str(read_yaml(ROOT / "conf" / "dataset" / f"{name}.yaml").get("path", "")) for name in choices("dataset")}
    files = {path.name for path in DATA.glob("*.jsonl")}

    assert len(JUDGES) == 10
    assert {f"{name}.jsonl" for name in JUDGES} <= files
    assert {f"bundled:{file}" for file in files} == {path for path in named if path.startswith("bundled:")}
    for file in files:
        stem = file.removesuffix(".jsonl")
        assert (DATA / f"{stem}.md").exists() or (DATA / f"{stem.split('_')[0]}.md").exists()


@each_judge
def test_a_set_is_large_enough(name: str) -> None:
    """48 records for a judge of whole conversations; 24 conversations with 120 rated turns for a judge of turns."""
    judge, dataset = bundled(name)
    rated = {(item.name.partition("/")[0]) for item in labelled_items(dataset) if item.label != NOT_APPLICABLE}

    assert len(dataset.records) >= (48 if judge.unit == "conversation" else 24)
    assert len(rated) >= (48 if judge.unit == "conversation" else 120)
    assert dataset.notes == ()


@each_judge
def test_the_linter_finds_nothing_to_mend(name: str) -> None:
    """No class too thin, no twin, no contradiction, no label that id, place, length, language or provenance give away."""
    judge, dataset = bundled(name)
    best = judge.options.get("no_flags_at")
    with threadpool_limits(1):  # threads of BLAS wait for one another where other tests use the cores
        found = lint(
            dataset,
            judge.scale,
            flags=flag_names(judge),
            no_flags_at=None if best is None else str(best),
            speaker=judge.speaker if judge.unit != "conversation" else None,
        )

    assert [f"{one.level} {one.rule}: {one.message}" for one in found if one.level != "info"] == []


@each_judge
def test_all_ten_languages_and_three_domains_or_more(name: str) -> None:
    _, dataset = bundled(name)

    assert {record.language for record in dataset.records} == LANGUAGES
    assert len({record.domain for record in dataset.records}) >= 3


@each_judge
def test_every_label_says_by_which_rule_why_and_by_whom(name: str) -> None:
    _, dataset = bundled(name)
    bare = [
        f"{record.record_id} {key}"
        for record in dataset.records
        for key, annotations in record.labels.items()
        for gold in annotations[:1]
        if not (gold.rules and gold.note and gold.annotator and gold.provenance)
    ]

    assert bare == []


@each_judge
def test_dev_and_test_share_no_cluster_and_both_hold_every_label(name: str) -> None:
    judge, dataset = bundled(name)
    splits: dict[str, set[str]] = {}
    for record in dataset.records:
        splits.setdefault(record.cluster, set()).add(record.split)
    sizes = Counter(record.split for record in dataset.records)
    held = Counter((item.record.split, item.kind, item.label) for item in labelled_items(dataset))

    assert {frozenset(names) for names in splits.values()} == {frozenset({"dev"}), frozenset({"test"})}
    assert max(sizes.values()) <= 1.2 * min(sizes.values())
    for kind in {kind for _, kind, _ in held}:
        assert min(held[split, kind, label] for split in sizes for label in judge.scale.labels) >= 5


@each_judge
def test_the_card_counts_what_the_data_holds(name: str) -> None:
    """Every row and phrase computed from the records stands in the card; what this shows is what the card should say."""
    judge, dataset = bundled(name)
    card = card_of(name)
    text = bundled_cards.squeezed(card)

    assert [said for said in bundled_cards.said_by(judge, dataset, card) if said not in text] == []


@each_judge
def test_the_card_lists_the_rules_that_the_labels_name(name: str) -> None:
    _, dataset = bundled(name)
    card = card_of(name)
    used = {rule for item in labelled_items(dataset) for rule in item.gold.rules}

    assert used == bundled_cards.rules_of(card) - bundled_cards.untested_of(card)


@each_judge
def test_the_card_says_how_the_set_was_made_and_what_it_does_not_show(name: str) -> None:
    text = bundled_cards.squeezed(card_of(name))

    assert "the labels follow from the rules by construction" in text.lower()
    assert "## How it was made" in text
    assert "does not show" in text


@each_judge
@pytest.mark.parametrize("version", VERSIONS)
def test_every_record_renders_and_no_label_is_sent(name: str, version: str) -> None:
    """Each in its own language; nothing is open; neither notes nor what a voice really says stand in what is sent."""
    _, dataset = bundled(name)
    plan = plan_run(
        settings_from(
            compose([f"judge={name}", f"prompt={version}", "model=scripted", "tracking=none", "language=auto"])
        )
    )
    labelled = {item.name for item in labelled_items(dataset)}
    sent = {request.record_id: str(request.messages[-1]["content"]) for request in plan.requests}
    said = {record.record_id: " ".join(event.text or "" for event in record.events) for record in dataset.records}

    assert plan.dataset.sha256 == dataset.sha256
    assert list(sent) == [record.record_id for record in dataset.records]
    assert plan.n_items == len(labelled)
    assert len({request.digest for request in plan.requests}) == len(sent)
    for compiled in plan.compiled.values():
        assert "{{" not in compiled.system
    for record in dataset.records:
        assert [name for name in plan.judge.variables if f"{{{{ {name} }}}}" in sent[record.record_id]] == []
        hidden = [text for text in _label_side(record) if text not in said[record.record_id]]
        assert [text for text in hidden if text in sent[record.record_id]] == []


def _label_side(record: Record) -> Iterator[str]:
    """Texts long enough to be found nowhere by chance: notes, provenance, what is really spoken."""
    texts = [event.spoken or "" for event in record.events]
    texts += [text for found in record.labels.values() for one in found for text in (one.note, one.provenance)]
    yield from (text for text in texts if len(text) > 20)


@each_judge
def test_a_reply_that_says_the_gold_labels_is_read_as_them(name: str) -> None:
    """So labels, flags and dimensions keep every rule of the reply contract, and a judge can be right on every item."""
    judge, dataset = bundled(name)
    unit = unit_of(judge)
    for record in dataset.records:
        said = gold_reply(judge, record)
        read = unit.read(judge, record, reply=Reply(record.record_id, 0, "digest", text=json.dumps(said)))
        gold = {item.item_id: item.gold for item in unit.items(judge, record)}

        jsonschema.validate(said, unit.schema(judge, record, max_chars=None))
        assert {one.item_id: one.label for one in read} == {
            key: one.label if one else None for key, one in gold.items()
        }
        assert {one.item_id: set(one.flags) for one in read} == {
            key: set(one.flags) for key, one in gold.items() if one
        }
        assert {rule for one in read for rule in one.broken_rules} == set()


@pytest.mark.parametrize("name", ["conversation_progression", "faithfulness"])
def test_the_label_is_what_the_rule_gives_from_the_dimensions(name: str) -> None:
    """The minimum, or the worst label from as many flags on as the judge's config says; flagged is what is below the best."""
    judge, dataset = bundled(name)
    worst, *_, best = judge.scale.labels
    for record in dataset.records:
        gold = record.labels["record"][0]
        rated = gold.details["dimensions"]
        flagged = {dimension for dimension, label in rated.items() if label != best}
        many = len(flagged) >= int(judge.options.get("worst_if_flagged", len(rated) + 1))

        assert tuple(rated) == judge.dimensions, record.record_id
        assert set(gold.flags) == flagged, record.record_id
        assert gold.label == (worst if many else min(rated.values())), record.record_id


@each_audio_judge
def test_the_plan_of_a_turn_is_what_its_voice_says(name: str) -> None:
    """An entry an utterance, in order; parts, where the language changes, joined, are what is spoken."""
    judge, dataset = bundled(name)
    for record in dataset.records:
        spoken: dict[int, list[str]] = {}
        for event in record.events:
            if event.type == judge.speaker:
                spoken.setdefault(event.turn_id, []).append(event.spoken or event.text or "")
        plans = {turn_of(key): found[0].details["plan"] for key, found in record.labels.items()}
        entries = [entry for plan in plans.values() for entry in plan]

        assert {turn: len(plan) for turn, plan in plans.items()} == {turn: len(said) for turn, said in spoken.items()}
        assert len({entry["voice"] for entry in entries}) == 1
        assert {entry["voice"] for entry in entries} <= VOICES
        assert {entry["language"] for entry in entries} == {record.language}
        for turn, plan in plans.items():
            for entry, said in zip(plan, spoken[turn], strict=True):
                parts = entry.get("parts", [[record.language, said]])
                named = [language for language, _ in parts]
                assert "".join(text for _, text in parts) == said, (record.record_id, turn)
                assert set(named) <= LANGUAGES
                assert "parts" not in entry or set(named) != {record.language}
                assert all(one != other for one, other in pairwise(named))


@each_audio_judge
def test_spoken_stands_only_where_it_differs(name: str) -> None:
    """On the rated speaker's utterances, and never equal to the text."""
    judge, dataset = bundled(name)
    events = [(record.record_id, event) for record in dataset.records for event in record.events if event.spoken]

    assert [record for record, event in events if event.type != judge.speaker or event.spoken == event.text] == []
    assert len(events) > len(dataset.records)
