"""A pytest plugin that runs each property again and again for its share of time, each time with another seed."""

from __future__ import annotations

import functools
import inspect
import random
import time
from pathlib import Path
from typing import cast

import pytest
from _pytest.runner import runtestprotocol
from _pytest.terminal import TerminalReporter
from hypothesis import core
from hypothesis.errors import HypothesisException
from hypothesis.strategies import DataObject

_began = time.monotonic()
_seeds = random.SystemRandom()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Adds the share of a property and the time of all in seconds, and the file for commands that repeat failures."""
    group = parser.getgroup("fuzz")
    group.addoption("--fuzz-share", type=float, default=1.0)
    group.addoption("--fuzz-seconds", type=float, default=3600.0)
    group.addoption("--fuzz-log", type=Path, required=True)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item, nextitem: pytest.Item | None) -> bool:
    """Runs one property with new seeds until its share is used or it fails; reports its last run."""
    began = time.monotonic()
    share: float = item.config.option.fuzz_share
    seconds: float = item.config.option.fuzz_seconds
    if began - _began > seconds:
        return True
    item.ihook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
    _bound(item, began + share)
    shared = cast("pytest.Item", item.parent)  # what its module set up stays, what is its own is set up each time
    while True:
        core.global_force_seed = seed = _seeds.randrange(1 << 32)
        reports = runtestprotocol(item, log=False, nextitem=shared)
        if any(report.failed for report in reports):
            _note_failure(item, seed)
            break
        if time.monotonic() - began > share:
            break
    item.session._setupstate.teardown_exact(nextitem)
    for report in reports:
        item.ihook.pytest_runtest_logreport(report=report)
    item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
    return True


def _bound(item: pytest.Item, until: float) -> None:
    """Skips the examples of a property behind its share: a slow one would take that of many others.

    The example of a failure runs again after it, whenever that is.
    """
    handle = getattr(getattr(item, "obj", None), "hypothesis", None)
    if handle is None or inspect.iscoroutinefunction(handle.inner_test):
        return
    run_example, failures = handle.inner_test, list[Exception]()

    @functools.wraps(run_example)
    def run_in_time(*arguments: object, **named: object) -> None:
        # Random numbers and `st.data()` are drawn within the example: one left out would draw less than before.
        draws_more = any(isinstance(value, DataObject | random.Random) for value in named.values())
        if failures or draws_more or time.monotonic() <= until:
            try:
                run_example(*arguments, **named)
            except HypothesisException:  # an example that is left out
                raise
            except Exception as error:
                failures.append(error)
                raise

    handle.inner_test = run_in_time


def _note_failure(item: pytest.Item, seed: int) -> None:
    """Prints the command that repeats a failure at once, and keeps it for the end of the run."""
    command = f"python -m pytest '{item.nodeid}' --hypothesis-profile=fuzz-shrink --hypothesis-seed={seed}"
    reporter = item.config.pluginmanager.getplugin("terminalreporter")
    assert isinstance(reporter, TerminalReporter)
    reporter.write_line(f"\nrepeat: {command}")
    reporter.flush()
    log: Path = item.config.option.fuzz_log
    with log.open("a", encoding="utf-8") as lines:
        lines.write(f"{command}\n")
