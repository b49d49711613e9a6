"""What the notebooks lean on: which runs their reader means, and cell outputs made of what is public anyway.

A notebook is told what to read by environment variables: EVA_HOME (folder of all local state), EVA_JUDGE, EVA_BEFORE and
EVA_AFTER (a run id, its beginning, or a prompt version). Whatever is left out is chosen: the newest runs that fit.
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import pandas as pd

from eva.edges.baselines import find_baseline
from eva.edges.provenance import ROOT
from eva.edges.runs import RunFolder, all_runs, find_run
from eva.errors import ConfigError
from eva.metrics.results import Comparison, Difference, Estimate, Summary
from eva.prompts.lock import version_order
from eva.report import markdown_blocks, words
from eva.report.blocks import Confusion, IntervalRow, Report
from eva.report.inputs import Arm
from eva.report.plot_cost import CostPoint
from eva.report.plots import HistoryPoint
from eva.reporting import baseline_folder, shown_meta, summary_of


@dataclass(frozen=True)
class Wanted:
    """Which runs to read; an empty name leaves the choice to us."""

    home: Path
    judge: str = ""
    before: str = ""
    after: str = ""


def wanted(environment: Mapping[str, str] | None = None) -> Wanted:
    """From the environment variables that the text above names."""
    given = os.environ if environment is None else environment
    judge, before, after = (given.get(f"EVA_{name}", "") for name in ("JUDGE", "BEFORE", "AFTER"))
    return Wanted((ROOT / given.get("EVA_HOME", "mlruns")).resolve(), judge, before, after)


def one_run(asked: Wanted) -> RunFolder:
    """The run that EVA_AFTER names, else the newest finished one with human labels. Raises ConfigError, UnknownChoice."""
    if asked.after:
        return _named(asked, asked.after)
    labelled = [run for run in _finished(asked) if run.summary["n_labelled"]]
    if not labelled:
        raise ConfigError(f"{_where(asked)} holds no finished run with human labels. `python run.py` makes one.")
    return labelled[-1]


def two_runs(asked: Wanted) -> tuple[RunFolder, RunFolder]:
    """Before and after: as named; else the newest finished run that has a baseline, and that. Raises as `one_run` does."""
    if asked.before and not asked.after:
        raise ConfigError("EVA_BEFORE is set and EVA_AFTER is not: name the run after the change too.")
    if asked.before:
        return _named(asked, asked.before), _named(asked, asked.after)
    chosen = [_named(asked, asked.after)] if asked.after else reversed(_finished(asked))
    for after in chosen:
        before = _before(asked.home, after)
        if before is not None:
            return before, after
    raise ConfigError(
        f"{_where(asked)} holds no two finished runs that differ in the prompt alone. This makes them: "
        f"python run.py -m judge={asked.judge or 'faithfulness'} prompt=v1,v2 seeds=3"
    )


def runs_beside(run: RunFolder) -> list[RunFolder]:
    """The newest finished run of each released prompt, model and language, of this run's judge on its data; and this run."""
    alike = [
        one
        for one in all_runs(run.path.parents[1])
        if one.meta["status"] == "finished"
        and not one.meta.get("prompt_edited")
        and one.meta["judge"] == run.meta["judge"]
        and one.meta["digests"]["dataset"] == run.meta["digests"]["dataset"]
    ]
    found = {(str(one.meta["prompt"]), name_of(one)): one for one in [*alike, run]}
    return [found[key] for key in sorted(found, key=lambda key: (version_order(key[0]), key[1]))]


def name_of(run: RunFolder) -> str:
    """`v2 · gpt-5.2 · en`; an edited prompt with what was edited."""
    return f"{shown_meta(run.meta)['prompt']} · {words.model_of(run.meta)} · {run.meta['language']}"


def answer(report: Report) -> Any:
    """The report's first sentences, as a cell's output."""
    return _markdown("\n\n".join(markdown_blocks.cell_free(told) for told in report.outcome))


def part(report: Report, key: str) -> Any:
    """One section of a report, such as `flips`, as a cell's output."""
    blocks = [block for section in report.sections if section.key == key for block in section.blocks]
    told = [markdown_blocks.block(block, markdown_blocks.ROOMS[1]) for block in blocks]
    return _markdown("\n\n".join(text for text in told if text) or "Nothing of this kind in these runs.")


def picture(png: bytes, alt: str) -> Any:
    """A picture of eva.report.plots as a cell's output; `alt` says what it shows to those who cannot see it."""
    return _display().Image(data=png, format="png", alt=alt)


def votes(run: RunFolder) -> pd.DataFrame:
    """Item and human label × repeat → the label, or why there is none; items that the repeats disagree on most, first."""
    rows = run.verdicts[["item_id", "gold", "repeat"]].assign(
        vote=run.verdicts["label"].fillna(run.verdicts["failure"])
    )
    table = rows.assign(gold=rows["gold"].fillna("")).pivot(index=["item_id", "gold"], columns="repeat", values="vote")
    return table.loc[table.nunique(axis=1).sort_values(ascending=False, kind="stable").index]


