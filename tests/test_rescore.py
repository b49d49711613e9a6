"""The re-scoring of the published pull request, rebuilt: known moves in, the same figures and the right words out."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from eva.comparing import compared, rendered
from eva.edges.runs import RunFolder
from eva.report import machine
from tests import rescore_folder
from tests.flow_runs import Run, home, run

__all__ = ["home", "run"]  # fixtures

pytestmark = pytest.mark.slow
FLAGS_FIELDS = {"conciseness": "failure_modes", "speakability": "violations"}


@pytest.fixture
def output(tmp_path: Path) -> Path:
    return rescore_folder.write_folder(tmp_path / "output")


def rescored(run: Run, output: Path, judge: str, prompt: str, arm: rescore_folder.Arm, *, baseline: str) -> RunFolder:
    return run(
        f"judge={judge}", f"prompt={prompt}", "task=rescore", "dataset=eva_runs", "language=auto", f"baseline={baseline}",
        data=output, replies=rescore_folder.replies(arm, FLAGS_FIELDS[judge]),
    )  # fmt: skip


def test_conciseness_moved_a_little_and_most_moves_are_noise(run: Run, output: Path) -> None:
    """226 up, 148 down over a floor of 182 and 180; verbosity 552 → 502, density 208 → 181; mean .812 → .829: moved.

    The excess over the floor is near 0 although the shift is real: as many turns move when nothing changed, but evenly.
    """
    arms = rescore_folder.conciseness_arms(rescore_folder.item_keys(output, "conciseness"))
    before = rescored(run, output, "conciseness", "v1", arms[0], baseline="none")
    again = rescored(run, output, "conciseness", "v1", arms[2], baseline="none")
    after = rescored(run, output, "conciseness", "v2", arms[1], baseline=before.run_id)
    pair = compared(before, after, margin=0.03, rerun=again)
    found = pair.comparison

    assert (found.n_items, found.only_before, found.only_after) == (1810, 0, 0)
    assert before.meta["dataset"]["records"] == 310
    assert set(before.meta["dataset"]["languages"]) == set(rescore_folder.LANGUAGES)
    assert any("failed_attempt_1" in note for note in before.meta["dataset"]["notes"])
    assert (found.counts.up, found.counts.down, found.counts.fixed, found.counts.broken) == (226, 148, 0, 0)
    assert (found.floor.up, found.floor.down) == (226, 148)
    assert (found.floor.floor_up, found.floor.floor_down) == (182, 180)
    flags = {flag.flag: (flag.before_items, flag.after_items) for flag in found.flags}
    assert flags == {"verbosity_or_filler": (552, 502), "excess_information_density": (208, 181)}

    score = found.differences[0]
    assert (score.statistic, score.verdict) == ("mean_score", "moved")
    assert [round((value - 1) / 2, 3) for value in (score.before, score.after) if value] == [0.812, 0.829]
    assert score.difference.low is not None
    assert score.difference.low > 0
    assert score.equivalent is True
    assert found.floor.excess.low is not None
    assert found.floor.excess.low < 0 < (found.floor.excess.high or 0)
    by_language = [part for part in found.slices if part.by == "language" and part.difference.statistic == "mean_score"]
    assert {part.value for part in by_language} == set(rescore_folder.LANGUAGES)
    assert {part.difference.family for part in by_language} == {"Holm over 8"}
    own = after.comparison
    assert own is not None
    assert (own["counts"]["up"], own["counts"]["down"]) == (226, 148)


def test_the_page_says_the_figures(run: Run, output: Path) -> None:
    """In every format; the JSON gives the same comparison back."""
    arms = rescore_folder.conciseness_arms(rescore_folder.item_keys(output, "conciseness"))
    before = rescored(run, output, "conciseness", "v1", arms[0], baseline="none")
    again = rescored(run, output, "conciseness", "v1", arms[2], baseline="none")
    after = rescored(run, output, "conciseness", "v2", arms[1], baseline="none")
    pair = compared(before, after, margin=0.03, rerun=again)

    for form in ("html", "markdown", "terminal"):
        text = " ".join(rendered([pair], form, full=True).split())
        for figure in ("552 → 502", "208 → 181", "of the verdicts differ"):
            assert figure in text, (form, figure)
        told = re.sub(r"<[^>]*>", " ", text)
        assert re.search(r"\bup\b[^0-9]* 226\b", told)
        assert re.search(r"\bdown\b[^0-9]* 148\b", told)
        assert all(f">{n}<" in text for n in (182, 180)) if form == "html" else all(n in text for n in ("182", "180"))
    assert machine.from_json(rendered([pair], "json"))[0].comparison == pair.comparison


def test_speakability_falls_for_glosses(run: Run, output: Path) -> None:
    """66 of the 70 turns from pass to fail are glosses: a row. The score moved, far beyond chance."""
    arms = rescore_folder.speakability_arms(rescore_folder.item_keys(output, "speakability"))
    before = rescored(run, output, "speakability", "v1", arms[0], baseline="none")
    after = rescored(run, output, "speakability", "v2", arms[1], baseline="none")
    pair = compared(before, after, margin=0.03)

    assert (pair.comparison.counts.down, pair.comparison.counts.up) == (70, 5)
    assert pair.comparison.differences[0].verdict == "moved"
    assert (pair.comparison.differences[0].p_value or 1) < 0.001
    assert pair.attribution is not None
    assert pair.attribution.moves == {"down": {"1 → 0": 70}, "up": {"0 → 1": 5}}
    first = pair.attribution.groups[0]
    assert (first.direction, first.named_by, first.name, first.items, first.of) == ("down", "flag", "gloss", 66, 70)
    assert sum(group.items for group in pair.attribution.groups if group.direction == "down") == 70
    text = rendered([pair], "markdown", full=True)
    assert "66 of 70" in text
    assert "gloss" in text
