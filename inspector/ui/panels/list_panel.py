"""A panel that lists things about messages: head above list, moving over rows, copying them, their menu."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QLayout, QMenu, QVBoxLayout, QWidget

from inspector.document.document import CaptureDocument
from inspector.filters import DisplayFilter
from inspector.filters.visible import Scope, VisibleRows
from inspector.ui.panels.list_head import ListHead
from inspector.ui.panels.list_view import ListModel, ListView
from inspector.ui.panels.pane_head import PaneHead
from inspector.ui.panels.plain_table import PlainTable

COPIED_MOST = 1_000
"""Rows that are copied at once: each is put into words for it."""


class HeadedPanel(QWidget):
    """A head above a list or table.

    Signals:
        message_requested(int): select this message.
        filter_requested(str, str): an expression, and how it joins the filter in force (filter_menu.FilterMode).
        close_requested(): it is to be hidden.
        left(): the focus is to go back to the messages.
    """

    message_requested = Signal(int)
    filter_requested = Signal(str, str)
    close_requested = Signal()
    left = Signal()

    def __init__(self, document: CaptureDocument, title: str, parent: QWidget | None) -> None:
        super().__init__(parent)
        self._document = document
        self.setObjectName(f"{title.lower()}Panel")
        self.setAccessibleName(title)
        self.setProperty("variant", "base")

    def stack(self, head: PaneHead, view: PlainTable, *, body: QLayout | None = None) -> None:
        """Put the head above the view, or above what holds it; Esc in the view leaves the panel."""
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


class ListPanel(HeadedPanel):
    """What panels have in common that list things about messages.

    A panel makes its head and view, then calls `put_together`; one with more than a head above its list `listen_to`.
    """

    def __init__(self, document: CaptureDocument, shown: VisibleRows, title: str, parent: QWidget | None) -> None:
        super().__init__(document, title, parent)
        self._shown = shown

    def put_together(self, head: ListHead, view: ListView, model: ListModel) -> None:
        """Put head and list into the panel, and listen to them."""
        self.stack(head, view)
        self.listen_to(view, model)
        model.rows_settled.connect(self.say)
        head.copy_clicked.connect(self._copy_list)
        head.close_clicked.connect(self.close_requested)

    def listen_to(self, view: ListView, model: ListModel) -> None:
        """Do what the user does in the list."""
        self._model = model
        view.picked.connect(self._on_picked)
        view.entered.connect(self._on_entered)
        view.copy_asked.connect(self._copy_row)
        view.menu_asked.connect(lambda row, at: self.menu_for(row).popup(at))

    # What a panel says of itself

    def say(self) -> None:
        """The rows are others: say in the head how many, and in an empty list why."""
        raise NotImplementedError

    def go_to_row(self, row: int) -> bool:
        """Ask for what a row is about; whether it is about something."""
        raise NotImplementedError

    def row_text(self, row: int) -> str:
        """What is copied of a row."""
        raise NotImplementedError

    def menu_for(self, row: int) -> QMenu:
        """The context menu of a row; it deletes itself when it closes."""
        raise NotImplementedError

    def hider(self) -> str:
        """What hides messages from the table."""
        return hider_words(self._shown.filter, self._shown.scope)

    # What the user does

    def _on_picked(self, row: int, clicked: bool) -> None:
        """Moving over rows selects their messages; a filter that hides one gives way to a click or Return only."""
        if clicked or self._model.is_shown(row):
            self.go_to_row(row)

    def _on_entered(self, row: int) -> None:
        if self.go_to_row(row):
            self.left.emit()

    def _copy_row(self, row: int) -> None:
        if row >= 0:
            QGuiApplication.clipboard().setText(self.row_text(row))

    def _copy_list(self) -> None:
        rows = range(min(self._model.rowCount(), COPIED_MOST))
        QGuiApplication.clipboard().setText("\n".join(self.row_text(row) for row in rows))


def hider_words(filter_: DisplayFilter, scope: Scope | None) -> str:
    """What a view hides messages by."""
    filtered, scoped = bool(filter_.text.strip()), scope is not None
    return "filter and scope" if filtered and scoped else "the scope" if scoped else "the filter"
