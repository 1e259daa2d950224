"""UI tests: offscreen, always with the bundled faces, so that sizes are equal everywhere."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from inspector.sources import follow
from inspector.ui.app.application import Application
from inspector.ui.features import token_counting
from inspector.ui.look.theme import ThemeController
from inspector.ui.window.main_window import MainWindow
from tests.ui.waiting import PatientBot
from tests.ui.windows import bury, story, window_on

_AT_ONCE = (
    "docview.running_search.FIRST_S", "docview.filter_state.FIRST_S", "docview.find_in_view.SLICE_S",
    "features.marking._RESTORE_S", "features.undo._TYPING_S",
    "panels.messages.panel.SLICE_S", "panels.messages.sorter._AT_ONCE_S", "panels.messages.texts._AT_ONCE_S",
    "panels.messages.table._SETTLED_S", "panels.timeline.source._QUICK_S", "panels.growth.source.COUNT_S",
    "panels.model_sees.context_state.COUNT_S", "panels.latency.panel._SLICE_S", "msp.panel.indicator.SLICE_S",
)  # fmt: skip
"""In `inspector.ui`: seconds that what is done at once may take; more is put off."""


@pytest.fixture
def qtbot(qapp: QApplication, request: pytest.FixtureRequest) -> QtBot:
    """One for busy machines, `tests/ui/waiting.py`."""
    return PatientBot(request)


@pytest.fixture(autouse=True)
def no_hurry(monkeypatch: pytest.MonkeyPatch) -> None:
    """What little a test asks for is done at once, however busy the machine is; tests of slices set their own."""
    for name in _AT_ONCE:
        monkeypatch.setattr(f"inspector.ui.{name}", 60.0)


@pytest.fixture(autouse=True)
def no_counting(monkeypatch: pytest.MonkeyPatch) -> None:
    """No window starts a process that counts tokens, unless a test lets it (`tests/ui/test_counting.py`)."""
    monkeypatch.setattr(token_counting, "START_MS", 3_600_000)


@pytest.fixture(autouse=True)
def no_widgets_left() -> Iterator[None]:
    """What a test closed is deleted with it: a style sheet is laid over all widgets there are, 0.1 s a window."""
    yield
    bury()


@pytest.fixture
def quick_following(monkeypatch: pytest.MonkeyPatch) -> None:
    """A file that grows is looked at twenty times as often."""
    for name in ("POLL_S", "STILL_S", "GRACE_S"):
        monkeypatch.setattr(follow, name, getattr(follow, name) / 20)


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
