"""The waste panel: head, list, and how it is looked for: in slices of a few milliseconds, and only while seen."""

from __future__ import annotations

import time
from collections.abc import Iterator

from PySide6.QtCore import QTimer
from PySide6.QtGui import QAction, QHideEvent, QShowEvent
from PySide6.QtWidgets import QWidget
from typing_extensions import override

from inspector.analysis import Changes
from inspector.analysis.waste import Found, WasteFinder
from inspector.document.document import CaptureDocument
from inspector.filters.visible import VisibleRows
from inspector.tokens.counter import TOKENIZER
from inspector.ui import budgets
from inspector.ui.look.theme import ThemeController
from inspector.ui.panels.list_head import ListHead
from inspector.ui.panels.list_panel import ListPanel
from inspector.ui.panels.list_view import ListView
from inspector.ui.panels.waste.delegate import WasteDelegate
from inspector.ui.panels.waste.menu import WasteMenu
from inspector.ui.panels.waste.model import WasteModel, filter_for
from inspector.ui.widgets.refresh_throttle import RefreshThrottle

NOTHING = "Nothing wasted, as far as can be told."
COUNTING = "Tokens are being counted."
NOT_COUNTED = "Tokens are not counted: the settings say so, under Display."
LOOKING = "Looking for what could be spared."
EMPTY = "There are no messages yet."
NONE_SURE = "Nothing of it is certain. The menu above lists the rest."
_REST = 20


class WastePanel(ListPanel):
    """What of the context windows in one document could have been spared.

    Attributes:
        head, view, model: what it is made of.
        found: what was found last; None before.
    """

    def __init__(
        self,
        document: CaptureDocument,
        theme_controller: ThemeController,
        rows: VisibleRows,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(document, rows, "Waste", parent)
        self._counting = True
        self._ongoing = False
        self.found: Found | None = None
        self.model = WasteModel(rows, self)
        self.head = ListHead(theme_controller, "Waste", name="waste", parent=self)
        self.view = ListView(self.model, theme_controller, name="wasteList", title="Waste", parent=self)
        self.view.setItemDelegate(WasteDelegate(self.model, theme_controller, self.view))
        self.throttle = RefreshThrottle(
            self,
            self._find_waste,
            lambda: budgets.current.waste_rest_s * 1000,
            rest=_REST,
            shown_ms=0,
            ready=lambda: self._ready,
        )
        self._settling = QTimer(self)
        self._settling.setSingleShot(True)
        self._settling.timeout.connect(self._look_when_over)
        self._fill_menu()
        self._connect()
        self.say()

    def _fill_menu(self) -> None:
        menu = self.head.menu
        self._sure_only = QAction("Only what is certain", self)
        self._sure_only.setObjectName("sureOnly")
        self._sure_only.setCheckable(True)
        self._sure_only.toggled.connect(self._list)
        self._filter = QAction("Show these messages alone in the table", self)
        self._filter.setObjectName("filterWaste")
        self._filter.triggered.connect(self._filter_all)
        for action in (self._sure_only, self._filter):
            menu.addAction(action)

    def _connect(self) -> None:
        self.put_together(self.head, self.view, self.model)

    # What the window says

    def apply_changes(self, changes: Changes) -> None:
        """Take in a flush of the document: what came, and what was counted. O(1)."""
        self.throttle.stale |= changes.stop > changes.start or len(changes.changed) > 0
        self._request_if_stale()

    def _request_if_stale(self) -> None:
        if self.throttle.stale and self.isVisible():
            self.throttle.request_if_stale()
            self.say()

    def apply_view(self) -> None:
        """The table may show other messages now."""
        self.view.viewport().update()

    def set_counting(self, wanted: bool) -> None:
        """Whether tokens are counted at all."""
        self._counting = wanted
        self.say()

    def stop(self) -> None:
        """Look no further."""
        self.throttle.stop()
        self._settling.stop()

    # Looking for it

    @override
    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self.say()

    @override
    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self.throttle.stale |= self._ongoing
        self._settling.stop()

    @property
    def _ready(self) -> bool:
        """Whether all is counted, or as much as will be while traffic goes on."""
        tokens = self._document.analysis.tokens
        return tokens.done or (self._document.arriving and tokens.counted > 0)

    def _find_waste(self) -> Iterator[int]:
        document = self._document
        self._ongoing = document.may_go_on
        # Where nothing has come for a while the traffic does not tell what time it is.
        now_ns = time.time_ns() if self._ongoing and not document.arriving else None
        finder = WasteFinder(document.analysis, ongoing=self._ongoing, now_ns=now_ns)
        while not finder.go_on(time.perf_counter() + budgets.current.background_slice_s):
            yield 0
        self.found = finder.found
        self._list()
        if self._ongoing:
            self._settling.start(budgets.current.waste_poll_ms)

    def _look_when_over(self) -> None:
        """What may still have been consumed while traffic went on is judged once it is over."""
        if self._document.may_go_on:
            self._settling.start(budgets.current.waste_poll_ms)
            return
        self.throttle.stale = True
        self._request_if_stale()

    def _list(self) -> None:
        wastes = self.found.wastes if self.found is not None else ()
        sure_only = self._sure_only.isChecked()
        self.model.show_wastes([one for one in wastes if one.sure or not sure_only])

    @override
    def say(self) -> None:
        found, listed = self.found, self.model.rows.wastes
        self.head.count_things(len(listed), "case")
        self.head.say(self._sum_words(found) if found is not None else "", "")
        self._filter.setEnabled(bool(listed))
        self.view.set_empty_text("" if listed else self._empty_words())

    def _sum_words(self, found: Found) -> str:
        words: list[str] = []
        if found.wastes:
            perhaps = found.tokens - found.sure_tokens
            part = f", {perhaps:,} of them perhaps" if perhaps and found.sure_tokens else ", perhaps" if perhaps else ""
            words.append(f"{found.tokens:,} tokens could be spared{part}; estimate ({TOKENIZER}).")
        return " ".join((*words, *found.notes))

    def _empty_words(self) -> str:
        if not len(self._document.analysis):
            return EMPTY
        if self.found is not None:
            return NONE_SURE if self.found.wastes else NOTHING
        return LOOKING if self._ready else COUNTING if self._counting else NOT_COUNTED

    # What the user does

    @override
    def go_to_row(self, row: int) -> bool:
        self.message_requested.emit(self.model.rows.wastes[row].message)
        return True

    @override
    def row_text(self, row: int) -> str:
        return self.model.line(row).copied

    def _filter_all(self) -> None:
        self.filter_requested.emit(filter_for(self.model.rows.wastes), "replace")

    @override
    def menu_for(self, row: int) -> WasteMenu:
        """The context menu of a row; it deletes itself when it closes."""
        menu = WasteMenu(self.model.rows.wastes[row], self)
        menu.message_chosen.connect(self.message_requested)
        menu.filter_chosen.connect(self.filter_requested)
        menu.aboutToHide.connect(menu.deleteLater)
        return menu
