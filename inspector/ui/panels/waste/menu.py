"""The context menu of a row of the waste panel: go to its messages, filter by them, copy."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtGui import QAction, QGuiApplication
from PySide6.QtWidgets import QMenu, QWidget

from inspector.analysis.waste import Waste
from inspector.present import formats
from inspector.ui.look import icons
from inspector.ui.panels.waste.model import filter_for, waste_line
from inspector.ui.widgets.filter_menu import add_filter_actions

_MOST_GONE_TO = 5


class WasteMenu(QMenu):
    """What can be done with a row.

    Signals:
        message_chosen(int): go to this message.
        filter_chosen(str, str): an expression, and how it joins the filter in force (`filter_menu.FilterMode`).
    """

    message_chosen = Signal(int)
    filter_chosen = Signal(str, str)

    def __init__(self, one: Waste, parent: QWidget | None = None) -> None:
        """Make the menu of a row."""
        super().__init__(parent)
        self.setObjectName("wasteMenu")
        self.setAccessibleName("Waste")
        line = waste_line(one)
        for row in one.messages[:_MOST_GONE_TO]:
            self._add(f"go.{row}", f"Go to {formats.message_number(row)}", row)
        self.addSeparator()
        add_filter_actions(self, filter_for([one]), self.filter_chosen.emit)
        self.addSeparator()
        self._add("copy", "Copy row", line.copied).setIcon(icons.icon("copy"))
        self._add("copy.sentence", "Copy sentence", line.sentence)
        self.triggered.connect(self._on_triggered)

    def _add(self, name: str, title: str, data: int | str) -> QAction:
        action = self.addAction(title)
        action.setObjectName(name)
        action.setData(data)
        return action

    def _on_triggered(self, action: QAction) -> None:
        data = action.data()
        if isinstance(data, int):
            self.message_chosen.emit(data)
        elif isinstance(data, str):
            QGuiApplication.clipboard().setText(data)
