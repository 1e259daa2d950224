"""The waste panel: head, list, row delegate and context menu. `figures` does the search."""

from __future__ import annotations

from PySide6.QtCore import QObject, QRect, Signal
from PySide6.QtGui import QAction, QGuiApplication, QHideEvent, QPainter, QPaintEvent, QShowEvent
from PySide6.QtWidgets import QMenu, QVBoxLayout, QWidget
from typing_extensions import override

from inspector.analysis import AnalysisChanges
from inspector.analysis.views.waste import Waste, WasteKind, WasteReport
from inspector.document.document import CaptureDocument
from inspector.filters.visible import VisibleRows
from inspector.present import formats
from inspector.present.account_sentences import spared_words
from inspector.present.token_facts import reported_words
from inspector.settings import Settings
from inspector.tokens.counter import TOKENIZER
from inspector.ui.look import icons
from inspector.ui.look.theme import ThemeController
from inspector.ui.panels.list_delegate import GAP, LEFT, RIGHT, ListDelegate
from inspector.ui.panels.list_head import ListHead
from inspector.ui.panels.list_panel import ListPanel
from inspector.ui.panels.list_view import ListView
from inspector.ui.panels.waste.figures import WasteFigures
from inspector.ui.panels.waste.model import PERHAPS, WasteModel, filter_for, waste_line
from inspector.ui.widgets.filter_menu import add_filter_actions

_KIND_FROM, _TOOL_FROM, _ROOMY_FROM = 440, 680, 1150
"""Minimum widths at 100 % for the kind, the tool and a longer tool. Tokens and sentence have priority."""
_TOOL, _LONG_TOOL = 130, 220
_ADVICE_FROM = 160
"""Minimum width at 100 % for the advice."""
_WIDEST = "8,888,888"


class WasteDelegate(ListDelegate):
    """A row of the waste panel."""

    def __init__(self, model: WasteModel, theme_controller: ThemeController, parent: QObject | None = None) -> None:
        super().__init__(theme_controller, parent)
        self._model = model

    @override
    def paint_row(self, painter: QPainter, row: int, cell: QRect) -> None:
        line, places = self._model.line(row), self.places(cell)
        gap, hidden = round(GAP * self._zoom), not self._model.is_shown(row)
        painter.setFont(self._fonts["number"])
        # Certain cases stand out; likely ones are dimmed.
        ink = "ink.tertiary" if hidden else "ink.primary" if line.sure else "ink.secondary"
        painter.setPen(self._themes.theme.color(ink))
        painter.drawText(places["Tokens"], RIGHT, line.tokens)
        if "Kind" in places:
            self._paint_kind(painter, row, places["Kind"].left(), cell)
        x, number = places["Case"].left(), self.number_left(cell)
        tool = places["By"].left() if "By" in places else number
        ink = "ink.tertiary" if hidden else "ink.primary"
        drawn = self._draw(painter, "body", ink, x, cell, line.sentence, tool - gap - x)
        rest = tool - 2 * gap - x - drawn
        if rest >= round(_ADVICE_FROM * self._zoom):  # the tooltip has the advice in any case
            self._draw(painter, "body", "ink.tertiary", x + drawn + gap, cell, line.advice, rest)
        if tool < number:
            role = "mono-row" if line.mono else "body"
            self._draw(painter, role, "ink.tertiary" if hidden else "ink.secondary", tool, cell, line.about,
                       number - gap - tool)  # fmt: skip
        self.draw_number(painter, cell, line.number)

    def places(self, cell: QRect) -> dict[str, QRect]:
        """Returns the boxes of the columns in a row by title. Some columns need a minimum width."""
        zoom, width = self._zoom, cell.width()
        gap, figures = round(GAP * zoom), self._metrics["number"].horizontalAdvance(_WIDEST)
        x = cell.left() + self._themes.theme.metrics.pane_padding
        number = self.number_left(cell)
        wide = _LONG_TOOL if width >= _ROOMY_FROM * zoom else _TOOL
        tool = number - (round(wide * zoom) if width >= _TOOL_FROM * zoom else 0)
        spans = {"Tokens": (x, figures)}
        x += figures + 2 * gap
        if width >= _KIND_FROM * zoom:
            spans["Kind"] = (x, self._kind_width())
            x += self._kind_width() + 2 * gap
        spans["Case"] = (x, tool - gap - x)
        if tool < number:
            spans["By"] = (tool, number - gap - tool)
        spans["No."] = (number, cell.right() + 1 - self._themes.theme.metrics.pane_padding - number)
        return {title: QRect(left, cell.top(), room, cell.height()) for title, (left, room) in spans.items()}

    def _paint_kind(self, painter: QPainter, row: int, x: int, cell: QRect) -> None:
        line, hidden = self._model.line(row), not self._model.is_shown(row)
        room = self._kind_width()
        x += self._draw(painter, "body", "ink.tertiary" if hidden else "ink.secondary", x, cell, line.kind, room)
        if not line.sure:
            x += round(6 * self._zoom)
            self._draw(
                painter,
                "small",
                "ink.tertiary",
                x,
                cell,
                PERHAPS,
                self._metrics["small"].horizontalAdvance(PERHAPS) + 2,
            )

    def _kind_width(self) -> int:
        words = max(self._metrics["body"].horizontalAdvance(kind.value) for kind in WasteKind)
        return words + round(8 * self._zoom) + self._metrics["small"].horizontalAdvance(PERHAPS)


