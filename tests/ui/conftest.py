"""UI tests: offscreen, always with the bundled faces, so that sizes are equal everywhere."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from inspector.sources import follow
from inspector.ui import budgets
from inspector.ui.app.application import Application
from inspector.ui.look.theme import Theme, ThemeController
from inspector.ui.window.main_window import MainWindow
from tests.ui.waiting import PatientBot
from tests.ui.windows import bury, story, window_on

_PATIENT = budgets.Budgets(
    slice_s=60, awaited_slice_s=60, background_slice_s=60, painting_slice_s=60, first_s=60, copied_s=60,
    summaries_s=60, cheap_s=60, edit_s=60, counting_start_ms=3_600_000,
)  # fmt: skip
"""What little a test asks for is done at once, however busy the machine is; but tokens are not counted unasked."""


@pytest.fixture
def qtbot(qapp: QApplication, request: pytest.FixtureRequest) -> Iterator[QtBot]:
    """One for busy machines, `tests/ui/waiting.py`."""
    bot = PatientBot(request)
    yield bot
    bury()
    bot.held.clear()


@pytest.fixture(autouse=True)
def no_hurry(monkeypatch: pytest.MonkeyPatch) -> None:
    """Budgets for busy machines; tests of slices, and of counting, set their own (`budgeting.set_budgets`)."""
    monkeypatch.setattr(budgets, "current", _PATIENT)


@pytest.fixture(autouse=True)
def plain_windows(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whole windows have no style sheet, which is 40 % of making one, unless their test is `styled`.

    What asks for `theme_controller`, single widgets and panels, has it always.
    """
    if "theme_controller" not in request.fixturenames and request.node.get_closest_marker("styled") is None:
        monkeypatch.setattr(Theme, "style_sheet", lambda _theme: "")


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
