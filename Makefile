# `make` prints this menu.
PYTHON ?= python
.DEFAULT_GOAL := help
.PHONY: help install test test-all check golden server notebooks clean

help:  ## this menu
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

install:  ## everything, with the tools for tests, into the Python at hand
	$(PYTHON) -m pip install -q -e ".[dev,notebooks]"

test: install  ## set up, then the quick tests (a few minutes, offline)
	$(PYTHON) -m pytest -n 2

test-all: install  ## the slow ones as well: simulations, servers, browser
	$(PYTHON) -m pip install -q -e ".[server,browser]"
	$(PYTHON) -m pytest -n 2 -m ""

check:  ## style, types, prompts: what CI checks beside the tests
	$(PYTHON) -m ruff check .
	$(PYTHON) -m mypy
	$(PYTHON) -m eva prompts lint
	$(PYTHON) -m eva prompts check

golden:  ## rewrite golden prompts and the lock after a change of prompts; read the diff
	$(PYTHON) -m eva prompts golden

server:  ## MLflow for a team on this machine: PostgreSQL, artifact proxy, 127.0.0.1
	$(PYTHON) -m eva server

notebooks:  ## execute the notebooks on the runs that are there
	$(PYTHON) -m eva notebooks

clean:  ## forget test caches (runs and replies in mlruns/ stay)
	rm -rf .pytest_cache .mypy_cache .ruff_cache .hypothesis
