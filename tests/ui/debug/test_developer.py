"""The Developer menu: not to be seen unless asked for, and then in the menu bar, the palette and the list of keys."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest
from PySide6.QtWidgets import QApplication, QPlainTextEdit, QPushButton, QWidget

from inspector.document.document import CaptureDocument
from inspector.ui.app.application import DEVELOPER_VARIABLE, Application
from inspector.ui.debug.log_window import LogWindow
from inspector.ui.window.actions import ACTIONS
from inspector.ui.window.main_window import MainWindow
from tests.ui.find import child
from tests.ui.windows import ask_engine, run_in_window, story, until, window_on

IDS = [action.id for action in ACTIONS if action.needs == "developer"]


def seen(window: MainWindow) -> tuple[bool, bool, bool, bool]:
    """Whether it is in the menu bar, the palette, the list of keys, and can be done."""
    menus = [action.text() for action in window.menuBar().actions() if action.isVisible()]
    found = {line.id for line in window.command_palette.find("")}
    known = {one.id for one in window.keys.visible_actions()}
    enabled = [window.actions_by_id[name].isEnabled() for name in IDS]
    return "&Developer" in menus, set(IDS) <= found, set(IDS) <= known, all(enabled)


def test_it_is_hidden(qapp: QApplication) -> None:
    async def steps(application: Application) -> None:
        assert seen(application.new_window()) == (False,) * 4
        assert seen(window_on(application, story())) == (False,) * 4

    run_in_window(qapp, steps)


def test_the_setting_shows_it(qapp: QApplication) -> None:
    async def steps(application: Application) -> None:
        window = window_on(application, story())
        application.settings.display.developer_menu = True
        window.settings_editing.apply()
        assert seen(window) == (True,) * 4
        assert seen(application.new_window()) == (True,) * 4
        application.settings.display.developer_menu = False
        window.settings_editing.apply()
        assert seen(window) == (False,) * 4

    run_in_window(qapp, steps)


@pytest.mark.parametrize(("value", "shown"), [("1", True), ("0", False), ("", False)])
def test_the_environment_shows_it(qapp: QApplication, monkeypatch: pytest.MonkeyPatch, value: str, shown: bool) -> None:
    monkeypatch.setenv(DEVELOPER_VARIABLE, value)

    async def steps(application: Application) -> None:
        assert seen(application.new_window()) == (shown,) * 4

    run_in_window(qapp, steps)


def shown_text(window: MainWindow, name: str) -> Callable[[], str]:
    view = child(child(window, QWidget, name), QPlainTextEdit, f"{name}View")
    return view.toPlainText


def test_figures_tell_of_the_loop_the_passes_and_what_waits(qapp: QApplication) -> None:
    async def steps(application: Application) -> None:
        application.developer = True
        window = window_on(application, story())
        window.actions_by_id["developer.figures"].trigger()
        text = shown_text(window, "figuresWindow")
        refresh = child(child(window, QWidget, "figuresWindow"), QPushButton, "figuresWindowRefresh")
        await until(lambda: (refresh.click(), "correlation            0" in text())[1], "the times of passes")
        ask_engine(window, lambda document: bool(document.analysis.feed()))
        await until(lambda: (refresh.click(), "median" in text())[1], "a beat of the loop")
        assert "correlation            1" in text()
        assert "messages                           9" in text()
        child(window, QWidget, "figuresWindow").close()
        await until(lambda: not ask_engine(window, has_clocks), "the clocks to be taken off")
        window.actions_by_id["developer.figures"].trigger()
        await until(lambda: "correlation            0" in text_of(window), "new times of passes")

    run_in_window(qapp, steps)


def has_clocks(document: CaptureDocument) -> bool:
    return "feed" in vars(document.analysis.findings)


def text_of(window: MainWindow) -> str:
    return shown_text(window, "figuresWindow")()


@pytest.mark.in_process("looks at a closed document")
def test_the_window_may_close_first(qapp: QApplication) -> None:
    async def steps(application: Application) -> None:
        application.developer = True
        document = story()
        window = window_on(application, document)
        for name in ("developer.figures", "developer.objects", "developer.log"):
            window.actions_by_id[name].trigger()
        await until(lambda: "feed" in vars(document.analysis.tokens), "the clocks")
        await window.closing.aclose()
        await until(lambda: "feed" not in vars(document.analysis.tokens), "the clocks to be taken off")

    run_in_window(qapp, steps)


def test_objects_and_tasks_are_named_by_kind(qapp: QApplication) -> None:
    async def steps(application: Application) -> None:
        application.developer = True
        window = window_on(application, story())
        application.spawn(asyncio.sleep(5), "wait a while")
        await asyncio.sleep(0)
        window.actions_by_id["developer.objects"].trigger()
        text = shown_text(window, "dumpWindow")()
        assert "wait a while" in text
        assert "MainThread" in text
        assert "QAction" in text
        assert "Why is it slow" not in text

    run_in_window(qapp, steps)


def test_a_window_that_is_open_comes_to_the_front(qapp: QApplication) -> None:
    async def steps(application: Application) -> None:
        window = window_on(application, story())
        window.actions_by_id["help.log"].trigger()
        window.actions_by_id["help.log"].trigger()
        assert len(window.findChildren(LogWindow)) == 1
        child(window, LogWindow).close()
        await until(lambda: not window.findChildren(LogWindow), "its end")
        window.actions_by_id["help.log"].trigger()
        assert len(window.findChildren(LogWindow)) == 1

    run_in_window(qapp, steps)


@pytest.mark.logs_warnings
def test_an_error_can_be_asked_for(qapp: QApplication) -> None:
    async def steps(application: Application) -> None:
        application.developer = True
        application.failures.install()
        try:
            window = window_on(application, story())
            window.actions_by_id["developer.fail"].trigger()
            await until(lambda: application.failures.dialog is not None, "the dialog")
        finally:
            application.failures.uninstall()

    run_in_window(qapp, steps)
