"""List of waits, the longest first; requests for discovery come after all others."""

from __future__ import annotations

import enum

from PySide6.QtCore import QObject
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QHeaderView, QMenu, QWidget
from typing_extensions import override

from inspector.engine.requests.account import Wait, WaitFilter, WaitList, Waits
from inspector.present import formats
from inspector.present.rows import PRIMARY, TERTIARY, Cell, Text
from inspector.present.wire_text import tool_tip
from inspector.ui import intervals
from inspector.ui.look.theme import ThemeController
from inspector.ui.panels.list_panel import HeadedPanel
from inspector.ui.panels.pane_head import PaneHead
from inspector.ui.widgets.filter_menu import add_filter_actions
from inspector.ui.widgets.latest_answer import Client, LatestAnswer
from inspector.ui.widgets.rows.table import TableView
from inspector.ui.widgets.rows.table_model import TableModel

MOST_LISTED = 200
"""Maximum of listed waits, and of listed requests for discovery."""


class Column(enum.IntEnum):
    """Columns, left to right."""

    WHO = 0
    WHOM = 1
    WHAT = 2
    BEHIND = 3
    LONG = 4
    NO = 5


TITLES = ("Waiting", "Waits for", "Asked for", "Also blocked", "Waiting time", "No.")
_TIPS = (
    "The participant without an answer",
    "The participant asked, and if it has left; for a proposal, all participants that may decide",
    "The requested or proposed tool or method",
    "Participants that wait for the one in the first column, directly or through others",
    "Until now while traffic is live, else until the last message",
    "The request or proposal; Enter or a click goes there",
)
_NAME = 200
# The widest texts; 8 is the widest digit in most fonts.
_WIDEST = {
    Column.LONG: "88 min 88 s",
    Column.NO: "8888888",
}
_NAMES = {
    Column.WHAT: "what", Column.WHO: "who", Column.WHOM: "whom", Column.LONG: "how_long",
    Column.BEHIND: "behind_words",
}  # fmt: skip


class WaitingModel(TableModel[Wait]):
    """Rows of waits."""

    columns = Column
    titles = TITLES
    first_figure = Column.LONG

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(Column.LONG, parent)

    @override
    def key_of(self, one: Wait) -> int:
        return one.message

    @override
    def in_order(self, rows: list[Wait], column: Column, *, descending: bool) -> list[Wait]:
        def value(one: Wait) -> tuple[int, str]:
            if column is Column.LONG:
                return (-1 if one.waited_ns is None else one.waited_ns), ""
            return (one.message, "") if column is Column.NO else (0, self.text(one, column).casefold())

        ordered = sorted(rows, key=value, reverse=descending)
        # Stable sort: discovery requests come last in any order.
        return sorted(ordered, key=lambda one: one.discovery)

    @override
    def tip(self, one: Wait) -> str:
        return tool_tip(one.sentence)

    @override
    def text(self, one: Wait, column: Column) -> str:
        return str(one.message + 1) if column is Column.NO else getattr(one, _NAMES[column])

    @override
    def cell(self, one: Wait, column: Column) -> Cell:
        ink = TERTIARY if one.discovery else PRIMARY
        if column is Column.NO:
            ink = "accent.text"
        elif column is Column.LONG and one.is_long:
            ink = "severity.warning"
        font = "mono-row" if column is Column.WHAT else "figure" if self.is_figure(column) else "body"
        return (Text(self.text(one, column), font, ink, link=column is Column.NO),)

    @override
    def heading_tip(self, column: int) -> str:
        return _TIPS[column]


class WaitingView(TableView):
    """The table of waits."""

    click_enters = True

    def __init__(self, model: WaitingModel, themes: ThemeController, parent: WaitingPanel) -> None:
        super().__init__(model, themes, parent, name="waiting", widths=_WIDEST)
        self._model = model
        self._panel = parent
        self.clicked.connect(lambda index: self.enter_row(index.row()))

    @override
    def use_theme(self) -> None:
        super().use_theme()
        heads = self.horizontalHeader()
        for column in (Column.WHO, Column.WHOM, Column.BEHIND):
            heads.setSectionResizeMode(column, QHeaderView.ResizeMode.Fixed)
        heads.setSectionResizeMode(Column.WHAT, QHeaderView.ResizeMode.Stretch)
        self._share_room()

    @override
    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._share_room()

    def _share_room(self) -> None:
        """Gives names their usual width, or equal shares of a narrow view, so that figures are never elided."""
        heads = self.horizontalHeader()
        room = self.viewport().width() - sum(heads.sectionSize(column) for column in (Column.LONG, Column.NO))
        width = max(heads.minimumSectionSize(), min(round(_NAME * self._themes.theme.zoom), room // 4))
        for column in (Column.WHO, Column.WHOM, Column.BEHIND):
            heads.resizeSection(column, width)

    @override
    def enter_row(self, row: int) -> None:
        self._panel.message_requested.emit(self._model.rows[row].message)

    @override
    def fill_menu(self, menu: QMenu, row: int) -> None:
        message = self._model.rows[row].message
        go = menu.addAction(f"Go to {formats.message_number(message)}")
        go.triggered.connect(lambda: self._panel.message_requested.emit(message))
        menu.addSeparator()
        add_filter_actions(menu, self._panel.client.answer_now(WaitFilter(message)), self.filter_requested.emit)


class WaitingPanel(HeadedPanel):
    """The waits of one document, up to date while visible.

    Attributes:
        client: asks the engine.
        head, model, view: its parts.
        latest: the waits.
    """

    def __init__(self, client: Client, theme_controller: ThemeController, parent: QWidget | None = None) -> None:
        super().__init__("Waiting", parent)
        self.client = client
        self.model = WaitingModel(self)
        self.head = PaneHead(theme_controller, "Waiting", name="waitingHead", parent=self)
        self.head.add_button("clear", "Close", name="waitingClose").clicked.connect(self.close_requested)
        self.view = WaitingView(self.model, theme_controller, self)
        self.view.set_empty_text("Computing waits.")
        self.view.filter_requested.connect(self.filter_requested)
        self.stack(self.head, self.view)
        self.latest = LatestAnswer(
            self, client, lambda: Waits(MOST_LISTED), self._show, every_ms=lambda: intervals.FIGURES_MS
        )

    def tick(self) -> None:
        """Updates the waiting times once a second while messages arrive."""
        if self.latest.answer is not None and self.latest.answer.is_arriving:
            self.latest.invalidate()

    def stop(self) -> None:
        """Ends all requests."""
        self.latest.stop()

    def _show(self, found: WaitList) -> None:
        rows = found.waits
        self.model.take_rows(rows)
        quiet = sum(one.discovery for one in rows)
        more = "" if max(quiet, len(rows) - quiet) < MOST_LISTED else " or more"
        asking = f", {quiet:,} of them discovery requests" if quiet else ""
        self.head.set_count(f"{formats.count_of(len(rows), 'wait')}{more}{asking}" if rows else "")
        self.view.set_empty_text("No participant waits for an answer or a decision.")
        self.view.viewport().update()
