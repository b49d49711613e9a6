"""The reply store: what is in it, is it whole, and how to share it.

python -m eva store stats | verify
python -m eva store export replies.jsonl.gz      python -m eva store import replies.jsonl.gz
python -m eva store prune --model NAME --before 2026-01-01
"""

from __future__ import annotations

import argparse
from dataclasses import asdict
from pathlib import Path

from eva.commands.places import add_home, home_of
from eva.edges import store_care
from eva.edges.store import ReplyStore
from eva.errors import StoreError

HELP = "look after stored replies"


def arguments(parser: argparse.ArgumentParser) -> None:
    actions = parser.add_subparsers(dest="action", required=True)
    for name, told in (("stats", "what is in it"), ("verify", "is every reply whole")):
        add_home(actions.add_parser(name, help=told))
    for name, told in (
        ("export", "write all replies to a file"),
        ("import", "add replies from a file; those there stay"),
    ):
        one = actions.add_parser(name, help=told)
        one.add_argument("file", type=Path)
        add_home(one)
    prune = actions.add_parser("prune", help="delete stored replies")
    prune.add_argument("--model", help="of this model only")
    prune.add_argument("--before", help="created before this date (ISO 8601)")
    prune.add_argument("--yes", action="store_true", help="delete; without it, say how many")
    add_home(prune)


def run(given: argparse.Namespace) -> int:
    path = home_of(given) / "replies.sqlite"
    if not path.exists() and given.action != "import":
        raise StoreError(f"{path}: there is no store yet; a run makes one.")
    store = ReplyStore(path)
    if given.action == "stats":
        for key, value in asdict(store_care.stats(store)).items():
            print(f"{key:<10} {value}")
        return 0
    if given.action == "verify":
        found = store_care.verify(store)
        print(f"{found.replies} replies, {len(found.damaged)} damaged")
        for problem in (*found.damaged, *found.problems):
            print(f"  {problem}")
        return 0 if found.whole else 1
    if given.action == "export":
        print(f"{store_care.export_replies(store, given.file)} replies to {given.file}")
        return 0
    if given.action == "import":
        done = store_care.import_replies(store, given.file)
        print(f"{done.added} added, {done.present} were there already")
        return 0
    return _prune(store, given)


def _prune(store: ReplyStore, given: argparse.Namespace) -> int:
    count = store_care.prune(store, before=given.before, model=given.model, count_only=not given.yes)
    print(
        f"{count} replies {'deleted' if given.yes else 'would go: add --yes to delete them; paid replies do not come back'}"
    )
    return 0
