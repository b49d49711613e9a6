"""The notebooks: committed without outputs and without logic, executed on runs that are there, saying what summary.json says."""

from __future__ import annotations

import ast
import json
import re
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from threadpoolctl import threadpool_limits

from eva import notebook
from eva.__main__ import main
from eva.commands import notebooks as command
from eva.edges.compose import compose
from eva.edges.runs import RunFolder
from eva.edges.settings import settings_from
from eva.errors import ConfigError, UnknownChoice
from eva.flow import validate
from eva.notebook import Wanted
from tests import recordings

ROOT = Path(__file__).resolve().parent.parent
COMMITTED = sorted((ROOT / "notebooks").glob("*.ipynb"))
BUNDLED = ROOT / "eva" / "data" / "faithfulness.jsonl"
ELSEWHERE = re.compile(r"/(?:home|root|tmp|work|opt|Users|mnt|var)/|[A-Z]:\\\\")
LOGIC = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda, ast.If, ast.For, ast.While, ast.Try, ast.With)


def loaded(path: Path) -> dict[str, Any]:
    found = json.loads(path.read_text(encoding="utf-8"))
    assert isinstance(found, dict)
    return found


def code_cells(path: Path) -> list[dict[str, Any]]:
    return [cell for cell in loaded(path)["cells"] if cell["cell_type"] == "code"]


def outputs(path: Path) -> Iterator[dict[str, Any]]:
    for cell in code_cells(path):
        yield from cell["outputs"]


def said(path: Path) -> str:
    """All text that the cells put out."""
    texts = [text for one in outputs(path) for text in (one.get("text"), *(one.get("data") or {}).values()) if text]
    return "\n".join(text if isinstance(text, str) else "".join(text) for text in texts)


def test_both_notebooks_are_there() -> None:
    assert [path.stem for path in COMMITTED] == ["compare_versions", "judge_quality"]


@pytest.mark.parametrize("path", COMMITTED, ids=lambda path: path.stem)
def test_a_committed_notebook_holds_no_trace_of_a_run(path: Path) -> None:
    """No outputs, no execution counts, no metadata of a kernel, no path of a machine. `notebooks --strip` mends it."""
    assert [cell for cell in code_cells(path) if cell["outputs"] or cell["execution_count"] is not None] == []
    assert loaded(path)["metadata"] == command.KERNEL
    assert [cell for cell in loaded(path)["cells"] if cell["metadata"]] == []
    assert ELSEWHERE.findall(path.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize("path", COMMITTED, ids=lambda path: path.stem)
def test_a_notebook_tells_and_shows_and_decides_nothing(path: Path) -> None:
    """It begins with a title; its code only calls public functions: no branch, no loop, no function of its own."""
    assert "".join(loaded(path)["cells"][0]["source"]).startswith("# ")
    for cell in code_cells(path):
        source = "".join(cell["source"])
        tree = ast.parse(source)
        rooms = {
            (node.module or "") if isinstance(node, ast.ImportFrom) else node.names[0].name
            for node in ast.walk(tree)
            if isinstance(node, ast.Import | ast.ImportFrom)
        }
        private = {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute) and node.attr[0] == "_"}

        assert [node for node in ast.walk(tree) if isinstance(node, LOGIC)] == []
        assert {room.split(".")[0] for room in rooms} <= {"eva", "pandas"}
        assert private == set()
        assert len(source.splitlines()) <= 12


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two runs of twelve conversations in languages enough, two repeats each: v1, and v2 that mends some and breaks one."""
    folder = tmp_path_factory.mktemp("state")
    gold = recordings.record_labels(BUNDLED)
    for prompt, wrong in (("v1", {0, 1, 2, 3, 4}), ("v2", {4, 5})):
        rows = recordings.conversation_replies(
            gold,
            repeats=2,
            right=lambda place, repeat, wrong=wrong: place % 12 not in wrong and (place, repeat) != (7, 1),
        )
        usage = {"usage": {"input_tokens": 900 if prompt == "v1" else 1100, "output_tokens": 100}}
        replies = recordings.write(folder / f"{prompt}.jsonl", ({**row, **usage} for row in rows))
        own = (
            f"prompt={prompt}", "seeds=2", "limit=36", "model=recorded", f"model.path={replies}",
            f"home={folder}", "tracking=none",
        )  # fmt: skip
        with threadpool_limits(1):  # threads of BLAS wait for one another where other tests use the cores
            assert validate(settings_from(compose(own)), overrides=own, say=lambda text: None) is not None
    return folder


@pytest.fixture(scope="module")
def executed(home: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Both notebooks, executed by the command on those runs."""
    out = tmp_path_factory.mktemp("executed")

    assert main(["notebooks", "--home", str(home), "--out", str(out)]) == 0
    return out


