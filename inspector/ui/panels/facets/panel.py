"""The facets panel of one table. Counts follow the rows with a short delay, only while visible."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping

from PySide6.QtCore import QObject, QPointF, QRect, QRectF, Qt, Signal
from PySide6.QtGui import QFocusEvent, QKeyEvent, QMouseEvent, QPainter, QPen
from PySide6.QtWidgets import QMenu, QWidget
from typing_extensions import override

from inspector.analysis import AnalysisChanges
from inspector.document.document import CaptureDocument
from inspector.filters.facets import FACETS, FacetTally, FacetValue, label_of
from inspector.filters.strings import quote
from inspector.present import formats
from inspector.present.log_topics import spoken_kinds
from inspector.protocol.kinds import short_kind
from inspector.ui import budgets
from inspector.ui.look import icons
from inspector.ui.look.theme import ThemeController
from inspector.ui.panels.facets.model import FacetRow, FacetsModel
from inspector.ui.panels.list_delegate import LEFT, RIGHT, ListDelegate
from inspector.ui.panels.list_panel import HeadedPanel
from inspector.ui.panels.pane_head import PaneHead
from inspector.ui.panels.plain_table import PlainTable
from inspector.ui.widgets.filter_menu import add_filter_actions
from inspector.ui.widgets.refresh_throttle import RefreshThrottle

_MAX_VALUES = 8
"""Maximum of displayed values of a facet: the most frequent ones; chosen ones are always displayed."""
_MAX_VALUES_OPEN = 200
_REST = 20  # pause after a count, as a multiple of its duration
_MARK = 12  # pixels at 100 %


class FacetDelegate(ListDelegate):
    """A row: checkbox, value, and count at the right."""

    def __init__(self, model: FacetsModel, theme_controller: ThemeController, parent: QObject | None = None) -> None:
        super().__init__(theme_controller, parent)
        self._model = model
        self.shows_cursor = False

    @override
    def paint_row(self, painter: QPainter, row: int, cell: QRect) -> None:
        theme, one = self._themes.theme, self._model.rows[row]
        left = cell.left() + theme.metrics.pane_padding
        right = cell.right() + 1 - theme.metrics.pane_padding
        if one.value is None:
            painter.setFont(theme.font("label" if one.is_head else "small"))
            painter.setPen(theme.color("ink.secondary" if one.is_head else "ink.tertiary"))
            indent = 0 if one.is_head else round((_MARK + 6) * theme.zoom)
            painter.drawText(QRect(left + indent, cell.top(), right - left - indent, cell.height()), LEFT, one.title)
            return
        mark = round(_MARK * theme.zoom)
        self._paint_mark(painter, one.value, QRect(left, cell.top() + (cell.height() - mark) // 2, mark, mark))
        count = formats.number(one.value.count)
        painter.setFont(theme.font("small"))
        painter.setPen(theme.color("ink.tertiary"))
        painter.drawText(QRect(left, cell.top(), right - left, cell.height()), RIGHT, count)
        taken = painter.fontMetrics().horizontalAdvance(count) + theme.metrics.cell_padding
        x = left + mark + round(6 * theme.zoom)
        ink = "ink.tertiary" if one.value.excluded or not one.value.count else "ink.primary"
        self._draw(painter, "mono-row" if one.field == "tool" else "body", ink, x, cell, one.words, right - taken - x)

    def _paint_mark(self, painter: QPainter, value: FacetValue, box: QRect) -> None:
        """Paints a checkbox: empty, checked for a chosen value, struck through for a hidden one."""
        theme = self._themes.theme
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        edge = QRectF(box).adjusted(0.5, 0.5, -0.5, -0.5)
        if value.chosen:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(theme.color("accent.fill"))
            painter.drawRoundedRect(edge, 2.5, 2.5)
            ratio = painter.device().devicePixelRatioF()
            painter.drawPixmap(box.topLeft(), icons.pixmap("check", "accent.on", box.width(), ratio))
        else:
            painter.setPen(QPen(theme.color("line.control" if value.excluded else "line.strong"), 1))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRoundedRect(edge, 2.5, 2.5)
            if value.excluded:
                middle = edge.center().y()
                painter.setPen(QPen(theme.color("severity.warning"), 1.5))
                painter.drawLine(QPointF(edge.left() + 3, middle), QPointF(edge.right() - 3, middle))
        painter.restore()


class FacetsView(PlainTable):
    """The list of facets.

    Signals:
        chosen(int, bool): a click, Enter or Space on a row; True with Alt, to hide its messages.
    """

    chosen = Signal(int, bool)

    def __init__(self, model: FacetsModel, theme_controller: ThemeController, parent: QWidget) -> None:
        super().__init__(theme_controller, parent, name="facetsList", title="Facets")
        self.make_single_column()
        self.setModel(model)
        self._delegate = FacetDelegate(model, theme_controller, self)
        self.setItemDelegate(self._delegate)
        theme_controller.changed.connect(self._on_theme_changed)
        self._on_theme_changed()

    def _on_theme_changed(self) -> None:
        metrics = self._themes.theme.metrics
        self.verticalHeader().setDefaultSectionSize(metrics.row)
        self.verticalScrollBar().setSingleStep(metrics.row)
        self.viewport().update()

    @override
    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        self._delegate.shows_cursor = event.reason() is not Qt.FocusReason.MouseFocusReason

    @override
    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        super().mouseReleaseEvent(event)
        index = self.indexAt(event.position().toPoint())
        if event.button() is Qt.MouseButton.LeftButton and index.isValid():
            self.chosen.emit(index.row(), bool(event.modifiers() & Qt.KeyboardModifier.AltModifier))

    @override
    def keyPressEvent(self, event: QKeyEvent) -> None:
        self._delegate.shows_cursor = True
        row = self.currentIndex().row()
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space) and row >= 0:
            self.chosen.emit(row, bool(event.modifiers() & Qt.KeyboardModifier.AltModifier))
        elif event.key() == Qt.Key.Key_Escape:
            self.left.emit()
        else:
            super().keyPressEvent(event)


def _label(labels: Mapping[str, str], kind: str) -> str:
    """Returns the table's word for a kind; "" in a log whose kinds are displayed themselves."""
    return labels.get(kind) or (short_kind(kind) if labels else "")


