"""What a wrong command line is told: which setting, and which is right; every job of a sweep before the first one."""

from __future__ import annotations

from pathlib import Path

import pytest

from eva.edges import compose as composing
from eva.edges.compose import compose
from eva.edges.settings import check_jobs, settings_from
from eva.errors import ConfigError
from eva.sweep import home_given


@pytest.mark.parametrize(
    ("override", "says"),
    [
        ("seed=3", "'seed' is not a setting. Did you mean 'seeds'?"),
        ("model.concurency=3", "Did you mean 'model.concurrency'?"),
        ("gate.floor.accuracy=0.9", r"added with \+gate.floor.accuracy"),
        ("foo", "Error parsing override 'foo'"),
        ("dataset.split=dve", "Did you mean 'dev'"),
        ("dataset.languages=de", r"dataset.languages=\[de\]"),
    ],
)
def test_a_misspelt_setting_is_told_the_right_one(override: str, says: str) -> None:
    with pytest.raises(ConfigError, match=says):
        check_jobs([override])


def test_every_job_of_a_sweep_is_checked_before_the_first_starts() -> None:
    with pytest.raises(ConfigError, match="'x'"):
        check_jobs(["-m", "prompt=v1,v2", "seeds=1,x"])
    check_jobs(["-m", "prompt=v1,v2", "seeds=1,2"])


def test_a_prompt_file_that_is_no_yaml_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    import shutil

    conf = tmp_path / "conf"
    shutil.copytree(composing.CONF, conf)
    (conf / "prompt" / "faithfulness" / "v2.yaml").write_text("sections:\n  rules: [\n", encoding="utf-8")
    monkeypatch.setattr(composing, "CONF", conf)

    with pytest.raises(ConfigError, match=r"v2\.yaml"):
        compose(["prompt=v2"])


def test_a_sweep_looks_for_its_runs_where_they_were_put(tmp_path: Path) -> None:
    assert home_given(["-m", "prompt=v1,v2", f"home={tmp_path}"]) == tmp_path
    assert home_given(["-m"]).name == "mlruns"


def test_what_explains_moved_items_is_a_setting() -> None:
    assert settings_from(compose([])).options.attribute == "explanations"
    assert settings_from(compose(["attribute=none"])).options.attribute == "none"
    with pytest.raises(ConfigError, match="`attribute`: 'all': input should be 'explanations' or 'none'"):
        settings_from(compose(["attribute=all"]))
