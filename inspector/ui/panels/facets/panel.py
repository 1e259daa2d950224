"""The facets panel of one table. Counts follow the rows with a short delay, only while visible."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QMenu, QWidget

from inspector.engine.requests.facets import CountFacets, FacetCounts
from inspector.present.rows import ListedRows
from inspector.ui import intervals
from inspector.ui.look.theme import ThemeController
from inspector.ui.panels.facets.rows import LAYOUT, FacetRow, facet_spec
from inspector.ui.panels.list_panel import HeadedPanel
from inspector.ui.panels.pane_head import PaneHead
from inspector.ui.widgets.filter_menu import add_filter_actions
from inspector.ui.widgets.latest_answer import Client, LatestAnswer
from inspector.ui.widgets.rows.model import RowsModel
from inspector.ui.widgets.rows.view import RowsView

_REST = 20  # pause after a count, as a multiple of its duration


class FacetsPanel(HeadedPanel):
    """Values of some fields with their counts of visible messages.

    Signals:
        value_chosen(str, str, bool): field, value, and True to hide instead of show it.

    Attributes:
        head, model, view: its parts.
        rows: the listed facets and values.
        latest: the counts.
    """

    value_chosen = Signal(str, str, bool)

    def __init__(
        self, client: Client, theme_controller: ThemeController, question: Callable[[tuple[str, ...]], CountFacets],
        parent: QWidget | None = None,
    ) -> None:  # fmt: skip
        """Creates the panel.

        Args:
            client: asks the engine.
            theme_controller: gives the look.
            question: returns the request for the present view, with these facets opened.
            parent: owner.
        """
        super().__init__("Facets", parent)
        # Without this attribute a plain QWidget ignores its background in the style sheet.
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self._open: set[str] = set()  # facets that show all their values
        self.rows: list[FacetRow] = []
        self.model = RowsModel(ListedRows(LAYOUT), self)
        self.head = PaneHead(theme_controller, "Facets", name="facetsHead", parent=self)
        self.head.add_button("clear", "Close", name="facetsClose").clicked.connect(self.close_requested)
        self.view = RowsView(
            self.model, theme_controller, name="facetsList", title="Facets", parent=self, toggles="row"
        )
        self.view.toggled.connect(self._on_chosen)
        self.view.menu_asked.connect(lambda row, at: self.menu_for(row).popup(at))
        self.stack(self.head, self.view)
        self.head.set_count("Alt+click hides")
        self.latest = LatestAnswer(
            self, client, lambda: question(tuple(sorted(self._open))), self._show,
            every_ms=lambda: intervals.LISTS_MS, rest=_REST,
        )  # fmt: skip

    def view_changed(self) -> None:
        """Counts at once after a change of filter or scope."""
        self.latest.request_now()

    def tick(self) -> None:
        """Updates the counts each second while live."""
        if self.latest.answer is not None and self.latest.answer.follows_clock:
            self.latest.invalidate()

    def stop(self) -> None:
        """Ends all requests."""
        self.latest.stop()

    def _show(self, counts: FacetCounts) -> None:
        rows: list[FacetRow] = []
        for facet in counts.facets:
            rows.append(FacetRow(facet.field, facet.label))
            rows += [FacetRow(facet.field, value=value) for value in facet.values]
            if facet.more:
                rows.append(FacetRow(facet.field, f"and {facet.more:,} more", is_more=True))
        self._open &= {facet.field for facet in counts.facets}
        self.rows = rows
        self.model.show_rows(LAYOUT, [facet_spec(row) for row in rows])
        self.view.set_empty_text("" if rows else "No values yet.")

    # User input

    def _on_chosen(self, row: int, hide: bool) -> None:
        one = self.rows[row]
        if one.value is not None:
            self.value_chosen.emit(one.field, one.value.value, hide)
        elif one.is_more:
            self._open.add(one.field)
            self.latest.request_now()

    def menu_for(self, row: int) -> QMenu:
        """Returns the context menu of a value. It deletes itself when it closes."""
        menu, one = QMenu(self), self.rows[row]
        menu.setObjectName("facetMenu")
        menu.setAccessibleName("Facet")
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        if one.value is not None:
            add_filter_actions(menu, one.value.filter, self.filter_requested.emit)
        return menu