def runs_of(home: Path) -> tuple[RunFolder, RunFolder]:
    return notebook.two_runs(Wanted(home))


def test_the_quality_notebook_says_what_summary_json_says(home: Path, executed: Path) -> None:
    summary = runs_of(home)[1].summary
    text = said(executed / "judge_quality.ipynb")
    pictures = [one["data"] for one in outputs(executed / "judge_quality.ipynb") if "image/png" in one.get("data", {})]

    assert summary["run_id"] in text
    for name in ("accuracy", "macro_f1"):
        assert f"{summary[name]['mean']:.2%} ± {summary[name]['std']:.2%}" in text
    for repeat in summary["repeats"]:
        assert re.search(rf"{repeat['n']} +{repeat['n_correct']} +{repeat['accuracy']:.6f}", text)
    for scores in summary["per_class"]:
        assert f"| `{scores['label']}` | {scores['support']} | {scores['precision']:.1%} |" in text
    assert f"{summary['kappa']['value']:.3f}" in text
    assert f"{summary['noise']['unstable_items']}" in text
    assert len(pictures) == 6


def test_the_comparing_notebook_says_what_summary_json_says(home: Path, executed: Path) -> None:
    before, after = runs_of(home)
    diff = after.summary["diff"]
    text = said(executed / "compare_versions.ipynb")
    pictures = [
        one["data"] for one in outputs(executed / "compare_versions.ipynb") if "image/png" in one.get("data", {})
    ]

    assert (before.meta["prompt"], after.meta["prompt"]) == ("v1", "v2")
    assert f"{before.run_id} → {after.run_id}" in text
    assert f"{diff['accuracy']['before']:.2%} → {diff['accuracy']['after']:.2%}" in text
    assert f"{100 * diff['accuracy']['difference']:+.1f} [" in text
    assert f"| **fixed** | wrong before, right after | {diff['fixed']} |" in text
    assert f"| **broken** | right before, wrong after | {diff['broken']} |" in text
    assert diff["fixed"] > diff["broken"] > 0
    for run in (before, after):
        assert f"{run.summary['accuracy']['mean']:.2%} ± {run.summary['accuracy']['std']:.2%}" in text
    assert len(pictures) == 6


