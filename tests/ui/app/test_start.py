"""The start page is painted before most of the program is there, and everything can be used all the same."""

from __future__ import annotations

import asyncio
import errno
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from PySide6.QtCore import QObject, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QDockWidget, QWidget

from inspector.base.slices import run_to_end
from inspector.ui.app.application import Application
from inspector.ui.panels.messages.panel import MessagesPanel
from inspector.ui.widgets.curtain import Curtain
from inspector.ui.window import docks
from inspector.ui.window.main_window import MainWindow
from tests.builders import envelope, lines_of, log_file
from tests.ui.engines import client_of
from tests.ui.windows import numbers, run_in_window, story, until, window_on

_WAITS = {
    "numpy", "lark", "regex", "msgspec", "typer", "click", "websockets", "keyring", "filelock", "tiktoken",
    "inspector.startup.program", "inspector.analysis", "inspector.store.messages.capture",
    "inspector.document.document",
    "inspector.filters", "inspector.ui.features.opening", "inspector.ui.docview.panes",
    "inspector.ui.widgets.filter_bar",
}  # fmt: skip
"""What the start page goes without; all of it together takes as long as the rest of a start."""

_PATIENCE_S = 30

_PAINTED = """
import json, sys
from PySide6.QtCore import QEvent, QTimer
import inspector.ui.app.application
import inspector.ui.window.tabbed_windows as windows

class Told(windows.TabbedWindow):
    def event(self, event):
        done = super().event(event)
        if event.type() == QEvent.Type.UpdateRequest and not hasattr(self, "told"):
            self.told = list(sys.modules)
            self.look = QTimer(self)
            self.look.timeout.connect(lambda: "capture_saving" in vars(self.current) and self.tell())
            self.look.start(5)
        return done
    def tell(self):
        print(json.dumps([self.told, list(sys.modules)]), flush=True)
        self.close()

windows.TabbedWindow = Told
from inspector.__main__ import main
sys.argv[1:] = []
main()
"""


def _modules(tmp_path: Path) -> tuple[set[str], set[str]]:
    """What is imported when the window is painted for the first time, and when all of it was made."""
    environment = {**os.environ, "CONTEXT_INSPECTOR_HOME": str(tmp_path), "QT_QPA_PLATFORM": "offscreen"}
    done = subprocess.run(
        [sys.executable, "-c", _PAINTED], env=environment, capture_output=True, text=True, timeout=140, check=False
    )
    assert done.returncode == 0, done.stderr
    painted, complete = json.loads(done.stdout)
    return set(painted), set(complete)


@pytest.mark.real
def test_the_first_paint_waits_for_nothing_a_document_needs(tmp_path: Path) -> None:
    painted, complete = _modules(tmp_path)
    assert not painted & _WAITS
    needed = {"numpy", "inspector.ui.docview.panes", "inspector.ui.features.opening"}
    assert needed <= complete  # the first document waits for none
    assert not {"typer", "websockets", "keyring", "duckdb", "_duckdb", "aiohttp"} & complete
    assert not {"inspector.ui.dialogs.guide", "inspector.ui.window.guide_opening", "inspector.present.guide"} & complete


def test_presets_are_found_at_once(application: Application) -> None:
    window = application.new_window()
    window.actions_by_id["help.palette"].trigger()
    QTest.keyClicks(window.command_palette.card.field, "Conclusions")
    found = window.command_palette.card.list.lines
    assert ("Presets", "Conclusions") in [(line.group, line.title) for line in found]


def test_the_view_menu_holds_the_presets_when_it_opens(application: Application) -> None:
    window = application.new_window()
    menu = window.menus["&View"]
    menu.popup(window.pos())
    assert "view.presetMenu" in [action.menu().objectName() for action in menu.actions() if action.menu() is not None]
    menu.close()


def test_nothing_of_a_document_is_seen_when_its_parts_are_made(qapp: QApplication) -> None:
    async def steps(application: Application) -> None:
        window = application.new_window()
        await until(lambda: "capture_saving" in vars(window), "the parts")
        assert window.start_page.isVisible()
        assert not window.bars.tool_bar.isVisible()
        assert not window.presets.bar.isVisible()
        assert not window.pages.document_page.isVisible()
        assert not window.filter_conditions.bar.isVisible()

    run_in_window(qapp, steps)


def test_nor_when_its_parts_are_made_while_it_is_hidden(application: Application) -> None:
    window = application.new_window()
    window.hide()
    window.complete()
    window.show()
    assert window.start_page.isVisible()
    assert not window.pages.document_page.isVisible()
    run_to_end(window.showing(client_of(story(), window)))
    assert window.pages.document_page.isVisible()


def test_a_window_closed_before_its_parts_are_made_is_closed(application: Application) -> None:
    window = application.new_window()
    window.close()
    assert application.windows == []


def _shows_any_of_a_document(window: MainWindow) -> bool:
    seen = [
        *window.findChildren(QDockWidget),
        *window.findChildren(MessagesPanel),
        window.bars.tool_bar,
        window.presets.bar,
    ]
    return any(one.isVisible() for one in seen)


