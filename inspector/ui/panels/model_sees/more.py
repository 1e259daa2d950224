"""The menu at the right end of the head: copy, export, filter by what is listed, go to the end."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QMenu

from inspector.ui.panels.model_sees.context_export import HandingOut
from inspector.ui.panels.model_sees.context_state import EntryRows, Sight

_FILTERED_MOST = 500


class MoreActions(QObject):
    """Fills the menu, and does what its entries say.

    Signals:
        filter_requested(str, str): a display filter, and how it joins the one in force (filter_menu.FilterMode).
        end_requested(): look at the end of the capture.
        order_requested(bool): list the largest entries first, or the oldest.

    Attributes:
        copy, export, unmasked, largest, listed, end: the actions.
    """

    filter_requested = Signal(str, str)
    end_requested = Signal()
    order_requested = Signal(bool)

    def __init__(self, menu: QMenu, sight: Sight, handing_out: HandingOut, parent: QObject) -> None:
        super().__init__(parent)
        self._menu, self._sight, self._handing_out = menu, sight, handing_out
        self.copy = self._add("copyMessages", "Copy as messages JSON", self._copy)
        self.export = self._add("exportMessages", "Export as messages JSON...", lambda: self._export(secrets=False))
        self.unmasked = self._add(
            "exportUnmasked", "Export with secrets as they are...", lambda: self._export(secrets=True)
        )
        menu.addSeparator()
        self.largest = self._add("largest", "List the largest entries first (S)", self._order)
        self.largest.setCheckable(True)
        self.listed = self._add("filterListed", "Filter by all listed here", self._filter)
        self.end = self._add("toEnd", "Go to the end of the capture", self.end_requested.emit)
        menu.aboutToShow.connect(self._enable)

    def _add(self, name: str, words: str, act: Callable[[], object]) -> QAction:
        action = QAction(words, self)
        action.setObjectName(f"modelSees.{name}")
        action.triggered.connect(lambda: act())
        self._menu.addAction(action)
        return action

    def _enable(self) -> None:
        there = self._sight.moment is not None
        for action in (self.copy, self.export, self.unmasked, self.end):
            action.setEnabled(there)
        self.largest.setChecked(self._sight.by_size)
        self.listed.setEnabled(bool(filter_for(self._sight.rows)))

    def _copy(self) -> None:
        if self._sight.moment is not None:
            self._handing_out.copy(self._sight.moment)

    def _export(self, *, secrets: bool) -> None:
        if self._sight.moment is not None:
            self._handing_out.ask(self._sight.moment, secrets=secrets)

    def _order(self) -> None:
        self.order_requested.emit(not self._sight.by_size)

    def _filter(self) -> None:
        text = filter_for(self._sight.rows)
        if text:
            self.filter_requested.emit(text, "replace")


def filter_for(rows: EntryRows) -> str:
    """A display filter for the messages listed; "" for none, and for more than a filter bar can hold."""
    if not 0 < len(rows) <= _FILTERED_MOST:
        return ""
    return f"no in {{{', '.join(str(message + 1) for message in rows.messages.tolist())}}}"
