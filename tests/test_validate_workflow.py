"""The workflow that validates judges in a pull request: safe for forks, and its script does what it says."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

PATH = Path(__file__).resolve().parent.parent / ".github" / "workflows" / "validate-judges.yml"
FLOW: dict[Any, Any] = yaml.safe_load(PATH.read_text(encoding="utf-8"))
STEPS = [(name, step) for name, job in FLOW["jobs"].items() for step in job["steps"]]

FAKE_PYTHON = """#!/usr/bin/env bash
echo "$*" >> "$LOG"
for word in "$@"; do [[ "$word" != comparisons/*.json || "$3" != compare ]] || echo '{}' > "$word"; done
case "$*" in
  *"eva gate"*) exit "${GATE:-0}" ;;
  *"run.py"*) exit "${RUN:-0}" ;;
esac
"""


def test_it_never_runs_a_fork_s_code_with_the_base_s_rights() -> None:
    """`pull_request`, read rights by default; no job both sees a model's key and may write."""
    text = PATH.read_text(encoding="utf-8")

    assert set(FLOW[True]) == {"pull_request"}  # YAML reads the key `on` as true
    assert FLOW["permissions"] == {"contents": "read"}
    assert "pull_request_target" not in text
    for job in FLOW["jobs"].values():
        writes = "write" in (job.get("permissions") or {}).values()
        assert not (writes and "secrets." in json.dumps(job))


def test_the_job_that_may_write_runs_the_base_s_code_and_not_for_forks() -> None:
    """What it checks out is the base; the comparisons come as data."""
    job = FLOW["jobs"]["comment"]
    checkouts = [step for step in job["steps"] if str(step.get("uses", "")).startswith("actions/checkout")]

    assert [step["with"]["ref"] for step in checkouts] == ["${{ github.event.pull_request.base.sha }}"]
    assert "head.repo.full_name == github.repository" in job["if"]


def test_no_script_is_built_from_the_event() -> None:
    """Titles, branches and names reach scripts as environment variables only."""
    for _, step in STEPS:
        assert "${{" not in step.get("run", "")
    for _, step in STEPS:
        if str(step.get("uses", "")).startswith("actions/checkout"):
            assert step["with"]["persist-credentials"] is False


@pytest.mark.parametrize("script", [step["run"] for _, step in STEPS if "\n" in step.get("run", "")])
def test_every_script_is_a_script(script: str) -> None:
    """bash reads it."""
    assert subprocess.run(["bash", "-n"], input=script, text=True, check=False).returncode == 0


def validate(folder: Path, changed: list[dict[str, Any]], **environment: str) -> tuple[int, list[str], str, str]:
    """Run the main step with a `python` that only writes down what it is asked: (code, calls, state, what was printed)."""
    if shutil.which("jq") is None:
        pytest.skip("jq is not installed")
    script = next(step["run"] for _, step in STEPS if step.get("id") == "run")
    tools = folder / "tools"
    tools.mkdir()
    (tools / "python").write_text(FAKE_PYTHON)
    (tools / "python").chmod(0o755)
    (folder / "conf" / "model").mkdir(parents=True)
    (folder / "conf" / "model" / "gpt-5.2.yaml").write_text("name: gpt-5.2\nkey_env: OPENAI_API_KEY  # the key\n")
    (folder / "conf" / "model" / "local.yaml").write_text("name: local\n")
    (folder / "changed.jsonl").write_text("".join(json.dumps(row) + "\n" for row in changed))
    given = {
        "PATH": f"{tools}:/usr/local/bin:/usr/bin:/bin",
        "LOG": str(folder / "log"),
        "GITHUB_OUTPUT": str(folder / "output"),
        "GITHUB_STEP_SUMMARY": str(folder / "summary"),
        "MODEL": "gpt-5.2",
        "SEEDS": "3",
        "MAX_USD": "20",
        "OPENAI_API_KEY": "",
        **environment,
    }
    done = subprocess.run(
        ["bash", "-e", "-c", script], cwd=folder, env=given, text=True, capture_output=True, check=False
    )
    log = folder / "log"
    output = (folder / "output").read_text() if (folder / "output").exists() else ""
    state = re.search(r"state=(.*)", output)
    calls = log.read_text().splitlines() if log.exists() else []
    return done.returncode, calls, state.group(1) if state else "", done.stdout + done.stderr


CHANGED = [{"judge": "faithfulness", "before": "v1", "after": "v2"}]


def test_both_versions_run_are_compared_and_gated(tmp_path: Path) -> None:
    """Two runs, the comparison in three formats, the gate."""
    code, calls, state, _ = validate(tmp_path, CHANGED, OPENAI_API_KEY="sk-x")

    assert (code, state) == (0, "run")
    run = "run.py judge=faithfulness prompt={} seeds=3 baseline=none tracking=none model=gpt-5.2 max_usd=20"
    compare = "-m eva compare v1 v2 --judge faithfulness --model gpt-5.2 --format"
    assert calls == [
        run.format("v1"),
        run.format("v2"),
        f"{compare} json --out comparisons/faithfulness.json",
        f"{compare} html --out comparisons/faithfulness.html",
        f"{compare} markdown",
        "-m eva gate comparisons/faithfulness.json",
    ]


def test_without_credentials_nothing_runs_and_the_job_stays_green(tmp_path: Path) -> None:
    """Neutral: said, not failed."""
    code, calls, state, printed = validate(tmp_path, CHANGED)

    assert (code, calls, state) == (0, [], "not run: no credentials")
    assert "::notice::faithfulness v1 → v2 not run: no credentials" in printed
    assert (tmp_path / "summary").read_text() == "Judges: not run: no credentials\n"


def test_a_model_without_a_key_needs_no_credentials(tmp_path: Path) -> None:
    """The model's own file says whether one is wanted."""
    assert validate(tmp_path, CHANGED, MODEL="local")[2] == "run"


def test_recorded_replies_need_no_credentials(tmp_path: Path) -> None:
    """Where both versions have them."""
    replies = tmp_path / "replies" / "faithfulness"
    replies.mkdir(parents=True)
    for version in ("v1", "v2"):
        (replies / f"{version}.jsonl").write_text("")
    code, calls, state, _ = validate(tmp_path, CHANGED)

    assert (code, state) == (0, "run")
    assert calls[0].endswith("model=recorded model.path=replies/faithfulness/v1.jsonl")


@pytest.mark.parametrize(
    ("gate", "code", "said"),
    [
        ("0", 0, ""),
        ("1", 1, "::error::the gate fails"),
        ("2", 0, "::warning::the gate cannot tell"),
        ("3", 3, "::error::the gate broke"),
    ],
)
def test_the_gate_s_exit_codes(tmp_path: Path, gate: str, code: int, said: str) -> None:
    """A failure fails, "cannot tell" warns, a broken check is broken."""
    found = validate(tmp_path, CHANGED, OPENAI_API_KEY="sk-x", GATE=gate)

    assert found[0] == code
    assert said in found[3]


def test_a_failing_gate_still_lets_the_other_judges_run(tmp_path: Path) -> None:
    """The comment holds them all; the job fails at its end."""
    two = [*CHANGED, {"judge": "conciseness", "before": "v1", "after": "v2"}]
    code, calls, state, _ = validate(tmp_path, two, OPENAI_API_KEY="sk-x", GATE="1")

    assert (code, state) == (1, "run")
    assert sum("eva gate" in call for call in calls) == 2


def test_a_run_that_stops_stops_the_job(tmp_path: Path) -> None:
    """Quota, key or budget: no comparison of half a run."""
    code, calls, state, _ = validate(tmp_path, CHANGED, OPENAI_API_KEY="sk-x", RUN="2")

    assert (code, state) == (2, "")
    assert len(calls) == 1


def test_a_judge_s_first_version_has_nothing_to_be_compared_with(tmp_path: Path) -> None:
    """Said, not failed."""
    first = [{"judge": "new", "before": None, "after": "v1"}]

    assert validate(tmp_path, first, OPENAI_API_KEY="sk-x")[:3] == (0, [], "not run: nothing to compare")


@pytest.mark.parametrize("name", ["$(touch x)", "a b", "../x", "-x", "", "a;b", "x\ty"])
def test_names_that_are_not_plain_reach_no_command(tmp_path: Path, name: str) -> None:
    """They come from files of the pull request."""
    code, calls, _, _ = validate(tmp_path, [{"judge": name, "before": "v1", "after": "v2"}], OPENAI_API_KEY="sk-x")

    assert (code, calls) == (3, [])
    assert not (tmp_path / "x").exists()
