"""Table of sources: state, format, counts and clock offset; requests to add and remove sources."""

from __future__ import annotations

import enum

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtWidgets import QHeaderView, QMenu, QWidget
from typing_extensions import override

from inspector.engine.requests.filters import quote
from inspector.engine.requests.source_rows import ClockBasis, DescribeSources, SourceRow
from inspector.present import formats
from inspector.present.rows import SECONDARY, Cell, Spot, Text
from inspector.present.wire_text import safe_line, tool_tip
from inspector.ui import intervals
from inspector.ui.look.theme import ThemeController
from inspector.ui.panels.list_panel import HeadedPanel
from inspector.ui.panels.pane_head import PaneHead
from inspector.ui.widgets.filter_menu import add_filter_actions
from inspector.ui.widgets.latest_answer import Client, LatestAnswer
from inspector.ui.widgets.rows.table import TableView
from inspector.ui.widgets.rows.table_model import TableModel

_STATE_TOKENS = {"failed": "severity.error", "left out": "severity.warning", "live": "badge.consumed"}


class Column(enum.IntEnum):
    """Columns, left to right."""

    NAME = 0
    STATE = 1
    FORMAT = 2
    RECORDS = 3
    SHARED = 4
    CLOCK = 5


TITLES = ("Source", "State", "Format", "Records", "Shared", "Clock")
_TIPS = (
    "The file, and the colour of its messages",
    "Complete, followed as it grows, or live",
    "Format of most lines",
    "Records read",
    "Messages that are also in another source",
    "Offset added to its times to align it with the others; Enter sets it",
)
_WIDEST = {
    Column.STATE: "being read", Column.FORMAT: 180, Column.RECORDS: "88,888,888", Column.SHARED: "88,888,888",
    Column.CLOCK: "+88 min 88 s (estimated)",
}  # fmt: skip


class SourcesModel(TableModel[SourceRow]):
    """Rows of sources."""

    columns = Column
    titles = TITLES
    first_figure = Column.RECORDS

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(Column.NAME, parent)

    @override
    def key_of(self, one: SourceRow) -> int:
        return one.place

    @override
    def in_order(self, rows: list[SourceRow], column: Column, *, descending: bool) -> list[SourceRow]:
        def value(one: SourceRow) -> tuple[int, str]:
            if column is Column.NAME:
                return one.place, ""
            figures = {Column.RECORDS: one.records, Column.SHARED: one.shared, Column.CLOCK: one.offset_ns}
            return figures.get(column, 0), self.text(one, column).casefold()

        return sorted(rows, key=value, reverse=descending)

    @override
    def tip(self, one: SourceRow) -> str:
        return tool_tip(f"{one.path}\n{one.trouble}".strip())

    @override
    def text(self, one: SourceRow, column: Column) -> str:
        texts = {
            Column.NAME: safe_line(one.name, 200), Column.STATE: one.state, Column.FORMAT: one.format,
            Column.RECORDS: f"{one.records:,}", Column.SHARED: f"{one.shared:,}" if one.shared else "",
            Column.CLOCK: one.offset,
        }  # fmt: skip
        return texts[column]

    @override
    def cell(self, one: SourceRow, column: Column) -> Cell:
        text = self.text(one, column)
        if column is Column.NAME:
            return Spot(one.token), Text(text, "mono-row", elide="middle")
        ink = _STATE_TOKENS.get(one.state, SECONDARY) if column is Column.STATE else SECONDARY
        return (Text(text, "figure" if self.is_figure(column) else "body", ink),)

    @override
    def heading_tip(self, column: int) -> str:
        return _TIPS[column]


class SourcesView(TableView):
    """The table of sources.

    Signals:
        offset_requested(object): set the clock of a source (its row).
        estimate_requested(object): estimate its clock from shared messages again.
        remove_requested(object): remove it.
    """

    offset_requested = Signal(object)
    estimate_requested = Signal(object)
    remove_requested = Signal(object)
    gives_way = (Column.SHARED, Column.FORMAT, Column.RECORDS)

    def __init__(self, model: SourcesModel, themes: ThemeController, parent: QWidget | None = None) -> None:
        super().__init__(model, themes, parent, name="sources", widths=_WIDEST)
        self._model = model
        self.sortByColumn(Column.NAME, Qt.SortOrder.AscendingOrder)

    @override
    def use_theme(self) -> None:
        super().use_theme()
        heads = self.horizontalHeader()
        heads.setSectionResizeMode(Column.NAME, QHeaderView.ResizeMode.Stretch)

    @override
    def enter_row(self, row: int) -> None:
        # A single source has no other clock to align with.
        if len(self._model.rows) > 1:
            self.offset_requested.emit(self._model.rows[row])

    @override
    def fill_menu(self, menu: QMenu, row: int) -> None:
        one, several = self._model.rows[row], len(self._model.rows) > 1
        add_filter_actions(menu, f"source == {quote(one.name)}", self.filter_requested.emit)
        seen = menu.addAction("Filter by all messages in it")
        seen.triggered.connect(lambda: self.filter_requested.emit(f"seen_by == {quote(one.name)}", "replace"))
        menu.addSeparator()
        clock = menu.addAction("Set clock offset...")
        clock.setEnabled(several)
        clock.triggered.connect(lambda: self.offset_requested.emit(one))
        estimate = menu.addAction("Estimate clock offset")
        estimate.setEnabled(one.clock is ClockBasis.SET_BY_USER)
        estimate.triggered.connect(lambda: self.estimate_requested.emit(one))
        menu.addSeparator()
        remove = menu.addAction("Remove source")
        remove.setEnabled(several and one.state != "live")
        remove.triggered.connect(lambda: self.remove_requested.emit(one))


class SourcesPanel(HeadedPanel):
    """The sources of one document.

    Signals:
        add_requested(): add a source.
        save_requested(): save a list of the sources.

    Attributes:
        head, model, view: its parts.
    """

    add_requested = Signal()
    save_requested = Signal()

    def __init__(self, client: Client, theme_controller: ThemeController, parent: QWidget | None = None) -> None:
        super().__init__("Sources", parent)
        self.model = SourcesModel(self)
        self.head = PaneHead(theme_controller, "Sources", name="sourcesHead", parent=self)
        self.head.add_button("add", "Add a source", name="sourcesAdd").clicked.connect(self.add_requested)
        self.head.add_button("recording", "Save a list of the sources", name="sourcesSave").clicked.connect(
            self.save_requested
        )
        self.head.add_button("clear", "Close", name="sourcesClose").clicked.connect(self.close_requested)
        self.view = SourcesView(self.model, theme_controller, self)
        self.view.filter_requested.connect(self.filter_requested)
        self.stack(self.head, self.view)
        self.latest: LatestAnswer[list[SourceRow]] = LatestAnswer(
            self, client, DescribeSources, self._show, every_ms=lambda: intervals.FIGURES_MS
        )

    def stop(self) -> None:
        """Ends all requests."""
        self.latest.stop()

    def _show(self, rows: list[SourceRow]) -> None:
        self.model.take_rows(rows)
        self.view.leave_out(set() if any(one.shared for one in rows) else {int(Column.SHARED)})
        self.head.set_count(formats.count_of(len(rows), "source"))
        self.view.set_empty_text("No sources.")
        self.view.viewport().update()
