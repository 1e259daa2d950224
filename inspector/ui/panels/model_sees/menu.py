"""Menus of the panel Model sees: of a row (go to, compare, filter, copy) and of the panel (copy, export, end)."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject, Signal, SignalInstance
from PySide6.QtGui import QAction, QGuiApplication
from PySide6.QtWidgets import QMenu, QWidget

from inspector.engine.requests.seen_contexts import SeenContext
from inspector.present import formats
from inspector.ui.look import icons
from inspector.ui.panels.model_sees.context_export import ContextExport
from inspector.ui.panels.model_sees.context_state import ContextState
from inspector.ui.panels.model_sees.source import EntryLine
from inspector.ui.widgets.filter_menu import add_filter_actions


class EntryMenu(QMenu):
    """Actions of a row.

    Signals:
        message_chosen(int): select this message, also in the table.
        moment_chosen(int): show the context after this message.
        compare_chosen(int): compare with that moment.
        details_chosen(int): show its details.
        filter_chosen(str, str): an expression, and its combination with the current filter (`filter_menu.FilterMode`).
    """

    message_chosen = Signal(int)
    moment_chosen = Signal(int)
    compare_chosen = Signal(int)
    details_chosen = Signal(int)
    filter_chosen = Signal(str, str)

    def __init__(self, line: EntryLine, copied: str, listed: str, parent: QWidget | None = None) -> None:
        """Creates the menu.

        Args:
            line: the row.
            copied: the whole text of the entry as given to the model, secrets masked.
            listed: display filter for all rows; "" if there are too many.
            parent: owner.
        """
        super().__init__(parent)
        self.setObjectName("modelSeesMenu")
        self.setAccessibleName("Entry")
        message, because = line.entry.message, line.entry.because
        self._add_link("go", f"Go to {formats.message_number(message)} in the table", self.message_chosen, message)
        if because is not None:
            did = "collapsed it" if line.entry.collapsed else "removed it"
            self._add_link(
                "go.because", f"Go to {formats.message_number(because)}, which {did}", self.message_chosen, because
            )
        self._add_link("details", "Open in details", self.details_chosen, message)
        self.addSeparator()
        self._add_link("moment", "Show this moment", self.moment_chosen, message)
        self._add_link("compare", "Compare with this moment", self.compare_chosen, message)
        self.addSeparator()
        add_filter_actions(self, f"no == {message + 1}", self.filter_chosen.emit)
        these = self.addAction("Filter by all listed")
        these.setObjectName("filter.listed")
        these.setEnabled(bool(listed))
        these.triggered.connect(lambda: self.filter_chosen.emit(listed, "replace"))
        self.addSeparator()
        self._copy("copy.text", "Copy entry as given to the model", copied).setIcon(icons.icon("copy"))
        self._copy("copy.row", "Copy row", line.copied)

    def _add_link(self, name: str, title: str, signal: SignalInstance, message: int) -> None:
        action = self.addAction(title)
        action.setObjectName(name)
        action.triggered.connect(lambda: signal.emit(message))

    def _copy(self, name: str, title: str, text: str) -> QAction:
        action = self.addAction(title)
        action.setObjectName(name)
        action.setEnabled(bool(text))
        action.triggered.connect(lambda: QGuiApplication.clipboard().setText(text))
        return action


_MAX_FILTERED = 500


class MoreActions(QObject):
    """Fills the panel's menu and runs its actions.

    Signals:
        filter_requested(str, str): an expression, and its combination with the current filter (filter_menu.FilterMode).
        end_requested(): show the end of the capture.
        order_requested(bool): True for the largest first, False for the oldest.
        request_compare_requested(): compare with the previous model request.

    Attributes:
        copy, export, unmasked, requests, largest, listed, end: the actions.
    """

    filter_requested = Signal(str, str)
    end_requested = Signal()
    order_requested = Signal(bool)
    request_compare_requested = Signal()

    def __init__(
        self, menu: QMenu, context_state: ContextState, context_export: ContextExport, parent: QObject
    ) -> None:
        super().__init__(parent)
        self._menu, self._context_state, self._context_export = menu, context_state, context_export
        self.copy = self._add("copyMessages", "Copy as messages JSON", self._copy)
        self.export = self._add("exportMessages", "Export as messages JSON...", lambda: self._export(secrets=False))
        self.unmasked = self._add("exportUnmasked", "Export with secrets...", lambda: self._export(secrets=True))
        menu.addSeparator()
        self.requests = self._add(
            "compareRequests", "Compare with the previous request (R)", self.request_compare_requested.emit
        )
        self.largest = self._add("largest", "Sort largest first (S)", self._order)
        self.largest.setCheckable(True)
        self.listed = self._add("filterListed", "Filter by all listed", self._filter)
        self.end = self._add("toEnd", "Go to the end of the capture", self.end_requested.emit)
        menu.aboutToShow.connect(self._enable)

    def _add(self, name: str, words: str, act: Callable[[], object]) -> QAction:
        action = QAction(words, self)
        action.setObjectName(f"modelSees.{name}")
        action.triggered.connect(lambda: act())
        self._menu.addAction(action)
        return action

    def _enable(self) -> None:
        seen = self._context_state.seen
        for action in (self.copy, self.export, self.unmasked, self.end):
            action.setEnabled(seen.reader is not None)
        self.requests.setEnabled(seen.request_before is not None)
        self.largest.setChecked(self._context_state.by_size)
        self.listed.setEnabled(bool(filter_for(seen)))

    def _copy(self) -> None:
        shown, figures = self._context_state.shown, self._context_state.seen.figures
        if shown is not None and figures is not None:
            self._context_export.copy(shown, figures.entries)

    def _export(self, *, secrets: bool) -> None:
        shown, figures = self._context_state.shown, self._context_state.seen.figures
        if shown is not None and figures is not None:
            self._context_export.ask_for_file(shown, figures.entries, secrets=secrets)

    def _order(self) -> None:
        self.order_requested.emit(not self._context_state.by_size)

    def _filter(self) -> None:
        text = filter_for(self._context_state.seen)
        if text:
            self.filter_requested.emit(text, "replace")


def filter_for(seen: SeenContext) -> str:
    """Returns a display filter for the listed messages; "" for an empty list or one too long for the filter bar."""
    # Longer lists would exceed the filter bar.
    if not 0 < len(seen.messages) <= _MAX_FILTERED:
        return ""
    return f"no in {{{', '.join(str(message + 1) for message in seen.messages.tolist())}}}"