def _behind_curtains(window: MainWindow) -> dict[str, int]:
    """The parts that are not painted yet, by name, and how many pixels of each."""
    curtains = [one for one in window.findChildren(Curtain) if one.isVisible()]
    return {one.part.objectName(): one.width() * one.height() for one in curtains}


def test_the_first_document_leaves_turns_of_the_loop_to_others_and_is_painted_a_part_in_each(
    qapp: QApplication,
) -> None:
    log = log_file(lines_of(*(envelope("chat", {"text": f"line {n}"}) for n in range(3))))

    async def steps(application: Application) -> None:
        window = application.new_window()
        window.start_page.recent_file_requested.emit(str(log))
        turns = 0
        async with asyncio.timeout(_PATIENCE_S):
            while window.panes is None:
                await asyncio.sleep(0)
                if window.panes is None and window.findChildren(QDockWidget):  # what is being made is not seen
                    turns += 1
                    assert not (window.updatesEnabled() and _shows_any_of_a_document(window))
            assert turns > 3
            behind = whole = _behind_curtains(window)
            assert {"messagesPanel", "contextsPanel", "participantsPanel", "detailsPanel", "toolBar"} <= whole.keys()
            while behind:
                others = {part: area for part, area in whole.items() if part != "messagesPanel"}
                assert "messagesPanel" not in behind or behind.items() >= others.items()  # what is needed most is first
                await asyncio.sleep(0)
                before, behind = behind, _behind_curtains(window)
                assert all(area <= before[part] for part, area in behind.items())
        assert not window.start_page.isVisible()
        assert window.bars.tool_bar.isVisible()
        assert all(window.docks[title].isVisible() for title in ("Contexts", "Participants", "Details"))
        assert numbers(window) == [1, 2, 3]
        assert window.panes.messages.view.hasFocus() or not window.isActiveWindow()

    run_in_window(qapp, steps)


@pytest.mark.parametrize("begun", [QDockWidget, Curtain])
def test_a_window_closed_while_its_panes_are_made_or_painted_is_closed(
    qapp: QApplication, begun: type[QWidget]
) -> None:
    log = log_file(lines_of(envelope("chat", {"text": "Hello"})))

    async def steps(application: Application) -> None:
        window = application.new_window()
        window.start_page.recent_file_requested.emit(str(log))
        async with asyncio.timeout(_PATIENCE_S):
            while not window.findChildren(begun):  # noqa: ASYNC110  what is being made sets no event
                await asyncio.sleep(0)
        assert (window.panes is None) is (begun is QDockWidget)
        window.close()
        await until(lambda: not application.tasks, "the end of reading")
        assert application.windows == []

    run_in_window(qapp, steps)


def test_a_document_that_cannot_be_shown_leaves_no_panes_to_the_next_one(
    qapp: QApplication, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = log_file(lines_of(envelope("chat", {"text": "Hello"})))
    fill = docks._fill_dock  # no log that can be written here fails after it was opened

    def unreadable(dock: QDockWidget, panel: QWidget) -> None:
        if dock.windowTitle() == "Details":
            raise OSError(errno.EIO, "Input/output error")
        fill(dock, panel)

    async def steps(application: Application) -> None:
        window = application.new_window()
        with monkeypatch.context() as broken:
            broken.setattr(docks, "_fill_dock", unreadable)
            window.opening.open_path(log)
            await until(lambda: not window.opening.reading, "the end of reading")
        assert window.panes is None
        window.opening.open_path(log)
        await until(lambda: window.panes is not None, "the document")
        nowhere = Qt.DockWidgetArea.NoDockWidgetArea
        stand = [dock for dock in window.findChildren(QDockWidget) if window.dockWidgetArea(dock) is not nowhere]
        assert len(stand) == len(docks.DOCKS)
        assert application.windows == [window]

    run_in_window(qapp, steps)


def test_the_demo_asked_for_twice_at_once_has_a_window_each_time(qapp: QApplication) -> None:
    async def steps(application: Application) -> None:
        page = application.new_window().start_page
        page.demo_requested.emit()
        page.demo_requested.emit()
        assert len(application.windows) == 2
        await until(lambda: all(one.panes is not None for one in application.windows), "both demos")

    run_in_window(qapp, steps)


def test_a_window_closed_before_its_demo_has_begun_watches_none(qapp: QApplication) -> None:
    async def steps(application: Application) -> None:
        window = application.new_window()
        watching = window.gateway
        watching.start_demo()
        window.close()
        await until(lambda: not application.tasks, "the end of the demo")
        assert application.windows == []
        assert watching.connection is None

    run_in_window(qapp, steps)


def test_screen_readers_hear_of_the_bars_before_what_is_below_them(application: Application) -> None:
    window = window_on(application, story())
    center = window.centralWidget()
    assert center is not None
    order: list[QObject] = [window.menuBar(), window.bars.tool_bar, center, window.status]
    assert sorted(order, key=window.children().index) == order
