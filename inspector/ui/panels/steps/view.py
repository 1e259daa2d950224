"""Table of steps: a tree that folds, columns of figures, and the waterfall with its ruler in the header."""

from __future__ import annotations

from PySide6.QtCore import (
    QEvent,
    QItemSelectionModel,
    QModelIndex,
    QPoint,
    QRectF,
    Qt,
    Signal,
)
from PySide6.QtGui import (
    QColor,
    QFocusEvent,
    QFontMetrics,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QResizeEvent,
    QWheelEvent,
)
from PySide6.QtWidgets import (
    QAbstractItemView,
    QHeaderView,
    QTableView,
    QWidget,
)
from typing_extensions import override

from inspector.engine.requests.steps import SortBy
from inspector.present import formats
from inspector.ui.input import own_keys
from inspector.ui.look.theme import ThemeController
from inspector.ui.panels.steps.column_heads import SORTS, StepHeads
from inspector.ui.panels.steps.delegate import CHEVRON, INDENT, StepDelegate
from inspector.ui.panels.steps.model import Key, StepColumn, StepsModel
from inspector.ui.panels.steps.step_axis import StepAxis
from inspector.ui.panels.timeline.gestures import AxisGestures
from inspector.ui.widgets.rows.table import set_up_rows

_WIDTHS = {StepColumn.TOOK: 74, StepColumn.TOKENS: 62, StepColumn.COST: 66, StepColumn.STARTED: 88}
_NAME_SHARE, _LEAST_NAME, _MOST_NAME = 0.41, 190, 520
_STARTED_FROM = 1_120
"""Width from which on Started has a column."""
_COST_FROM, _TOKENS_FROM = 520, 440
_SNAP_PX = 5
_KEYS = Qt.Key
_ROW = QItemSelectionModel.SelectionFlag.ClearAndSelect | QItemSelectionModel.SelectionFlag.Rows


class _Over(QWidget):
    """Cursor and brush over the bars, so that rows are not painted as the pointer moves."""

    def __init__(self, view: StepsView) -> None:
        super().__init__(view.viewport())
        self._view = view
        self.setObjectName("stepsOverlay")
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.setAttribute(Qt.WidgetAttribute.WA_NoSystemBackground)

    @override
    def paintEvent(self, event: QPaintEvent) -> None:
        self._view.paint_over(QPainter(self))