def test_executing_leaves_the_committed_files_alone_and_strip_undoes_it(
    executed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for path in COMMITTED:
        assert any(cell["outputs"] for cell in code_cells(executed / path.name))
        shutil.copy(executed / path.name, tmp_path)
    monkeypatch.setattr(command, "FOLDER", tmp_path)

    assert main(["notebooks", "--strip"]) == 0
    for path in COMMITTED:
        assert (tmp_path / path.name).read_text(encoding="utf-8") == path.read_text(encoding="utf-8")


def test_a_cell_that_fails_fails_the_command_and_the_copy_shows_it(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    import nbformat

    folder, out = tmp_path / "notebooks", tmp_path / "out"
    folder.mkdir()
    cells = [nbformat.v4.new_code_cell(text) for text in ("print(6 * 7)", "{}['nothing']", "print('never')")]
    nbformat.write(nbformat.v4.new_notebook(cells=cells), folder / "broken.ipynb")
    monkeypatch.setattr(command, "FOLDER", folder)

    assert main(["notebooks", "--home", str(home), "--out", str(out)]) == 1
    assert "broken.ipynb: KeyError: 'nothing'" in capsys.readouterr().err
    assert "42" in said(out / "broken.ipynb")
    assert "never" not in said(out / "broken.ipynb")
    assert [one["ename"] for one in outputs(out / "broken.ipynb") if one["output_type"] == "error"] == ["KeyError"]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ((), "holds no two finished runs that differ in the prompt alone"),
        (("judge_quality",), "holds no finished run with human labels"),
        (("judge_qualty",), "Did you mean 'judge_quality'"),
        (("judge_quality", "--after", "faith"), "run 'faith' does not exist"),
        (("--out", "notebooks"), "name another folder"),
    ],
)
def test_what_is_missing_is_said_before_a_kernel_starts(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    arguments: tuple[str, ...],
    says: str,
) -> None:
    monkeypatch.chdir(ROOT)
    with pytest.raises(SystemExit) as end:
        main(["notebooks", "--home", str(tmp_path), *arguments])

    assert end.value.code == 2
    assert says in capsys.readouterr().err


