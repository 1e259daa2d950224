"""The Developer menu of one window: hidden unless the settings, an option or the environment asks for it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QMenu, QWidget

if TYPE_CHECKING:
    from inspector.ui.window.main_window import MainWindow

NEEDS = "developer"
"""What its actions need, in `actions.ACTIONS`."""
_EVERY_MS = 1_000


class Developer(QObject):
    """Shows and hides the menu, and opens its windows; each is there once."""

    def __init__(self, window: MainWindow, menu: QMenu) -> None:
        super().__init__(window)
        self._window = window
        self._menu = menu
        self._opened: dict[str, QWidget] = {}

    @property
    def wanted(self) -> bool:
        """Whether the menu is there."""
        application = self._window.application
        return application.developer or application.settings.display.developer_menu

    def show_menu(self) -> None:
        """Show or hide the menu and what is in it, which the palette and the list of keys go by."""
        from inspector.ui.window.actions import ACTIONS

        wanted = self.wanted
        bar, entry = self._window.menuBar(), self._menu.menuAction()
        bar.removeAction(entry)  # unseen, screen readers would still be told of it
        if wanted:
            bar.insertAction(bar.actions()[-1], entry)
        for declared in ACTIONS:
            if declared.needs == NEEDS:
                action = self._window.actions_by_id[declared.id]
                action.setVisible(wanted)
                action.setEnabled(wanted)

    def show_log(self) -> None:
        """Show the program's log."""
        if not self._raised("log"):
            from inspector.ui.debug.log_window import LogWindow

            self._show("log", LogWindow(self._window.theme, self._window.application.log, self._window))

    def show_figures(self) -> None:
        """Show how long things take and what waits."""
        if self._raised("figures"):
            return
        from inspector.ui.debug.figures import Figures
        from inspector.ui.debug.text_window import TextWindow

        figures = Figures(self._window)
        shown = TextWindow(
            self._window.theme, "Figures", figures.words, name="figuresWindow", every_ms=_EVERY_MS, parent=self._window
        )
        shown.destroyed.connect(lambda *_gone: figures.stop())
        self._show("figures", shown)

    def show_objects(self) -> None:
        """Show tasks, threads and objects."""
        if self._raised("objects"):
            return
        from inspector.ui.debug.dump import dump_words
        from inspector.ui.debug.text_window import TextWindow

        words = "Objects and tasks"
        self._show("objects", TextWindow(self._window.theme, words, dump_words, name="dumpWindow", parent=self._window))

    def fail(self) -> None:
        """Raise an error nobody catches, to see what becomes of it."""
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
