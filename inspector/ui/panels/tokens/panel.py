"""The tokens panel: head, table, and a plot in a wide panel. Updated once a second at most and only while visible."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Signal
from PySide6.QtGui import QMouseEvent, QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QMenu, QWidget
from typing_extensions import override

from inspector.engine.requests.plots import MessagePosition, RangeCondition
from inspector.engine.requests.tokens import (
    Grouping,
    RowTarget,
    TokenFigures,
    TokenRowTarget,
    TokensOverTime,
    TokenUsage,
)
from inspector.ui import intervals
from inspector.ui.look.theme import ThemeController
from inspector.ui.panels.details.section import SegmentButton, Segments
from inspector.ui.panels.list_panel import HeadedPanel
from inspector.ui.panels.messages.view_rows import VIEW, ViewRows
from inspector.ui.panels.pane_head import PaneHead
from inspector.ui.panels.plot_choices import PlotChoices
from inspector.ui.panels.timeline.axis import TimeAxis
from inspector.ui.panels.tokens.model import Column, TokensModel
from inspector.ui.widgets.filter_menu import add_filter_actions
from inspector.ui.widgets.latest_answer import Client, LatestAnswer
from inspector.ui.widgets.rows.table import TableView

if TYPE_CHECKING:
    from inspector.ui.panels.growth.canvas import PlotCanvas
    from inspector.ui.panels.tokens.over_time import OverTimeFigure

_BAR_PX = 96
"""Width of a bar for all tokens, pixels at 100 %."""
_WIDTHS = {
    Column.BAR: _BAR_PX, Column.TOKENS: "888,888,888", Column.SHARE: "88.8 %", Column.MESSAGES: "88,888,888",
}  # fmt: skip


class TokensView(TableView):
    """The table of tokens.

    Signals:
        sees_requested(object): show the model context of a participant: its space (string id) and name.
    """

    sees_requested = Signal(object)

    def __init__(
        self, model: TokensModel, client: Client, themes: ThemeController, parent: QWidget | None = None
    ) -> None:
        super().__init__(model, themes, parent, name="tokens", widths=_WIDTHS)
        self._model, self._client = model, client

    # Keys, pointer and menu

    @override
    def enter_row(self, row: int) -> None:
        self._client.send_request(self._target_of(row), self._filter_by)

    def _target_of(self, row: int) -> TokenRowTarget:
        return TokenRowTarget(self._model.way, self._model.below, self._model.rows[row].key)

    def _filter_by(self, target: RowTarget) -> None:
        if target.filter:
            self.filter_requested.emit(target.filter, "replace")

    @override
    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        index = self.indexAt(event.position().toPoint())
        if index.isValid():
            self.enter_row(index.row())

    @override
    def fill_menu(self, menu: QMenu, row: int) -> None:
        target = self._client.answer_now(self._target_of(row))
        add_filter_actions(menu, target.filter, self.filter_requested.emit)
        if target.participant is not None:
            menu.addSeparator()
            action = menu.addAction("Show in Model sees")
            action.setObjectName("modelSees")
            action.triggered.connect(lambda: self.sees_requested.emit(target.participant))


_REST = 4
"""Pause after an answer, as a multiple of its duration; a million messages take 100 ms."""
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
        self, client: Client, themes: ThemeController, rows: ViewRows, choices: PlotChoices,
        parent: QWidget | None = None,
    ) -> None:  # fmt: skip
        super().__init__("Tokens", parent)
        self._client, self._choices = client, choices
        self._themes, self._rows = themes, rows
        self._stopped = False
        self._selected: int | None = None
        self.axis = TimeAxis(self)
        self._shown: TokenUsage | None = None  # the question of the shown answer
        self._asked = TokenUsage()
        self._view: tuple[object, ...] = ()
        # The pause after a sum grows with its duration.
        self.latest = LatestAnswer(
            self, client, self._question, self._show, every_ms=lambda: intervals.FIGURES_MS, rest=_REST
        )
        self.latest.updating_changed.connect(self._mark_updating)
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
        self.view = TokensView(self.model, client, themes, self)
        self.view.set_empty_text("Adding up tokens.")
        self.canvas: PlotCanvas | None = None
        self._figure: OverTimeFigure | None = None
        self._body = QHBoxLayout()
        self._body.setSpacing(0)
        self._body.addWidget(self.view, 4)
        self.stack(self.head, self.view, body=self._body)
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
        self.view.sees_requested.connect(self.sees_requested)
        self.axis.brush_committed.connect(self._choose_time)
        self._choices.spacing_changed.connect(self._space_by)

    @property
    def way(self) -> Grouping:
        """The meaning of a row."""
        return _WAYS.get(self.choice.choice, "tool")

    def _space_by(self, spacing: str) -> None:
        """Sets the spacing of messages in the plot."""
        self.axis.count_messages(spacing == "message")
        if self.canvas is not None and not self._stopped:
            self.refresh()
            self._rest_cursor(self.canvas)

    def apply_view(self) -> None:
        """Sums up again after a change of the visible messages."""
        if not self.shown.isChecked():
            return
        # The same view may have more messages.
        if self._view == (self._rows.filter, self._rows.scope):
            self.latest.invalidate()
        else:
            self.refresh()

    def show_message(self, message: int | None) -> None:
        """Moves the cursor of the plot to the selected message."""
        self._selected = message
        if self.canvas is not None and not self._stopped:
            self._rest_cursor(self.canvas)

    def _rest_cursor(self, canvas: PlotCanvas) -> None:
        if self._selected is None:
            canvas.rest_at(None)
        else:
            self._client.send_request(MessagePosition(self._selected, self.axis.counts), canvas.rest_at)

    def stop(self) -> None:
        """Ends all requests."""
        self._stopped = True
        self.latest.stop()

    # Display

    def refresh(self, *_checked: bool) -> None:
        """Sums up again at once."""
        self.latest.request_now()

    def _question(self) -> TokenUsage:
        self._view = self._rows.filter, self._rows.scope
        self._asked = TokenUsage(
            self.way, self.way == "context" and self.below.isChecked(),
            VIEW if self.shown.isChecked() else None,
            plotted=self._has_room, by_order=self.axis.counts, broken=self._choices.spacing == "time",
        )  # fmt: skip
        return self._asked

    @property
    def _has_room(self) -> bool:
        """True if there is room for a plot beside the table."""
        return self.width() >= _ROOM_FOR_PLOT * self._themes.theme.zoom

    def _mark_updating(self, updating: bool) -> None:
        """Notes the wait for an answer to another question than that of the shown figures."""
        shown, asked = self._shown, self._asked
        if updating and shown is not None and _meaning(asked) != _meaning(shown):
            self.head.set_count("adding up")

    def _show(self, figures: TokenFigures) -> None:
        asked = self._shown = self._asked
        self.view.set_empty_text("No message yet." if asked.view is None else "No visible message.")
        self.model.show_rows(figures.rows, asked.by, below=asked.below, uncounted=not figures.is_counted)
        self.view.viewport().update()
        self.head.set_count(figures.words)
        self._show_plot(figures.plot)

    def _show_plot(self, plot: TokensOverTime | None) -> None:
        if plot is not None and self.canvas is None:
            self._make_plot()
        canvas, figure = self.canvas, self._figure
        if canvas is None or figure is None:
            return
        canvas.setVisible(plot is not None)
        if plot is not None:
            self.axis.set_capture(plot.range.first_ns, plot.range.last_ns, plot.range.breaks)
            figure.show(plot)
            canvas.redraw()

    def _make_plot(self) -> None:
        from inspector.ui.panels.growth.canvas import PlotCanvas
        from inspector.ui.panels.tokens.over_time import OverTimeFigure

        canvas = self.canvas = PlotCanvas(self.axis, self._themes, "tokensOverTime", self, alone=True)
        canvas.setAccessibleName("Tokens over time")
        canvas.unit = "tokens so far"
        self._figure = OverTimeFigure(self._client, self.axis, self._themes, canvas.follow_cursor)
        canvas.show_figure(self._figure)
        canvas.message_requested.connect(self.message_requested)
        canvas.left.connect(self.view.setFocus)
        self._body.addWidget(canvas, 3)
        self._rest_cursor(canvas)

    # User input

    def _choose_way(self, _choice: str) -> None:
        self.below.setVisible(self.way == "context")
        self.refresh()

    def _choose_time(self, first: int, last: int) -> None:
        self._client.send_request(RangeCondition(first, last, self.axis.counts), self._add_condition)

    def _add_condition(self, condition: str | None) -> None:
        if condition is not None:
            self.filter_requested.emit(condition, "and")

    # Qt events

    @override
    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if self._asked.plotted != self._has_room:
            self.refresh()


def _meaning(question: TokenUsage) -> tuple[object, ...]:
    """Returns the choices of the user in a question."""
    return question.by, question.below, question.view is None
