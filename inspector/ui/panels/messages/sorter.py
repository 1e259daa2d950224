"""Sorts the message table: at once from columns, in slices with progress if records must be decoded."""

from __future__ import annotations

import time

from PySide6.QtCore import QObject, QTimer, Signal

from inspector.filters.naming import field_named
from inspector.filters.sorting import SortBy, Sorting
from inspector.present import wire_text
from inspector.ui import budgets
from inspector.ui.panels.messages.view import MessageView

_MAX_NAME = 40


class Sorter(QObject):
    """Sort order of one table.

    Signals:
        changed(): the order changed.
    """

    changed = Signal()

    def __init__(self, view: MessageView, parent: QObject) -> None:
        super().__init__(parent)
        self._view = view
        self._model = view.messages
        self._work: Sorting | None = None
        self._reports = budgets.Reports()
        self._more = QTimer(self)
        self._more.setSingleShot(True)
        self._more.setInterval(budgets.current.awaited_ms)
        self._more.timeout.connect(self._on_more)
        view.sort_requested.connect(self.sort)
        view.pill_clicked.connect(self._on_pill_clicked)

    @property
    def busy(self) -> bool:
        """True while records are decoded for a sort."""
        return self._work is not None

    def sort(self, name: str, descending: bool = False) -> None:
        """Sorts by a field; "" is the order of arrival. Rows stay in place until the order is known.

        Raises:
            FilterError: the field is unknown.
        """
        by = SortBy(field_named(name), descending) if name else None
        # Ascending numbers are the order of arrival, which needs no sort.
        if by is None or (by.field.name == "no" and not descending):
            self.clear()
        else:
            self._begin(by)

    def clear(self) -> None:
        """Restores the order of arrival."""
        self.give_up()
        if self._model.rows.sorted_by is not None:
            self._model.put_in_order(None)
            self._view.anchor.follower.recount(forget=True)
            self.changed.emit()

    def again(self) -> None:
        """Sorts again by the current or pending field, after a change of the visible rows."""
        by = self._model.rows.sorted_by if self._work is None else self._work.by
        if by is not None:
            self._begin(by)

    def give_up(self) -> None:
        """Cancels a running sort."""
        self._work = None
        self._more.stop()
        self._show_progress()

    def _begin(self, by: SortBy) -> None:
        self.give_up()
        self._reports = budgets.Reports()
        self._work = Sorting(self._model.rows.analysis, by, self._model.rows.visible)
        self._continue_sort(budgets.current.first_s)

    def _on_more(self) -> None:
        self._continue_sort(budgets.current.awaited_slice_s)

    def _continue_sort(self, seconds: float) -> None:
        work = self._work
        if work is None:
            return
        if not work.step(time.perf_counter() + seconds):
            if self._reports.due():
                self._show_progress()
            self._more.start()
            return
        self.give_up()
        self._view.anchor.follower.set_following(False)
        self._model.put_in_order(work.by, work.result(), work.messages)
        column = self._model.columns.sorted_at(work.by.field.name)
        if column is not None:
            self._view.columns.bring_into_view(column)
        self.changed.emit()

    def _show_progress(self) -> None:
        """Shows the progress in the column header and over the rows."""
        work = self._work
        if work is None:
            self._view.heads.show_progress(None)
            self._view.pill.show_work("")
            return
        column = self._model.columns.sorted_at(work.by.field.name)
        self._view.heads.show_progress(None if column is None else (column, work.fraction))
        name = wire_text.safe_line(work.by.field.label, _MAX_NAME)
        self._view.pill.show_work(f"Sorting by {name}, {round(100 * work.fraction)} %")

    def _on_pill_clicked(self) -> None:
        if self._work is not None:
            self.give_up()
        else:
            self.again()
