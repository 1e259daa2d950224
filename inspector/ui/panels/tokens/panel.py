"""The tokens panel: head, table, and a plot in a wide panel. Updated once a second at most and only while visible."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QRect, Qt, Signal
from PySide6.QtGui import QColor, QFont, QFontMetrics, QMouseEvent, QPainter, QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QMenu, QWidget
from typing_extensions import override

from inspector.analysis import AnalysisChanges
from inspector.analysis.views.summaries.token_shares import Grouping, Sums, sum_in_steps, with_descendants
from inspector.analysis.views.timeline.message_positions import MessageOrder, MessagePlaces, MessageTimes
from inspector.analysis.views.timeline.range_condition import number_condition, time_condition
from inspector.base.slices import SlicedWork, run_until
from inspector.document.document import CaptureDocument
from inspector.filters.visible import VisibleRows
from inspector.present import formats
from inspector.present.token_facts import incomplete_words, reported_words
from inspector.tokens.counter import TOKENIZER
from inspector.ui import budgets
from inspector.ui.look.theme import Theme, ThemeController
from inspector.ui.panels.details.section import SegmentButton, Segments
from inspector.ui.panels.figures_table import FiguresTable
from inspector.ui.panels.list_panel import HeadedPanel
from inspector.ui.panels.pane_head import PaneHead
from inspector.ui.panels.plot_choices import PlotChoices
from inspector.ui.panels.timeline.axis import TimeAxis
from inspector.ui.panels.tokens.model import COLORS, FILL_ALPHA, Column, TokenRow, TokensModel, colors_of, rows_of
from inspector.ui.widgets.filter_menu import add_filter_actions
from inspector.ui.widgets.refresh_throttle import RefreshThrottle

if TYPE_CHECKING:
    from inspector.ui.panels.growth.canvas import PlotCanvas
    from inspector.ui.panels.tokens.over_time import OverTimeFigure

_BAR_PX = 96
"""Width of a bar for all tokens, pixels at 100 %."""
_WIDTHS = {
    Column.BAR: _BAR_PX, Column.TOKENS: "888,888,888", Column.SHARE: "88.8 %", Column.MESSAGES: "88,888,888",
}  # fmt: skip
_ELIDED = Qt.TextElideMode.ElideRight


class TokensView(FiguresTable):
    """The table of tokens.

    Signals:
        sees_requested(int): show the model context of a participant; string id of the name.
    """

    sees_requested = Signal(int)

    def __init__(self, model: TokensModel, themes: ThemeController, parent: QWidget | None = None) -> None:
        super().__init__(model, themes, parent, name="tokens", widths=_WIDTHS)
        self._model = model

    # Painting

    @override
    def paint_cell(self, painter: QPainter, box: QRect, index: QModelIndex | QPersistentModelIndex) -> None:
        column, one = self.column_at(index), self._model.rows[index.row()]
        if column is Column.BAR:
            self._paint_bar(painter, box, one)
        elif column is Column.NAME:
            self._paint_name(painter, box, one, self.name_font(mono=one.mono))
        else:
            painter.setFont(self.name_font(mono=False))
            painter.setPen(self._themes.theme.color("ink.primary" if column is Column.TOKENS else "ink.secondary"))
            side = int(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
            painter.drawText(box, side, str(index.data() or ""))

    def _paint_name(self, painter: QPainter, box: QRect, one: TokenRow, font: QFont) -> None:
        """Paints the name, and its parent if there is space."""
        theme, metrics = self._themes.theme, QFontMetrics(font)
        flags = int(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        painter.setFont(font)
        painter.setPen(theme.color("ink.primary"))
        text = metrics.elidedText(one.name, _ELIDED, box.width())
        painter.drawText(box, flags, text)
        rest = box.adjusted(metrics.horizontalAdvance(text) + 2 * theme.metrics.unit, 0, 0, 0)
        if one.aside and rest.width() >= 12 * theme.metrics.unit:
            painter.setPen(theme.color("ink.tertiary"))
            painter.drawText(rest, flags, metrics.elidedText(f"in {one.aside}", _ELIDED, rest.width()))

    def _paint_bar(self, painter: QPainter, box: QRect, one: TokenRow) -> None:
        theme = self._themes.theme
        high = round(8 * theme.zoom)
        wide = round(box.width() * min(1.0, one.share))  # the track's width stands for all tokens
        top = box.y() + (box.height() - high) // 2
        painter.fillRect(box.x(), top, box.width(), high, theme.color("line.hair"))
        painter.fillRect(box.x(), top, max(wide, 1 if one.tokens else 0), high, _filled(theme, one.color))

    # Keys, pointer and menu

    @override
    def enter_row(self, row: int) -> None:
        text = self._model.rows[row].filter
        if text:
            self.filter_requested.emit(text, "replace")

    @override
    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        index = self.indexAt(event.position().toPoint())
        if index.isValid():
            self.enter_row(index.row())

    @override
    def fill_menu(self, menu: QMenu, row: int) -> None:
        one = self._model.rows[row]
        add_filter_actions(menu, one.filter, self.filter_requested.emit)
        if self._model.way == "participant" and one.key:
            menu.addSeparator()
            action = menu.addAction("Show in Model sees")
            action.setObjectName("modelSees")
            action.triggered.connect(lambda: self.sees_requested.emit(one.key))


def _filled(theme: Theme, token: str) -> QColor:
    """Returns the colour of a bar, softer than for text because its area is larger."""
    color = QColor(theme.color(token))
    color.setAlphaF(FILL_ALPHA)
    return color


_REST = 4
"""Pause after a refresh, as a multiple of its duration; a million messages take 100 ms."""
_WAYS: dict[str, Grouping] = {
    "By tool": "tool", "By context": "context", "By participant": "participant", "By kind": "kind",
}  # fmt: skip
_COUNTED = "Counts every message once and in full. Model sees shows the tokens in a model's context."
_ROOM_FOR_PLOT = 940
"""Minimum width for a plot beside the table, pixels at 100 %."""


def _gap(parent: QWidget) -> QWidget:
    gap = QWidget(parent)
    gap.setFixedWidth(12)
    return gap


class TokensPanel(HeadedPanel):
    """Token usage of one document.

    Signals:
        sees_requested(object): show the model context of a participant: its space (string id) and name.

    Attributes:
        head, choice, below, shown, model, view: its parts.
        canvas: the plot; None in a narrow panel.
    """

    sees_requested = Signal(object)

    def __init__(
        self, document: CaptureDocument, themes: ThemeController, rows: VisibleRows, choices: PlotChoices,
        parent: QWidget | None = None,
    ) -> None:  # fmt: skip
        super().__init__(document, "Tokens", parent)
        self._choices = choices
        self._themes, self._rows = themes, rows
        self._stopped = False
        self._selected: int | None = None
        self._clock = MessageTimes(document.capture)
        self._times: MessagePlaces = self._clock
        self.axis = TimeAxis(self)
        # The pause after a sum grows with its duration.
        self.throttle = RefreshThrottle(
            self, self._add_up_in_turns, lambda: budgets.current.figures_ms, rest=_REST, shown_ms=0
        )
        self.model = TokensModel(self)
        self.head = PaneHead(themes, "Tokens", name="tokensHead", parent=self)
        self.head.explain_count(_COUNTED)
        self.shown = self._switch("Visible only", "tokensShown", "Count only visible messages")
        self.below = self._switch("With children", "tokensBelow", "Each context includes the contexts below it")
        self.below.setChecked(True)
        self.below.hide()
        self.head.add_widget(_gap(self.head))
        self.choice = Segments(themes, list(_WAYS), "tokensBy", "Tokens by", self.head)
        self.choice.choose("By tool")
        self.head.add_widget(self.choice)
        self.head.add_button("clear", "Close", name="tokensClose").clicked.connect(self.close_requested)
        self.view = TokensView(self.model, themes, self)
        self.view.set_empty_text("Adding up tokens.")
        self.canvas: PlotCanvas | None = None
        self._figure: OverTimeFigure | None = None
        self._body = QHBoxLayout()
        self._body.setSpacing(0)
        self._body.addWidget(self.view, 4)
        self.stack(self.head, self.view, body=self._body)
        self._shows: tuple[object, ...] = ()
        self._view: tuple[object, ...] = ()
        self._connect()
        self._space_by(choices.spacing)

    def _switch(self, words: str, name: str, tip: str) -> SegmentButton:
        switch = SegmentButton(self._themes, words, name, self.head)
        switch.setToolTip(tip)
        switch.setAccessibleDescription(tip)
        switch.toggled.connect(self.refresh)
        self.head.add_widget(switch)
        return switch

    def _connect(self) -> None:
        self.choice.chosen.connect(self._choose_way)
        self.view.filter_requested.connect(self.filter_requested)
        self.view.sees_requested.connect(self._ask_for_model)
        self.axis.brush_committed.connect(self._choose_time)
        self._choices.spacing_changed.connect(self._space_by)

    @property
    def way(self) -> Grouping:
        """The meaning of a row."""
        return _WAYS.get(self.choice.choice, "tool")

    def _space_by(self, spacing: str) -> None:
        """Sets the spacing of messages in the plot."""
        counting = spacing == "message"
        if counting != self.axis.counts:
            self._times = MessageOrder() if counting else self._clock
        self.axis.count_messages(counting)
        if self.canvas is not None and not self._stopped:
            self.refresh()
            self._rest_cursor(self.canvas)

    def apply_changes(self, _changes: AnalysisChanges) -> None:
        """Requests a refresh within about a second while visible."""
        self.throttle.request()

    def apply_view(self) -> None:
        """Sums up again after a change of the visible messages."""
        if not self.shown.isChecked():
            return
        # the same filter with more messages
        if self.throttle.working and self._view == (self._rows.filter, self._rows.scope):
            self.throttle.request()
        else:
            self.throttle.run_in(0)

    def show_message(self, message: int | None) -> None:
        """Moves the cursor of the plot to the selected message."""
        self._selected = message
        if self.canvas is not None and not self._stopped:
            self._rest_cursor(self.canvas)

    def _rest_cursor(self, canvas: PlotCanvas) -> None:
        message = self._selected
        self._times.update(len(self._document.analysis))
        known = message is not None and message < len(self._times.values)
        canvas.rest_at(int(self._times.values[message]) if known else None)

    def stop(self) -> None:
        """Stops reading the document."""
        self._stopped = True
        self.throttle.stop()

    # Display

    def refresh(self, *_checked: bool) -> None:
        """Restarts the sums; large captures are summed in slices."""
        self.throttle.run()

    def _add_up_in_turns(self) -> Iterator[int]:
        self._view = self._rows.filter, self._rows.scope
        work = self._add_up()
        while not run_until(work, budgets.turn_ends(len(self._document.analysis))):
            if self._shows != self._chosen:
                self.head.set_count("adding up")
            yield budgets.current.more_ms

    @property
    def _chosen(self) -> tuple[object, ...]:
        return self.way, self.shown.isChecked(), self.below.isChecked()

    def _add_up(self) -> SlicedWork[None]:
        analysis, way = self._document.analysis, self.way
        counted = np.asarray(self._rows.chosen, np.int64) if self.shown.isChecked() else None
        below = way == "context" and self.below.isChecked()
        own = yield from sum_in_steps(analysis, way, counted)
        total, colors = int(own.tokens.sum()), colors_of(own)
        sums = with_descendants(analysis, own) if below else own
        yield
        rows = yield from rows_of(self._document, way, sums, total, colors, below=below)
        yield
        self._shows = self._chosen
        self.view.set_empty_text("No visible message." if counted is not None else "No message yet.")
        tokens = analysis.tokens
        self.model.show_rows(rows, way, uncounted=not total and bool(tokens.uncounted) and not tokens.done)
        self.view.viewport().update()
        self._show_total(total)
        yield
        greatest = own.order[: len(COLORS)]  # contexts without descendants, so that nothing counts twice in the plot
        yield from self._show_plot(way, own.those(greatest), counted)

    def _show_total(self, total: int) -> None:
        tokens, words = self._document.analysis.tokens, f"{formats.number(total)}, estimate ({TOKENIZER})"
        if tokens.uncounted and not tokens.done:
            share = tokens.counted * 100 // max(1, tokens.counted + tokens.uncounted)
            words = f"{words}, counting tokens, {share} %" if tokens.counted else "not counted yet"
        analysis = self._document.analysis
        reported, stated = analysis.usage.total(), analysis.costs.stated_total()
        if reported is not None:
            words = f"{reported_words(reported)}{incomplete_words(analysis.usage.incomplete_count)}. {words}"
        if stated is not None:
            words = f"{words}. Cost: {formats.dollars(stated)}, as the session states"
        self.head.set_count(words)

    def _show_plot(self, way: Grouping, greatest: Sums, counted: NDArray[np.int64] | None) -> SlicedWork[None]:
        room = self.width() >= _ROOM_FOR_PLOT * self._themes.theme.zoom
        if room and self.canvas is None:
            self._make_plot()
        canvas, figure = self.canvas, self._figure
        if canvas is None or figure is None:
            return
        canvas.setVisible(room)
        if not room:
            return
        self._times.update(len(self._document.analysis))
        breaks = self._times.breaks() if self._choices.spacing == "time" else ()
        self.axis.set_capture(self._times.first_ns, self._times.last_ns, breaks)
        rows = yield from rows_of(self._document, way, greatest, 1, colors_of(greatest), below=False)
        yield from figure.showing(way, rows, self._times.values, counted)
        canvas.redraw()

    def _make_plot(self) -> None:
        from inspector.ui.panels.growth.canvas import PlotCanvas
        from inspector.ui.panels.tokens.over_time import OverTimeFigure

        canvas = self.canvas = PlotCanvas(self.axis, self._themes, "tokensOverTime", self, alone=True)
        canvas.setAccessibleName("Tokens over time")
        canvas.unit = "tokens so far"
        self._figure = OverTimeFigure(self._document, self.axis, self._themes)
        canvas.show_figure(self._figure)
        canvas.message_requested.connect(self.message_requested)
        canvas.left.connect(self.view.setFocus)
        self._body.addWidget(canvas, 3)
        self._rest_cursor(canvas)

    # User input

    def _choose_way(self, _choice: str) -> None:
        self.below.setVisible(self.way == "context")
        self.refresh()

    def _ask_for_model(self, sender: int) -> None:
        """Requests the model context of a sender, in the first of its spaces."""
        name = self._document.capture.strings[sender]
        known = [space for space, found in self._document.analysis.participants.all if found == name]
        self.sees_requested.emit((known[0] if known else 0, name))

    def _choose_time(self, first: int, last: int) -> None:
        self._clock.update(len(self._document.analysis))
        condition = number_condition(first, last) if self.axis.counts else time_condition(self._clock, first, last)
        if condition is not None:
            self.filter_requested.emit(condition, "and")

    # Qt events

    @override
    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if not self.throttle.waiting:
            self.throttle.run_in(0)