class WasteHeads(QWidget):
    """Column heads above the list."""

    def __init__(
        self, delegate: WasteDelegate, view: ListView, theme_controller: ThemeController, parent: QWidget
    ) -> None:
        super().__init__(parent)
        self.setObjectName("wasteHeads")
        self.setAccessibleName("Columns: tokens, kind, case, by, number")
        self._delegate = delegate
        self._view = view
        self._themes = theme_controller
        theme_controller.changed.connect(self._on_theme_changed)
        self._on_theme_changed()

    def _on_theme_changed(self) -> None:
        self.setFixedHeight(self._themes.theme.metrics.column_head)
        self.update()

    @override
    def paintEvent(self, event: QPaintEvent) -> None:
        theme = self._themes.theme
        painter = QPainter(self)
        painter.fillRect(self.rect(), theme.color("surface.base"))
        painter.fillRect(0, self.height() - 1, self.width(), 1, theme.color("line.hair"))
        painter.setFont(theme.font("column"))
        painter.setPen(theme.color("ink.secondary"))
        row = QRect(0, 0, self._view.viewport().width(), self.height())
        for title, box in self._delegate.places(row).items():
            painter.drawText(box, RIGHT if title in ("Tokens", "No.") else LEFT, title)


_MAX_GO_ACTIONS = 5