class FacetsPanel(HeadedPanel):
    """Values of some fields with their counts of visible messages.

    Signals:
        value_chosen(str, str, bool): field, value, and True to hide instead of show it.

    Attributes:
        head, model, view: its parts.
    """

    value_chosen = Signal(str, str, bool)

    def __init__(
        self, document: CaptureDocument, theme_controller: ThemeController, tally: FacetTally,
        parent: QWidget | None = None,
    ) -> None:  # fmt: skip
        super().__init__(document, "Facets", parent)
        # Without this attribute a plain QWidget ignores its background in the style sheet.
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self._tally = tally
        self._open: set[str] = set()  # facets that show all their values
        self.model = FacetsModel(self)
        self.head = PaneHead(theme_controller, "Facets", name="facetsHead", parent=self)
        self.head.add_button("clear", "Close", name="facetsClose").clicked.connect(self.close_requested)
        self.view = FacetsView(self.model, theme_controller, self)
        self.view.chosen.connect(self._on_chosen)
        self.view.menu_asked.connect(lambda row, at: self.menu_for(row).popup(at))
        self.stack(self.head, self.view)
        self.head.set_count("Alt+click hides")
        self.throttle = RefreshThrottle(self, self._count, lambda: budgets.current.lists_ms, rest=_REST)

    def view_changed(self) -> None:
        """Counts at once after a change of filter or scope."""
        self.throttle.run()

    def apply_changes(self, changes: AnalysisChanges) -> None:
        """Takes in a flush of the document. O(1)."""
        self._tally.on_changes(changes)
        self.throttle.request()

    def tick(self) -> None:
        """Updates the counts each second while live."""
        self._tally.on_clock()
        if self._tally.is_behind:
            self.throttle.request()

    def stop(self) -> None:
        """Stops reading the document."""
        self.throttle.stop()

    def _count(self) -> Iterator[int]:
        """Counts in slices, and shows the counts once they are complete."""
        while not self._tally.step(time.perf_counter() + budgets.current.background_slice_s):
            yield budgets.current.more_ms
        self._show()

    def _show(self) -> None:
        current = self.view.currentIndex().row()
        before = self.model.rows[current] if 0 <= current < len(self.model.rows) else None
        rows: list[FacetRow] = []
        for field in FACETS:
            values, more = self._tally.facet_values(field, _MAX_VALUES_OPEN if field in self._open else _MAX_VALUES)
            if values:
                rows.append(FacetRow(field, label_of(field)))
                labels = spoken_kinds(self._document) if field == "kind" else {}
                rows += [FacetRow(field, value=value, label=_label(labels, value.value)) for value in values]
            elif field in self._open:
                self._open.discard(field)
            if more:
                rows.append(FacetRow(field, f"and {more:,} more", is_more=True))
        self.model.show_rows(rows)
        self.view.set_empty_text("" if rows else "No values yet.")
        if before is not None and (place := self.model.row_of(before)) >= 0:
            self.view.setCurrentIndex(self.model.index(place, 0))

    # User input

    def _on_chosen(self, row: int, hide: bool) -> None:
        one = self.model.rows[row]
        if one.value is not None:
            self.value_chosen.emit(one.field, one.value.value, hide)
        elif one.is_more:
            self._open.add(one.field)
            self._show()

    def menu_for(self, row: int) -> QMenu:
        """Returns the context menu of a value. It deletes itself when it closes."""
        menu, one = QMenu(self), self.model.rows[row]
        menu.setObjectName("facetMenu")
        menu.setAccessibleName("Facet")
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        if one.value is not None:
            text = f"{one.field} == {quote(one.value.value)}"
            add_filter_actions(menu, text, self.filter_requested.emit)
        return menu
