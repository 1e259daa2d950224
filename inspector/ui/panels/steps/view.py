"""Table of steps: a tree that folds, columns of figures, and the waterfall with its ruler in the header."""

from __future__ import annotations

from PySide6.QtCore import (
    QEvent,
    QItemSelectionModel,
    QModelIndex,
    QPoint,
    QRect,
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
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTableView,
    QWidget,
)
from typing_extensions import override

from inspector.engine.requests.steps import RowKind, SortBy, State, StepText
from inspector.present import formats
from inspector.ui.input import own_keys
from inspector.ui.look.row_background import paint_ground
from inspector.ui.look.theme import Theme, ThemeController
from inspector.ui.panels.steps.model import Index, Key, StepColumn, StepsModel
from inspector.ui.panels.steps.step_axis import StepAxis
from inspector.ui.panels.steps.waterfall import paint_grid, paint_row
from inspector.ui.panels.timeline.gestures import AxisGestures
from inspector.ui.widgets.rows.table import set_up_rows

_WIDTHS = {StepColumn.TOOK: 74, StepColumn.TOKENS: 62, StepColumn.COST: 66, StepColumn.STARTED: 88}
_NAME_SHARE, _LEAST_NAME, _MOST_NAME = 0.41, 190, 520
_STARTED_FROM = 1_120
"""Width from which on Started has a column."""
_COST_FROM, _TOKENS_FROM = 520, 440
_INDENT, _CHEVRON = 18, 14
_LEAST_WITH_NOTE = 240
"""Width of a text below which a long note is left out."""
_SNAP_PX = 5
_ELIDED = Qt.TextElideMode.ElideRight
_RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
_LEFT = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
_KEYS = Qt.Key
_SORTS: dict[StepColumn, SortBy] = {
    StepColumn.STEP: "started", StepColumn.TOOK: "took", StepColumn.TOKENS: "tokens", StepColumn.COST: "cost",
    StepColumn.STARTED: "started",
}  # fmt: skip
_ROW = QItemSelectionModel.SelectionFlag.ClearAndSelect | QItemSelectionModel.SelectionFlag.Rows


class _Delegate(QStyledItemDelegate):
    """Paints the cells."""

    def __init__(self, view: StepsView, themes: ThemeController) -> None:
        super().__init__(view)
        self._view, self._themes = view, themes

    @override
    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        theme, view = self._themes.theme, self._view
        rect: QRect = option.rect  # pyright: ignore[reportAttributeAccessIssue] - PySide's stubs lack it
        column = StepColumn(index.column())
        current = view.currentIndex().row() == index.row()
        paint_ground(
            painter, theme, rect, selected=current, hovered=view.hovered == index.row(), active=view.hasFocus(),
            bar=column is StepColumn.STEP,
        )  # fmt: skip
        place = int(view.steps.visible[index.row()])
        if column is StepColumn.BARS:
            area = rect.adjusted(0, 0, -theme.metrics.scroll_bar, 0)
            paint_grid(painter, theme, view.axis, area)
            paint_row(painter, theme, view.axis, view.steps.rows, place, area, is_open=view.steps.is_open(place))
        elif column is StepColumn.STEP:
            self._paint_step(painter, theme, rect, place)
        else:
            self._paint_figure(painter, theme, rect, place, column)

    def _paint_figure(self, painter: QPainter, theme: Theme, rect: QRect, place: int, column: StepColumn) -> None:
        rows = self._view.steps.rows
        failed = column is StepColumn.TOOK and rows.states[place] == State.FAILED
        painter.setFont(theme.font("body-strong" if failed else "body"))
        painter.setPen(theme.color("severity.error" if failed else "ink.secondary"))
        pad = theme.metrics.cell_padding
        painter.drawText(rect.adjusted(0, 0, -pad, 0), _RIGHT, self._view.steps.cell(place, column))

    def _paint_step(self, painter: QPainter, theme: Theme, rect: QRect, place: int) -> None:
        view, rows = self._view, self._view.steps.rows
        left = view.text_left(place) + rect.left()
        right = rect.right() - theme.metrics.cell_padding
        middle = rect.center().y()
        if view.steps.is_parent(place):
            view.paint_chevron(painter, left - round(_CHEVRON * theme.zoom), middle, is_open=view.steps.is_open(place))
        text = view.steps.text_of(place)
        if text is None:
            return
        pills = self._pills(place)
        for words, token in reversed(pills):
            right = self._paint_pill(painter, theme, words, token, right, middle)
        self._paint_text(painter, theme, text, QRect(left, rect.top(), right - left, rect.height()), rows.kinds[place])

    def _pills(self, place: int) -> list[tuple[str, str]]:
        steps = self._view.steps
        if steps.is_parent(place):
            failed = int(steps.rows.failed[place])
            return [(f"{failed:,} failed", "severity.error")] if failed and not steps.is_open(place) else []
        match State(int(steps.rows.states[place])):
            case State.FAILED:
                return [("failed", "severity.error")]
            case State.REJECTED:
                return [("rejected", "severity.warning")]
            case State.WAITING:
                return [("waiting", "severity.warning")]
            case _:
                return []

    def _paint_pill(
        self, painter: QPainter, theme: Theme, words: str, token: str, right: int, middle: int
    ) -> int:  # fmt: skip
        painter.setFont(theme.font("badge"))
        wide = QFontMetrics(theme.font("badge")).horizontalAdvance(words) + round(12 * theme.zoom)
        high = theme.metrics.badge
        box = QRectF(right - wide, middle - high / 2 + 0.5, wide, high)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(theme.pill_fill(token))
        painter.drawRoundedRect(box, high / 2, high / 2)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
        painter.setPen(theme.color(token))
        painter.drawText(box, Qt.AlignmentFlag.AlignCenter, words)
        return right - wide - theme.metrics.unit

    def _paint_text(self, painter: QPainter, theme: Theme, text: StepText, box: QRect, kind: int) -> None:
        """Paints title, tool, text and note; the text is elided first, the note before the title."""
        gap = theme.metrics.unit + 2
        note_room = QFontMetrics(theme.font("small")).horizontalAdvance(text.note) + gap if text.note else 0
        if note_room > box.width() // 2:
            note_room = box.width() // 2 if box.width() >= round(_LEAST_WITH_NOTE * theme.zoom) else 0
        edge = box.right() - note_room
        x = box.left()
        tool_ink = "ink.primary"
        text_ink = "ink.primary" if kind in (RowKind.TURN, RowKind.STEP) and not text.tool else "ink.secondary"
        for words, role, ink in (
            (text.title, "body-strong", "ink.primary"), (text.tool, "mono-row", tool_ink), (text.text, "body", text_ink)
        ):  # fmt: skip
            if not words or x >= edge:
                continue
            painter.setFont(theme.font(role))
            painter.setPen(theme.color(ink))
            shown = painter.fontMetrics().elidedText(words, _ELIDED, edge - x)
            painter.drawText(QRect(x, box.top(), edge - x, box.height()), _LEFT, shown)
            x += painter.fontMetrics().horizontalAdvance(shown) + gap
        if note_room:
            painter.setFont(theme.font("small"))
            painter.setPen(theme.color("ink.tertiary"))
            left = min(x, edge + gap)
            shown = painter.fontMetrics().elidedText(text.note, _ELIDED, box.right() - left)
            painter.drawText(QRect(left, box.top(), box.right() - left, box.height()), _LEFT, shown)


