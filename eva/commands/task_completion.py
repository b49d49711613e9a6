"""Task completion of speech-to-speech models: eligible conversations first, then the status of their final tool call.

python -m eva task-completion <run of participant_eligibility> <run of task_completion_tool_call> [--score all]
"""

from __future__ import annotations

import argparse

from eva.commands.output import add_output, write_or_print, write_plot
from eva.commands.places import add_home, home_of
from eva.edges import runs
from eva.errors import UnknownChoice

HELP = "task completion from the two speech-to-speech judges"
SCORES = ("eligible", "all")


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("eligibility", help="a run of participant_eligibility")
    parser.add_argument("status", help="a run of task_completion_tool_call on the same conversations")
    parser.add_argument(
        "--score", choices=SCORES, help="which conversations (default: the status run's config, else eligible)"
    )
    add_output(parser)
    add_home(parser)


def run(given: argparse.Namespace) -> int:
    from eva.benchmarks import completion_of, configured_score, rendered
    from eva.report.task_completion import completion_plot, completion_report

    eligibility, status = (runs.find_run(home_of(given), name) for name in (given.eligibility, given.status))
    score = given.score or configured_score(status)
    if score not in SCORES:
        raise UnknownChoice("judge.options.score", score, SCORES)
    found = completion_of(eligibility, status, score=score)
    write_plot(given, lambda kind: completion_plot(found, kind=kind))
    write_or_print(given, rendered(completion_report(found), found, given.format, full=given.full))
    return 0
