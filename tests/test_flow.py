"""The main job, whole: settings in, a run folder with honest numbers out. The model's replies are recorded ones."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from eva.edges.compose import choices, compose, languages
from eva.edges.identity import model_identity
from eva.edges.runs import RunFolder, all_runs
from eva.edges.settings import settings_from
from eva.errors import ComparisonError, ConfigError, ModelError, UnknownChoice
from eva.flow import Finished, plan_run, validate
from eva.judges.plan import make_plan
from eva.measuring import compare_runs
from tests import recordings

ROOT = Path(__file__).resolve().parent.parent
BUNDLED = ROOT / "eva" / "data" / "faithfulness.jsonl"


@pytest.fixture
def gold() -> dict[str, dict[str, str]]:
    return recordings.record_labels(BUNDLED)


@pytest.fixture
def run(tmp_path: Path) -> Callable[..., Finished]:
    """Run with these overrides, state in the test's own folder, MLflow off."""

    def run_with(*overrides: str) -> Finished:
        own = (*overrides, f"home={tmp_path / 'state'}", "tracking=none")
        finished = validate(settings_from(compose(own)), overrides=own, say=lambda text: None)
        assert finished is not None
        return finished

    return run_with


def summary_of(finished: Finished) -> dict[str, Any]:
    loaded = json.loads((finished.folder.path / "summary.json").read_text(encoding="utf-8"))
    assert isinstance(loaded, dict)
    return loaded


def test_a_run_leaves_everything_in_its_folder(
    run: Callable[..., Finished], gold: dict[str, dict[str, str]], tmp_path: Path
) -> None:
    replies = recordings.write(
        tmp_path / "r.jsonl",
        recordings.conversation_replies(gold, repeats=3, right=lambda place, repeat: place % 4 != 0),
    )
    finished = run("judge=faithfulness", "prompt=v1", "seeds=3", "model=recorded", f"model.path={replies}")
    summary = summary_of(finished)
    right = sum(place % 4 != 0 for place in range(len(gold)))

    assert {path.name for path in finished.folder.path.iterdir()} >= {
        "run.json", "config.yaml", "summary.json", "verdicts.parquet", "prompt.md", "prompt_parts.json", "items.jsonl",
        "records.jsonl",
    }  # fmt: skip
    assert [repeat["n_correct"] for repeat in summary["repeats"]] == [right] * 3
    assert summary["accuracy"]["mean"] == pytest.approx(right / len(gold))
    assert summary["accuracy"]["std"] == 0.0
    assert summary["dataset"]["records"] == summary["dataset"]["items"] == len(gold)
    assert summary["spend"]["calls"] == 3 * len(gold)
    assert summary["diff"] is None
    assert len(finished.folder.verdicts) == 3 * len(gold)
    assert finished.exit_code == 0


def test_the_diff_against_the_parent_version(
    run: Callable[..., Finished], gold: dict[str, dict[str, str]], tmp_path: Path
) -> None:
    """`baseline=auto` finds v1 although its recording is another file; fixed and broken are counted by item."""
    before = recordings.write(
        tmp_path / "b.jsonl", recordings.conversation_replies(gold, repeats=2, right=lambda place, repeat: place >= 10)
    )
    after = recordings.write(
        tmp_path / "a.jsonl",
        recordings.conversation_replies(gold, repeats=3, right=lambda place, repeat: place not in (10, 11)),
    )
    first = run("prompt=v1", "seeds=2", "model=recorded", f"model.path={before}")
    second = run("prompt=v2", "seeds=3", "model=recorded", f"model.path={after}")
    diff = summary_of(second)["diff"]

    assert diff["baseline"] == first.folder.run_id
    assert (diff["fixed"], diff["broken"]) == (10, 2)
    assert diff["accuracy"]["difference"] == pytest.approx(8 / len(gold))
    assert RunFolder(second.folder.path).comparison is not None


