"""The main job: `python run.py judge=faithfulness prompt=v2 seeds=3`. See `python run.py --help`."""

from __future__ import annotations

import sys

import hydra
from omegaconf import DictConfig

from eva.edges.early import check_command_line, leave


@hydra.main(config_path="conf", config_name="config", version_base="1.3")
def main(config: DictConfig) -> None:
    """One job: a run of one judge with one prompt."""
    from eva.job import run_job  # imported here: `--help` needs none of it

    run_job(config)


if __name__ == "__main__":
    with leave():
        check_command_line(sys.argv[1:])
        main()
        if {"-m", "--multirun"} & set(sys.argv):
            from eva.sweep import finish_sweep

            sys.exit(finish_sweep())