class WasteMenu(QMenu):
    """Context menu of a row.

    Signals:
        message_chosen(int): go to this message.
        filter_chosen(str, str): an expression and its way of joining the active filter (`filter_menu.FilterMode`).
    """

    message_chosen = Signal(int)
    filter_chosen = Signal(str, str)

    def __init__(self, one: Waste, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("wasteMenu")
        self.setAccessibleName("Waste")
        line = waste_line(one)
        for row in one.messages[:_MAX_GO_ACTIONS]:
            self._add(f"go.{row}", f"Go to {formats.message_number(row)}", row)
        self.addSeparator()
        add_filter_actions(self, filter_for([one]), self.filter_chosen.emit)
        self.addSeparator()
        self._add("copy", "Copy row", line.copied).setIcon(icons.icon("copy"))
        self._add("copy.sentence", "Copy sentence", line.sentence)
        self.triggered.connect(self._on_triggered)

    def _add(self, name: str, title: str, data: int | str) -> QAction:
        action = self.addAction(title)
        action.setObjectName(name)
        action.setData(data)
        return action

    def _on_triggered(self, action: QAction) -> None:
        data = action.data()
        if isinstance(data, int):
            self.message_chosen.emit(data)
        elif isinstance(data, str):
            QGuiApplication.clipboard().setText(data)


NOTHING = "No avoidable tokens found."
COUNTING = "Tokens are being counted."
NOT_COUNTED = "Token counting is off. Turn it on in Settings > Display."
LOOKING = "Looking for avoidable tokens."
EMPTY = "There are no messages yet."
NONE_SURE = "No case is certain. The menu above lists the likely ones."


class WastePanel(ListPanel):
    """Avoidable tokens in the context windows of one document.

    Attributes:
        head, heads, view, model: its parts.
    """

    def __init__(
        self,
        document: CaptureDocument,
        theme_controller: ThemeController,
        rows: VisibleRows,
        figures: WasteFigures,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(document, rows, "Waste", parent)
        self._counting = True
        self._figures = figures
        figures.renewed.connect(self._list)
        self.model = WasteModel(rows, self)
        self.head = ListHead(theme_controller, "Waste", name="waste", parent=self)
        self.view = ListView(self.model, theme_controller, name="wasteList", title="Waste", parent=self)
        delegate = WasteDelegate(self.model, theme_controller, self.view)
        self.view.setItemDelegate(delegate)
        self.heads = WasteHeads(delegate, self.view, theme_controller, self)
        self._fill_menu()
        self._connect()
        self._list()

    def _fill_menu(self) -> None:
        menu = self.head.menu
        self._sure_only = QAction("Certain cases only", self)
        self._sure_only.setObjectName("sureOnly")
        self._sure_only.setCheckable(True)
        self._sure_only.toggled.connect(self._list)
        self._filter = QAction("Filter by these messages", self)
        self._filter.setObjectName("filterWaste")
        self._filter.triggered.connect(self._filter_all)
        for action in (self._sure_only, self._filter):
            menu.addAction(action)

    def _connect(self) -> None:
        self.put_together(self.head, self.view, self.model)
        layout = self.layout()
        assert isinstance(layout, QVBoxLayout)
        layout.insertWidget(1, self.heads)

    # Calls of the window

    @property
    def found(self) -> WasteReport | None:
        """The last result; None before the first search has ended."""
        return self._figures.found

    def apply_changes(self, changes: AnalysisChanges) -> None:
        """Takes in a flush of the document. O(1)."""
        if self.isVisible() and self.found is None:
            self.update_texts()

    def apply_view(self) -> None:
        """Repaints the rows after a change of the filter."""
        self.view.viewport().update()

    def apply_settings(self, settings: Settings) -> None:
        """Applies the setting for counting tokens."""
        self._counting = settings.display.count_tokens
        self.update_texts()

    def stop(self) -> None:
        """Stops the search."""
        self._figures.stop()

    @override
    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._figures.set_seen(True)
        self.update_texts()

    @override
    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self._figures.set_seen(False)

    def _list(self) -> None:
        wastes = self.found.wastes if self.found is not None else ()
        sure_only = self._sure_only.isChecked()
        self.model.show_wastes([one for one in wastes if one.sure or not sure_only])

    @override
    def update_texts(self) -> None:
        found, listed = self.found, self.model.rows.wastes
        self.head.count_things(len(listed), "case")
        self.head.show_hint(self._sum_words(found) if found is not None else "", "")
        self.heads.setVisible(bool(listed))
        self._filter.setEnabled(bool(listed))
        self.view.set_empty_text("" if listed else self._empty_words())

    def _sum_words(self, found: WasteReport) -> str:
        words = [f"{spared_words(found)}; estimate ({TOKENIZER})."] if found.wastes else []
        words += [f"{reported_words(found.reported)}."] if found.wastes and found.reported is not None else []
        return " ".join((*words, *found.notes))

    def _empty_words(self) -> str:
        if not len(self._document.analysis):
            return EMPTY
        if self.found is not None:
            return NONE_SURE if self.found.wastes else NOTHING
        return LOOKING if self._figures.ready else COUNTING if self._counting else NOT_COUNTED

    # User input

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
        """Returns the context menu of a row. It deletes itself when it closes."""
        menu = WasteMenu(self.model.rows.wastes[row], self)
        menu.message_chosen.connect(self.message_requested)
        menu.filter_chosen.connect(self.filter_requested)
        menu.aboutToHide.connect(menu.deleteLater)
        return menu
