"""List of a chat's sub-sessions: state, age, tokens and summary."""

from __future__ import annotations

from PySide6.QtCore import QObject, QPoint, Signal
from PySide6.QtGui import QAction, QActionGroup, QGuiApplication
from PySide6.QtWidgets import QHBoxLayout, QMenu, QSizePolicy, QVBoxLayout, QWidget

from inspector.engine.requests.msp_sessions import ListedSubsessions, ListSubsessions, Order
from inspector.ui import intervals
from inspector.ui.look.theme import ThemeController
from inspector.ui.msp.panel.list_model import SubsessionSource
from inspector.ui.msp.panel.sessions_client import SessionsClient
from inspector.ui.msp.panel.token_counts import TokenCounts
from inspector.ui.panels.details.section import Segments
from inspector.ui.widgets.buttons import IconButton
from inspector.ui.widgets.latest_answer import LatestAnswer
from inspector.ui.widgets.rows.model import RowsModel
from inspector.ui.widgets.rows.view import RowsView

NOTHING = "This chat has no sub-sessions yet."
NONE_OPEN = "No sub-session is open."
_ALL, _OPEN = "All", "Open"


class SubsessionList(QWidget):
    """The list with its head.

    Signals:
        chosen(str): display the sub-session with this key.
        entered(str): Enter or a double click; its chat may take the focus.
        left(): Esc was pressed.

    Attributes:
        source, model, view: its parts.
        counts: state of the counting of tokens.
        latest: the listed sub-sessions.
    """

    chosen = Signal(str)
    entered = Signal(str)
    left = Signal()

    def __init__(
        self, client: SessionsClient, theme: ThemeController, counts: TokenCounts, parent: QWidget | None = None
    ) -> None:
        """Creates the list.

        Args:
            client: asks the engine.
            theme: gives the look.
            counts: state of the counting of tokens, shared with the indicator.
            parent: owner.
        """
        super().__init__(parent)
        self._themes, self.counts = theme, counts
        self.setObjectName("subsessionList")
        self.setAccessibleName("Sub-sessions")
        self.setProperty("variant", "base")
        self._order, self._open_only = Order.CHAT, False
        self.source = SubsessionSource(client, counts, self._on_rows_arrived)
        self.model = RowsModel(self.source, self)
        self.view = RowsView(self.model, theme, name="subsessionRows", title="Sub-sessions", parent=self)
        self._head = self._build_head()
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(0)
        self._column.addWidget(self._head)
        self._column.addWidget(self.view, 1)
        self.setFocusProxy(self.view)
        self.view.picked.connect(self._on_picked)
        self.view.entered.connect(self._on_entered)
        self.view.left.connect(self.left)
        self.view.copy_asked.connect(self._copy_row)
        counts.came.connect(self._on_counted)
        theme.changed.connect(self._on_theme_changed)
        self._on_theme_changed()
        # Not the list itself: it is hidden in a narrow panel, which still displays the first sub-session.
        self.latest = LatestAnswer[ListedSubsessions](
            QObject(self), client, lambda: ListSubsessions(self._order, self._open_only), self._show,
            every_ms=lambda: intervals.LISTS_MS,
        )  # fmt: skip
        self.latest.request_now()

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
        """Selects the row of a sub-session without emitting `chosen`; "" selects none."""
        if key and self._open_only and self.source.row_of(key) < 0:  # the displayed sub-session is always listed
            self._segments.choose(_ALL)
        self.view.select(key or None)

    def refresh(self) -> None:
        """Asks for the list again; the scroll position stays."""
        self.latest.request_now()

    def stop(self) -> None:
        """Stops asking before the document is closed."""
        self.latest.stop()

    def _show(self, listed: ListedSubsessions) -> None:
        """Shows the list. Selection and scroll position stay if the rows are the same."""
        if self.source.has_same_rows(listed):
            self.source.replace_rows(listed)
            self.model.renew()
        else:
            with self.model.changing():
                self.source.replace_rows(listed)
        self.view.set_empty_text("" if len(self.source) else NONE_OPEN if listed.all else NOTHING)
        for choice, count in ((_ALL, listed.all), (_OPEN, listed.open)):
            self._segments.buttons[choice].setToolTip(f"{count:,} {'open' if choice == _OPEN else 'in this chat'}")
        self.counts.request()

    def _on_rows_arrived(self, start: int, stop: int) -> None:
        self.model.renew(start, stop - 1)

    def _on_counted(self) -> None:
        if self._order is Order.TOKENS:
            self.refresh()
        else:
            self.source.drop_rows()
            self.model.renew()

    # User input

    def _on_picked(self, row: int, _clicked: bool) -> None:
        self.chosen.emit(self.source.listed.keys[row])

    def _on_entered(self, row: int) -> None:
        self.entered.emit(self.source.listed.keys[row])

    def _on_which_chosen(self, choice: str) -> None:
        self._open_only = choice == _OPEN
        self.refresh()

    def _on_sort_clicked(self) -> None:
        self.menu.popup(self._sort.mapToGlobal(QPoint(0, self._sort.height())))

    def _on_order_chosen(self, action: QAction) -> None:
        self._order = Order(action.data())
        self._sort.set_description(f"Order of the list: {self._order.words.lower()}")
        self.refresh()

    def _copy_row(self, row: int) -> None:
        if row >= 0:
            QGuiApplication.clipboard().setText(self.source.copied(row))

    def _on_theme_changed(self) -> None:
        metrics = self._themes.theme.metrics
        self._head.setFixedHeight(metrics.head)
        self._row.setContentsMargins(metrics.pane_padding - metrics.unit, metrics.unit, metrics.unit, 0)
        self._row.setSpacing(metrics.unit)
