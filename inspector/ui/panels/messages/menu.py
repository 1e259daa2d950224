"""Context menu of the message table: filter by a value, mark, comment, copy, act on the message."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject, QPoint, Qt, Signal
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QMenu, QWidget

from inspector.document.document import CaptureDocument
from inspector.present import copied_text, formats
from inspector.ui.look import icons
from inspector.ui.panels.messages.message_copies import Copies, Texts, one_text
from inspector.ui.panels.messages.model import MessageTableModel
from inspector.ui.panels.messages.selection import Selection
from inspector.ui.widgets.filter_menu import FilterMode, add_filter_actions


class RowMenu(QObject):
    """Builds the menu of a row and runs its actions.

    Signals:
        filter_requested(str, str): an expression, and its combination with the current filter (filter_menu.FilterMode).
        column_requested(str): add a column for this field.
        open_details_requested(int): show this message's details.
        save_requested(int): write this message's bytes to a file.
        chain_requested(int): show only the causal chain of this message.
        toggle_requested(int): expand or collapse this result.
        reference_requested(int): measure times from this message.
        mark_requested(int), comment_requested(int): mark or unmark this message; edit its comment.
        sees_requested(int): show the model context at this message.
        mark_selected_requested(), export_requested(): mark or unmark, or export, all selected messages.
        compare_requested(): compare the two selected messages.
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
    sees_requested = Signal(int)
    mark_selected_requested = Signal()
    export_requested = Signal()
    compare_requested = Signal()

    def __init__(
        self,
        document: CaptureDocument,
        model: MessageTableModel,
        selection: Selection,
        copies: Copies,
        parent: QWidget,
    ) -> None:
        super().__init__(parent)
        self._document = document
        self._model = model
        self._selection = selection
        self._copies = copies
        self._parent = parent

    def popup(self, row: int, column: int, at: QPoint, *, second: bool = False) -> QMenu:
        """Opens the menu of a cell at a screen position; it deletes itself on close."""
        menu = self.build(row, column, second=second)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.popup(at)
        return menu

    def build(self, row: int, column: int, *, second: bool = False) -> QMenu:
        """Builds the menu of a cell.

        Args:
            row: of the table.
            column: of `Column`.
            second: the pointer is on the receivers in From -> To.
        """
        message, part = self._model.message_at_row(row)
        menu = QMenu(self._parent)
        menu.setObjectName("messageMenu")
        menu.setAccessibleName("Message")
        count = self._selection.count if self._selection.is_selected(message) else 0
        if not part:
            self._add_filters(menu, message, column, second=second)
        if count > 1:
            self._add_selected_filters(menu, count)
            self._add_selected_copies(menu, column, count)
        else:
            self._add_copies(menu, row, message, column, part)
        menu.addSeparator()
        if count > 1:
            marking = f"Mark or unmark {formats.number(count)} messages"
            self._add(menu, "mark", marking, self.mark_selected_requested.emit, "mark")
        if count == 2:
            self._add(menu, "compare", "Compare the two", self.compare_requested.emit)
        self._add_notes(menu, message, mark=count <= 1)
        menu.addSeparator()
        self._add_places(menu, message)
        return menu

    def _add_places(self, menu: QMenu, message: int) -> None:
        if self._model.content(message).expandable:
            title = "Collapse the result" if self._model.is_expanded(message) else "Expand the original"
            self._add(menu, "toggle", title, lambda: self.toggle_requested.emit(message))
        self._add(menu, "chain", "Show only this chain", lambda: self.chain_requested.emit(message))
        self._add(menu, "sees", "Show in Model sees", lambda: self.sees_requested.emit(message))
        self._add(menu, "reference", "Measure times from here", lambda: self.reference_requested.emit(message))
        self._add(menu, "details", "Open in details", lambda: self.open_details_requested.emit(message))
        self._add(menu, "save", "Save message as...", lambda: self.save_requested.emit(message))

    def _add_selected_filters(self, menu: QMenu, count: int) -> None:
        words = f"the {formats.number(count)} selected"
        self._add(menu, "filter.selected", f"Filter by {words}", lambda: self.filter_by_selected("replace"), "filter")
        self._add(menu, "hide.selected", f"Hide {words}", lambda: self.filter_by_selected("and_not"), "hidden")
        menu.addSeparator()

    def filter_by_selected(self, mode: FilterMode) -> None:
        """Requests a filter for the selected messages."""
        expression = self._copies.numbers_filter()
        if expression is not None:
            self.filter_requested.emit(expression, mode)

    def _add_selected_copies(self, menu: QMenu, column: int, count: int) -> None:
        copies, number = self._copies, formats.number(count)
        self._add_copy(menu, "copy.row", f"Copy {number} rows", copies.rows, "copy")
        self._add_copy(menu, "copy.value", f"Copy {number} values", lambda: copies.values(column))
        self._add_copy(menu, "copy.json", "Copy as JSON Lines", lambda: copies.json(None))
        self._add_copy(menu, "copy.markdown", "Copy as Markdown", lambda: copies.markdown(None))
        self._add_copy(menu, "copy.id", "Copy ids", lambda: copies.ids(None))
        self._add_copy(menu, "copy.filter", "Copy as filter", lambda: copies.texts_in_format("filter", None))
        self._add(menu, "export.selected", f"Export {number} messages...", self.export_requested.emit)

    def _add_filters(self, menu: QMenu, message: int, column: int, *, second: bool) -> None:
        content = self._model.content(message)
        field = self._model.columns.field(column)
        expression = copied_text.cell_filter(self._document, content, column, second=second, field=field)
        if expression is None:
            return
        add_filter_actions(menu, expression, self.filter_requested.emit, self.column_requested.emit)
        menu.addSeparator()

    def _add_notes(self, menu: QMenu, message: int, *, mark: bool) -> None:
        note = self._document.analysis.marks.note(message)
        if mark:
            self._add(
                menu, "mark", "Unmark" if note.marked else "Mark", lambda: self.mark_requested.emit(message), "mark"
            )
        title = "Edit comment..." if note.comment else "Comment..."
        self._add(menu, "comment", title, lambda: self.comment_requested.emit(message))

    def _add_copies(self, menu: QMenu, row: int, message: int, column: int, part: int) -> None:
        if part:
            source = self._model.original(message).source
            self._add_copy(menu, "copy.original", "Copy original", lambda: one_text("the original", source))
            return
        copies = self._copies
        self._add(menu, "copy.row", "Copy row", lambda: self.copy_row(row), "copy")
        self._add_copy(menu, "copy.value", "Copy value", lambda: copies.value(row, column))
        if not self._document.capture.records.is_big(message):
            self._add_copy(menu, "copy.json", "Copy as JSON", lambda: copies.json(message))
            self._add_copy(menu, "copy.markdown", "Copy as Markdown", lambda: copies.markdown(message))
        identifier = copied_text.id_text(self._document, message)
        if identifier:
            self._add_copy(menu, "copy.id", "Copy id", lambda: one_text("the id", identifier))
        expression = copies.filter(row, column)
        if expression is not None:
            self._add_copy(menu, "copy.filter", "Copy as filter", lambda: one_text("a filter", expression))

    def _add_copy(
        self, menu: QMenu, name: str, title: str, read: Callable[[], Texts | None], icon: str | None = None
    ) -> None:
        self._add(menu, name, title, lambda: self._copies.copy_texts(read()), icon)

    def _add(self, menu: QMenu, name: str, title: str, act: Callable[[], object], icon: str | None = None) -> QAction:
        action = menu.addAction(title)
        action.setObjectName(name)
        if icon is not None:
            action.setIcon(icons.icon(icon))
        action.triggered.connect(lambda *_checked: act())
        return action

    # Copies

    def copy_row(self, row: int) -> None:
        if row >= 0:
            self._copies.copy_texts(self._copies.row(row))
