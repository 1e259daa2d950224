# Context Inspector. `make` alone lists the targets; packaging/setup.sh does the setting up.
SHELL := /bin/bash
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory
BIN := .venv/bin
FILE ?=
ONLY ?=
# Tests wait as much as they compute: one process more than there are cores.
JOBS ?= $(shell echo $$(( $$(getconf _NPROCESSORS_ONLN) + 1 )))

# Tests start the program hundreds of times: it is compiled once.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help setup setup-run demo run test lint format bench bench-quick package clean

help: ## list the targets
	@echo 'Context Inspector: make TARGET'
	@sed -nE 's/^([a-z-]+):[^#]*## (.*)/  \1|\2/p' $(MAKEFILE_LIST) | awk -F'|' '{ printf "%-14s %s\n", $$1, $$2 }'

setup: ## create .venv with everything needed to run, test and lint; install missing system libraries
	@bash packaging/setup.sh dev

setup-run: ## the same, but only what is needed to run
	@bash packaging/setup.sh run

demo: setup-run ## watch a live multi-agent conversation: embedded gateway, scripted agents
	@$(BIN)/context-inspector demo

run: setup-run ## open the window; FILE=path/to/log opens a log in it
	@$(BIN)/context-inspector $(if $(FILE),"$(FILE)")

test: setup ## run all tests
	@$(BIN)/python -m pytest -n $(JOBS) --dist worksteal tests/unit tests/ui $(wildcard tests/e2e)

lint: setup ## style, format, types and layers
	@$(BIN)/ruff check inspector tests
	@$(BIN)/ruff format --check inspector tests
	@$(BIN)/basedpyright
	@$(BIN)/lint-imports

format: setup ## apply the format and the safe fixes
	@$(BIN)/ruff format inspector tests
	@$(BIN)/ruff check --fix inspector tests

bench: setup ## measure everything beside its target, some minutes and 5 GB of disk; ONLY=live measures one part
	@$(BIN)/python -m tests.bench $(addprefix --only ,$(ONLY))

bench-quick: setup ## little of everything, in under a minute
	@$(BIN)/python -m tests.bench --quick $(addprefix --only ,$(ONLY))

package: ## installers (not there yet)
	@echo 'There are no installers yet. Planned: deb, rpm and archlinux packages, a Windows setup and a macOS app;'
	@echo 'see packaging/README.md. Until then: make run, or pip install . into an environment of your own.'
	@exit 1

clean: ## remove .venv and everything that can be made again
	rm -rf .venv build dist .pytest_cache .ruff_cache .hypothesis .benchmarks .import_linter_cache
	find inspector tests -name __pycache__ -type d -prune -exec rm -rf {} +