def test_unreadable_and_missing_replies_count_as_wrong(
    run: Callable[..., Finished], gold: dict[str, dict[str, str]], tmp_path: Path
) -> None:
    """C08: six right and two lost of eight is 0.75, with a coverage of its own."""
    kept = dict(list(gold.items())[:8])
    rows = list(recordings.conversation_replies(kept, repeats=1, right=lambda place, repeat: True))
    rows[0]["text"] = "I would rather not say."
    replies = recordings.write(tmp_path / "r.jsonl", rows[:7])
    lines = BUNDLED.read_text(encoding="utf-8").splitlines()[:8]
    data = tmp_path / "eight.jsonl"
    data.write_text("\n".join(line.replace('"agent":', '"agent_name":') for line in lines) + "\n", encoding="utf-8")
    finished = run(
        "model=recorded", f"model.path={replies}", "dataset=file", f"dataset.path={data}", "dataset.split=null"
    )
    summary = summary_of(finished)

    assert summary["accuracy"]["mean"] == 0.75
    assert summary["failures"] == {"no_json": 1, "not_recorded": 1}
    assert summary["coverage"]["value"] == 0.75
    assert summary["accuracy_readable"] == 1.0


def test_more_failures_than_allowed_is_exit_code_1(run: Callable[..., Finished], tmp_path: Path) -> None:
    replies = recordings.write(tmp_path / "r.jsonl", [{"record": "fa-001", "repeat": 0, "text": "no"}])
    finished = run("model=recorded", f"model.path={replies}", "max_failures=0.5")

    assert finished.exit_code == 1


def test_the_same_replies_give_the_same_bytes(
    run: Callable[..., Finished], gold: dict[str, dict[str, str]], tmp_path: Path
) -> None:
    replies = recordings.write(
        tmp_path / "r.jsonl",
        recordings.conversation_replies(gold, repeats=2, right=lambda place, repeat: (place + repeat) % 3 != 0),
    )
    command = ("seeds=2", "model=recorded", f"model.path={replies}")
    one, other = run(*command), run(*command)
    texts = [
        (finished.folder.path / "summary.json").read_text(encoding="utf-8").replace(finished.folder.run_id, "RUN")
        for finished in (one, other)
    ]

    assert texts[0] == texts[1]
    assert one.folder.meta["identity"] == other.folder.meta["identity"]


@pytest.mark.parametrize(
    ("override", "error", "says"),
    [
        ("judge=faithfulnes", UnknownChoice, "Did you mean 'faithfulness'"),
        ("prompt=v9", UnknownChoice, "There are: v1, v2, v3"),
        ("seeds=abc", ConfigError, "`seeds`: 'abc'"),
        ("seeds=0", ConfigError, "a whole number from 1"),
        ("margin=3", ConfigError, "a share between 0 and 1"),
        ("+model.temprature=1", ConfigError, "`temprature` is not a setting"),
        ("baseline=run-that-is-not-there", UnknownChoice, "run 'run-that-is-not-there' does not exist"),
        ("prompt=../../secrets", UnknownChoice, "does not exist"),
    ],
)
def test_wrong_settings_say_what_is_right(
    run: Callable[..., Finished], tmp_path: Path, override: str, error: type[Exception], says: str
) -> None:
    replies = recordings.write(tmp_path / "r.jsonl", [{"record": "fa-001", "repeat": 0, "text": "no"}])

    with pytest.raises(error, match=says):
        run("prompt=v2", "model=recorded", f"model.path={replies}", override)


def test_one_rule_switched_off_is_compared_with_the_version_as_released(
    run: Callable[..., Finished], gold: dict[str, dict[str, str]], tmp_path: Path
) -> None:
    replies = recordings.write(
        tmp_path / "r.jsonl", recordings.conversation_replies(gold, repeats=1, right=lambda place, repeat: True)
    )
    whole = run("prompt=v2", "model=recorded", f"model.path={replies}")
    without = run("prompt=v2", "model=recorded", f"model.path={replies}", "prompt.sections.rules.borderline=null")

    assert without.folder.meta["prompt_edited"]
    assert without.baseline is not None
    assert without.baseline.run_id == whole.folder.run_id
    assert without.folder.meta["prompt_sha256"] != whole.folder.meta["prompt_sha256"]


