"""List of a chat's sub-sessions: state, age, tokens and summary."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from PySide6.QtCore import QModelIndex, QObject, QPersistentModelIndex, QPoint, QPointF, QRect, QSize, QTimer, Signal
from PySide6.QtGui import QAction, QActionGroup, QGuiApplication, QHideEvent, QPainter, QShowEvent
from PySide6.QtWidgets import QHBoxLayout, QMenu, QSizePolicy, QStyleOptionViewItem, QVBoxLayout, QWidget
from typing_extensions import override

from inspector.ui import budgets
from inspector.ui.look.state_dots import draw_state
from inspector.ui.look.theme import ThemeController
from inspector.ui.msp.panel.list_model import Order, SubsessionListModel
from inspector.ui.msp.panel.token_counts import Tallies, TokenCounts
from inspector.ui.panels.details.section import Segments
from inspector.ui.panels.list_delegate import RIGHT, ListDelegate
from inspector.ui.panels.list_view import ListView
from inspector.ui.widgets.buttons import IconButton

if TYPE_CHECKING:
    from inspector.msp.document import SessionDocument

_MARK_X, _TEXT_X = 20, 34
_INDENT = 14
_MIN_TEXT_WIDTH = 90
"""Minimum width of the text in a nested row, pixels at 100 %."""


class SubsessionDelegate(ListDelegate):
    """A row of three lines."""

    def __init__(
        self, model: SubsessionListModel, theme_controller: ThemeController, parent: QObject | None = None
    ) -> None:
        super().__init__(theme_controller, parent)
        self._model = model

    @override
    def sizeHint(self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex) -> QSize:
        return QSize(0, self._themes.theme.metrics.sub_session_row)

    @override
    def paint_row(self, painter: QPainter, row: int, cell: QRect) -> None:
        theme, zoom, line = self._themes.theme, self._zoom, self._model.line(row)
        depth = self._model.rows.depths[row]
        right = cell.right() + 1 - theme.metrics.pane_padding
        indent = min(round(depth * _INDENT * zoom), right - round((_TEXT_X + _MIN_TEXT_WIDTH) * zoom))
        indent = max(0, indent)
        left = cell.left() + indent + round(_TEXT_X * zoom)
        edge = round(6 * zoom)
        third = (cell.height() - 2 * edge) // 3
        lines = [QRect(cell.left(), cell.top() + edge + place * third, cell.width(), third) for place in range(3)]
        is_open = line.mark == "active"
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        center = QPointF(cell.left() + indent + _MARK_X * zoom, lines[0].top() + third / 2 + 0.5)
        draw_state(painter, center, line.mark, theme, implicit=False, halo=1.0 if is_open else 0.0)
        end = self._paint_right(painter, line.count, lines[0], right)
        self._draw(painter, "body-medium", "ink.primary", left, lines[0], line.label, end - left)
        self._draw(painter, "small", "ink.secondary", left, lines[1], line.about, right - left)
        end = self._paint_right(painter, line.tokens, lines[2], right)
        self._draw(painter, "small", "ink.tertiary", left, lines[2], line.age, end - left)

    def _paint_right(self, painter: QPainter, text: str, box: QRect, right: int) -> int:
        """Draws a figure at the right, never elided. Returns the right end for the text before it."""
        theme = self._themes.theme
        wide = self._metrics["small"].horizontalAdvance(text)
        painter.setFont(self._fonts["small"])
        painter.setPen(theme.color("ink.tertiary"))
        painter.drawText(QRect(right - wide - 2, box.top(), wide + 2, box.height()), RIGHT, text)
        return right - wide - theme.metrics.cell_padding


AGES_MS = 20_000
"""Interval of age updates, milliseconds."""
NOTHING = "This chat has no sub-sessions yet."
NONE_OPEN = "No sub-session is open."
_ALL, _OPEN = "All", "Open"


class SubsessionListView(ListView):
    """The list view with higher rows."""

    @property
    @override
    def row_height(self) -> int:
        return self._themes.theme.metrics.sub_session_row


class SubsessionList(QWidget):
    """The list with its head.

    Signals:
        chosen(str): display the sub-session with this key.
        entered(str): Enter or a double click; its chat may take the focus.
        left(): Esc was pressed.

    Attributes:
        model, view: its parts.
        counts: counts tokens; can be shared with the indicator.
    """

    chosen = Signal(str)
    entered = Signal(str)
    left = Signal()

    def __init__(
        self,
        document: SessionDocument,
        theme: ThemeController,
        parent: QWidget | None = None,
        *,
        counts: TokenCounts | None = None,
    ) -> None:
        super().__init__(parent)
        self._document, self._themes = document, theme
        self.setObjectName("subsessionList")
        self.setAccessibleName("Sub-sessions")
        self.setProperty("variant", "base")
        self.counts = counts if counts is not None else TokenCounts(self)
        self._tallies = Tallies(self.counts)
        self._tallied = False
        self.model = SubsessionListModel(document, self._tallies, self)
        self.view = SubsessionListView(self.model, theme, name="subsessionRows", title="Sub-sessions", parent=self)
        self.view.setItemDelegate(SubsessionDelegate(self.model, theme, self.view))
        self._head = self._build_head()
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(0)
        self._column.addWidget(self._head)
        self._column.addWidget(self.view, 1)
        self.setFocusProxy(self.view)
        self._adding = QTimer(self)
        self._adding.setSingleShot(True)
        self._adding.timeout.connect(self._add_up)
        self._ages = QTimer(self)
        self._ages.setInterval(AGES_MS)
        self._ages.timeout.connect(self.model.renew)
        self.view.picked.connect(self._on_picked)
        self.view.entered.connect(self._on_entered)
        self.view.left.connect(self.left)
        self.view.copy_asked.connect(self._copy_row)
        self.counts.came.connect(self._on_counted)
        theme.changed.connect(self._on_theme_changed)
        self._on_theme_changed()
        self.refresh()

    def _build_head(self) -> QWidget:
        head = QWidget(self)
        head.setObjectName("subsessionListHead")
        head.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self._row = QHBoxLayout(head)
        self._segments = Segments(self._themes, (_ALL, _OPEN), "subsessionsShown", "Listed sub-sessions", head)
        self._segments.choose(_ALL)
        self._segments.chosen.connect(self._on_which_chosen)
        self._sort = IconButton(
            self._themes, "ri.sort-desc", "Order of the list", name="subsessionSort", variant="small", parent=head
        )
        self._sort.clicked.connect(self._on_sort_clicked)
        self._row.addWidget(self._segments)
        self._row.addStretch(1)
        self._row.addWidget(self._sort)
        self.menu = QMenu(self)
        self.menu.setObjectName("subsessionOrders")
        self.menu.setAccessibleName("Order of the list")
        group = QActionGroup(self.menu)
        for order in Order:
            action = QAction(order.words, self.menu)
            action.setObjectName(f"order.{order}")
            action.setCheckable(True)
            action.setChecked(order is Order.CHAT)
            action.setData(str(order))
            group.addAction(action)
            self.menu.addAction(action)
        group.triggered.connect(self._on_order_chosen)
        return head

    # Calls of others

    def mark(self, key: str) -> None:
        """Selects the row of a sub-session without emitting `chosen`."""
        wanted = (key, 0)
        if self.model.open_only and self.model.rows.row_of(wanted) < 0:  # the displayed sub-session is always listed
            self._segments.choose(_ALL)
        self.view.select(wanted)

    @property
    def shown_key(self) -> str | None:
        """Key of the selected row."""
        return None if self.view.selected is None else self.view.selected[0]

    def refresh(self) -> None:
        """Reads the document again; the scroll position stays."""
        self.model.reload()
        self._tallied = False
        self._tallies.begin()
        self.view.set_empty_text("" if len(self.model.rows) else NONE_OPEN if self.model.rows.all else NOTHING)
        for choice, count in ((_ALL, self.model.rows.all), (_OPEN, self.model.rows.open)):
            self._segments.buttons[choice].setToolTip(f"{count:,} {'open' if choice == _OPEN else 'in this chat'}")
        self._add_up_soon()

    def share_counts(self, counts: TokenCounts) -> None:
        """Uses a shared token counter, so that no text is counted twice."""
        if counts is self.counts:
            return
        # The own counter is no longer used.
        self.counts.came.disconnect(self._on_counted)
        self.counts.stop()
        self.counts = counts
        self._tallies = self.model.tallies = Tallies(counts)
        counts.came.connect(self._on_counted)
        self.refresh()

    def stop(self) -> None:
        """Stops counting before the document is closed."""
        self._adding.stop()
        self._ages.stop()
        if self.counts.parent() is self:
            self.counts.stop()

    # Token sums

    @override
    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self.model.renew()
        self._ages.start()
        self._add_up_soon()

    @override
    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self._ages.stop()
        self._adding.stop()

    def _add_up_soon(self) -> None:
        if not self._tallied and self.isVisible() and not self._adding.isActive():
            self._adding.start(0)

    def _add_up(self) -> None:
        if not self._tallies.go_on(
            self._document.subsessions, time.perf_counter() + budgets.current.background_slice_s
        ):
            # Not 0, which would leave no time for input between slices.
            self._adding.start(1)
            return
        self._tallied = True  # `counts.came` follows for the missing ones
        if self.model.order is Order.TOKENS:
            self.model.reload()
        else:
            self.model.renew()

    def _on_counted(self) -> None:
        self._tallied = False
        self._tallies.begin()
        self._add_up_soon()

    # User input

    def _on_picked(self, row: int, _clicked: bool) -> None:
        self.chosen.emit(self.model.rows.subs[row].key)

    def _on_entered(self, row: int) -> None:
        self.entered.emit(self.model.rows.subs[row].key)

    def _on_which_chosen(self, choice: str) -> None:
        self.model.open_only = choice == _OPEN
        self.refresh()

    def _on_sort_clicked(self) -> None:
        self.menu.popup(self._sort.mapToGlobal(QPoint(0, self._sort.height())))

    def _on_order_chosen(self, action: QAction) -> None:
        self.model.order = Order(action.data())
        self._sort.set_description(f"Order of the list: {self.model.order.words.lower()}")
        self.refresh()

    def _copy_row(self, row: int) -> None:
        if row >= 0:
            QGuiApplication.clipboard().setText(self.model.line(row).copied)

    def _on_theme_changed(self) -> None:
        metrics = self._themes.theme.metrics
        self._head.setFixedHeight(metrics.head)
        self._row.setContentsMargins(metrics.pane_padding - metrics.unit, metrics.unit, metrics.unit, 0)
        self._row.setSpacing(metrics.unit)
