"""Sorts the message table: at once from columns, with progress if records must be decoded."""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal

from inspector.engine.requests.views import Progress, SortedRows, SortRows
from inspector.present import wire_text
from inspector.ui.panels.messages.view import MessageView
from inspector.ui.panels.messages.view_rows import VIEW
from inspector.ui.panels.messages.view_work import ViewWork
from inspector.ui.widgets.latest_answer import Client

_MAX_NAME = 40


class Sorter(QObject):
    """Sort order of one table.

    Signals:
        changed(): the order changed.
    """

    changed = Signal()

    def __init__(self, client: Client, view: MessageView, parent: QObject) -> None:
        super().__init__(parent)
        self._client = client
        self._view = view
        self._model = view.messages
        self._work: ViewWork[SortRows] = ViewWork(client, self._show_progress, self._on_sorted, self)
        view.sort_requested.connect(self.sort)
        view.pill_clicked.connect(self._on_pill_clicked)

    @property
    def busy(self) -> bool:
        """True while records are decoded for a sort."""
        return self._work.wanted is not None

    def sort(self, name: str, descending: bool = False) -> None:
        """Sorts by a field; "" is the order of arrival. Rows stay in place until the order is known.

        An unknown field changes nothing.
        """
        name = name.strip()
        # Ascending numbers are the order of arrival, which needs no sort.
        if not name or (name == "no" and not descending):
            self.clear()
        else:
            request = SortRows(VIEW, name, descending)
            self._work.start(request, request)

    def clear(self) -> None:
        """Restores the order of arrival."""
        self._cancel()
        if self._model.rows.sorted_by is not None:
            self._client.send_request(SortRows(VIEW, ""), lambda _order: None)
            self._model.put_in_order()
            self._view.anchor.follower.recount(forget=True)
            self.changed.emit()

    def again(self) -> None:
        """Sorts again by the current or pending field, after a change of the visible rows."""
        by = self._model.rows.sorted_by
        request = self._work.wanted or (None if by is None else SortRows(VIEW, by.field, by.descending))
        if request is not None:
            self._work.start(request, request)

    def give_up(self) -> None:
        """Cancels a running sort."""
        self._work.end()

    def _on_sorted(self, _request: SortRows, order: SortedRows) -> None:
        if order.order is None:
            return
        self._view.anchor.follower.set_following(False)
        self._model.put_in_order(order)
        column = self._model.columns.sorted_at(order.order.field)
        if column is not None:
            self._view.columns.bring_into_view(column)
        self.changed.emit()

    def _show_progress(self, progress: Progress | None) -> None:
        """Shows the progress in the column header and over the rows."""
        by = None if progress is None else progress.order
        if by is None or progress is None:
            self._view.heads.show_progress(None)
            self._view.pill.show_work("")
            return
        column = self._model.columns.sorted_at(by.field)
        self._view.heads.show_progress(None if column is None else (column, progress.fraction))
        name = wire_text.safe_line(by.label, _MAX_NAME)
        self._view.pill.show_work(f"Sorting by {name}, {round(100 * progress.fraction)} %")

    def _cancel(self) -> None:
        """Cancels a running sort on behalf of the user."""
        was_busy = self.busy
        self.give_up()
        if was_busy and self._model.rows.sorted_by is None:
            # The engine may have completed it, and its answer is on the way.
            self._client.send_request(SortRows(VIEW, ""), lambda _order: None)

    def _on_pill_clicked(self) -> None:
        if self.busy:
            self._cancel()
        else:
            self.again()
