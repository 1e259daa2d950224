"""Base list of the details, as tall as its rows: painting, links, copying, menus, search hits.

`QListView` provides keyboard, accessibility and item roles. Subclasses paint rows and give their heights.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, Generic, TypeVar

from PySide6.QtCore import (
    QAbstractListModel,
    QEvent,
    QModelIndex,
    QPersistentModelIndex,
    QPoint,
    QRect,
    QRectF,
    QSize,
    Qt,
    Signal,
)
from PySide6.QtGui import (
    QContextMenuEvent,
    QFocusEvent,
    QFont,
    QFontMetrics,
    QGuiApplication,
    QKeyEvent,
    QKeySequence,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QResizeEvent,
    QTextLayout,
    QTextOption,
    QWheelEvent,
)
from PySide6.QtWidgets import (
    QAbstractItemView,
    QFrame,
    QListView,
    QMenu,
    QSizePolicy,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QWidget,
)
from typing_extensions import override

from inspector.present.wire_text import mask_start, visible_controls
from inspector.protocol.secrets.masking import mask_text
from inspector.ui.look.hit_highlight import Locate
from inspector.ui.look.theme import ThemeController

Index = QModelIndex | QPersistentModelIndex
RowT = TypeVar("RowT")


class FittedListModel(QAbstractListModel):
    """Model over the view's rows; the view provides their text."""

    def __init__(self, view: FittedList[Any]) -> None:
        super().__init__(view)
        self._view = view

    @override
    def rowCount(self, parent: Index = QModelIndex()) -> int:
        return 0 if parent.isValid() else len(self._view.rows)

    def replace(self, rows: list[Any]) -> None:
        """Replaces the rows and emits `dataChanged` only for rows that differ."""
        old = self._view.rows
        before, after = len(old), len(rows)
        nowhere = QModelIndex()
        if after < before:
            self.beginRemoveRows(nowhere, after, before - 1)
            self._view.rows = rows
            self.endRemoveRows()
        elif after > before:
            self.beginInsertRows(nowhere, before, after - 1)
            self._view.rows = rows
            self.endInsertRows()
        else:
            self._view.rows = rows
        for place, (one, other) in enumerate(zip(old, rows, strict=False)):
            if one != other:
                self.dataChanged.emit(self.index(place, 0), self.index(place, 0))

    @override
    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if not index.isValid():
            return None
        row = self._view.rows[index.row()]
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.AccessibleTextRole):
            return self._view.row_text(row)
        if role == Qt.ItemDataRole.ToolTipRole:
            return self._view.row_tooltip(row) or None
        return None


class _RowDelegate(QStyledItemDelegate):
    def __init__(self, view: FittedList[Any]) -> None:
        super().__init__(view)
        self._view = view

    @override
    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        return QSize(0, self._view.row_height(index.row(), self._view.viewport().width()))

    @override
    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        view = self._view
        rect: QRect = option.rect  # pyright: ignore[reportAttributeAccessIssue] - PySide's stubs lack it
        painter.save()
        if view.locate is not None and view.locate(view.row_text(view.rows[index.row()])):
            painter.fillRect(rect, view.themes.theme.color("accent.wash"))
        hovered = bool(option.state & QStyle.StateFlag.State_MouseOver)  # pyright: ignore[reportAttributeAccessIssue] - PySide's stubs lack it
        view.paint_row(painter, rect, index.row(), hovered)
        if view.shows_focus() and index.row() == view.currentIndex().row():
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            # 1 pixel: text begins at the very edge.
            painter.setPen(QPen(view.themes.theme.color("accent.ring"), 1))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            radius = view.themes.theme.metrics.radius_mark
            painter.drawRoundedRect(QRectF(rect).adjusted(0.5, 0.5, -0.5, -0.5), radius, radius)
        painter.restore()