def test_runs_of_two_judges_or_other_data_are_not_compared(
    run: Callable[..., Finished], gold: dict[str, dict[str, str]], tmp_path: Path
) -> None:

    replies = recordings.write(
        tmp_path / "r.jsonl", recordings.conversation_replies(gold, repeats=1, right=lambda place, repeat: True)
    )
    one = run("model=recorded", f"model.path={replies}")
    part = run("model=recorded", f"model.path={replies}", "limit=6")

    with pytest.raises(ComparisonError, match="different dataset content"):
        compare_runs(one.folder, part.folder, margin=0.03)
    assert compare_runs(one.folder, part.folder, margin=0.03, limit_to_common=True).n_items == 6


def test_no_label_reaches_a_request() -> None:
    """Labels, notes and rules of every bundled record, poisoned, appear in no request."""
    settings = settings_from(compose(["model=scripted", "tracking=none"]))
    plan = plan_run(settings)
    notes = [
        text
        for record in plan.dataset.records
        for annotations in record.labels.values()
        for annotation in annotations
        for text in (annotation.note, annotation.provenance)
        if len(text) > 20
    ]
    sent = "\n".join(str(message["content"]) for request in plan.requests for message in request.messages)

    assert notes
    assert not [note for note in notes if note in sent]


@pytest.mark.parametrize("judge", choices("judge"))
@pytest.mark.parametrize("bounded", ["null", "40"])
def test_labels_change_no_request(judge: str, bounded: str) -> None:
    """Without any label every request has the same digest: which turns people rated must not show."""
    own = [
        f"judge={judge}",
        "model=scripted",
        "tracking=none",
        "model.structured_output=true",
        f"model.bounded_strings={bounded}",
    ]
    settings = settings_from(compose(own))
    plan = plan_run(settings)
    bare = replace(plan.dataset, records=tuple(replace(record, labels={}) for record in plan.dataset.records))
    again = make_plan(
        judge=settings.judge,
        prompt=settings.prompt,
        language=settings.language,
        languages=languages(),
        dataset=bare,
        model_identity=model_identity(settings.model),
        structured_output=True,
        max_chars=settings.model.bounded_strings,
    )

    assert [request.digest for request in again.requests] == [request.digest for request in plan.requests]


def test_the_defaults_of_the_early_check_are_the_configs() -> None:
    from eva.edges.compose import DEFAULT_JUDGE, DEFAULT_PROMPT

    config = compose([])

    assert (config["judge"]["name"], config["prompt"]["release"]["name"]) == (DEFAULT_JUDGE, DEFAULT_PROMPT)


def test_a_run_that_nothing_answered_has_failed_and_is_no_baseline(
    run: Callable[..., Finished], gold: dict[str, dict[str, str]], tmp_path: Path
) -> None:
    """An outage under v1 must not make v2 an improvement: the run is kept as failed, and is set against nothing."""
    strangers = recordings.write(tmp_path / "s.jsonl", [{"record": "nobody", "repeat": 0, "text": '{"rating": 1}'}])
    good = recordings.write(
        tmp_path / "g.jsonl", recordings.conversation_replies(gold, repeats=1, right=lambda place, repeat: True)
    )

    with pytest.raises(ModelError, match=r"no row of .* fits.*'fa-001'"):
        run("prompt=v1", "model=recorded", f"model.path={strangers}")
    after = run("prompt=v2", "model=recorded", f"model.path={good}")

    (failed,) = [folder for folder in all_runs(tmp_path / "state") if folder.run_id != after.folder.run_id]
    assert failed.meta["status"] == "failed"
    assert failed.meta["lost"] == len(gold)
    assert after.baseline is None


def test_a_run_that_lost_some_calls_is_no_automatic_baseline(
    run: Callable[..., Finished], gold: dict[str, dict[str, str]], tmp_path: Path
) -> None:
    rows = list(recordings.conversation_replies(gold, repeats=1, right=lambda place, repeat: True))
    part = recordings.write(tmp_path / "p.jsonl", rows[:40])
    whole = recordings.write(tmp_path / "w.jsonl", rows)
    lost = run("prompt=v1", "model=recorded", f"model.path={part}")
    after = run("prompt=v2", "model=recorded", f"model.path={whole}")

    assert after.baseline is None
    warnings = compare_runs(lost.folder, after.folder, margin=0.03).warnings
    assert (
        f"{len(gold) - 40} calls of the before run got no reply at all: that says nothing about the judge" in warnings
    )
