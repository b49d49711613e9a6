"""Task completion of speech-to-speech models: eligible conversations first, then the status of their final tool call.

python -m eva task-completion <run of participant_eligibility> <run of task_completion_tool_call> [--score all]
"""

from __future__ import annotations

import argparse

from eva.commands.output import add_output, write_or_print, write_plot
from eva.commands.places import add_home, home_of
from eva.edges import runs

HELP = "task completion from the two speech-to-speech judges"


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("eligibility", help="a run of participant_eligibility")
    parser.add_argument("status", help="a run of task_completion_tool_call on the same conversations")
    parser.add_argument(
        "--score",
        choices=("eligible", "all"),
        help="which conversations (default: the status run's config, else eligible)",
    )
    add_output(parser)
    add_home(parser)


def run(given: argparse.Namespace) -> int:
    from eva.benchmarks import SCORES, completion_of, configured_score, rendered
    from eva.report.task_completion import completion_plot, completion_report

    eligibility, status = (runs.find_run(home_of(given), name) for name in (given.eligibility, given.status))
    score = SCORES[given.score] if given.score else configured_score(status)
    found = completion_of(eligibility, status, score=score)
    write_plot(given, lambda kind: completion_plot(found, kind=kind))
    write_or_print(given, rendered(completion_report(found), found, form=given.format, full=given.full))
    return 0