@pytest.mark.parametrize("package", command.PACKAGES)
def test_without_the_extra_the_way_to_install_it_is_said(
    package: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(SystemExit) as end:
        main(["notebooks"])

    assert end.value.code == 2
    assert f"({package} is missing)" in (told := capsys.readouterr().err)
    assert 'pip install -e ".[notebooks]"' in told


def made(home: Path, name: str, prompt: str, **facts: Any) -> str:
    """A run folder that holds no more than what choosing looks at."""
    spend = {"calls": 4, "cached": 0, "input_tokens": 300, "output_tokens": 100, "cost_usd": 0.5, "saved_usd": None}
    summary = {"n_labelled": 4, "repeats": [{}, {}], "spend": spend | facts.pop("spend", {})} | facts.pop("summary", {})
    model = {"name": "m", "id": "m", "free": False} | facts.pop("model", {})
    day = len(list(home.glob("runs/*"))) + 1
    meta = {
        "run_id": name, "created": f"2026-11-{day:02d}", "status": "finished", "judge": "faithfulness",
        "prompt": prompt, "parent": {"v2": "v1", "v3": "v2"}.get(prompt), "language": "en", "task": "validate", "model": model,
        "digests": {"model": "m", "dataset": "d"}, "dataset": {"name": "d", "records": 2}, "baseline": None,
    }  # fmt: skip
    folder = home / "runs" / name
    folder.mkdir(parents=True)
    (folder / "summary.json").write_text(json.dumps(summary), encoding="utf-8")
    (folder / "run.json").write_text(json.dumps(meta | facts), encoding="utf-8")
    return name


def chosen(home: Path, **asked: str) -> tuple[str, str]:
    before, after = notebook.two_runs(Wanted(home, **asked))
    return before.run_id, after.run_id


def test_the_newest_pair_that_differs_in_the_prompt_alone_is_chosen(tmp_path: Path) -> None:
    """The recorded baseline first; else what would be one; runs that are unfinished or unlike have none."""
    made(tmp_path, "old-v1", "v1")
    made(tmp_path, "new-v1", "v1")
    made(tmp_path, "own-v2", "v2", baseline="old-v1")
    made(tmp_path, "alone-v3", "v3", judge="conciseness")
    made(tmp_path, "half-v2", "v2", status="interrupted")

    assert chosen(tmp_path) == ("old-v1", "own-v2")

    made(tmp_path, "later-v2", "v2")

    assert chosen(tmp_path) == ("new-v1", "later-v2")
    assert chosen(tmp_path, after="own") == ("old-v1", "own-v2")
    assert chosen(tmp_path, before="v1", after="v2") == ("new-v1", "later-v2")
    assert chosen(tmp_path, before="old-v1", after="v2") == ("old-v1", "later-v2")
    with pytest.raises(ConfigError, match="EVA_AFTER is not"):
        chosen(tmp_path, before="v1")
    with pytest.raises(ConfigError, match=r"judge conciseness.*differ in the prompt alone.*judge=conciseness"):
        chosen(tmp_path, judge="conciseness")
    with pytest.raises(UnknownChoice, match="run 'v9' does not exist"):
        chosen(tmp_path, before="v1", after="v9")


def test_an_edited_prompt_is_set_against_its_release(tmp_path: Path) -> None:
    made(tmp_path, "v1-run", "v1")
    made(tmp_path, "v2-run", "v2")
    made(tmp_path, "edited", "v2", prompt_edited=True, prompt_edits=["without=sections.rules.x"])

    assert chosen(tmp_path) == ("v2-run", "edited")
    assert chosen(tmp_path, before="v1", after="v2") == ("v1-run", "v2-run")
    assert notebook.name_of(RunFolder(tmp_path / "runs" / "edited")) == "v2 (without=sections.rules.x) · m · en"


def test_the_newest_labelled_run_of_the_judge_is_chosen(tmp_path: Path) -> None:
    made(tmp_path, "first", "v1")
    made(tmp_path, "second", "v2", judge="conciseness")
    made(tmp_path, "third", "v2", summary={"n_labelled": 0})

    assert notebook.one_run(Wanted(tmp_path)).run_id == "second"
    assert notebook.one_run(Wanted(tmp_path, judge="faithfulness")).run_id == "first"
    assert notebook.one_run(Wanted(tmp_path, after="third")).run_id == "third"
    with pytest.raises(ConfigError, match=r"several judges \(conciseness, faithfulness\): say which with EVA_JUDGE"):
        notebook.one_run(Wanted(tmp_path, after="v2"))


def test_the_environment_says_what_to_read(tmp_path: Path) -> None:
    given = {"EVA_HOME": str(tmp_path), "EVA_JUDGE": "j", "EVA_BEFORE": "a", "EVA_AFTER": "b"}

    assert notebook.wanted(given) == Wanted(tmp_path, "j", "a", "b")
    assert notebook.wanted({}) == Wanted(ROOT / "mlruns")


def test_runs_beside_are_the_newest_of_each_version_on_the_same_data(tmp_path: Path) -> None:
    made(tmp_path, "old-v2", "v2")
    made(tmp_path, "v10", "v10")
    made(tmp_path, "new-v2", "v2")
    made(tmp_path, "other-data", "v1", digests={"model": "m", "dataset": "other"})
    made(tmp_path, "other-judge", "v1", judge="conciseness")
    made(tmp_path, "other-model", "v2", model={"id": "n"})
    made(tmp_path, "edited", "v2", prompt_edited=True, prompt_edits=["x=null"])
    beside = notebook.runs_beside(RunFolder(tmp_path / "runs" / "v10"))

    assert [run.run_id for run in beside] == ["new-v2", "other-model", "v10"]


@pytest.mark.parametrize(
    ("spend", "free", "usd"),
    [
        ({}, False, 0.5 / 4),
        ({"cost_usd": 0.0, "cached": 4, "saved_usd": 0.8}, False, 0.8 / 4),
        ({"cost_usd": 0.2, "cached": 2, "saved_usd": None}, False, None),
        ({"cost_usd": None}, False, None),
        ({"cost_usd": 0.0, "cached": 4, "saved_usd": None}, True, 0.0),
    ],
)
def test_a_stored_reply_costs_what_was_paid_for_it_and_an_unknown_price_is_not_zero(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, spend: dict[str, Any], *, free: bool, usd: float | None
) -> None:
    """Two conversations, two repeats: four were judged."""
    made(tmp_path, "run", "v1", spend=spend, model={"free": free})
    monkeypatch.setattr(notebook, "summary_of", lambda run: type("S", (), {"accuracy_interval": None}))
    point = notebook.cost_point(RunFolder(tmp_path / "runs" / "run"))

    assert point.usd == (None if usd is None else pytest.approx(usd))
    assert point.tokens == 100
