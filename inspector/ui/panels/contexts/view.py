"""List view that behaves as a tree: chevrons, a scope apart from the cursor, tooltips on request."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QItemSelectionModel, QPoint, QRect, Qt, Signal
from PySide6.QtGui import QCursor, QFocusEvent, QHelpEvent, QKeyEvent, QMouseEvent, QResizeEvent
from PySide6.QtWidgets import QToolTip, QWidget
from typing_extensions import override

from inspector.ui.look.theme import ThemeController
from inspector.ui.panels.contexts.model import ContextTreeModel
from inspector.ui.panels.contexts.source import CHEVRON_X
from inspector.ui.widgets.rows.view import RowsView

_CHEVRON_SIDE = 18
"""Side of the area of a chevron that can be clicked, pixels at 100 %."""


class ContextTreeView(RowsView):
    """View of the context tree. The selection is the scope; the cursor moves without selecting.

    Signals:
        scope_asked(int): a row was clicked or entered.
        typed(str): the user typed text.
    """

    scope_asked = Signal(int)
    typed = Signal(str)

    def __init__(
        self, model: ContextTreeModel, theme_controller: ThemeController, parent: QWidget | None = None
    ) -> None:
        self._tree = model
        self._pressed = -1
        super().__init__(
            model, theme_controller, name="contextTree", title="Contexts", parent=parent, free_cursor=True
        )  # fmt: skip
        self.head_of = self._parent_of
        self.expanded.connect(model.set_expanded)
        self.entered.connect(self.scope_asked)
        model.followed.connect(self.renew_rows)

    def _parent_of(self, row: int) -> int:
        rows = self._tree.rows
        return rows.shown_row(rows.above(self._tree.code(row)))

    @override
    def resizeEvent(self, e: QResizeEvent) -> None:
        super().resizeEvent(e)
        self._tree.set_room(self.viewport().width() / self._themes.theme.zoom)

    @override
    def _on_theme_changed(self) -> None:
        self._tree.set_room(self.viewport().width() / self._themes.theme.zoom)
        super()._on_theme_changed()

    # Marks

    def mark(self, row: int, *, selected: bool) -> None:
        """Marks a row as the scope, or only as the selected message's context; -1 for no row."""
        self.marked_row = row
        selection = self.selectionModel()
        if selected and row >= 0:
            # Selected is the scope; a mere mark leaves the selection empty.
            selection.select(self._tree.index(row), QItemSelectionModel.SelectionFlag.ClearAndSelect)
        else:
            selection.clearSelection()
        self.viewport().update()

    def update_dots(self, codes: list[int]) -> None:
        """Repaints the states of visible rows."""
        first, last = self.visible_rows()
        shown = set(codes)
        self._tree.drop_specs()
        for row in range(first, last + 1):
            if self._tree.code(row) in shown:
                self.viewport().update(self.visualRect(self._tree.index(row)))

    def renew_rows(self) -> None:
        """Has the rows in sight described again."""
        self._tree.renew_rows(*(self.visible_rows() if self.isVisible() else (0, -1)))

    # Keys

    @override
    def keyPressEvent(self, event: QKeyEvent) -> None:
        quiet = Qt.KeyboardModifier.NoModifier, Qt.KeyboardModifier.ShiftModifier
        is_text = event.modifiers() in quiet and event.text().isprintable() and event.text().strip() != ""
        if is_text and event.key() not in (Qt.Key.Key_Plus, Qt.Key.Key_Minus):
            self.typed.emit(event.text())
        else:
            super().keyPressEvent(event)

    @override
    def _enter_row(self, row: int) -> None:
        self.entered.emit(row)

    # Pointer

    def chevron(self, row: int) -> QRect:
        """Returns the area of a row's chevron that can be clicked; empty without children."""
        if not self._tree.has_children(row):
            return QRect()
        box, zoom = self.visualRect(self._tree.index(row)), self._themes.theme.zoom
        left = self.delegate.spans(self._tree.layout_of_rows, self._tree.spec(row), 0, box)[0].left
        side = round(_CHEVRON_SIDE * zoom)
        return QRect(left + round(CHEVRON_X * zoom) - side // 2, box.top(), side, box.height())

    @override
    def mousePressEvent(self, event: QMouseEvent) -> None:
        self.shows_cursor = False
        self.setFocus(Qt.FocusReason.MouseFocusReason)
        row, self._pressed = self.row_at(event.position().toPoint().y()), -1
        if row >= 0 and not (event.button() is Qt.MouseButton.LeftButton and self._toggle_at(row, event)):
            self.select_row(row)
            self._pressed = row if event.button() is Qt.MouseButton.LeftButton else -1

    @override
    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        row, self._pressed = self._pressed, -1
        if row >= 0 and row == self.row_at(event.position().toPoint().y()):
            self.scope_asked.emit(row)

    @override
    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        row = self.row_at(event.position().toPoint().y())
        if event.button() is Qt.MouseButton.LeftButton and row >= 0 and not self._toggle_at(row, event):
            self._tree.set_expanded(row, not self._tree.is_expanded(row))

    def _toggle_at(self, row: int, event: QMouseEvent) -> bool:
        """Toggles the row with its chevron under the pointer; returns True if there was one."""
        if not self.chevron(row).contains(event.position().toPoint()):
            return False
        self._tree.set_expanded(row, not self._tree.is_expanded(row))
        return True

    @override
    def viewportEvent(self, event: QEvent) -> bool:
        """Shows a tooltip once it is known, if the pointer is still there."""
        if isinstance(event, QHelpEvent) and event.type() is QEvent.Type.ToolTip:
            row, at = self.row_at(event.pos().y()), event.globalPos()
            if row >= 0:
                code = self._tree.code(row)
                self._tree.request_tip(row, lambda tip: self._show_tip(code, at, tip))
            return True
        return super().viewportEvent(event)

    def _show_tip(self, code: int, at: QPoint, tip: str) -> None:
        row = self.row_at(self.viewport().mapFromGlobal(at).y())
        if QCursor.pos() == at and row >= 0 and self._tree.code(row) == code:
            QToolTip.showText(at, tip, self.viewport())

    # Painting

    @override
    def focusInEvent(self, event: QFocusEvent) -> None:
        if not self.currentIndex().isValid() and self._tree.rowCount():
            row = max(0, self.marked_row)
            self.select(self._tree.key_at(row), into_view=event.reason() is not Qt.FocusReason.MouseFocusReason)
        super().focusInEvent(event)

    @property
    @override
    def empty_top(self) -> int:
        """Top of the empty text: below the last row."""
        return self._tree.rowCount() * self.row_height - self.verticalOffset() + self._themes.theme.metrics.unit
