"""Datasets: what is wrong with one, its item ids (for packs, gates, recordings), and labels from review sheets that came back.

python -m eva datasets check FILE… [--judge speakability]
python -m eva datasets ids judge=faithfulness dataset=eva_runs dataset.path=output
python -m eva datasets label --from sheet.csv… --judge speakability --data calls.jsonl --out labelled.jsonl
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from eva.edges.compose import check_choices, choices, compose
from eva.edges.datasets import READERS, DatasetSpec, load_dataset, write_native
from eva.edges.datasets.lint import class_table, lint
from eva.edges.datasets.loading import BUNDLED
from eva.edges.datasets.review_sheet import SheetLabels, labelled_dataset, read_sheets
from eva.edges.datasets.run_manifest import read_json
from eva.edges.settings import load_judge, settings_from
from eva.errors import ConfigError, UnknownChoice
from eva.flow import plan_run
from eva.judges.contract import flag_names
from eva.replies.fields import one_line
from eva.types import JudgeSpec

HELP = "check a labelled set; list item ids; make a set from review sheets"


def arguments(parser: argparse.ArgumentParser) -> None:
    actions = parser.add_subparsers(dest="action", required=True)
    check = actions.add_parser("check", help="what is wrong or odd, by file; exit code 1 where numbers would be false")
    check.add_argument("file", nargs="+", help="a dataset, or bundled:<file> for one that comes with eva")
    check.add_argument("--judge", help="whose labels they are (default: the judge of the file's name)")
    ids = actions.add_parser("ids", help="item id, language and human label, a line an item, as a run would judge them")
    ids.add_argument("overrides", nargs="*", help="settings as for run.py: judge=… dataset=… dataset.path=… limit=…")
    label = actions.add_parser("label", help="review sheets and the data that they are about → a labelled set")
    label.add_argument("--from", dest="sheets", nargs="+", type=Path, required=True, metavar="SHEET")
    label.add_argument("--judge", required=True, help="whose scale the labels are on")
    label.add_argument("--data", required=True, help="the data that the two runs judged")
    label.add_argument("--out", type=Path, required=True, help="the labelled set to write (native format)")
    label.add_argument("--annotator", default="", help="who reviewed, for rows that name nobody")
    label.add_argument("--add", action="store_true", help="keep the labels that the data has; the new ones come second")
    label.add_argument("--key", type=Path, help="the key of the sheets: counts which arm the reviewers agree with")
    for one in (check, label):
        one.add_argument("--reader", default="native", choices=sorted(READERS), help="format of the data")


def run(given: argparse.Namespace) -> int:
    return ACTIONS[given.action](given)


def _check(given: argparse.Namespace) -> int:
    errors = 0
    for file in given.file:
        judge = _judge_of(file, given.judge)
        dataset = load_dataset(DatasetSpec(reader=given.reader, path=file, name=file, unlabelled="keep"))
        found = lint(
            dataset,
            judge.scale,
            flags=flag_names(judge),
            no_flags_at=_text(judge.options.get("no_flags_at")),
            speaker=judge.speaker if judge.unit != "conversation" else None,
        )
        counts = Counter(str(finding.level) for finding in found)
        print(f"{file}: {len(dataset.records)} records for {judge.name}; " + _counted(counts))
        for note in dataset.notes:
            print(f"  note     {note}")
        for finding in found:
            print(f"  {finding.level:8} {finding.rule}: {finding.message}")
        errors += counts["error"]
    return 1 if errors else 0


def _ids(given: argparse.Namespace) -> int:
    check_choices(given.overrides)
    plan = plan_run(settings_from(compose(given.overrides)))
    languages = {record.record_id: record.language for record in plan.dataset.records}
    for items in plan.items.values():
        for item in items:
            label = item.gold.label if item.gold is not None else "-"
            print(f"{one_line(item.item_id)}\t{one_line(languages[item.record_id])}\t{label}")
    return 0


def _label(given: argparse.Namespace) -> int:
    judge = load_judge(given.judge)
    if given.out.exists():
        raise ConfigError(f"--out {given.out} is there already; labels are not written over")
    sheets = read_sheets(given.sheets, judge.scale, annotator=given.annotator)
    dataset = load_dataset(DatasetSpec(reader=given.reader, path=given.data, name=given.data, unlabelled="keep"))
    made = labelled_dataset(dataset, sheets, add=given.add)
    given.out.parent.mkdir(parents=True, exist_ok=True)
    write_native(given.out, made.records)
    for note in sheets.notes:
        print(f"note: {note}")
    for language, counts in class_table(made, judge.scale).items():
        print(f"{language}: " + ", ".join(f"{label}: {count}" for label, count in counts.items()))
    if given.key is not None:
        print(_preferred(sheets, read_json(given.key)))
    print(f"{len(made.records)} records, sha256 {made.sha256[:12]}: {given.out}")
    print(f"run it:\n  python run.py judge={judge.name} dataset=file dataset.path={given.out} dataset.unlabelled=keep")
    return 0


def _judge_of(file: str, given: str | None) -> JudgeSpec:
    """The judge that was named, else the one that the file is named after."""
    stem = Path(file.removeprefix(BUNDLED)).stem.removeprefix("eva_")
    if given is None and stem not in choices("judge"):
        raise UnknownChoice("judge", stem, choices("judge"), hint=f"Say whose labels {file} holds: --judge.")
    return load_judge(given or stem)


def _preferred(sheets: SheetLabels, key: Mapping[str, Any]) -> str:
    """Which arm's verdict the reviewers' labels agree with."""
    arms = {str(item["item_id"]): item for item in key.get("items", ())}
    counts = Counter(
        next((side for side in ("before", "after") if arms[item][side] == one.label), "neither")
        for item, said in sheets.annotations.items()
        if item in arms
        for one in said
    )
    return "reviewers agree with " + ", ".join(f"{side} {counts[side]}" for side in ("before", "after", "neither"))


def _counted(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{counts.get(level, 0)} {level}s" for level in ("error", "warning"))


def _text(value: object) -> str | None:
    return None if value is None else str(value)


ACTIONS = {"check": _check, "ids": _ids, "label": _label}