class FittedList(QListView, Generic[RowT]):
    """Rows of one type in a list without scrolling of its own.

    Signals:
        message_requested(int): show a row's message.
        filter_requested(str, str): an expression, and its combination with the current filter (filter_menu.FilterMode).
        column_requested(str): add a row's field as a column of the table.
        place_requested(Place): show a row's context or participant.
    """

    message_requested = Signal(int)
    filter_requested = Signal(str, str)
    column_requested = Signal(str)
    place_requested = Signal(object)
    locate: Locate | None = None
    """Current search; rows with a match are highlighted."""

    def __init__(
        self,
        themes: ThemeController,
        rows: Sequence[RowT],
        *,
        name: str,
        label: str,
        surface: str = "surface.base",
        parent: QWidget | None = None,
    ) -> None:
        """Creates the list.

        Args:
            themes: source of fonts and colours.
            rows: initial rows.
            name: object name.
            label: accessible name.
            surface: colour token of the background.
            parent: owner.
        """
        super().__init__(parent)
        self.themes = themes
        self.rows: list[RowT] = list(rows)
        self._surface = surface
        self.setObjectName(name)
        self.setAccessibleName(label)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        # Rows are links and texts: keys need a current row, but no selection.
        self.setSelectionMode(QListView.SelectionMode.NoSelection)
        self.setEditTriggers(QListView.EditTrigger.NoEditTriggers)
        self.setResizeMode(QListView.ResizeMode.Adjust)
        # Clicks leave the focus where it is, for example in the message table.
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setMouseTracking(True)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self._model = FittedListModel(self)
        self.setModel(self._model)
        self.setItemDelegate(_RowDelegate(self))
        self._keyboard_focus = False
        themes.changed.connect(self._on_theme_changed)

    # Overridden by subclasses

    def row_text(self, row: RowT) -> str:
        """Returns the whole row as text, for screen readers, tests and copies."""
        raise NotImplementedError

    def row_tooltip(self, row: RowT) -> str:
        """Returns the tooltip, with markup escaped; "" for no tooltip."""
        return ""

    def row_height(self, row: int, width: int) -> int:
        """Returns a row's height in pixels for a list of `width`."""
        return self.themes.theme.metrics.row

    def paint_row(self, painter: QPainter, rect: QRect, row: int, hovered: bool) -> None:
        raise NotImplementedError

    def activate_row(self, row: int) -> None:
        """Handles Enter on a row."""

    def click_row(self, row: int, place: QPoint) -> None:
        """Handles a click on a row; `place` is in viewport coordinates."""

    def is_link(self, row: int, place: QPoint) -> bool:
        """Returns True if a click at `place` follows a link."""
        return False

    def copied_text(self, row: RowT) -> str:
        """Returns the text that Copy puts on the clipboard."""
        return self.row_text(row)

    def fill_menu(self, menu: QMenu, row: int) -> None:
        """Adds a row's actions to its context menu. The rows may be replaced while it is open."""
        self.add_copy(menu, "Copy", row)

    def add_copy(self, menu: QMenu, words: str, row: int) -> None:
        """Adds an action that copies the present content of a row."""
        one = self.rows[row]
        menu.addAction(words).triggered.connect(lambda: self._copy(one))

    def show_find(self, locate: Locate | None) -> bool:
        """Highlights rows with a match; returns True if there are any."""
        if locate is not self.locate:
            self.locate = locate
            self.viewport().update()
        return locate is not None and any(locate(self.row_text(row)) for row in self.rows)

    # List behaviour

    def replace_rows(self, rows: Sequence[RowT]) -> None:
        """Replaces the rows; the current row keeps its index. Only changed rows are painted again."""
        rows = list(rows)
        if rows == self.rows:
            return
        width = self.viewport().width()
        heights = self._heights(width)
        before = self.rows
        self._model.replace(rows)
        self.rows_replaced(before)
        if self._heights(width) != heights:
            self.scheduleDelayedItemsLayout()
            self.updateGeometry()
            self.viewport().update()

    def rows_replaced(self, before: Sequence[RowT]) -> None:
        """Drops measurements of the replaced rows."""

    def _heights(self, width: int) -> list[int]:
        return [self.row_height(row, width) for row in range(len(self.rows))]

    @override
    def dataChanged(self, topLeft: Index, bottomRight: Index, roles: Sequence[int] = ()) -> None:
        # QListView's version lays out and paints all rows; `replace_rows` knows if a layout is needed.
        QAbstractItemView.dataChanged(self, topLeft, bottomRight, list(roles))

    def copy_row(self, row: int) -> None:
        """Copies a row to the clipboard with secrets masked."""
        if 0 <= row < len(self.rows):
            self._copy(self.rows[row])

    def _copy(self, one: RowT) -> None:
        QGuiApplication.clipboard().setText(mask_text(self.copied_text(one)))

    def shows_focus(self) -> bool:
        """True if the current row shows the focus ring; only after focus by keyboard."""
        return self._keyboard_focus and self.hasFocus()

    @override
    def hasHeightForWidth(self) -> bool:
        return True

    @override
    def heightForWidth(self, width: int) -> int:
        return sum(self._heights(width))

    @override
    def sizeHint(self) -> QSize:
        return QSize(200, self.heightForWidth(max(self.width(), 100)))

    @override
    def minimumSizeHint(self) -> QSize:
        return QSize(0, 0)

    @override
    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self.viewport())
        painter.fillRect(event.rect(), self.themes.theme.color(self._surface))
        painter.end()
        super().paintEvent(event)

    @override
    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if event.oldSize().width() != event.size().width():
            self.scheduleDelayedItemsLayout()
            self.updateGeometry()

    @override
    def wheelEvent(self, event: QWheelEvent) -> None:
        # The page scrolls.
        event.ignore()

    @override
    def scrollTo(self, index: Index, hint: QListView.ScrollHint = QListView.ScrollHint.EnsureVisible) -> None:
        """Scrolls the page to the current row; the list itself never scrolls."""
        page = self.parentWidget()
        while page is not None and not hasattr(page, "ensureVisible"):
            page = page.parentWidget()
        # Qt also calls this without a key press; the page must stay then.
        if page is not None and self.shows_focus():
            rect = self.visualRect(index)
            place = self.viewport().mapTo(page.widget(), rect.center())  # pyright: ignore[reportAttributeAccessIssue] - a QScrollArea
            page.ensureVisible(place.x(), place.y(), 0, rect.height())  # pyright: ignore[reportAttributeAccessIssue] - as above

    @override
    def focusInEvent(self, event: QFocusEvent) -> None:
        self._keyboard_focus = event.reason() in (
            Qt.FocusReason.TabFocusReason, Qt.FocusReason.BacktabFocusReason, Qt.FocusReason.ShortcutFocusReason,
            Qt.FocusReason.OtherFocusReason,
        )  # fmt: skip
        if not self.currentIndex().isValid() and self.rows:
            self.setCurrentIndex(self.model().index(self.first_row(), 0))
        super().focusInEvent(event)
        self.viewport().update()

    @override
    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        self.viewport().update()

    def first_row(self) -> int:
        """Returns the current row at the first focus."""
        return 0

    @override
    def keyPressEvent(self, event: QKeyEvent) -> None:
        row = self.currentIndex().row()
        self._keyboard_focus = True
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and row >= 0:
            self.activate_row(row)
        elif event.matches(QKeySequence.StandardKey.Copy) and row >= 0:
            self.copy_row(row)
        elif event.key() in (Qt.Key.Key_Up, Qt.Key.Key_Down, Qt.Key.Key_Home, Qt.Key.Key_End):
            super().keyPressEvent(event)
        else:
            # Leave the key to the window's shortcuts.
            event.ignore()

    @override
    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        place = event.position().toPoint()
        row = self.indexAt(place).row()
        link = row >= 0 and self.is_link(row, place)
        self.viewport().setCursor(Qt.CursorShape.PointingHandCursor if link else Qt.CursorShape.ArrowCursor)
        super().mouseMoveEvent(event)

    @override
    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        super().mouseReleaseEvent(event)
        row = self.indexAt(event.position().toPoint()).row()
        if event.button() == Qt.MouseButton.LeftButton and row >= 0:
            self.click_row(row, event.position().toPoint())

    @override
    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        keyboard = event.reason() == QContextMenuEvent.Reason.Keyboard
        row = self.currentIndex().row() if keyboard else self.indexAt(event.pos()).row()
        if row < 0:
            return
        menu = QMenu(self)
        menu.setObjectName(f"{self.objectName()}Menu")
        # Otherwise each menu stays alive as long as the list.
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.fill_menu(menu, row)
        menu.popup(event.globalPos())

    @override
    def leaveEvent(self, event: QEvent) -> None:
        super().leaveEvent(event)
        self.viewport().update()

    def _on_theme_changed(self) -> None:
        self.scheduleDelayedItemsLayout()
        self.updateGeometry()
        self.viewport().update()


