"""The steps of one document: figures and context above a tree with a waterfall."""

from __future__ import annotations

from typing import cast

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QContextMenuEvent, QResizeEvent
from PySide6.QtWidgets import QVBoxLayout, QWidget
from typing_extensions import override

from inspector.engine.requests.plots import RangeCondition
from inspector.engine.requests.steps import Grouping, ListSteps, SortBy, StepQuestion, StepRows
from inspector.ui import intervals
from inspector.ui.look.theme import ThemeController
from inspector.ui.panels.plot_choices import PlotChoices
from inspector.ui.panels.steps.head import StepsHead
from inspector.ui.panels.steps.model import StepsModel
from inspector.ui.panels.steps.step_axis import StepAxis
from inspector.ui.panels.steps.view import StepsView
from inspector.ui.widgets.labels import TextLabel
from inspector.ui.widgets.latest_answer import Client, LatestAnswer

NOTHING = "No steps in this view."
_REST = 4
"""Pause after an answer, as a multiple of its duration."""


class StepsPanel(QWidget):
    """Steps of a document.

    Signals:
        message_requested(int): select this message.
        open_requested(int): show this message where it can be read.
        menu_asked(int, QPoint): show the menu of this message's row at this position on the screen.
        range_chosen(str): the user brushed a range; a display filter.
        counted(int): number of shown steps.

    Attributes:
        head, view, model: its parts.
        axis: the visible range of the waterfall.
        latest: the rows.
    """

    message_requested = Signal(int)
    open_requested = Signal(int)
    menu_asked = Signal(int, object)
    range_chosen = Signal(str)
    counted = Signal(int)

    def __init__(
        self, client: Client, view: int, themes: ThemeController, choices: PlotChoices, parent: QWidget
    ) -> None:
        """Creates an empty panel.

        Args:
            client: asks the engine.
            view: number of the view whose filter is respected.
            themes: gives the look.
            choices: the reader whose context is shown, shared with other plots.
            parent: owner.
        """
        super().__init__(parent)
        self.setObjectName("stepsPanel")
        self.setAccessibleName("Steps")
        self.setProperty("variant", "base")
        self._client, self._themes, self._choices = client, themes, choices
        self._asked = self._question = StepQuestion(view)
        self._message: int | None = None
        self._is_first = True
        self.axis = StepAxis(self)
        self.head = StepsHead(self.axis, themes, self)
        self.model = StepsModel(client, self)
        self.view = StepsView(self.model, self.axis, themes, self)
        self.empty = TextLabel(NOTHING, variant="secondary", name="stepsEmpty", parent=self.view)
        self.empty.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.empty.hide()
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self.head)
        column.addWidget(self.view, 1)
        self.setFocusProxy(self.view)
        self.latest = LatestAnswer(
            self, client, self._next_request, self._show_rows, every_ms=lambda: intervals.LISTS_MS, rest=_REST
        )
        self._connect()

    def _connect(self) -> None:
        self.view.message_chosen.connect(self.message_requested)
        self.view.open_requested.connect(self.open_requested)
        self.view.sort_requested.connect(self._sort)
        self.head.grouping_chosen.connect(self._group)
        self.head.idle_chosen.connect(self._leave_out)
        self.head.context.range_chosen.connect(self._choose_range)
        self.axis.brush_committed.connect(self._choose_range)

    # Calls of the window

    def refresh(self) -> None:
        """Asks for the present rows."""
        if self.latest.is_pending:
            self.latest.is_stale = True
        else:
            self.latest.request_now()

    def show_message(self, message: int | None) -> None:
        """Selects the row of a message."""
        if message != self._message:
            self.view.release_top()
        self._message = message
        if self.isVisible():
            self.view.show_message(message)

    def stop(self) -> None:
        """Ends all requests."""
        self.latest.stop()

    # Rows

    def _next_request(self) -> ListSteps:
        self._asked = self._question
        return ListSteps(self._question, self._choices.reader_choice)

    def _show_rows(self, rows: StepRows) -> None:
        head = rows.head
        whole = head if head.whole is None else head.whole
        self.view.sorting = self._asked.sort_by, self._asked.reverse
        self.axis.set_capture(head.first_ns, head.last_ns, head.breaks)
        if self._is_first:
            self._is_first = False
            self.axis.fit()
        self.head.show_figures(head, whole)
        self.model.show(rows, self._asked)
        self.counted.emit(head.steps)
        self.empty.setVisible(not len(rows.kinds))
        self.view.show_message(self._message)
        self.view.restore_top()
        self.view.heads.viewport().update()

    # Choices of the user

    def _ask(self, question: StepQuestion) -> None:
        if question != self._question:
            self._question = question
            self.latest.request_now()

    def _sort(self, by: str, reverse: bool) -> None:
        old = self._question
        self._ask(StepQuestion(old.view, old.grouping, cast("SortBy", by), reverse, old.idle_s))

    def _group(self, grouping: str) -> None:
        old = self._question
        self._ask(StepQuestion(old.view, cast("Grouping", grouping), old.sort_by, old.reverse, old.idle_s))

    def _leave_out(self, seconds: int) -> None:
        old = self._question
        self._ask(StepQuestion(old.view, old.grouping, old.sort_by, old.reverse, seconds))

    def _choose_range(self, first: int, last: int) -> None:
        """Filters by a brushed range, so that every view follows."""
        condition = self._client.answer_now(RangeCondition(first, last))
        if condition is not None:
            self.range_chosen.emit(condition)

    @override
    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        view, port = self.view, self.view.viewport()
        keyboard = event.reason() is QContextMenuEvent.Reason.Keyboard
        index = view.currentIndex() if keyboard else view.indexAt(port.mapFromGlobal(event.globalPos()))
        if index.isValid() and (keyboard or port.rect().contains(port.mapFromGlobal(event.globalPos()))):
            at = port.mapToGlobal(view.visualRect(index).center()) if keyboard else event.globalPos()
            self.menu_asked.emit(int(self.model.rows.messages[self.model.visible[index.row()]]), at)

    @override
    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.empty.setGeometry(self.view.viewport().rect())
