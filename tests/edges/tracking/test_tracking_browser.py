"""What a reviewer sees: MLflow's own pages in headless Chromium, held against the run folder."""

from __future__ import annotations

import html
import json
import re
import shutil
import socket
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from eva.edges.tracking import TrackingSpec, log_run
from eva.edges.tracking.folder import read
from eva.edges.tracking.items import item_traces
from eva.edges.tracking.note import percent
from eva.edges.tracking.server import plan, start
from tests.edges.tracking.run_folder import make_run

pytestmark = pytest.mark.browser
QUIET = ("background-networking", "component-update", "gpu", "quic", "sync")
"""What Chromium must not try on a machine without a network or a screen."""
FLAGS = (
    "--headless",
    "--no-sandbox",
    "--no-first-run",
    *(f"--disable-{name}" for name in QUIET),
    "--window-size=3000,1200",
    "--virtual-time-budget=30000",
)


@dataclass(frozen=True)
class Team:
    """Two logged runs and the address of the pages."""

    before: Path
    after: Path
    links: tuple[str, str, str]
    """run, comparison, prompts."""


@pytest.fixture(scope="module")
def team(tmp_path_factory: pytest.TempPathFactory, prepared: Path) -> Iterator[Team]:
    if shutil.which("chromium") is None:
        pytest.skip("chromium is not installed")
    root = tmp_path_factory.mktemp("team")
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        port = int(held.getsockname()[1])
    tracking = TrackingSpec(port=port).at(root)
    assert tracking.sqlite_path is not None
    tracking.sqlite_path.parent.mkdir()
    shutil.copy(prepared, tracking.sqlite_path)
    before = make_run(root / "runs", prompt="v1", skill=0.6)
    after = make_run(root / "runs", prompt="v2", skill=0.8, before=before, minute=5)
    log_run(before, tracking=tracking)
    result = log_run(after, tracking=tracking)
    assert result is not None
    assert result.links.comparison is not None
    process = start(plan(root, backend_uri=tracking.uri, port=port, workers=1))
    prompts = f"http://127.0.0.1:{port}/#/prompts/conciseness"
    yield Team(before, after, (result.links.run, result.links.comparison, prompts))
    process.terminate()
    process.wait()


def dom_of(address: str, profile: Path) -> str:
    """The page itself, once it has settled."""
    command = ["chromium", *FLAGS, f"--user-data-dir={profile}", "--dump-dom", address]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=True).stdout


def text_of(address: str, profile: Path) -> str:
    """The words on a page once it has settled."""
    page = re.sub(r"<(script|style)[^>]*>.*?</\1>", " ", dom_of(address, profile), flags=re.DOTALL)
    return re.sub(r"\s+", " ", html.unescape(re.sub(r"<[^>]+>", " ", page)))


def test_the_run_page_says_what_the_summary_holds(team: Team, tmp_path: Path) -> None:
    """Headline and verdict of the note, the accuracy, the linked prompt, the status."""
    page = text_of(team.links[0], tmp_path)
    summary = json.loads((team.after / "summary.json").read_text())

    assert f"accuracy {percent(summary['accuracy']['mean'])} ± {percent(summary['accuracy']['std'])}" in page
    assert str(summary["accuracy"]["mean"]) in page
    assert "cannot tell" in page
    assert "conciseness (v2)" in page
    assert "Finished" in page


def test_the_compare_page_has_a_row_an_item_and_the_share_of_correct_ones(team: Team, tmp_path: Path) -> None:
    """All items are paired, and the page's own sum is ours."""
    page = text_of(team.links[1], tmp_path)
    folder = read(team.after)
    traces = item_traces(folder, folder.verdicts())
    right = sum(any(o.name == "correct" and o.value is True for o in trace.opinions) for trace in traces)

    assert "30 of 30" in page
    assert f"{100 * right / len(traces):.0f}%" in page
    assert "Turn 1 of rec0000" in page
    for name in ("human_label", "agreement", "correct", "judge_label"):
        assert name in page


def test_the_prompts_page_shows_versions_with_their_release(team: Team, tmp_path: Path) -> None:
    """Commit message, aliases, text."""
    page = text_of(team.links[2], tmp_path)

    for words in ("Version 2", "Version 1", "candidate", "released", "What v2 is about", "Be brief. (v2)"):
        assert words in page


def test_the_report_and_plots_open_among_the_artifacts(team: Team, tmp_path: Path) -> None:
    """Every file of the folder that is logged has its name on the page, and the report is shown in a frame of it."""
    page = text_of(f"{team.links[0]}/artifacts/report.html", tmp_path)
    frame = dom_of(f"{team.links[0]}/artifacts/report.html", tmp_path)

    for path in read(team.after).files:
        assert path.relative_to(team.after).parts[0] in page
    assert re.search(r'<iframe src="blob:[^"]+" sandbox="allow-scripts"', frame)


def test_the_charts_go_by_the_stable_names(team: Team, tmp_path: Path) -> None:
    """A group of charts for each statistic with an interval, each class and the difference from the baseline."""
    page = text_of(f"{team.links[0]}/model-metrics", tmp_path)

    for group in ("accuracy (3)", "macro_f1 (3)", "class.1 (", "class.3 (", "diff ("):
        assert group in page