class StepsView(QTableView):
    """The rows of steps.

    Signals:
        message_chosen(int): the user selected the row of this message.
        open_requested(int): show this message where it can be read.
        sort_requested(str, bool): a sort key (`SortBy`), and True for the other order.

    Attributes:
        steps: its model.
        axis: the visible range of the waterfall.
        gestures: pointer and key gestures on it.
        hovered: the line under the pointer, or -1.
        sorting: the present sort key and order.
    """

    message_chosen = Signal(int)
    open_requested = Signal(int)
    sort_requested = Signal(str, bool)

    def __init__(self, model: StepsModel, axis: StepAxis, themes: ThemeController, parent: QWidget) -> None:
        super().__init__(parent)
        self.setObjectName("stepsTable")
        self.setAccessibleName("Steps")
        self.setProperty(own_keys.LEAVES_SPACE, True)
        self._themes = themes
        self.steps, self.axis = model, axis
        self.hovered = -1
        self.sorting: tuple[SortBy, bool] = ("started", False)
        self._kept: Key | None = None
        self._is_moved_by_us = self._holds_top = False
        set_up_rows(self)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.gestures = AxisGestures(axis, self)
        self.setModel(model)
        self.setItemDelegate(StepDelegate(self, themes))
        self.heads = StepHeads(self, themes)
        self.setHorizontalHeader(self.heads)
        self.heads.sectionClicked.connect(self._sort)
        self.heads.setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        self._over = _Over(self)
        self.selectionModel().currentRowChanged.connect(self._on_current_changed)
        model.modelAboutToBeReset.connect(self._keep_current)
        model.modelReset.connect(self._restore_current)
        model.texts_changed.connect(self.viewport().update)
        self.verticalScrollBar().actionTriggered.connect(self.release_top)
        axis.range_changed.connect(self._redraw)
        for changed in (axis.cursor_changed, axis.brush_changed):
            changed.connect(self._redraw_over)
        themes.changed.connect(self._use_theme)
        self._use_theme()

    # Geometry

    @property
    def head(self) -> int:
        """Left end of the waterfall in the viewport, in pixels."""
        return self.columnViewportPosition(StepColumn.BARS)

    @property
    def axis_width(self) -> int:
        """Width of the waterfall, in pixels."""
        return max(1, self.columnWidth(StepColumn.BARS) - self._themes.theme.metrics.scroll_bar)

    def text_left(self, place: int) -> int:
        """Returns the left end of a row's text."""
        zoom = self._themes.theme.zoom
        depth = min(int(self.steps.rows.depths[place]), 12)
        return self._themes.theme.metrics.cell_padding + round((CHEVRON + depth * INDENT) * zoom)

    def _fit_columns(self) -> None:
        room, zoom = self.viewport().width(), self._themes.theme.zoom
        for column, width in _WIDTHS.items():
            self.setColumnWidth(column, round(width * zoom))
        self.setColumnWidth(StepColumn.COST, max(self.columnWidth(StepColumn.COST), self._cost_width()))
        self.setColumnHidden(StepColumn.STARTED, room < _STARTED_FROM * zoom)
        self.setColumnHidden(StepColumn.COST, room < _COST_FROM * zoom or not self._has_costs)
        self.setColumnHidden(StepColumn.TOKENS, room < _TOKENS_FROM * zoom)
        name = round(min(max(room * _NAME_SHARE, _LEAST_NAME * zoom), _MOST_NAME * zoom))
        self.setColumnWidth(StepColumn.STEP, name)
        taken = sum(self.columnWidth(one) for one in StepColumn if one is not StepColumn.BARS)
        self.setColumnWidth(StepColumn.BARS, max(60, room - taken))
        self._over.setGeometry(self.viewport().rect())

    def _cost_width(self) -> int:
        """Returns the width of the longest cost: that of the smallest or of the largest, in pixels."""
        dollars = self.steps.rows.dollars
        paid = dollars[dollars > 0]
        if not len(paid):
            return 0
        metrics = QFontMetrics(self._themes.theme.font("body"))
        widest = max(metrics.horizontalAdvance(formats.dollars(float(one))) for one in (paid.min(), paid.max()))
        return widest + 2 * self._themes.theme.metrics.cell_padding

    @property
    def _has_costs(self) -> bool:
        return self.steps.rows.head.dollars is not None

    # Appearance

    def _use_theme(self) -> None:
        metrics = self._themes.theme.metrics
        self.verticalHeader().setDefaultSectionSize(metrics.row)
        self.heads.setFixedHeight(metrics.column_head)
        self._fit_columns()
        self.viewport().update()

    def _redraw(self) -> None:
        self.viewport().update()
        self.heads.viewport().update()

    def _redraw_over(self) -> None:
        self._over.update()
        self.heads.viewport().update()

    def cursor_words(self) -> str:
        """Returns the time at the cursor, or ""."""
        axis, cursor = self.axis, self.axis.cursor_ns
        if cursor is None or not axis.left_ns <= cursor <= axis.right_ns:
            return ""
        per_pixel = axis.span_ns / self.axis_width
        step = next((n for n in (10**9, 10**6, 10**5, 10**4, 10**3) if n <= per_pixel * 4), 10**6)
        return axis.words_of(cursor, step)

    def paint_over(self, painter: QPainter) -> None:
        """Paints cursor and brush over the rows."""
        theme, axis, width, head = self._themes.theme, self.axis, self.axis_width, self.head
        painter.setClipRect(head, 0, width, self.viewport().height())
        if axis.brushed is not None:
            left, right = (head + axis.x_of(ns, width) for ns in axis.brushed)
            color = QColor(theme.color("accent.ring"))
            color.setAlphaF(0.14)
            painter.fillRect(QRectF(left, 0, right - left, self.viewport().height()), color)
        if axis.cursor_ns is not None:
            x = head + round(axis.x_of(axis.cursor_ns, width))
            painter.setPen(QPen(theme.color("line.control"), 1))
            painter.drawLine(x, 0, x, self.viewport().height())

    @override
    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit_columns()

    # Selection

    def _keep_current(self) -> None:
        index = self.currentIndex()
        if index.isValid() and index.row() < len(self.steps.visible):
            self._kept = self.steps.key_of(int(self.steps.visible[index.row()]))
            self._kept_place = int(self.steps.visible[index.row()])

    def _restore_current(self) -> None:
        self._fit_columns()
        kept, steps = self._kept, self.steps
        if kept is None or not len(steps.visible):
            return
        place = self._kept_place if self._kept_place < len(steps.rows.kinds) else -1
        if place < 0 or steps.key_of(place) != kept:
            rows = steps.rows
            found = ((rows.kinds == kept[0]) & (rows.messages == kept[1]) & (rows.last_messages == kept[2])).nonzero()[
                0
            ]
            place = int(found[0]) if len(found) else -1
        if place >= 0:
            self._select(steps.row_of(place))
        self.restore_top()

    def restore_top(self) -> None:
        """Shows the first rows again if the user has sorted, and has neither scrolled nor selected since."""
        if self._holds_top:
            self.scrollToTop()

    def release_top(self, _action: int = 0) -> None:
        """Lets later answers keep the selected row in view."""
        self._holds_top = False

    def _select(self, line: int) -> None:
        """Selects a line without announcing it."""
        self._is_moved_by_us = True
        self.selectionModel().setCurrentIndex(self.model().index(line, 0), _ROW)
        self._is_moved_by_us = False

    def show_message(self, message: int | None) -> None:
        """Selects the row of a message. Rows above it are opened, unless it is inside a joined one."""
        if message is None:
            return
        place = self.steps.place_of_message(message)
        if place is None:
            return
        current = self.currentIndex()
        if current.isValid() and current.row() < len(self.steps.visible):
            shown = int(self.steps.visible[current.row()])
            if message in (self.steps.rows.messages[shown], self.steps.rows.last_messages[shown]):
                return
        line = self.steps.row_of(place)
        self._select(line)
        self.scrollTo(self.model().index(line, 0))

    def _on_current_changed(self, index: QModelIndex, _before: QModelIndex) -> None:
        if index.isValid() and index.row() < len(self.steps.visible):
            place = int(self.steps.visible[index.row()])
            self.setAccessibleDescription(self.steps.description(place))
            if not self._is_moved_by_us:
                self.release_top()
                self.message_chosen.emit(int(self.steps.rows.messages[place]))
        self.viewport().update()

    @override
    def focusInEvent(self, event: QFocusEvent) -> None:
        self._is_moved_by_us = True  # Qt makes the first row the current one; the user has not chosen it
        super().focusInEvent(event)
        self._is_moved_by_us = False

    def _current_place(self) -> int | None:
        index = self.currentIndex()
        return int(self.steps.visible[index.row()]) if index.isValid() else None

    def _sort(self, section: int) -> None:
        column = StepColumn(section)
        if column is StepColumn.BARS:
            return
        by = SORTS[column]
        again = by == self.sorting[0]
        self._holds_top = True
        self.sort_requested.emit(by, not self.sorting[1] if again and column is not StepColumn.STEP else False)

    # Keys

    @override
    def keyPressEvent(self, event: QKeyEvent) -> None:
        place, key = self._current_place(), event.key()
        plain = not event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier
        if plain and key in (_KEYS.Key_W, _KEYS.Key_S):
            self.gestures.zoom(1.5 if key == _KEYS.Key_W else 1 / 1.5)
        elif plain and key in (_KEYS.Key_A, _KEYS.Key_D):
            self.axis.pan(-0.12 if key == _KEYS.Key_A else 0.12)
        elif key == _KEYS.Key_Escape and (self.axis.brushed is not None or self.axis.brushing):
            self.gestures.drop()
        elif key == _KEYS.Key_Escape:
            event.ignore()  # the window ends a chosen range
        elif plain and key in (_KEYS.Key_Return, _KEYS.Key_Enter) and place is not None:
            self.open_requested.emit(int(self.steps.rows.messages[place]))
        elif plain and key in (_KEYS.Key_Left, _KEYS.Key_Right) and place is not None:
            self._fold_by_key(place, opens=key == _KEYS.Key_Right)
        elif (plain and key == _KEYS.Key_Asterisk and place is not None) or (key == _KEYS.Key_E and place is not None):
            self.steps.switch_all(place)
        elif plain and key == _KEYS.Key_Z and place is not None:
            self._zoom_to(place)
        elif self.gestures.take_key(event):
            pass
        else:
            super().keyPressEvent(event)

    def _fold_by_key(self, place: int, *, opens: bool) -> None:
        steps = self.steps
        if steps.is_parent(place) and steps.is_open(place) != opens:
            steps.switch(place)
            return
        if opens:
            return
        depth = steps.rows.depths[place]
        above = (steps.rows.depths[:place] < depth).nonzero()[0]
        if depth and len(above):
            self.setCurrentIndex(self.model().index(steps.row_of(int(above[-1])), 0))

    def _zoom_to(self, place: int) -> None:
        rows = self.steps.rows
        start, stop = int(rows.starts_ns[place]), int(rows.stops_ns[place])
        if rows.took_ns[place] >= 0 and stop > start:
            margin = (stop - start) // 12
            self.axis.show(start - margin, stop + margin)

    @override
    def keyboardSearch(self, search: str) -> None:
        """Does nothing: letters are keys of the waterfall."""

    # Pointer

    @override
    def mousePressEvent(self, event: QMouseEvent) -> None:
        place = event.position().toPoint()
        if event.button() is Qt.MouseButton.LeftButton and place.x() >= self.head:
            self.setFocus(Qt.FocusReason.MouseFocusReason)
            self.gestures.press(event)
            return
        if event.button() is Qt.MouseButton.LeftButton and self._is_on_chevron(place):
            self.steps.switch(int(self.steps.visible[self.rowAt(place.y())]))
            return
        super().mousePressEvent(event)

    def _is_on_chevron(self, at: QPoint) -> bool:
        line = self.rowAt(at.y())
        if line < 0:
            return False
        place = int(self.steps.visible[line])
        return self.steps.is_parent(place) and at.x() < self.text_left(place)

    @override
    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        place = event.position().toPoint()
        self._hover(self.rowAt(place.y()))
        if self.gestures.pressed:
            moved = self.gestures.drag(place)
            if moved is not None and self.gestures.brush_from is None:
                self.viewport().setCursor(Qt.CursorShape.ClosedHandCursor)
            return
        inside = self.head <= place.x() <= self.head + self.axis_width
        self.axis.set_cursor(self._snapped(place) if inside else None)
        super().mouseMoveEvent(event)

    def _snapped(self, at: QPoint) -> int:
        """Returns the time at a position; that of the start or end of a bar near it in the same row."""
        line, width = self.rowAt(at.y()), self.axis_width
        if line >= 0:
            place, rows = int(self.steps.visible[line]), self.steps.rows
            for ns in (int(rows.starts_ns[place]), int(rows.stops_ns[place])):
                if abs(self.axis.x_of(ns, width) + self.head - at.x()) <= _SNAP_PX:
                    return ns
        return self.axis.ns_at(at.x() - self.head, width)

    @override
    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        self.viewport().unsetCursor()
        if not self.gestures.pressed:
            super().mouseReleaseEvent(event)
            return
        if self.gestures.release(event):
            line = self.rowAt(event.position().toPoint().y())
            if line >= 0:
                self.setCurrentIndex(self.model().index(line, 0))

    @override
    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        line = self.rowAt(event.position().toPoint().y())
        if line < 0 or event.button() is not Qt.MouseButton.LeftButton:
            return
        place = int(self.steps.visible[line])
        if self.steps.is_parent(place):
            self.steps.switch(place)
        else:
            self.open_requested.emit(int(self.steps.rows.messages[place]))

    @override
    def wheelEvent(self, event: QWheelEvent) -> None:
        if event.modifiers() & Qt.KeyboardModifier.ControlModifier:
            self.gestures.zoom_by_wheel(event)
        elif not self.gestures.pan_by_wheel(event):
            super().wheelEvent(event)
            return
        event.accept()

    @override
    def viewportEvent(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Leave:
            self._hover(-1)
            self.axis.set_cursor(None)
        return super().viewportEvent(event)

    def _hover(self, line: int) -> None:
        if line != self.hovered:
            self.hovered = line
            self.viewport().update()
