"""The table's context menu: filter by the value under the pointer, copy, open."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from PySide6.QtCore import QObject, QPoint, Qt, Signal
from PySide6.QtGui import QAction, QGuiApplication
from PySide6.QtWidgets import QMenu, QWidget

from inspector.document import CaptureDocument
from inspector.ui import icons, wire_text
from inspector.ui.panels.messages import copying
from inspector.ui.panels.messages.columns import Column
from inspector.ui.panels.messages.model import MessageTableModel


class RowMenu(QObject):
    """Makes the menu of a row, and does what its entries say.

    Signals:
        filter_requested(str, str): an expression, and how it joins the filter in force (copying.FilterMode).
        open_details_requested(int): show this message's details.
        save_requested(int): write this message's bytes to a file.
        chain_requested(int): show the causal chain of this message alone.
        toggle_requested(int): expand or collapse this result.
    """

    filter_requested = Signal(str, str)
    open_details_requested = Signal(int)
    save_requested = Signal(int)
    chain_requested = Signal(int)
    toggle_requested = Signal(int)

    def __init__(self, document: CaptureDocument, model: MessageTableModel, parent: QWidget) -> None:
        super().__init__(parent)
        self._document = document
        self._model = model
        self._view = parent

    def popup(self, row: int, column: int, at: QPoint, *, second: bool = False) -> QMenu:
        """Open the menu of a cell at a place on the screen; it deletes itself when it closes."""
        menu = self.build(row, column, second=second)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.popup(at)
        return menu

    def build(self, row: int, column: int, *, second: bool = False) -> QMenu:
        """The menu of a cell.

        Args:
            row: of the table.
            column: of `Column`.
            second: the pointer is on the receivers in From -> To.
        """
        message, part = self._model.at(row)
        menu = QMenu(self._view)
        menu.setObjectName("messageMenu")
        menu.setAccessibleName("Message")
        if not part:
            self._add_filters(menu, message, column, second=second)
        self._add_copies(menu, row, message, column, part)
        menu.addSeparator()
        if self._model.content(message).collapsed:
            title = "Collapse the result" if self._model.is_expanded(message) else "Expand the original"
            self._add(menu, "toggle", title, lambda: self.toggle_requested.emit(message))
        self._add(menu, "chain", "Show this chain alone", lambda: self.chain_requested.emit(message))
        self._add(menu, "details", "Open in details", lambda: self.open_details_requested.emit(message))
        self._add(menu, "save", "Save message as...", lambda: self.save_requested.emit(message))
        return menu

    def _add_filters(self, menu: QMenu, message: int, column: int, *, second: bool) -> None:
        content = self._model.content(message)
        expression = copying.cell_filter(self._document, content, column, second=second)
        if expression is None:
            return
        title = menu.addAction(_plain(wire_text.plain(expression, 60)))
        title.setObjectName("filterExpression")
        title.setIcon(icons.icon("filter"))
        title.setEnabled(False)
        for mode, words in copying.MODES:
            self._add(menu, f"filter.{mode}", words, partial(self.filter_requested.emit, expression, mode))
        menu.addSeparator()

    def _add_copies(self, menu: QMenu, row: int, message: int, column: int, part: int) -> None:
        if part:
            source = self._model.original(message).source
            self._add(menu, "copy.original", "Copy the original", lambda: self._copy(source))
            return
        self._add(menu, "copy.row", "Copy row", lambda: self.copy_row(row), "copy")
        self._add(menu, "copy.value", "Copy value", lambda: self._copy(self._text(row, column)))
        if not self._document.capture.is_big(message):
            self._add(menu, "copy.json", "Copy as JSON", lambda: self._copy(copying.json_text(self._document, message)))
        identifier = copying.id_text(self._document, message)
        if identifier:
            self._add(menu, "copy.id", "Copy id", lambda: self._copy(identifier))
        expression = copying.cell_filter(self._document, self._model.content(message), column)
        if expression is not None:
            self._add(menu, "copy.filter", "Copy as filter", lambda: self._copy(expression))

    def _add(self, menu: QMenu, name: str, title: str, act: Callable[[], object], icon: str | None = None) -> QAction:
        action = menu.addAction(title)
        action.setObjectName(name)
        if icon is not None:
            action.setIcon(icons.icon(icon))
        action.triggered.connect(lambda *_checked: act())
        return action

    # Copying

    def copy_row(self, row: int) -> None:
        """Put a row on the clipboard."""
        if row >= 0:
            self._copy(self.row_text(row))

    def row_text(self, row: int) -> str:
        """A row's texts separated by tabs; of a line of an original, the line."""
        _, part = self._model.at(row)
        columns = [Column.MESSAGE] if part else [c for c in Column if c is not Column.GUTTER]
        return "\t".join(self._text(row, column) for column in columns)

    def _text(self, row: int, column: int) -> str:
        return str(self._model.data(self._model.index(row, column)) or "")

    @staticmethod
    def _copy(text: str) -> None:
        QGuiApplication.clipboard().setText(text)


def _plain(text: str) -> str:
    """A menu entry's text in which an ampersand is an ampersand."""
    return text.replace("&", "&&")
