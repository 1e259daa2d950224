"""Shows two documents side by side: chooses the other one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QComboBox

from inspector.present.wire_text import safe_line
from inspector.ui.window.tabbed_window import document_title

if TYPE_CHECKING:
    from inspector.ui.window.main_window import MainWindow

_TITLE = "Compare side by side"
_MAX_TITLE = 60


class SideBySide(QObject):
    """Starts and ends the comparison of one document with another one."""

    def __init__(self, window: MainWindow) -> None:
        super().__init__(window)
        self._frame = window

    def switch(self) -> None:
        """Ends the comparison, or compares with the only other document, or asks for one."""
        frame, tabs = self._frame, self._frame.application.tabs
        if tabs.clock(frame) is not None:
            tabs.end_comparison(frame)
            return
        others = [one for one in frame.application.windows if one is not frame and one.panes is not None]
        if not others:
            frame.notices.show_sentence("Open a second document to compare it with this one.")
        elif len(others) == 1:
            tabs.compare(frame, others[0])
        else:
            self._ask(others)

    def _ask(self, others: list[MainWindow]) -> None:
        from inspector.ui.dialogs.form_dialog import ValueDialog

        field = QComboBox()
        field.addItems([safe_line(document_title(one), _MAX_TITLE) for one in others])
        dialog = ValueDialog(
            self._frame.theme, field, "Document", "Both documents share one clock.", name="compareDialog",
            title=_TITLE, done="Compare", parent=self._frame,
        )  # fmt: skip
        dialog.chosen.connect(lambda _title: self._compare(others[field.currentIndex()]))
        dialog.open()

    def _compare(self, other: MainWindow) -> None:
        if other in self._frame.application.windows:
            self._frame.application.tabs.compare(self._frame, other)
