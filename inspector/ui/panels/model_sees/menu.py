"""The context menu of a row: go to messages, compare, filter, copy."""

from __future__ import annotations

from PySide6.QtCore import Signal, SignalInstance
from PySide6.QtGui import QAction, QGuiApplication
from PySide6.QtWidgets import QMenu, QWidget

from inspector.present import formats
from inspector.ui.look import icons
from inspector.ui.panels.model_sees.lines import EntryLine
from inspector.ui.widgets.filter_menu import add_filter_actions


class EntryMenu(QMenu):
    """What can be done with a row.

    Signals:
        message_chosen(int): select this message, in the table too.
        moment_chosen(int): look at the context once this message has arrived.
        compare_chosen(int): compare with that moment.
        details_chosen(int): show its details.
        filter_chosen(str, str): an expression, and how it joins the filter in force (`filter_menu.FilterMode`).
    """

    message_chosen = Signal(int)
    moment_chosen = Signal(int)
    compare_chosen = Signal(int)
    details_chosen = Signal(int)
    filter_chosen = Signal(str, str)

    def __init__(self, line: EntryLine, copied: str, listed: str, parent: QWidget | None = None) -> None:
        """Make the menu.

        Args:
            line: the row.
            copied: the whole of what the model is given of it, secrets masked.
            listed: a display filter for all rows; "" where they are too many.
            parent: owner.
        """
        super().__init__(parent)
        self.setObjectName("modelSeesMenu")
        self.setAccessibleName("Entry")
        message, because = line.entry.message, line.entry.because
        self._go("go", f"Go to {formats.message_number(message)} in the table", self.message_chosen, message)
        if because is not None:
            did = "collapsed it" if line.entry.collapsed else "took it out"
            self._go(
                "go.because", f"Go to {formats.message_number(because)}, which {did}", self.message_chosen, because
            )
        self._go("details", "Open in details", self.details_chosen, message)
        self.addSeparator()
        self._go("moment", "Show what the model saw then", self.moment_chosen, message)
        self._go("compare", "Compare with the moment then", self.compare_chosen, message)
        self.addSeparator()
        add_filter_actions(self, f"no == {message + 1}", self.filter_chosen.emit)
        these = self.addAction("Filter by all listed here")
        these.setObjectName("filter.listed")
        these.setEnabled(bool(listed))
        these.triggered.connect(lambda: self.filter_chosen.emit(listed, "replace"))
        self.addSeparator()
        self._copy("copy.text", "Copy what the model is given", copied).setIcon(icons.icon("copy"))
        self._copy("copy.row", "Copy row", line.copied)

    def _go(self, name: str, title: str, signal: SignalInstance, message: int) -> None:
        action = self.addAction(title)
        action.setObjectName(name)
        action.triggered.connect(lambda: signal.emit(message))

    def _copy(self, name: str, title: str, text: str) -> QAction:
        action = self.addAction(title)
        action.setObjectName(name)
        action.setEnabled(bool(text))
        action.triggered.connect(lambda: QGuiApplication.clipboard().setText(text))
        return action
