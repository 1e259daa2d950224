"""Base of panels that list things about messages: head above list, selection, copying and context menu."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Protocol

from PySide6.QtCore import Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QLayout, QMenu, QVBoxLayout, QWidget

from inspector.ui.panels.list_head import ListHead
from inspector.ui.panels.pane_head import PaneHead
from inspector.ui.widgets.rows.model import RowsModel
from inspector.ui.widgets.rows.table import TableView
from inspector.ui.widgets.rows.view import RowsView

COPIED_MOST = 1_000
"""Maximum of rows copied at once; each is formatted for it."""


class AppliedFilter(Protocol):
    """A display filter.

    Attributes:
        text: as the user wrote it.
    """

    @property
    def text(self) -> str: ...


class ShownMessages(Protocol):
    """The messages that the table shows."""

    @property
    def filter(self) -> AppliedFilter: ...

    @property
    def scope(self) -> object | None: ...

    @property
    def is_filtered(self) -> bool: ...

    def row_of(self, message: int) -> int | None:
        """Returns the row of a message; None if it is hidden."""
        ...

    def request_rows(self, messages: Iterable[int]) -> None:
        """Asks for the rows of messages together, unless they are known."""
        ...


class HeadedPanel(QWidget):
    """A head above a list or table.

    Signals:
        message_requested(int): select this message.
        filter_requested(str, str): an expression and its way of joining the active filter (filter_menu.FilterMode).
        close_requested(): hide the panel.
        left(): return the focus to the messages.
    """

    message_requested = Signal(int)
    filter_requested = Signal(str, str)
    close_requested = Signal()
    left = Signal()

    def __init__(self, title: str, parent: QWidget | None) -> None:
        super().__init__(parent)
        self.setObjectName(f"{title.lower()}Panel")
        self.setAccessibleName(title)
        self.setProperty("variant", "base")

    def stack(self, head: PaneHead, view: TableView | RowsView, *, body: QLayout | None = None) -> None:
        """Puts the head above the view, or above `body`, a layout with the view in it. Esc in the view emits `left`."""
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(head)
        if body is None:
            column.addWidget(view, 1)
        else:
            column.addLayout(body, 1)
        self.setFocusProxy(view)
        view.left.connect(self.left)

    def apply_changes(self, _changes: Any) -> None:
        """Does nothing: most panels ask the engine again by themselves."""


class ListPanel(HeadedPanel):
    """Base of panels that list things about messages.

    A panel creates its head and view, then calls `put_together`. A panel with a different layout calls `listen_to`
    alone.
    """

    def __init__(self, shown: ShownMessages, title: str, parent: QWidget | None) -> None:
        super().__init__(title, parent)
        self._shown = shown

    def put_together(self, head: ListHead, view: RowsView, model: RowsModel) -> None:
        """Adds head and list to the panel and connects them."""
        self.stack(head, view)
        self.listen_to(view, model)
        model.rows_settled.connect(self.update_texts)
        head.copy_clicked.connect(self._copy_list)
        head.close_clicked.connect(self.close_requested)

    def listen_to(self, view: RowsView, model: RowsModel) -> None:
        """Connects the list's selection, Enter, copy and context menu."""
        self._model = model
        view.picked.connect(self._on_picked)
        view.entered.connect(self._on_entered)
        view.copy_asked.connect(self._copy_row)
        view.menu_asked.connect(lambda row, at: self.menu_for(row).popup(at))

    # Supplied by each panel

    def update_texts(self) -> None:
        """Updates the count in the head and the text of an empty list. Called after each change of the rows."""
        raise NotImplementedError

    def go_to_row(self, row: int) -> bool:
        """Requests the message of a row. Returns False if the row has none."""
        message = self._model.spec(row).message
        if message is not None:
            self.message_requested.emit(message)
        return message is not None

    def row_text(self, row: int) -> str:
        """Returns the text of a row for the clipboard."""
        spec = self._model.spec(row)
        return spec.copied or spec.text

    def request_texts(self, rows: Sequence[int], take: Callable[[list[str]], object]) -> None:
        """Calls `take` with the texts of rows for the clipboard, now or later."""
        take([self.row_text(row) for row in rows])

    def menu_for(self, row: int) -> QMenu:
        """Returns the context menu of a row. It deletes itself when it closes."""
        raise NotImplementedError

    def hider(self) -> str:
        return hider_words(self._shown.filter, self._shown.scope)

    # User input

    def _on_picked(self, row: int, clicked: bool) -> None:
        """Selects the message of a row. If the filter hides it, only a click or Enter goes there."""
        message = self._model.spec(row).message
        if clicked or message is None or self._shown.row_of(message) is not None:
            self.go_to_row(row)

    def _on_entered(self, row: int) -> None:
        if self.go_to_row(row):
            self.left.emit()

    def _copy_row(self, row: int) -> None:
        if row >= 0:
            self.request_texts([row], _copy)

    def _copy_list(self) -> None:
        # Each row is formatted for the clipboard; all rows of a large list would block the window.
        self.request_texts(range(min(self._model.rowCount(), COPIED_MOST)), _copy)


def _copy(texts: list[str]) -> None:
    QGuiApplication.clipboard().setText("\n".join(texts))


def hider_words(filter_: AppliedFilter, scope: object | None) -> str:
    """Names the cause of hidden messages: filter, scope or both."""
    filtered, scoped = bool(filter_.text.strip()), scope is not None
    return "filter and scope" if filtered and scoped else "the scope" if scoped else "the filter"
