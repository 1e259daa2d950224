"""The Developer menu of one window: hidden unless enabled by the settings, an option or the environment."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol

from PySide6.QtCore import QObject
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QMenu, QMenuBar, QWidget

from inspector.ui.services import SettingsOwner

if TYPE_CHECKING:
    from inspector.diagnostics.program_log import LogFile
    from inspector.ui.docview.window_content import Shown
    from inspector.ui.look.theme import ThemeController

_EVERY_MS = 1_000


class ProgramServices(SettingsOwner, Protocol):
    """Services for the Developer menu."""

    theme: ThemeController
    developer: bool
    """Shows the Developer menu regardless of the settings."""
    log: LogFile | None
    """The program's log file, or None."""
    tasks: set[asyncio.Task[Any]]
    """Background tasks."""


class Developer(QObject):
    """Shows and hides the menu, and opens each of its windows once."""

    def __init__(
        self, parent: QWidget, shown: Shown, program: ProgramServices, bar: QMenuBar, menu: QMenu,
        actions: Sequence[QAction],
    ) -> None:  # fmt: skip
        """Prepares the menu without showing it.

        Args:
            parent: the window.
            shown: content of the window.
            program: the program to inspect.
            bar: the window's menu bar.
            menu: the Developer menu.
            actions: actions of the menu.
        """
        super().__init__(parent)
        self._parent = parent
        self._shown = shown
        self._program = program
        self._bar = bar
        self._menu = menu
        self._actions = actions
        self._opened: dict[str, QWidget] = {}

    @property
    def wanted(self) -> bool:
        """True if the menu should be visible."""
        return self._program.developer or self._program.settings.display.developer_menu

    def show_menu(self) -> None:
        """Shows or hides the menu and its actions; the palette and the list of keys follow their visibility."""
        wanted = self.wanted
        bar, entry = self._bar, self._menu.menuAction()
        if wanted is not (entry in bar.actions()):
            if wanted:
                bar.insertAction(bar.actions()[-1], entry)
            else:
                bar.removeAction(entry)  # a hidden entry would still be announced by screen readers
        for action in self._actions:
            action.setVisible(wanted)
            action.setEnabled(wanted)

    def show_log(self) -> None:
        if not self._raised("log"):
            from inspector.ui.debug.log_window import LogWindow

            self._show("log", LogWindow(self._program.theme, self._program.log, self._parent))

    def show_figures(self) -> None:
        """Opens the window of timings and queues."""
        if self._raised("figures"):
            return
        from inspector.ui.debug.figures import Figures
        from inspector.ui.debug.text_window import TextWindow

        figures = Figures(self._shown, self._program.tasks)
        shown = TextWindow(
            self._program.theme, "Figures", figures.words, name="figuresWindow", every_ms=_EVERY_MS, parent=self._parent
        )
        shown.destroyed.connect(lambda *_gone: figures.stop())
        self._show("figures", shown)

    def show_objects(self) -> None:
        """Opens the window of tasks, threads and objects."""
        if self._raised("objects"):
            return
        from inspector.ui.debug.dump import dump_words
        from inspector.ui.debug.text_window import TextWindow

        words = "Objects and tasks"
        self._show(
            "objects", TextWindow(self._program.theme, words, dump_words, name="dumpWindow", parent=self._parent)
        )

    def fail(self) -> None:
        """Raises an uncaught error, to test the error report."""
        raise RuntimeError("This error was asked for in the Developer menu.")

    def _raised(self, name: str) -> bool:
        shown = self._opened.get(name)
        if shown is None:
            return False
        shown.raise_()
        shown.activateWindow()
        return True

    def _show(self, name: str, shown: QWidget) -> None:
        self._opened[name] = shown
        shown.destroyed.connect(lambda *_gone: self._opened.pop(name, None))
        shown.show()
