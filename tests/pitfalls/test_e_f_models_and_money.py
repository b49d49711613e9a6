"""Sections E and F of the list: what is really sent, who answered, how noisy it is, and what it cost."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from eva.edges.price_table import Price
from eva.edges.pricing import cost_of, cost_usd
from eva.measuring import unlike
from eva.metrics.compare import compare
from eva.metrics.resample import rng_for
from eva.metrics.summary import summarise
from eva.types import ModelSpec, Reply, Usage
from tests.metrics.conftest import build_rows
from tests.small_runs import command, data_file, quick, run_here
from tests.stub_server import running_stub


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    quick(monkeypatch)


def test_c53_what_was_sent_is_on_record(tmp_path: Path) -> None:
    """Repeats are only called seeds where a seed goes out; the run says whether it did."""
    data = data_file(tmp_path / "d.jsonl", 2)
    with running_stub() as stub:
        _, sent = run_here(*command(stub.url, data, "seeds=2"))
        _, kept_back = run_here(*command(stub.url, data, "seeds=2", "model.send_seed=false"))
        seeds = [body.get("seed") for body in stub.bodies]
    assert sent is not None
    assert kept_back is not None
    assert sorted(seed for seed in seeds if seed is not None) == [1, 1, 2, 2]
    assert seeds.count(None) == 4
    assert (sent.folder.meta["model"]["seed_sent"], kept_back.folder.meta["model"]["seed_sent"]) == (True, False)
    assert any(text.startswith("seed sent:") for text in unlike(sent.folder.meta, kept_back.folder.meta))


def test_c52_arms_of_unlike_temperature_are_labelled(tmp_path: Path) -> None:
    data = data_file(tmp_path / "d.jsonl", 2)
    with running_stub() as stub:
        arms = [run_here(*command(stub.url, data, f"+model.params.temperature={t}"))[1] for t in (0, 1)]
    metas = [arm.folder.meta for arm in arms if arm is not None]

    assert any(text.startswith("parameters:") for text in unlike(*metas))


def test_c55_an_answer_in_a_tool_call_is_read_and_versions_are_kept(tmp_path: Path) -> None:
    data = data_file(tmp_path / "d.jsonl", 2)
    with running_stub({"r0": "toolcall", "r1": "toolcall"}) as stub:
        _, finished = run_here(*command(stub.url, data))
    assert finished is not None
    assert finished.folder.summary["failures"] == {}
    assert finished.folder.verdicts["repaired"].all()
    assert finished.folder.meta["versions"]["litellm"]


def test_c56_who_answered_is_kept_and_said(tmp_path: Path) -> None:
    """The alias is the same, the snapshot behind it is not."""
    data = data_file(tmp_path / "d.jsonl", 2)
    metas = []
    for model in ("gpt-4o-2024-08-06", "gpt-4o-2024-11-20"):
        with running_stub(model=model) as stub:
            _, finished = run_here(
                *command("http://127.0.0.1:9/v1", data, f"model.api_base={stub.url}", f"name=n{model}")
            )
        assert finished is not None
        assert set(finished.folder.verdicts["model_answered"]) == {model}
        metas.append(finished.folder.meta)
    mixed = {**metas[1], "model": {**metas[1]["model"], "answered": ["a", "b"]}}

    assert any(
        "model that answered: ['gpt-4o-2024-08-06'] before, ['gpt-4o-2024-11-20'] after" in t for t in unlike(*metas)
    )
    assert "several models answered in the after run: a, b" in unlike(metas[0], mixed)


def test_c57_flips_are_set_against_the_judge_s_own_noise() -> None:
    """A fifth of the items flip at random in both arms: unstable items are counted, and nothing exceeds the floor."""
    rng = np.random.default_rng(5)
    gold = ["1"] * 200

    def arm() -> Any:
        said = [["2" if place < 40 and rng.random() < 0.5 else "1" for place in range(200)] for _ in range(3)]
        return build_rows(gold, said)

    before, after = arm(), arm()
    noise = summarise(before, labels=("1", "2"), values=(1, 2), repeats=3, rng=rng_for("e"), resamples=200).noise
    found = compare(before, after, labels=("1", "2"), values=(1, 2), rng=rng_for("e"), margin=0.03, resamples=500)

    assert 20 <= noise.unstable_items <= 40
    assert noise.stability.value is not None
    assert noise.stability.value < 1.0
    assert found.floor.floor_up is not None
    assert found.floor.excess.low is not None
    assert found.floor.excess.low <= 0.0
    assert found.counts.fixed + found.counts.broken > 0


def test_c58_unknown_cost_is_unknown(tmp_path: Path) -> None:
    spec = ModelSpec(name="m", kind="endpoint", id="my-own-model", api_base="http://h/v1")
    reply = Reply(record_id="r", repeat=0, digest="d", text="x", usage=Usage(input_tokens=10, output_tokens=10))
    assert cost_usd(spec, reply) is None
    data = data_file(tmp_path / "d.jsonl", 2)
    with running_stub() as stub:
        code, _ = run_here(*command(stub.url, data, "model.free=false", "max_usd=5"))
        assert (code, stub.total) == (2, 0)
        _, finished = run_here(*command(stub.url, data, "model.free=false"))
    assert finished is not None
    assert finished.folder.summary["spend"]["cost_usd"] is None


def test_c59_cached_prompt_tokens_have_their_own_price() -> None:
    """27,147 prompt tokens of which 27,146 came from the cache: a tenth of the price, not the whole of it."""
    price = Price(input=3.0, output=15.0, cached_input=0.3, audio_input=None, reasoning=15.0)
    usage = Usage(input_tokens=27147, output_tokens=0, cached_tokens=27146)

    assert cost_of(usage, price) == pytest.approx((1 * 3.0 + 27146 * 0.3) / 1e6)


def test_c59_replies_of_our_own_store_cost_nothing_and_say_what_they_saved(tmp_path: Path) -> None:
    data = data_file(tmp_path / "d.jsonl", 2)
    price = ("model.free=false", "model.price={input: 10, output: 10}")
    with running_stub() as stub:
        _, first = run_here(*command(stub.url, data, *price))
        _, again = run_here(*command(stub.url, data, *price))
    assert first is not None
    assert again is not None
    paid = first.folder.summary["spend"]["cost_usd"]

    assert paid > 0
    assert again.folder.summary["spend"]["cost_usd"] == 0
    assert again.folder.summary["spend"]["saved_usd"] == pytest.approx(paid)
