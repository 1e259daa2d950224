"""The table's context menu: filter by the value under the pointer, copy, open."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject, QPoint, Qt, Signal
from PySide6.QtGui import QAction, QGuiApplication
from PySide6.QtWidgets import QMenu, QWidget

from inspector.document import CaptureDocument
from inspector.ui import icons
from inspector.ui.panels.messages import copying
from inspector.ui.panels.messages.columns import Column
from inspector.ui.panels.messages.model import MessageTableModel
from inspector.ui.widgets.filter_menu import add_filter_actions


class RowMenu(QObject):
    """Makes the menu of a row, and does what its entries say.

    Signals:
        filter_requested(str, str): an expression, and how it joins the filter in force (filter_menu.FilterMode).
        column_requested(str): make a column of this field.
        open_details_requested(int): show this message's details.
        save_requested(int): write this message's bytes to a file.
        chain_requested(int): show the causal chain of this message alone.
        toggle_requested(int): expand or collapse this result.
        reference_requested(int): count times from this message.
        mark_requested(int), comment_requested(int): mark or unmark this message; write a comment on it.
    """

    filter_requested = Signal(str, str)
    column_requested = Signal(str)
    open_details_requested = Signal(int)
    save_requested = Signal(int)
    chain_requested = Signal(int)
    toggle_requested = Signal(int)
    reference_requested = Signal(int)
    mark_requested = Signal(object)
    comment_requested = Signal(object)

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
        self._add_notes(menu, message)
        menu.addSeparator()
        if self._model.content(message).collapsed:
            title = "Collapse the result" if self._model.is_expanded(message) else "Expand the original"
            self._add(menu, "toggle", title, lambda: self.toggle_requested.emit(message))
        self._add(menu, "chain", "Show this chain alone", lambda: self.chain_requested.emit(message))
        self._add(menu, "reference", "Count times from here", lambda: self.reference_requested.emit(message))
        self._add(menu, "details", "Open in details", lambda: self.open_details_requested.emit(message))
        self._add(menu, "save", "Save message as...", lambda: self.save_requested.emit(message))
        return menu

    def _add_filters(self, menu: QMenu, message: int, column: int, *, second: bool) -> None:
        content = self._model.content(message)
        field = self._model.columns.field(column)
        expression = copying.cell_filter(self._document, content, column, second=second, field=field)
        if expression is None:
            return
        add_filter_actions(menu, expression, self.filter_requested.emit, self.column_requested.emit)
        menu.addSeparator()

    def _add_notes(self, menu: QMenu, message: int) -> None:
        note = self._document.analysis.marks.note(message)
        self._add(menu, "mark", "Unmark" if note.marked else "Mark", lambda: self.mark_requested.emit(message), "mark")
        title = "Edit the comment..." if note.comment else "Comment..."
        self._add(menu, "comment", title, lambda: self.comment_requested.emit(message))

    def _add_copies(self, menu: QMenu, row: int, message: int, column: int, part: int) -> None:
        if part:
            source = self._model.original(message).source
            self._add(menu, "copy.original", "Copy the original", lambda: self._copy(source))
            return
        self._add(menu, "copy.row", "Copy row", lambda: self.copy_row(row), "copy")
        self._add(menu, "copy.value", "Copy value", lambda: self._copy(self.value_text(row, column)))
        if not self._document.capture.is_big(message):
            self._add(menu, "copy.json", "Copy as JSON", lambda: self._copy(copying.json_text(self._document, message)))
        identifier = copying.id_text(self._document, message)
        if identifier:
            self._add(menu, "copy.id", "Copy id", lambda: self._copy(identifier))
        expression = self.filter_text(row, column)
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

    def value_text(self, row: int, column: int) -> str:
        """What a cell says; of a line of an original, the line."""
        _, part = self._model.at(row)
        return self._text(row, Column.MESSAGE if part else column)

    def filter_text(self, row: int, column: int) -> str | None:
        """An expression that finds the value of a cell; None where there is none."""
        message, _ = self._model.at(row)
        field = self._model.columns.field(column)
        return copying.cell_filter(self._document, self._model.content(message), column, field=field)

    def row_text(self, row: int) -> str:
        """A row's texts separated by tabs; of a line of an original, the line."""
        _, part = self._model.at(row)
        columns = [Column.MESSAGE] if part else self._model.columns.copied()
        return "\t".join(self._text(row, column) for column in columns)

    def _text(self, row: int, column: int) -> str:
        return str(self._model.data(self._model.index(row, column)) or "")

    @staticmethod
    def _copy(text: str) -> None:
        QGuiApplication.clipboard().setText(text)