def confusions(*arms: tuple[str, Arm]) -> list[Confusion]:
    """The confusion matrix of each arm that has human labels, under its name."""
    return [Confusion(name, arm.summary.labels, arm.summary.confusion) for name, arm in arms if arm.summary.n_labelled]


def against_baselines(summary: Summary) -> list[tuple[str, Estimate]]:
    """Accuracy with its interval, and what a judge must beat."""
    beaten = ((baseline.name, Estimate(baseline.accuracy)) for baseline in summary.baselines)
    return [("this judge", summary.accuracy_interval), *beaten]


def slices(summary: Summary, by: str) -> list[tuple[str, Estimate]]:
    """Accuracy of each part that is large enough for a point estimate."""
    parts = [part for part in summary.slices if part.by == by and part.n_items >= words.FEW_ITEMS]
    return [(f"{part.value} ({part.n_items} items)", part.accuracy) for part in parts]


def changes(differences: Sequence[Difference]) -> list[IntervalRow]:
    """A row for each statistic's difference."""
    return [_row(words.statistic(one.statistic), one) for one in differences]


def slice_changes(comparison: Comparison, by: str) -> list[IntervalRow]:
    """The deciding statistic's difference in each part; a point only where there are enough items, the interval always."""
    deciding = comparison.differences[0].statistic if comparison.differences else ""
    return [
        _row(f"{part.value} ({part.n_items} items)", part.difference, point=part.n_items >= words.FEW_ITEMS)
        for part in comparison.slices
        if part.by == by and part.difference.statistic == deciding
    ]


def history_point(run: RunFolder) -> HistoryPoint:
    """One run in the picture over prompt versions."""
    summary, version = summary_of(run), str(shown_meta(run.meta)["prompt"])
    model = f"{words.model_of(run.meta)} · {run.meta['language']}"
    return HistoryPoint(version, model, summary.accuracy_interval, summary.macro_f1_interval)


def cost_point(run: RunFolder) -> CostPoint:
    """One run in the picture of quality against cost: accuracy, and what one conversation judged once costs."""
    spend, asked = run.summary["spend"], run.meta["dataset"]["records"] * len(run.summary["repeats"])
    stored = spend["saved_usd"] if spend["cached"] and not run.meta["model"]["free"] else 0.0
    return CostPoint(
        name_of(run),
        summary_of(run).accuracy_interval,
        usd=_each(asked, spend["cost_usd"], stored),
        tokens=_each(asked, spend["input_tokens"], spend["output_tokens"]),
    )


def _each(asked: int, *figures: float | None) -> float | None:
    """The sum of the figures a conversation; None where one of them is unknown."""
    known = [figure for figure in figures if figure is not None]
    return sum(known) / asked if asked and len(known) == len(figures) else None


def _row(name: str, one: Difference, *, point: bool = True) -> IntervalRow:
    change = one.difference
    unit: Literal["points", "plain"] = "points" if words.points(one.statistic) else "plain"
    return IntervalRow(name, change.value if point else None, change.low, change.high, one.verdict, unit)


def _finished(asked: Wanted) -> list[RunFolder]:
    """Finished runs of the judge that is asked for, oldest first."""
    return [
        run
        for run in all_runs(asked.home)
        if run.meta["status"] == "finished" and asked.judge in ("", run.meta["judge"])
    ]


def _named(asked: Wanted, name: str) -> RunFolder:
    """A run id or its beginning; or the newest finished run of a prompt version."""
    versions = [run for run in _finished(asked) if run.meta["prompt"] == name and not run.meta.get("prompt_edited")]
    judges = sorted({str(run.meta["judge"]) for run in versions})
    if len(judges) > 1:
        raise ConfigError(f"prompt {name} was run for several judges ({', '.join(judges)}): say which with EVA_JUDGE.")
    return versions[-1] if versions else find_run(asked.home, name)


def _before(home: Path, after: RunFolder) -> RunFolder | None:
    """What a run was compared with, else the newest run that it would be compared with now."""
    edited = after.meta.get("prompt_edited")
    version = after.meta["prompt"] if edited else after.meta.get("parent")
    return baseline_folder(after) or (find_baseline(home, after.meta, version=str(version)) if version else None)


def _where(asked: Wanted) -> str:
    return f"{asked.home}" + (f" (judge {asked.judge})" if asked.judge else "")


def _markdown(text: str) -> Any:
    return _display().Markdown(text)


def _display() -> Any:
    """IPython's outputs; only a notebook needs them, and there they are."""
    return importlib.import_module("IPython.display")
