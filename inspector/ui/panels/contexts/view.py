"""Table view that behaves as a tree: keys, chevrons, a scope apart from the cursor, a stable scroll position."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QEvent, QItemSelectionModel, QModelIndex, QPersistentModelIndex, Qt, Signal
from PySide6.QtGui import QFocusEvent, QKeyEvent, QMouseEvent
from PySide6.QtWidgets import QWidget
from typing_extensions import override

from inspector.ui.look.theme import ThemeController
from inspector.ui.panels.contexts.delegate import ContextDelegate
from inspector.ui.panels.contexts.model import ContextTreeModel
from inspector.ui.panels.plain_table import PlainTable

_KEYS = Qt.Key
_BY_KEY = (
    Qt.FocusReason.TabFocusReason,
    Qt.FocusReason.BacktabFocusReason,
    Qt.FocusReason.ShortcutFocusReason,
)


class ContextTreeView(PlainTable):
    """View of the context tree. The selection is the scope; the cursor moves without selecting.

    Signals:
        scope_asked(int): a row was clicked or entered.
        cleared(): Esc was pressed.
        typed(str): the user typed text.
    """

    scope_asked = Signal(int)
    cleared = Signal()
    typed = Signal(str)

    def __init__(
        self, model: ContextTreeModel, theme_controller: ThemeController, parent: QWidget | None = None
    ) -> None:
        super().__init__(theme_controller, parent, name="contextTree", title="Contexts")
        self._rows = model
        self._on_chevron = False
        self._saved_top: tuple[int, int] | None = None
        self._saved_cursor: int | None = None
        # States of visible rows by code, as of the last tick.
        self._states: dict[int, str] = {}
        self._delegate = ContextDelegate(model, theme_controller, self)
        self._set_up()
        self.setModel(model)
        self.setItemDelegate(self._delegate)
        model.about_to_change.connect(self._on_about_to_change)
        model.rows_settled.connect(self._on_rows_settled)
        theme_controller.changed.connect(self._on_theme_changed)
        self._on_theme_changed()

    def _set_up(self) -> None:
        self.make_single_column()
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.clicked.connect(self._on_clicked)

    def _on_theme_changed(self) -> None:
        row = self._themes.theme.metrics.row
        self.verticalHeader().setDefaultSectionSize(row)
        self.verticalScrollBar().setSingleStep(row)
        self.viewport().update()

    # Marks

    def mark(self, row: int, *, selected: bool) -> None:
        """Marks a row as the scope, or only as the selected message's context; -1 for no row."""
        self._delegate.marked_row = row
        selection = self.selectionModel()
        if selected and row >= 0:
            # Selected is the scope; a mere mark leaves the selection empty.
            flags = QItemSelectionModel.SelectionFlag.ClearAndSelect | QItemSelectionModel.SelectionFlag.Rows
            selection.select(self._rows.index(row, 0), flags)
        else:
            selection.clearSelection()
        self.viewport().update()

    @property
    def marked_row(self) -> int:
        """Index of the marked row, -1 without one."""
        return self._delegate.marked_row

    def update_dots(self, codes: list[int]) -> None:
        """Repaints the state dots of visible rows."""
        first, last = self.visible_rows()
        shown = set(codes)
        for row in range(first, last + 1):
            if self._rows.code(row) in shown:
                self.viewport().update(self._delegate.dot(row, self.visualRect(self._rows.index(row, 0))))

    def update_states(self) -> None:
        """Repaints visible rows with a changed state."""
        first, last = self.visible_rows()
        states = {self._rows.code(row): self._rows.state(row) for row in range(first, last + 1)}
        self.update_dots([code for code, state in states.items() if self._states.get(code) != state])
        self._states = states

    # Stable position

    def _on_about_to_change(self) -> None:
        # An empty table has no row height.
        height = self.rowHeight(0) or 1
        top = self.verticalScrollBar().value()
        row = top // height
        self._saved_top = (
            (self._rows.code(row), top - row * height) if top > 0 and row < self._rows.rowCount() else None
        )
        current = self.currentIndex()
        self._saved_cursor = self._rows.code(current.row()) if current.isValid() else None

    def _on_rows_settled(self) -> None:
        """Restores scroll position and cursor by code."""
        # In a later turn it would repaint all rows once more.
        self.executeDelayedItemsLayout()
        rows = self._rows.rows
        if self._saved_cursor is not None and self._rows.rowCount():
            row = rows.shown_row(self._resolved_code(self._saved_cursor))
            if row != self.currentIndex().row():
                index = self._rows.index(row, 0) if row >= 0 else QModelIndex()
                self.selectionModel().setCurrentIndex(index, QItemSelectionModel.SelectionFlag.NoUpdate)
        if self._saved_top is not None:
            code, offset = self._saved_top
            row = rows.shown_row(self._resolved_code(code))
            if row >= 0:
                self.verticalScrollBar().setValue(row * self.rowHeight(0) + offset)

    def _resolved_code(self, code: int) -> int:
        """Returns a row's code after merges."""
        if code < 0:
            return code
        found = self._rows.rows.code_of(self._rows.rows.space_of(code), code)
        return code if found is None else found

    # Keys

    def _show_cursor(self, on: bool) -> None:
        if on != self._delegate.shows_cursor:
            self._delegate.shows_cursor = on
            self.viewport().update()

    @override
    def keyPressEvent(self, event: QKeyEvent) -> None:
        self._show_cursor(True)
        row = self.currentIndex().row()
        act = self._keys().get(event.key())
        plain = event.modifiers() in (Qt.KeyboardModifier.NoModifier, Qt.KeyboardModifier.KeypadModifier)
        if act is not None and row >= 0 and plain:
            act(row)
        elif event.key() == _KEYS.Key_Escape:
            self.cleared.emit()
        elif self._is_typing(event):
            self.typed.emit(event.text())
        else:
            super().keyPressEvent(event)

    def _keys(self) -> dict[int, Callable[[int], None]]:
        return {
            _KEYS.Key_Left: self._go_to_parent,
            _KEYS.Key_Right: self._go_to_child,
            _KEYS.Key_Return: self.scope_asked.emit,
            _KEYS.Key_Enter: self.scope_asked.emit,
            _KEYS.Key_Plus: lambda row: self._rows.set_expanded(row, True),
            _KEYS.Key_Minus: lambda row: self._rows.set_expanded(row, False),
            _KEYS.Key_Home: lambda _: self._go_to(0),
            _KEYS.Key_End: lambda _: self._go_to(self._rows.rowCount() - 1),
        }

    @staticmethod
    def _is_typing(event: QKeyEvent) -> bool:
        quiet = Qt.KeyboardModifier.NoModifier, Qt.KeyboardModifier.ShiftModifier
        return event.modifiers() in quiet and event.text().isprintable() and event.text().strip() != ""

    def _go_to(self, row: int) -> None:
        if 0 <= row < self._rows.rowCount():
            self.setCurrentIndex(self._rows.index(row, 0))

    def _go_to_parent(self, row: int) -> None:
        if self._rows.is_expanded(row):
            self._rows.set_expanded(row, False)
        else:
            self._go_to(self._rows.rows.shown_row(self._rows.rows.above(self._rows.code(row))))

    def _go_to_child(self, row: int) -> None:
        if not self._rows.is_expanded(row):
            self._rows.set_expanded(row, True)
        elif self._rows.has_children(row):
            self._go_to(row + 1)

    @override
    def selectionCommand(
        self, index: QModelIndex | QPersistentModelIndex, event: QEvent | None = None
    ) -> QItemSelectionModel.SelectionFlag:
        # Only `mark` selects: the selection is the scope, and cursor moves must not change the table.
        return QItemSelectionModel.SelectionFlag.NoUpdate

    # Mouse

    @override
    def mousePressEvent(self, event: QMouseEvent) -> None:
        self._show_cursor(False)
        self._on_chevron = event.button() == Qt.MouseButton.LeftButton and self._toggle_at(event)
        if not self._on_chevron:
            super().mousePressEvent(event)

    @override
    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        if self._on_chevron:
            self._on_chevron = False
        else:
            super().mouseReleaseEvent(event)

    @override
    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        self._on_chevron = event.button() == Qt.MouseButton.LeftButton
        row = self.rowAt(event.position().toPoint().y())
        if self._on_chevron and row >= 0 and not self._toggle_at(event):
            self._rows.set_expanded(row, not self._rows.is_expanded(row))

    def _toggle_at(self, event: QMouseEvent) -> bool:
        """Toggles the row with its chevron under the pointer; returns True if there was one."""
        point = event.position().toPoint()
        row = self.rowAt(point.y())
        if row < 0 or not self._delegate.chevron(row, self.visualRect(self._rows.index(row, 0))).contains(point):
            return False
        self._rows.set_expanded(row, not self._rows.is_expanded(row))
        return True

    def _on_clicked(self, index: QModelIndex) -> None:
        self.scope_asked.emit(index.row())

    # Painting

    @override
    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        self._show_cursor(event.reason() in _BY_KEY)
        if not self.currentIndex().isValid():
            self._go_to(max(0, self._delegate.marked_row))

    @property
    @override
    def empty_top(self) -> int:
        """Top of the empty text: below the last row."""
        theme = self._themes.theme
        return self._rows.rowCount() * theme.metrics.row - self.verticalScrollBar().value() + theme.metrics.unit