class _Heads(QHeaderView):
    """Column heads; the last one is the ruler of the waterfall."""

    def __init__(self, view: StepsView, themes: ThemeController) -> None:
        super().__init__(Qt.Orientation.Horizontal, view)
        self._view, self._themes = view, themes
        self.setObjectName("stepsHeader")
        self.setAccessibleName("Columns of the steps")
        self.setSectionsClickable(True)
        self.setHighlightSections(False)
        self.setMinimumSectionSize(16)

    @override
    def paintSection(self, painter: QPainter, rect: QRect, logicalIndex: int) -> None:
        theme, column = self._themes.theme, StepColumn(logicalIndex)
        painter.fillRect(rect, theme.color("surface.chrome"))
        painter.fillRect(QRect(rect.x(), rect.bottom(), rect.width(), 1), theme.color("line.hair"))
        if column is StepColumn.BARS:
            self._paint_ruler(painter, theme, rect.adjusted(0, 0, -theme.metrics.scroll_bar, 0))
            return
        sort, reverse = self._view.sorting
        sorted_here = _SORTS[column] == sort and (
            column is StepColumn.STARTED or (column is not StepColumn.STEP and sort != "started")
        )
        painter.setFont(theme.font("column"))
        painter.setPen(theme.color("ink.primary" if sorted_here else "ink.secondary"))
        text = str(self.model().headerData(logicalIndex, Qt.Orientation.Horizontal) or "")
        if sorted_here:
            falls = reverse if sort == "started" else not reverse
            text = f"{text} {'↓' if falls else '↑'}"
        pad = theme.metrics.pane_padding if column is StepColumn.STEP else theme.metrics.cell_padding
        painter.drawText(
            rect.adjusted(pad, 0, -theme.metrics.cell_padding, 0), _LEFT if column is StepColumn.STEP else _RIGHT, text
        )

    def _paint_ruler(self, painter: QPainter, theme: Theme, rect: QRect) -> None:
        axis, metrics = self._view.axis, QFontMetrics(theme.font("small"))
        pointed = self._view.cursor_words()
        painter.save()
        painter.setClipRect(rect)
        painter.setFont(theme.font("small"))
        taken = None
        box = QRectF()
        if pointed and axis.cursor_ns is not None:
            x = rect.left() + axis.x_of(axis.cursor_ns, rect.width())
            wide = metrics.horizontalAdvance(pointed) + round(12 * theme.zoom)
            left = min(max(x - wide / 2, rect.left()), rect.right() - wide)
            box = QRectF(left, rect.top() + 3, wide, rect.height() - 7)
            taken = box.left() - rect.left(), box.right() - rect.left()
        for left, right, words in axis.labels(rect.width(), lambda one: metrics.horizontalAdvance(one) + 1, taken):
            painter.setPen(theme.color("ink.secondary"))
            painter.drawText(QRectF(rect.left() + left, rect.top(), right - left, rect.height()), _LEFT, words)
        if taken is not None:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(theme.color("ink.primary"))
            painter.drawRoundedRect(box, 4, 4)
            painter.setPen(theme.color("surface.base"))
            painter.drawText(box, Qt.AlignmentFlag.AlignCenter, pointed)
        painter.restore()


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
        self.setItemDelegate(_Delegate(self, themes))
        self.heads = _Heads(self, themes)
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
        return self._themes.theme.metrics.cell_padding + round((_CHEVRON + depth * _INDENT) * zoom)

    def paint_chevron(self, painter: QPainter, x: int, middle: int, *, is_open: bool) -> None:
        """Paints the sign of a row that opens."""
        from inspector.ui.look import icons

        side = round(12 * self._themes.theme.zoom)
        name = "ri.arrow-down-s-line" if is_open else "ri.arrow-right-s-line"
        painter.drawPixmap(x, middle - side // 2, icons.pixmap(name, "ink.secondary", side, self.devicePixelRatioF()))

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
        by = _SORTS[column]
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
