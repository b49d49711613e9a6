"""The main job: `python run.py judge=faithfulness prompt=v2 seeds=3`. See `python run.py --help`."""

from __future__ import annotations

import sys

from eva.edges.early import check_command_line, leave, spare_collections
from eva.edges.help import help_text
from eva.edges.logging_lines import show_log_lines


def main() -> None:
    """Hydra composes conf/ with the command line; each job of a sweep, or the one job, is a run."""
    import hydra  # after --help and the checks, which need none of it
    from omegaconf import DictConfig

    begun = False

    @hydra.main(config_path="conf", config_name="config", version_base="1.3")
    def job(config: DictConfig) -> None:
        nonlocal begun
        begun = True
        from eva.job import run_job

        run_job(config)

    try:
        job()
    except SystemExit as end:
        # Hydra leaves with 1 where it cannot compose; 1 is ours for too many failures, and 2 for wrong settings.
        sys.exit(2 if end.code == 1 and not begun else end.code)


def sweep() -> int:
    """Several jobs, then how each ended and what differs between those that differ only in the prompt."""
    from eva.sweep import begin_sweep, finish_sweep

    begin_sweep(sys.argv[1:])
    main()
    return finish_sweep(sys.argv[1:])


if __name__ == "__main__":
    if {"--help", "-h"} & set(sys.argv[1:]):
        print(help_text(), end="")
        sys.exit(0)
    show_log_lines()
    spare_collections()
    with leave():
        check_command_line(sys.argv[1:])
        if {"-m", "--multirun"} & set(sys.argv[1:]):
            sys.exit(sweep())
        from eva.edges.settings import check_jobs  # after --help, which needs none of it

        check_jobs(sys.argv[1:])
        main()
