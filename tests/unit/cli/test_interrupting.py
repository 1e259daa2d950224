"""Ctrl+C ends a query while DuckDB computes, and the program where nothing else does."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Generator
from contextlib import closing

import pytest

from inspector.cli import interrupting
from inspector.cli.interrupting import interrupted_by_ctrl_c
from inspector.tables import Database
from tests.conftest import MS

pytestmark = pytest.mark.skipif(os.name == "nt", reason="os.kill ends a process there")


@pytest.fixture
def default_handler() -> Generator[None]:
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def press() -> None:
    os.kill(os.getpid(), signal.SIGINT)


def answered(database: Database) -> None:
    with interrupted_by_ctrl_c(database.interrupt):
        database.run_query("SELECT count(*) FROM range(1000000000000)").fetch_rows(1)


@pytest.mark.usefixtures("default_handler")
def test_a_query_that_would_take_hours_ends() -> None:
    timer = threading.Timer(50 * MS, press)
    with closing(Database()) as database:
        timer.start()
        with pytest.raises(KeyboardInterrupt):
            answered(database)
    timer.join()


@pytest.mark.usefixtures("default_handler")
@pytest.mark.parametrize(("is_pressed", "raised"), [(True, KeyboardInterrupt), (False, RuntimeError)])
def test_a_library_that_hears_of_the_signal_itself(is_pressed: bool, raised: type[BaseException]) -> None:
    signal.signal(signal.SIGINT, lambda _number, _frame: None)  # it has heard of it instead

    @interrupted_by_ctrl_c(lambda: None)
    def computed() -> None:
        if is_pressed:
            press()
        raise RuntimeError("Query interrupted")

    with pytest.raises(raised):
        computed()


@pytest.mark.usefixtures("default_handler")
def test_what_cannot_be_interrupted_is_left_and_what_it_wrote_goes(monkeypatch: pytest.MonkeyPatch) -> None:
    done, over = list[object](), threading.Event()
    monkeypatch.setattr(interrupting, "_PATIENCE_S", 2 * interrupting._RETRY_S)
    monkeypatch.setattr(interrupting.atexit, "_run_exitfuncs", lambda: done.append("at exit"))
    monkeypatch.setattr(interrupting.os, "_exit", lambda code: (done.append(code), over.set()))
    signal.signal(signal.SIGINT, lambda _number, _frame: None)  # as if it were never called
    with interrupted_by_ctrl_c(lambda: done.append("asked"), lambda: done.append("discarded")):
        press()
        assert over.wait(10_000 * MS)
    assert done == ["asked", "asked", "discarded", "at exit", 130]
    assert signal.set_wakeup_fd(-1) == -1
