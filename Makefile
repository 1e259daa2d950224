# Context Inspector. `make` alone lists the targets; packaging/setup.sh does the setting up.
SHELL := /bin/bash
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory
BIN := .venv/bin
FILE ?=
ONLY ?=
# Tests compute all the time, and each process takes some seconds to find them: as many as there are cores.
JOBS ?= $(shell getconf _NPROCESSORS_ONLN)
# Which tests `make test` leaves to `make test-real`: pyproject.toml says what the marks mean.
QUICK := -m 'not real and not sweep and not trouble'
# Where there is room in memory, tests make their folders there: a disk takes some milliseconds to remove one of ten
# thousand.
IN_MEMORY := $(shell [ "$$(df -Pm /dev/shm 2>/dev/null | awk 'NR == 2 { print $$4 }')" -gt 8000 ] 2>/dev/null \
	&& echo TMPDIR=/dev/shm)
REAL := --hypothesis-profile=landing -m 'real or sweep or trouble or hypothesis'

# Assertions stay as they are written (--assert=plain): making them say what was compared takes 15 s of each process.
# What failed beside others runs once more alone, says what was compared, and must pass: deadlines of tests are missed
# while the machine does something else. Both runs are printed.
define run_tests
$(2) $(BIN)/python -m pytest -n $(JOBS) --dist worksteal $(1) \
	|| { [ $$? -eq 1 ] && $(BIN)/python -m pytest $(1) --assert=rewrite --last-failed --last-failed-no-failures=none; }
endef

# Tests start the program hundreds of times: it is compiled once.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help setup setup-run demo run test test-real fuzz lint format audit bench bench-quick package package-test docs screenshots screencast clean

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

test: setup ## run the tests of everything within the program
	@$(call run_tests,--assert=plain $(QUICK) tests/unit tests/ui,$(IN_MEMORY))

test-real: setup ## run tests that start processes (program, gateways, taps, engines), sweeps, trouble, properties at length
	@$(call run_tests,$(REAL) tests/unit tests/e2e)
	@$(call run_tests,$(REAL) tests/ui)
	@$(call run_tests,--assert=plain --engine=process $(QUICK) tests/ui)

fuzz: setup ## run the properties in rounds with new examples, 2 s each; MINUTES=60
	@$(BIN)/python -m tests.fuzz $(or $(MINUTES),5)

# The types take most of the time: the other parts run beside them.
lint: setup ## style, format, words, types and layers
	@$(BIN)/basedpyright --threads $(JOBS) & types=$$!; \
	$(BIN)/ruff check inspector tests packaging docs \
		&& $(BIN)/ruff format --check inspector tests packaging docs \
		&& $(BIN)/python packaging/words_lint.py \
		&& $(BIN)/python packaging/format_names_lint.py \
		&& $(BIN)/lint-imports \
		&& $(BIN)/shellcheck packaging/*.sh packaging/linux/post* packaging/macos/*.sh .ci/run; \
	others=$$?; wait $$types && exit $$others

format: setup ## apply the format and the safe fixes
	@$(BIN)/ruff format inspector tests packaging docs
	@$(BIN)/ruff check --fix inspector tests packaging docs

audit: setup ## ask whether a known vulnerability concerns what is installed; says so when it cannot ask
	@PYTHONPATH=. $(BIN)/python packaging/audit.py

bench: setup ## measure everything beside its target, some minutes and 5 GB of disk; ONLY=live measures one part
	@$(BIN)/python -m tests.bench $(addprefix --only ,$(ONLY))

bench-quick: setup ## little of everything, in under a minute
	@$(BIN)/python -m tests.bench --quick $(addprefix --only ,$(ONLY))

package: ## build the .deb and the portable archive into dist/, some minutes
	@bash packaging/setup.sh package
	@$(BIN)/python packaging/build.py

package-test: ## try the .deb on a clean system of its own; needs root and debootstrap
	@bash packaging/test_package.sh

docs: setup ## regenerate pages: filter, findings, tables, surveys, command line, formats
	@$(BIN)/python -m inspector.filters.page > docs/filter.md
	@$(BIN)/python -m inspector.analysis.findings > docs/findings.md
	@$(BIN)/python -m inspector.tables.reference_page > docs/tables.md
	@$(BIN)/python -m inspector.survey.page > docs/survey.md
	@$(BIN)/python packaging/commands_page.py > docs/commands.md
	@$(BIN)/python packaging/formats_page.py > docs/what-it-reads.md

screenshots: setup ## retake all pictures of README and guide, in a minute or two
	@QT_QPA_PLATFORM=offscreen $(BIN)/python packaging/screenshots.py

screencast: setup ## film the screencast of the README, in two minutes
	@PYTHONPATH=. QT_QPA_PLATFORM=offscreen $(BIN)/python packaging/screencast.py

clean: ## remove .venv and everything that can be made again
	rm -rf .venv build dist .pytest_cache .ruff_cache .hypothesis .import_linter_cache
	find inspector tests -name __pycache__ -type d -prune -exec rm -rf {} +
