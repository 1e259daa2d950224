"""The list of the findings panel: keys, groups that open and close, a place that is kept while findings come."""

from __future__ import annotations

from PySide6.QtCore import QItemSelectionModel, QModelIndex, QRect, Qt, Signal
from PySide6.QtGui import QContextMenuEvent, QFocusEvent, QKeyEvent, QKeySequence, QMouseEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QTableView, QWidget
from typing_extensions import override

from inspector.ui.panels.findings.delegate import FindingDelegate
from inspector.ui.panels.findings.model import FindingsModel
from inspector.ui.panels.findings.rows import Key
from inspector.ui.theme import ThemeController

_KEYS = Qt.Key


class FindingsView(QTableView):
    """Shows the findings. What is selected is a finding or a group, never a place.

    Signals:
        picked(int, bool): the user moved to a row, and whether by a click.
        entered(int): a row was entered: Return, or a double click.
        left(): Esc was pressed.
        copy_asked(int): the row is to be copied.
        menu_asked(int, QPoint): its menu at a place on the screen.
    """

    picked = Signal(int, bool)
    entered = Signal(int)
    left = Signal()
    copy_asked = Signal(int)
    menu_asked = Signal(int, object)

    def __init__(self, model: FindingsModel, theme_controller: ThemeController, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("findingsList")
        self.setAccessibleName("Findings")
        self._rows = model
        self._themes = theme_controller
        self._selected: Key | None = None
        self._top: tuple[Key, int] | None = None
        self._empty = ""
        self._delegate = FindingDelegate(model, theme_controller, self)
        self._set_up()
        self.setModel(model)
        self.setItemDelegate(self._delegate)
        model.about_to_change.connect(self._on_about_to_change)
        model.rows_settled.connect(self._on_rows_settled)
        theme_controller.changed.connect(self._on_theme_changed)
        self._on_theme_changed()

    def _set_up(self) -> None:
        self.horizontalHeader().hide()
        self.horizontalHeader().setStretchLastSection(True)
        self.horizontalHeader().setMinimumSectionSize(1)
        self.verticalHeader().hide()
        self.verticalHeader().setMinimumSectionSize(1)
        self.verticalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        self.setShowGrid(False)
        self.setWordWrap(False)
        self.setTabKeyNavigation(False)
        self.setCornerButtonEnabled(False)
        self.setMouseTracking(True)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)

    def _on_theme_changed(self) -> None:
        metrics = self._themes.theme.metrics
        self.verticalHeader().setDefaultSectionSize(metrics.finding_row)
        self.verticalScrollBar().setSingleStep(metrics.finding_row)
        self.setViewportMargins(0, metrics.unit, 0, 0)
        self.viewport().update()

    # What is selected

    @property
    def selected(self) -> Key | None:
        """The finding or the group that is selected; its row may be that of its closed group."""
        return self._selected

    def select(self, key: Key | None, *, into_view: bool = True) -> None:
        """Mark a finding, or the head of its closed group, or nothing. Says nothing to anybody."""
        self._selected = self._rows.held = key
        row = -1 if key is None else self._rows.rows.row_of(key)
        self._mark(row)
        if row >= 0 and into_view:
            self.executeDelayedItemsLayout()
            self.scrollTo(self._rows.index(row, 0))

    def _mark(self, row: int) -> None:
        flags = QItemSelectionModel.SelectionFlag
        if row >= 0:
            self.selectionModel().setCurrentIndex(self._rows.index(row, 0), flags.ClearAndSelect | flags.Rows)
        else:
            self.selectionModel().setCurrentIndex(QModelIndex(), flags.Clear)
        self.viewport().update()

    def _pick(self, row: int, *, clicked: bool = False) -> None:
        """Go to a row as the user asked."""
        if 0 <= row < self._rows.rowCount():
            self.select(self._rows.rows.key_at(row))
            self.picked.emit(row, clicked)

    # Staying where one is

    def _on_about_to_change(self) -> None:
        height = self._themes.theme.metrics.finding_row
        top = self.verticalScrollBar().value()
        row = top // height
        # At the very top one wants to see what comes there: the worst comes first.
        kept = top > 0 and row < len(self._rows.rows)
        self._top = (self._rows.rows.key_at(row), top - row * height) if kept else None

    def _on_rows_settled(self) -> None:
        rows = self._rows.rows
        self._mark(-1 if self._selected is None else rows.row_of(self._selected))
        self.executeDelayedItemsLayout()
        if self._top is not None:
            key, offset = self._top
            row = rows.row_of(key)
            if row >= 0:
                self.verticalScrollBar().setValue(row * self._themes.theme.metrics.finding_row + offset)
        else:
            self.verticalScrollBar().setValue(0)

    # Keys

    @override
    def keyPressEvent(self, event: QKeyEvent) -> None:
        row, key = self.currentIndex().row(), event.key()
        modifiers = event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier
        if event.matches(QKeySequence.StandardKey.Copy):
            self.copy_asked.emit(row)
        elif modifiers or key == _KEYS.Key_Space:  # the window's
            event.ignore()
        elif key == _KEYS.Key_Escape:
            self.left.emit()
        elif key in (_KEYS.Key_Return, _KEYS.Key_Enter):
            self._enter(row)
        elif key in (_KEYS.Key_Left, _KEYS.Key_Minus):
            self._go_out(row)
        elif key in (_KEYS.Key_Right, _KEYS.Key_Plus):
            self._go_in(row)
        elif not self._step(row, key):
            super().keyPressEvent(event)

    def _step(self, row: int, key: int) -> bool:
        """Move to another row; whether it is a key for that."""
        last = self._rows.rowCount() - 1
        page = max(1, self.viewport().height() // self._themes.theme.metrics.finding_row - 1)
        wanted = {
            _KEYS.Key_Down: row + 1,
            _KEYS.Key_Up: row - 1,
            _KEYS.Key_PageDown: row + page,
            _KEYS.Key_PageUp: row - page,
            _KEYS.Key_Home: 0,
            _KEYS.Key_End: last,
        }.get(_KEYS(key))
        if wanted is None:
            return False
        if self._selected is None and key in (_KEYS.Key_Down, _KEYS.Key_Up):
            # With the focus Qt has gone to the first row, and that is where one begins.
            self._pick(max(row, 0))
            return True
        wanted = min(max(wanted, 0), last)
        if wanted != row:
            self._pick(wanted)
        return True

    def _enter(self, row: int) -> None:
        if row < 0:
            return
        if self._rows.is_head(row):
            self._rows.set_open(row, not self._rows.group(row).is_open)
        else:
            self.entered.emit(row)

    def _go_out(self, row: int) -> None:
        """Close the group; from a finding go to the head."""
        if row < 0 or not self._rows.group(row).has_head:
            return
        if self._rows.is_head(row):
            self._rows.set_open(row, False)
        else:
            self._pick(self._rows.group(row).first_row)

    def _go_in(self, row: int) -> None:
        """Open the group; from the head of an open one go to its first finding."""
        if row < 0 or not self._rows.is_head(row):
            return
        if self._rows.group(row).is_open:
            self._pick(row + 1)
        else:
            self._rows.set_open(row, True)

    @override
    def keyboardSearch(self, search: str) -> None:
        """Nothing: Qt would ask every row for its text at each letter."""

    # Pointer

    @override
    def mousePressEvent(self, event: QMouseEvent) -> None:
        self.setFocus(Qt.FocusReason.MouseFocusReason)
        row = self.rowAt(event.position().toPoint().y())
        if row < 0:
            return
        if event.button() is Qt.MouseButton.LeftButton and self._rows.is_head(row):
            self.select(self._rows.rows.key_at(row), into_view=False)
            self._rows.set_open(row, not self._rows.group(row).is_open)
        elif event.button() is Qt.MouseButton.LeftButton:
            self._pick(row, clicked=True)
        elif event.button() is Qt.MouseButton.RightButton:  # its menu is to be about what is seen to be marked
            self.select(self._rows.rows.key_at(row), into_view=False)

    @override
    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        row = self.rowAt(event.position().toPoint().y())
        if event.button() is Qt.MouseButton.LeftButton and row >= 0:
            if self._rows.is_head(row):
                self.mousePressEvent(event)
            else:
                self.entered.emit(row)

    @override
    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """Nothing is left to do; Qt's own would select what is below the pointer by now."""

    @override
    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        if not event.buttons():  # dragging selects nothing either
            super().mouseMoveEvent(event)

    @override
    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        keyboard = event.reason() is QContextMenuEvent.Reason.Keyboard
        index = self.currentIndex() if keyboard else self.indexAt(event.pos())
        if index.isValid():
            at = self.visualRect(index).bottomLeft() if keyboard else event.pos()
            self.menu_asked.emit(index.row(), self.viewport().mapToGlobal(at))

    # Painting

    @override
    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        self.viewport().update()

    @override
    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        self.viewport().update()

    def set_empty_text(self, text: str) -> None:
        """What stands in the list while it is empty."""
        if text != self._empty:
            self._empty = text
            self.setAccessibleDescription(text)
            self.viewport().update()

    @property
    def empty_text(self) -> str:
        """What stands in the list while it is empty."""
        return self._empty

    @override
    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        if not self._empty or self._rows.rowCount():
            return
        theme = self._themes.theme
        padding = theme.metrics.pane_padding
        size = self.viewport().size()
        box = QRect(padding, theme.metrics.unit, size.width() - 2 * padding, size.height())
        painter = QPainter(self.viewport())
        painter.setFont(theme.font("body"))
        painter.setPen(theme.color("ink.secondary"))
        painter.drawText(box, Qt.AlignmentFlag.AlignLeft | Qt.TextFlag.TextWordWrap, self._empty)
