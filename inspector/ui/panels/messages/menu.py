"""Context menu of the message table: filter by a value, mark, comment, copy, act on the message."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject, QPoint, Qt, Signal
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QMenu, QWidget

from inspector.engine.requests.copies import DescribeRow, RowFacts
from inspector.present import formats
from inspector.ui.look import icons
from inspector.ui.panels.messages.message_copies import Copies
from inspector.ui.panels.messages.model import MessageTableModel
from inspector.ui.panels.messages.selection import Selection
from inspector.ui.widgets.filter_menu import FilterMode, add_filter_actions
from inspector.ui.widgets.latest_answer import Client


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
        client: Client,
        model: MessageTableModel,
        selection: Selection,
        copies: Copies,
        parent: QWidget,
    ) -> None:
        super().__init__(parent)
        self._client = client
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
        name, rows = self._model.columns.requested(column), self._model.rows
        facts = self._client.answer_now(DescribeRow(message, name, second, rows.is_folded))
        menu = QMenu(self._parent)
        menu.setObjectName("messageMenu")
        menu.setAccessibleName("Message")
        count = self._selection.count if self._selection.is_selected(message) else 0
        if not part:
            self._add_filters(menu, facts)
        if count > 1:
            self._add_selected_filters(menu, count)
            self._add_selected_copies(menu, column, count)
        else:
            self._add_copies(menu, message, column, part, facts)
        menu.addSeparator()
        if count > 1:
            marking = f"Mark or unmark {formats.number(count)} messages"
            self._add(menu, "mark", marking, self.mark_selected_requested.emit, "mark")
        if count == 2:
            self._add(menu, "compare", "Compare the two", self.compare_requested.emit)
        self._add_notes(menu, message, facts, mark=count <= 1)
        menu.addSeparator()
        self._add_places(menu, message, facts)
        return menu

    def _add_places(self, menu: QMenu, message: int, facts: RowFacts) -> None:
        if facts.is_expandable:
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
        self._add(menu, "copy.row", f"Copy {number} rows", copies.copy_rows, "copy")
        self._add(menu, "copy.value", f"Copy {number} values", lambda: copies.copy_values(column))
        self._add(menu, "copy.json", "Copy as JSON Lines", lambda: copies.copy("json", None))
        self._add(menu, "copy.markdown", "Copy as Markdown", lambda: copies.copy("markdown", None))
        self._add(menu, "copy.id", "Copy ids", lambda: copies.copy("ids", None))
        self._add(menu, "copy.filter", "Copy as filter", lambda: copies.copy("filter", None))
        self._add(menu, "export.selected", f"Export {number} messages...", self.export_requested.emit)

    def _add_filters(self, menu: QMenu, facts: RowFacts) -> None:
        if facts.filter is None:
            return
        add_filter_actions(menu, facts.filter, self.filter_requested.emit, self.column_requested.emit)
        menu.addSeparator()

    def _add_notes(self, menu: QMenu, message: int, facts: RowFacts, *, mark: bool) -> None:
        if mark:
            title = "Unmark" if facts.is_marked else "Mark"
            self._add(menu, "mark", title, lambda: self.mark_requested.emit(message), "mark")
        title = "Edit comment..." if facts.is_commented else "Comment..."
        self._add(menu, "comment", title, lambda: self.comment_requested.emit(message))

    def _add_copies(self, menu: QMenu, message: int, column: int, part: int, facts: RowFacts) -> None:
        copies, clipboard = self._copies, self._copies.clipboard
        if part:
            source = self._model.original(message).source
            self._add(menu, "copy.original", "Copy original", lambda: clipboard.copy_text("the original", source))
            return
        # The rows may change while the menu is open.
        self._add(menu, "copy.row", "Copy row", lambda: copies.copy_cells(message), "copy")
        self._add(menu, "copy.value", "Copy value", lambda: copies.copy_cells(message, column))
        if not facts.is_big:
            self._add(menu, "copy.json", "Copy as JSON", lambda: copies.copy("json", message))
            self._add(menu, "copy.markdown", "Copy as Markdown", lambda: copies.copy("markdown", message))
        if facts.id:
            self._add(menu, "copy.id", "Copy id", lambda: clipboard.copy_text("the id", facts.id))
        if facts.copied_filter is not None:
            expression = facts.copied_filter
            self._add(menu, "copy.filter", "Copy as filter", lambda: clipboard.copy_text("a filter", expression))

    def _add(self, menu: QMenu, name: str, title: str, act: Callable[[], object], icon: str | None = None) -> QAction:
        action = menu.addAction(title)
        action.setObjectName(name)
        if icon is not None:
            action.setIcon(icons.icon(icon))
        action.triggered.connect(lambda *_checked: act())
        return action
