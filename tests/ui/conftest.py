"""UI tests: offscreen, always with the bundled faces, so that sizes are equal everywhere."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from contextlib import contextmanager

import pytest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from inspector.document.document import CaptureDocument
from inspector.engine import idle_work, served_document
from inspector.sources import follow
from inspector.ui import intervals, pipe_client
from inspector.ui.app import application as applications
from inspector.ui.app.application import Application
from inspector.ui.docview import center
from inspector.ui.docview.center import first_view, folds_sides
from inspector.ui.docview.panel import MESSAGES
from inspector.ui.features import undo
from inspector.ui.look.theme import Theme, ThemeController
from inspector.ui.msp.panel import token_counts
from inspector.ui.panels.details import code_view
from inspector.ui.pipe_client import PipeClient
from inspector.ui.window import tabbed_windows
from inspector.ui.window.main_window import MainWindow
from tests.ui import engines
from tests.ui.waiting import PatientBot
from tests.ui.windows import bury, story, window_on


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--engine", choices=("window", "process"), default="window", help="where engines of windows run"
    )  # fmt: skip


@pytest.fixture(scope="session", autouse=True)
def engines_of_run(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[engines.TestEngines | None]:
    """One engine process for all tests, with `--engine=process`."""
    if request.config.getoption("--engine") == "process":
        engines.engines = engines.TestEngines(tmp_path_factory.mktemp("engine"))
    yield engines.engines
    if engines.engines is not None:
        engines.engines.close()
        engines.engines = None


# One fixture for each test instead of six: pytest takes 0.1 ms for each, of thousands of tests.
@pytest.fixture(autouse=True)
def window_settings(
    request: pytest.FixtureRequest, engines_of_run: engines.TestEngines | None, monkeypatch: pytest.MonkeyPatch
) -> Iterator[None]:
    """Settings of windows for tests. Skips a test that needs the engine in its process, if that is elsewhere."""
    marker = request.node.get_closest_marker("in_process")
    if engines_of_run is not None and marker is not None:
        pytest.skip(marker.args[0])
    # `window.document` is an empty document on the start page.
    monkeypatch.setattr(
        MainWindow, "document",
        property(lambda window: CaptureDocument() if window.shown.client is None else window.shown.client.document),
    )  # fmt: skip
    _patch_intervals(monkeypatch)
    # Documents open on their messages, which most tests are about.
    monkeypatch.setattr(center, "first_view", lambda _settings: MESSAGES)
    monkeypatch.setattr(center, "folds_sides", lambda _settings: False)
    # Each document is a window, unless a test is about tabs.
    monkeypatch.setattr(tabbed_windows, "opens_tabs", lambda _settings: False)
    # Whole windows have no style sheet, which is 40 % of making one, unless their test is `styled`. Tests that ask for
    # `theme_controller`, of single widgets and panels, have it always.
    if "theme_controller" not in request.fixturenames and request.node.get_closest_marker("styled") is None:
        monkeypatch.setattr(Theme, "style_sheet", lambda _theme: "")
    with _answers_at_once(engines_of_run, monkeypatch):
        yield
        # A closed widget is deleted with its test: a style sheet is laid over all widgets there are, 0.1 s a window.
        bury()


def _patch_intervals(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sets intervals for busy machines; tokens are counted on request alone; each selection counts as rested."""
    monkeypatch.setattr(intervals, "REST_MS", 0)
    monkeypatch.setattr(code_view, "_SLICE_S", 60.0)
    monkeypatch.setattr(undo, "_EDIT_S", 60.0)
    monkeypatch.setattr(token_counts, "_START_MS", 3_600_000)
    engines.patch_engine(monkeypatch, idle_work, "START_S", 3_600.0)


@contextmanager
def _answers_at_once(engines_of_run: engines.TestEngines | None, monkeypatch: pytest.MonkeyPatch) -> Generator[None]:
    """Windows have the engines of this run. Answers of a process arrive at once; `window.document` is a copy."""
    monkeypatch.setattr(applications, "Engines", engines.engines_of_run)
    if engines_of_run is None:
        yield
        return
    mirror = engines.Mirror()
    monkeypatch.setattr(pipe_client, "PipeClient", engines.WaitingClient)
    monkeypatch.setattr(engines.WaitingClient, "document", property(mirror.document), raising=False)
    try:
        yield
    finally:
        engines_of_run.plugins = ()
        mirror.close()


@pytest.fixture
def late_clients(window_settings: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Clients of engine processes as in the program, for tests that start engines."""
    monkeypatch.setattr(pipe_client, "PipeClient", PipeClient)


@pytest.fixture
def qtbot(qapp: QApplication, request: pytest.FixtureRequest) -> Iterator[QtBot]:
    """One for busy machines, `tests/ui/waiting.py`."""
    bot = PatientBot(request)
    yield bot
    bury()
    bot.held.clear()


@pytest.fixture
def lands_as_set(window_settings: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Documents open on the view of the settings, and hide panes without a choice."""
    monkeypatch.setattr(center, "first_view", first_view)
    monkeypatch.setattr(center, "folds_sides", folds_sides)


@pytest.fixture
def quick_following(monkeypatch: pytest.MonkeyPatch) -> None:
    """A file that grows is looked at twenty times as often."""
    for name in ("POLL_S", "STILL_S", "GRACE_S"):
        engines.patch_engine(monkeypatch, follow, name, getattr(follow, name) / 20)
    engines.patch_engine(monkeypatch, served_document, "FOLLOW_S", served_document.FOLLOW_S / 20)


@pytest.fixture
def theme_controller(qapp: QApplication) -> Iterator[ThemeController]:
    """The light theme, applied to the test application; change it with `set_setting("dark")`."""
    controller = ThemeController(qapp, setting="light", bundled_fonts=True)
    yield controller
    controller.dispose()


@pytest.fixture
def application(qapp: QApplication) -> Iterator[Application]:
    """The program without a loop, which keeps nothing; its windows are closed at the end."""
    made = Application(qapp, theme="light", bundled_fonts=True, remembers=False)
    yield made
    for window in list(made.windows):
        window.close()
    made.theme.dispose()


@pytest.fixture
def window(application: Application) -> MainWindow:
    """A window on a short story."""
    return window_on(application, story())