_MAX_CHARACTERS = 40_000
_MAX_VALUE_LENGTH = 2_000
# Most characters of a line; laying out text beyond the view takes long.
_MAX_LINE_LENGTH = 500


def plain_value(text: str) -> str:
    """Returns a value on one line, with line ends and control characters as visible signs."""
    return _plain_value(mask_start(text, _MAX_VALUE_LENGTH)[:_MAX_VALUE_LENGTH])


@lru_cache(maxsize=512)
def _plain_value(head: str) -> str:
    line = head.replace("\r\n", "\n").replace("\n", "⏎")
    return visible_controls(line.replace("\t", " "))


def _end_at_underscore(paragraph: str, start: int, length: int) -> int:
    """Returns the length of a line that ends after an underscore, if it would break a name elsewhere."""
    stop = start + length
    if not (start < stop < len(paragraph) and paragraph[stop - 1].isalnum() and paragraph[stop].isalnum()):
        return length
    # Not in the first half, so that lines stay full.
    place = paragraph.rfind("_", start + length // 2, stop)
    is_one_name = place >= 0 and paragraph[place + 1 : stop].isalnum()
    return place + 1 - start if is_one_name else length


def wrap(text: str, font: QFont, width: int, most: int) -> list[str]:
    """Wraps text into at most `most` lines of a width; an ellipsis marks a cut."""
    lines: list[str] = []
    # One line more than shown, so that a cut is noticed.
    room = min(_MAX_CHARACTERS, (most + 1) * _MAX_LINE_LENGTH)
    shown = visible_controls(mask_start(text, room)[:room].rstrip("\n").replace("\t", "    "))[:room]
    option = QTextOption()
    # Ids and paths have no word boundary.
    option.setWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
    paragraphs = shown.splitlines() or [""]
    for place, paragraph in enumerate(paragraphs):
        layout = QTextLayout(paragraph, font)
        layout.setTextOption(option)
        layout.beginLayout()
        while len(lines) < most:
            line = layout.createLine()
            if not line.isValid():
                break
            line.setLineWidth(max(width, 20))
            start, length = line.textStart(), line.textLength()
            if (shorter := _end_at_underscore(paragraph, start, length)) != length:
                line.setNumColumns(shorter)
                length = line.textLength()
            last = len(lines) == most - 1
            cut = start + length < len(paragraph) or place < len(paragraphs) - 1 or len(text) > room
            if last and cut:
                rest = paragraph[start : start + _MAX_LINE_LENGTH] + ("…" if start + length >= len(paragraph) else "")
                elided = QFontMetrics(font).elidedText(rest, Qt.TextElideMode.ElideRight, max(width, 20))
                lines.append(elided)
            else:
                lines.append(paragraph[start : start + length].rstrip() if length else "")
        layout.endLayout()
        if len(lines) >= most:
            break
    return lines or [""]
