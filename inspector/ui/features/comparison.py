"""Compares two selected messages side by side."""

from __future__ import annotations

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QWidget

from inspector.engine.requests.comparison import CompareMessages
from inspector.ui.docview.panes import Panes
from inspector.ui.docview.window_content import Shown
from inspector.ui.look.theme import ThemeController
from inspector.ui.widgets.notice import NoticeStack

HOW = "Select two messages to compare them. Ctrl+click adds a message to the selection."


class Comparing(QObject):
    """Opens the comparison of two messages of one window."""

    def __init__(self, themes: ThemeController, shown: Shown, notices: NoticeStack, parent: QWidget) -> None:
        """Stores its collaborators.

        Args:
            themes: gives the look.
            shown: the document and its panes.
            notices: shows the instruction.
            parent: owner of the dialog.
        """
        super().__init__(parent)
        self._themes, self._shown, self._notices, self._parent = themes, shown, notices, parent

    def attach(self, panes: Panes) -> None:
        panes.messages.compare_requested.connect(self.compare)

    def compare(self) -> None:
        """Shows the difference of the two selected messages, or explains how to select two."""
        panes = self._shown.panes
        messages = [] if panes is None else panes.messages.view.selection.messages.shown().tolist()
        if panes is None or len(messages) != 2:
            self._notices.show_sentence(HOW)
            return
        from inspector.ui.panels.details.difference import DifferenceDialog

        DifferenceDialog(
            self._themes, panes.client, lambda aspect: CompareMessages(messages[0], messages[1], aspect), self._parent
        ).open()
