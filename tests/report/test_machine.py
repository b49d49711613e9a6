"""The JSON form: strict, stable, and the same pairs when read back."""

from __future__ import annotations

import json
from dataclasses import asdict, replace

import pytest

from eva.errors import ComparisonError
from eva.metrics.results import Spread
from eva.report import machine, markdown, sections
from tests.report import made


def test_what_is_written_reads_back_to_the_same_report() -> None:
    """Gate and comment work from the file as they would from the run."""
    pairs = (made.pair(text=made.HOSTILE), made.pair("conciseness"))

    back = machine.from_json(machine.to_json(pairs))

    assert markdown.render(sections.comparison_report(back)) == markdown.render(sections.comparison_report(pairs))
    assert back[0].comparison == made.comparison()


def test_the_text_is_strict_ascii_and_sorted() -> None:
    """No control character reaches a terminal from it; order of pairs does not show."""
    pairs = (made.pair(text=made.HOSTILE), made.pair("conciseness"))
    text = machine.to_json(pairs)

    assert text.isascii()
    assert "\x1b" not in text
    assert machine.to_json(pairs[::-1]) == text
    assert json.loads(text)["outcome"].startswith("Of 2 judges, for 2 it cannot be told")


def test_only_flips_bring_votes_and_records() -> None:
    """A report of 100,000 items does not carry them all."""
    pair = made.pair()
    more = replace(pair, conversations={**pair.conversations, "other": pair.conversations["rec_07"]})

    assert "other" not in json.loads(machine.to_json([more]))["pairs"][0]["conversations"]


def test_only_the_worst_flips_bring_details(monkeypatch: pytest.MonkeyPatch) -> None:
    """All flips are there; beyond the bound without votes and conversation."""
    monkeypatch.setattr(machine, "DETAILED_FLIPS", 1)
    written = json.loads(machine.to_json([made.pair()]))["pairs"][0]

    assert len(written["comparison"]["flips"]) == 3
    assert list(written["after"]["votes"]) == list(written["conversations"]) == ["rec_07"]


def test_nan_is_refused_both_ways() -> None:
    """An undefined number is null."""
    after = replace(made.pair().after, summary=made.summary(accuracy_spread=Spread(float("nan"), None)))
    with pytest.raises(ValueError, match="JSON"):
        machine.to_json([made.pair(after=after)])
    with pytest.raises(ComparisonError, match="NaN is not JSON"):
        machine.from_json('{"schema": 1, "pairs": NaN}')


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "no strict JSON"),
        ("[]", "no comparison of schema 1"),
        ('{"schema": 2, "pairs": []}', "no comparison of schema 1"),
        ('{"schema": 1, "pairs": [{}]}', r"pairs\.0\.before"),
    ],
)
def test_anything_else_is_refused_with_the_place(text: str, message: str) -> None:
    """What is wrong, where."""
    with pytest.raises(ComparisonError, match=message):
        machine.from_json(text)


def test_results_are_read_from_the_run_folder_s_files() -> None:
    """summary.json holds further keys; they are left alone."""
    values = json.loads(json.dumps(asdict(made.summary())))

    assert machine.summary_from(values | {"judge": "x", "spend": {}}) == made.summary()
    assert machine.comparison_from(json.loads(json.dumps(asdict(made.comparison())))) == made.comparison()
    with pytest.raises(ComparisonError, match=r"summary\.n_items"):
        machine.summary_from({key: value for key, value in values.items() if key != "n_items"})
