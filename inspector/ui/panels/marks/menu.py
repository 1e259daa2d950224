"""The context menu of a row of the marks panel: comment, unmark, filter, copy."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtGui import QAction, QGuiApplication
from PySide6.QtWidgets import QMenu, QWidget

from inspector.ui.look import icons
from inspector.ui.panels.marks.lines import MarkLine
from inspector.ui.widgets.filter_menu import add_filter_actions

_COMMENT, _MARK, _REMOVE, _COPY = "comment", "mark", "remove", "copy"


class MarkMenu(QMenu):
    """What can be done with a row.

    Signals:
        comment_chosen(), mark_chosen(), remove_chosen(): edit the comment; mark or unmark; take both away.
        filter_chosen(str, str): an expression, and how it joins the filter in force (`filter_menu.FilterMode`).
    """

    comment_chosen = Signal()
    mark_chosen = Signal()
    remove_chosen = Signal()
    filter_chosen = Signal(str, str)

    def __init__(self, line: MarkLine, parent: QWidget | None = None) -> None:
        """Make the menu of a row."""
        super().__init__(parent)
        self.setObjectName("markMenu")
        self.setAccessibleName("Mark")
        self._add(_COMMENT, "Edit the comment..." if line.note.comment else "Comment...")
        self._add(_MARK, "Unmark" if line.note.marked else "Mark")
        self._add(_REMOVE, "Remove mark and comment" if line.note.comment else "Remove the mark")
        self.addSeparator()
        if isinstance(line.target, int):
            add_filter_actions(self, "comment" if line.note.comment else "mark", self.filter_chosen.emit)
            self.addSeparator()
        self._add(_COPY, "Copy row", line.copied).setIcon(icons.icon("copy"))
        if line.note.comment:
            self._add("copy.comment", "Copy comment", line.note.comment)
        self.triggered.connect(self._on_triggered)

    def _add(self, name: str, title: str, copied: str = "") -> QAction:
        action = self.addAction(title)
        action.setObjectName(name)
        action.setData(copied)
        return action

    def _on_triggered(self, action: QAction) -> None:
        acts = {_COMMENT: self.comment_chosen, _MARK: self.mark_chosen, _REMOVE: self.remove_chosen}
        chosen = acts.get(action.objectName())
        if chosen is not None:
            chosen.emit()
        elif isinstance(action.data(), str) and action.data():
            QGuiApplication.clipboard().setText(action.data())
