"""Write a comparison into a pull request, as one comment that the next run updates.

  python -m eva comment --pr 12 comparisons/*.json [--full-report URL]
  python -m eva comment --pr 12 --not-run "no credentials" --judges faithfulness

Needs GITHUB_TOKEN and GITHUB_REPOSITORY (owner/name) in the environment; GITHUB_API_URL for another server.
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path

from eva.edges.github import API, post_comment
from eva.errors import ConfigError, CredentialsError
from eva.report import machine, markdown
from eva.report.blocks import Report
from eva.report.sections import comparison_report, not_run_report

HELP = "post a comparison to a pull request"


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("comparison", nargs="*", type=Path, help="what `compare --format json` wrote")
    parser.add_argument("--pr", type=int, required=True, help="number of the pull request")
    parser.add_argument("--repository", default=os.environ.get("GITHUB_REPOSITORY", ""), help="owner/name")
    parser.add_argument("--key", default="judges", help="which comment: one per key")
    parser.add_argument("--full-report", help="address of the whole report")
    parser.add_argument("--not-run", help="say why nothing was run instead")
    parser.add_argument("--judges", default="", help="with --not-run: which judges")
    parser.add_argument("--dry-run", action="store_true", help="print the comment, post nothing")


def run(given: argparse.Namespace) -> int:
    if bool(given.comparison) == bool(given.not_run):
        raise ConfigError("give comparisons, or --not-run with the reason, and not both.")
    body = markdown.render(_report(given), key=given.key, full_report=given.full_report)
    if given.dry_run:
        print(body, end="")
        return 0
    token = os.environ.get("GITHUB_TOKEN", "")
    if not token:
        raise CredentialsError("GITHUB_TOKEN is not set: in a workflow, pass `env: GITHUB_TOKEN: ${{ github.token }}`.")
    api = os.environ.get("GITHUB_API_URL", API)
    posted = post_comment(body, repository=given.repository, number=given.pr, token=token, key=given.key, api=api)
    print(f"{posted.action}: {posted.url}")
    return 0


def _report(given: argparse.Namespace) -> Report:
    if given.not_run:
        return not_run_report(given.not_run, judges=[name for name in given.judges.split(",") if name])
    pairs = [pair for path in given.comparison for pair in machine.from_json(path.read_text(encoding="utf-8"))]
    return comparison_report(pairs)
