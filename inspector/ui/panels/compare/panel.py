"""The view Compare: a document beside another run, with the answer where and why they part."""

from __future__ import annotations

from collections.abc import Iterable

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QProgressBar, QVBoxLayout, QWidget

from inspector.engine.requests.run_comparisons import (
    ComparedRow,
    ComparedRuns,
    CompareRuns,
    DescribeComparedRows,
    OtherProgress,
)
from inspector.present import formats
from inspector.ui.look.theme import ThemeController
from inspector.ui.panels.compare.answer import AnswerCard
from inspector.ui.panels.compare.lane_rows import Entry, LaneRows
from inspector.ui.widgets.buttons import WordButton
from inspector.ui.widgets.labels import TextLabel
from inspector.ui.widgets.latest_answer import Client, Pending
from inspector.ui.widgets.page_stack import PageStack
from inspector.ui.widgets.rows.described_rows import AFTER, BEFORE, DescribedRows
from inspector.ui.widgets.rows.model import RowsModel
from inspector.ui.widgets.rows.view import RowsView

NOTHING = "No other run is chosen. Compare with... opens one beside this log."
COMPARING = "Comparing the runs..."


class ComparePanel(QWidget):
    """A comparison of a document with another run.

    Signals:
        message_requested(int): select this message of the document.
        other_requested(int): open the other run at this message.
        choice_requested(): choose another run.
        compared(): a comparison is shown.

    Attributes:
        answer, view, rows: its parts.
        asked: the request that is shown or pending; None before the first.
        shown: the comparison; None before the first.
    """

    message_requested = Signal(int)
    other_requested = Signal(int)
    choice_requested = Signal()
    compared = Signal()

    def __init__(self, client: Client, themes: ThemeController, parent: QWidget) -> None:
        super().__init__(parent)
        self.setObjectName("comparePanel")
        self.setAccessibleName("Compare")
        self.setProperty("variant", "base")
        self._client, self._themes = client, themes
        self.asked: CompareRuns | None = None
        self.shown: ComparedRuns | None = None
        self._pending: Pending | None = None
        self._texts = DescribedRows[int, ComparedRow](
            client, lambda rows: DescribeComparedRows(self._number, rows), lambda one: one.row, self._on_described
        )
        self.rows = LaneRows(None, self._text_of)
        self.model = RowsModel(self.rows, self)
        self.view = RowsView(self.model, themes, name="compareList", title="Steps of both runs", parent=self)
        self.answer = AnswerCard(themes, self)
        self._pages = PageStack(self)
        self._pages.addWidget(self._build_waiting())
        self._pages.addWidget(self._build_comparison())
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.addWidget(self._pages)
        self.setFocusProxy(self.view)
        self.answer.row_requested.connect(self.go_to_row)
        self.view.expanded.connect(lambda row, _open: self._switch(row))
        self.view.entered.connect(self._open_here)
        self._show_state(NOTHING, is_running=False)

    def _build_waiting(self) -> QWidget:
        page = QWidget(self)
        self.state = TextLabel(variant="secondary", name="compareState", wrap=True, parent=page)
        self.state.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.progress = QProgressBar(page)
        self.progress.setObjectName("compareProgress")
        self.progress.setAccessibleName("Progress")
        self.progress.setTextVisible(False)
        self.progress.setMaximumWidth(round(320 * self._themes.theme.zoom))
        self.cancel_button = WordButton("Cancel", name="compareCancel", parent=page)
        self.cancel_button.clicked.connect(self.cancel)
        self.choose_button = WordButton("&Compare with...", name="compareChoose", parent=page)
        self.choose_button.clicked.connect(self.choice_requested)
        column = QVBoxLayout(page)
        column.addStretch(1)
        column.addWidget(self.state)
        for widget in (self.progress, self.cancel_button, self.choose_button):
            line = QHBoxLayout()
            line.addStretch(1)
            line.addWidget(widget)
            line.addStretch(1)
            column.addLayout(line)
        column.addStretch(2)
        return page

    def _build_comparison(self) -> QWidget:
        page = QWidget(self)
        column = QVBoxLayout(page)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self.answer)
        column.addWidget(self.view, 1)
        return page

    # Comparing

    @property
    def is_busy(self) -> bool:
        """True until the comparison and its visible rows are shown."""
        return self._is_running

    def compare(self, request: CompareRuns) -> None:
        """Opens the other run in the engine and compares both."""
        self.stop()
        self.asked = request
        self._show_state(f"Reading {request.target.path.name}...", is_running=True)
        pending = self._client.request_parts(request, self._on_progress, self._on_compared, self._on_failed)
        if self._is_running:
            self._pending = pending

    def cancel(self) -> None:
        """Cancels the comparison; an earlier one is shown again."""
        self.stop()
        if self.shown is None:
            self._show_state("The comparison was cancelled.", is_running=False)
        else:
            self._show_comparison()

    def stop(self) -> None:
        """Ends all requests."""
        if self._pending is not None:
            self._pending.cancel()
        self._pending = None

    def _show_state(self, sentence: str, *, is_running: bool) -> None:
        self._is_running = is_running
        self.state.setText(sentence)
        self.progress.setVisible(is_running)
        self.progress.setRange(0, 0)
        self.cancel_button.setVisible(is_running)
        self.choose_button.setVisible(not is_running)
        self._pages.setCurrentIndex(0)

    def _on_progress(self, progress: OtherProgress) -> None:
        if progress.done >= progress.total:
            self.state.setText(COMPARING)
            self.progress.setRange(0, 0)
        else:
            self.progress.setRange(0, 1000)
            self.progress.setValue(round(1000 * progress.done / progress.total))
            if self.asked is not None:
                count = formats.count_of(progress.messages, "message")
                self.state.setText(f"Reading {self.asked.target.path.name}: {count}")

    def _on_failed(self, sentence: str) -> None:
        self._pending = None
        self._show_state(sentence, is_running=False)

    def _on_compared(self, compared: ComparedRuns) -> None:
        self._pending, self.shown = None, compared
        self._texts.drop()
        self.rows = LaneRows(compared, self._text_of)
        self.model.replace_source(self.rows)
        self.answer.show_answer(compared)
        self._show_comparison()
        if compared.verdict.first is not None:
            self.go_to_row(compared.verdict.first.row)
        self.compared.emit()

    def _show_comparison(self) -> None:
        self._is_running = False
        self._pages.setCurrentIndex(1)

    # Rows

    @property
    def _number(self) -> int:
        return 0 if self.shown is None else self.shown.number

    def _text_of(self, place: int) -> ComparedRow | None:
        return self._texts.find(place, lambda: self._near(place))

    def _near(self, place: int) -> Iterable[int]:
        """Returns the visible steps around a row."""
        row = self.rows.row_of_step(place)
        for near in range(max(0, row - BEFORE), min(row + AFTER, len(self.rows))):
            entry = self.rows.entry(near)
            if entry.is_step:
                yield entry.place

    def _on_described(self, place: int) -> None:
        row = self.rows.row_of_step(place)
        if row >= 0:
            self.model.renew(row, row)

    def go_to_row(self, place: int) -> None:
        """Selects a row of the comparison, opens its fold and scrolls to it."""
        self.rows.reveal(place)
        with self.model.changing():
            pass
        row = self.rows.row_of_step(place)
        if row >= 0:
            self.view.select_row(row)
            self.view.scrollTo(self.model.index(row), RowsView.ScrollHint.PositionAtCenter)

    def step_difference(self, step: int) -> None:
        """Goes to the next difference (1), or the previous one (-1)."""
        here = self.view.selected
        place = here.place if isinstance(here, Entry) else -1
        differing = self.rows.differing
        if step > 0:
            later = differing[differing > place]
            target = later[0] if len(later) else None
        else:
            earlier = differing[differing < place]
            target = earlier[-1] if len(earlier) else None
        if target is not None:
            self.go_to_row(int(target))
            self.view.setFocus()

    def _switch(self, row: int) -> None:
        entry = self.rows.entry(row)
        if entry.is_fold:
            with self.model.changing():
                self.rows.switch_fold(entry.place)

    def _open_here(self, row: int) -> None:
        """Shows the step's message of the document."""
        entry = self.rows.entry(row)
        if self.shown is None or self.asked is None or not entry.is_step:
            return
        message = int(self.shown.messages[entry.place][1 if self.asked.swapped else 0])
        if message >= 0:
            self.message_requested.emit(message)
