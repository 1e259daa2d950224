"""The view Compare: a document beside another run, with the answer where and why they part."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import msgspec
from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QGuiApplication, QResizeEvent
from PySide6.QtWidgets import QFileDialog, QHBoxLayout, QMenu, QSplitter, QVBoxLayout, QWidget
from typing_extensions import override

from inspector.engine.requests.run_comparisons import (
    ComparedRow,
    ComparedRuns,
    CompareRow,
    CompareRowMessages,
    CompareRuns,
    DescribeComparedRows,
    DifferenceClass,
    DifferenceLine,
    Verdict,
    WriteComparison,
)
from inspector.present.wire_text import safe_line
from inspector.ui.look.theme import ThemeController
from inspector.ui.panels.compare.answer import AnswerCard, first_words
from inspector.ui.panels.compare.bar import CompareBar
from inspector.ui.panels.compare.contexts import ContextLanes
from inspector.ui.panels.compare.figures import FiguresCard
from inspector.ui.panels.compare.lane_rows import LINE_INDENT, Entry, LaneRows
from inspector.ui.panels.compare.minimap import LaneMap
from inspector.ui.panels.compare.waiting import WaitingPage
from inspector.ui.panels.details.difference import DifferenceDialog
from inspector.ui.widgets.labels import HairLine
from inspector.ui.widgets.latest_answer import Client, Pending
from inspector.ui.widgets.notice import NoticeStack
from inspector.ui.widgets.page_stack import PageStack
from inspector.ui.widgets.rest_timer import RestTimer
from inspector.ui.widgets.rows.described_rows import AFTER, BEFORE, DescribedRows
from inspector.ui.widgets.rows.heads import RowHeads
from inspector.ui.widgets.rows.model import RowsModel
from inspector.ui.widgets.rows.view import RowsView

_FIGURES_FROM = 900
"""Least width with the figures beside the answer, pixels at 100 %."""
_SAMPLE = 20
"""Characters whose width is measured."""


class ComparePanel(QWidget):
    """A comparison of a document with another run.

    Signals:
        message_requested(int): select this message of the document.
        other_requested(int): open the other run at this message.
        choice_requested(): choose another run.
        compared(): a comparison is shown.

    Attributes:
        answer, figures, bar, view, rows, contexts, map, waiting, notices: its parts.
        asked: the request that is shown or pending; None before the first.
        shown, answered: the comparison and its request; None before the first.
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
        self.answered: CompareRuns | None = None
        self._pending: Pending | None = None
        self._wrapping = RestTimer(self._wrap_again, self)
        self._texts = self._new_texts()
        self.rows = LaneRows(None, self._text_of)
        self.model = RowsModel(self.rows, self)
        self.view = RowsView(self.model, themes, name="compareList", title="Steps of both runs", parent=self)
        self.answer, self.figures = AnswerCard(themes, self), FiguresCard(themes, self)
        self.bar, self.map = CompareBar(themes, self), LaneMap(themes, self)
        self.contexts = ContextLanes(client, themes, self)
        self.waiting, self.notices = WaitingPage(themes, self), NoticeStack(themes, self)
        self._pages = PageStack(self)
        self._pages.addWidget(self.waiting)
        self._pages.addWidget(self._build_comparison())
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self._pages, 1)
        column.addWidget(self.notices)
        self.setFocusProxy(self.view)
        self._connect()

    def _build_comparison(self) -> QWidget:
        page = QWidget(self)
        above = QHBoxLayout()
        above.setSpacing(0)
        above.addWidget(self.answer, 1)
        above.addWidget(self.figures)
        lanes = QWidget(page)
        beside = QHBoxLayout(lanes)
        beside.setContentsMargins(0, 0, 0, 0)
        beside.setSpacing(0)
        listed = QVBoxLayout()
        listed.setSpacing(0)
        self.heads = RowHeads(self.view, self._themes, lanes, name="compareHeads")
        listed.addWidget(self.heads)
        listed.addWidget(self.view, 1)
        beside.addLayout(listed, 1)
        beside.addWidget(self.map)
        self.splitter = QSplitter(Qt.Orientation.Vertical, page)
        self.splitter.setObjectName("compareSplitter")
        self.splitter.setChildrenCollapsible(False)
        self.splitter.addWidget(lanes)
        self.splitter.addWidget(self.contexts)
        self.splitter.setStretchFactor(0, 3)
        self.splitter.setStretchFactor(1, 2)
        self.contexts.hide()
        column = QVBoxLayout(page)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addLayout(above)
        column.addWidget(HairLine("compareLine", page))
        column.addWidget(self.bar)
        column.addWidget(self.splitter, 1)
        return page

    def _connect(self) -> None:
        self.waiting.cancelled.connect(self.cancel)
        self.waiting.choice_requested.connect(self.choice_requested)
        for part in (self.answer, self.map):
            part.row_requested.connect(self.go_to_row)
        self.view.picked.connect(self._on_picked)
        self.view.expanded.connect(lambda row, _open: self._switch(row))
        self.view.entered.connect(self._enter)
        self.view.menu_asked.connect(lambda row, at: self.menu_for(row).popup(at))
        self.view.copy_asked.connect(self._copy_row)
        self.view.verticalScrollBar().valueChanged.connect(self._mark_visible)
        self.view.verticalScrollBar().rangeChanged.connect(self._mark_visible)
        for view in (self.view, self.contexts.view):
            view.letters = {"j": lambda: self.step_difference(1), "k": lambda: self.step_difference(-1)}
        self.bar.filtered.connect(self._filter)
        self.bar.stepped.connect(self.step_difference)
        self.bar.contexts_switched.connect(self._show_contexts)
        self.bar.swap_requested.connect(self.swap)
        self.bar.again_requested.connect(self.compare_again)
        self.bar.other_requested.connect(self.choice_requested)
        self.bar.report_requested.connect(self._ask_for_report)

    # Comparing

    @property
    def is_busy(self) -> bool:
        """True until the comparison is shown."""
        return self.waiting.is_running

    def compare(self, request: CompareRuns) -> None:
        """Opens the other run in the engine and compares both."""
        self.stop()
        self.asked = request
        self.waiting.begin(safe_line(request.target.path.name))
        self._pages.setCurrentIndex(0)
        pending = self._client.request_parts(request, self.waiting.show_progress, self._on_compared, self._on_failed)
        if self.is_busy:
            self._pending = pending

    def compare_again(self) -> None:
        """Compares with the messages that the document has by now."""
        if self.asked is not None:
            self.compare(self.asked)

    def swap(self) -> None:
        """Makes A of B, and B of A."""
        if self.asked is not None:
            self.compare(msgspec.structs.replace(self.asked, swapped=not self.asked.swapped))

    def cancel(self) -> None:
        """Cancels the comparison; an earlier one is shown again."""
        self.stop()
        self.waiting.end("The comparison was cancelled.")
        if self.shown is not None:
            self.asked = self.answered
            self._pages.setCurrentIndex(1)

    def stop(self) -> None:
        """Ends all requests."""
        if self._pending is not None:
            self._pending.cancel()
        self._pending = None

    def _on_failed(self, sentence: str) -> None:
        self._pending = None
        self.waiting.end(sentence)

    def _on_compared(self, compared: ComparedRuns) -> None:
        self._pending, self.shown, self.answered = None, compared, self.asked
        self.waiting.end("")
        self._texts = self._new_texts()
        titles = f"A  {safe_line(compared.names[0])}", f"B  {safe_line(compared.names[1])}"
        self.rows = LaneRows(compared, self._text_of, titles)
        self.rows.tags = _tags_of(compared.verdict)
        self.model.replace_source(self.rows)
        self.heads.update()
        self.answer.show_answer(compared)
        self.figures.show_figures(compared.verdict)
        self.bar.show_counts(compared.verdict.counts)
        self.map.show_lanes(compared.classes, compared.messages)
        self.contexts.show_row(0, None)
        self._pages.setCurrentIndex(1)
        self._fit_figures()
        if compared.is_partial:
            self.notices.show_sentence("The memory limit was reached, so that a run is compared only in part.")
        if compared.verdict.first is not None and compared.verdict.first.row >= 0:
            self.go_to_row(compared.verdict.first.row)
        self.compared.emit()

    # Rows

    @property
    def _number(self) -> int:
        return 0 if self.shown is None else self.shown.number

    def _new_texts(self) -> DescribedRows[int, ComparedRow]:
        """Returns rows without descriptions; late ones of an earlier comparison reach other rows, so none is kept."""
        return DescribedRows[int, ComparedRow](
            self._client, lambda rows: DescribeComparedRows(self._number, rows), lambda one: one.row,
            self._on_described,
        )  # fmt: skip

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

    @property
    def current(self) -> int:
        """The row of the comparison that is selected, or -1."""
        here = self.view.selected
        return here.place if isinstance(here, Entry) else -1

    def go_to_row(self, place: int) -> None:
        """Selects a row of the comparison, opens its fold and its difference, and scrolls to it."""
        with self.model.changing():
            self.rows.reveal(place)
        row = self.rows.row_of_step(place)
        if row < 0:
            return
        self.view.select_row(row)
        if self.rows.classes[place] != DifferenceClass.SAME and self.rows.lines_of(place) is None:
            self._ask_for_lines(place)
        self.view.scrollTo(self.model.index(self.rows.row_of_step(place)), RowsView.ScrollHint.PositionAtCenter)
        self._on_picked(row)

    def step_difference(self, step: int) -> None:
        """Goes to the next difference (1), or the previous one (-1)."""
        differing, place = self.rows.differing, self.current
        found = differing[differing > place] if step > 0 else differing[differing < place][::-1]
        if len(found):
            self.go_to_row(int(found[0]))
        self.view.setFocus()

    def _filter(self, classes: frozenset[int]) -> None:
        with self.model.changing():
            self.rows.filter_classes(classes)

    def _switch(self, row: int) -> None:
        """Opens or closes a fold, or the difference of a step."""
        entry = self.rows.entry(row)
        if entry.is_fold:
            with self.model.changing():
                self.rows.switch_fold(entry.place)
        elif self.rows.lines_of(entry.place) is None:
            self._ask_for_lines(entry.place)
        else:
            self._show_lines(self._number, entry.place, None)
        self._on_picked(self.rows.row_of(entry))

    def _ask_for_lines(self, place: int) -> None:
        spans = self.heads.spans()
        lane = min((span.width for span in spans if not span.column.width), default=0)
        lane -= round(LINE_INDENT * self._themes.theme.zoom)
        # Rounding up the width of a figure leaves room for the end of the line.
        width = lane // (self.view.delegate.cells.text_width("mono", "0" * _SAMPLE) // _SAMPLE + 1)
        number = self._number
        self._client.send_request(
            CompareRow(number, place, width), lambda lines: self._show_lines(number, place, lines),
            lambda sentence: self.notices.show_sentence(sentence),
        )  # fmt: skip

    def _wrap_again(self) -> None:
        """Asks for the shown lines in the present width."""
        for place in self.rows.places_with_lines:
            self._ask_for_lines(place)

    def _show_lines(self, number: int, place: int, lines: list[DifferenceLine] | None) -> None:
        if number == self._number:
            with self.model.changing():
                self.rows.show_lines(place, lines)

    def _mark_visible(self, *_changed: object) -> None:
        first, last = self.view.visible_rows()
        if last >= first and len(self.rows):
            entry = self.rows.entry(last)
            self.map.mark_visible(self.rows.entry(first).place, entry.extra - 1 if entry.is_fold else entry.place)

    def _on_picked(self, row: int, _clicked: bool = False) -> None:
        if self.contexts.isVisibleTo(self) and 0 <= row < len(self.rows):
            self.contexts.show_row(self._number, self.rows.entry(row).place)

    def _show_contexts(self, is_on: bool) -> None:
        self.contexts.setVisible(is_on)
        if is_on and self.current >= 0:
            self.contexts.show_row(self._number, self.current)

    # Messages

    def message_at(self, place: int, side: int) -> int:
        """Returns the message of a row in run A (0) or B (1); -1 where it has none."""
        return -1 if self.shown is None else int(self.shown.messages[place][side])

    def open_side(self, place: int, side: int) -> None:
        """Shows the message of a row in the run's own document."""
        message = self.message_at(place, side)
        if message < 0 or self.answered is None:
            return
        is_own = side == (1 if self.answered.swapped else 0)
        (self.message_requested if is_own else self.other_requested).emit(message)

    def _enter(self, row: int) -> None:
        entry = self.rows.entry(row)
        if entry.is_step:
            self.open_side(entry.place, 0 if self.message_at(entry.place, 0) >= 0 else 1)
        elif not entry.is_fold:
            self._show_lines(self._number, entry.place, None)
            self.view.select_row(self.rows.row_of_step(entry.place))

    def menu_for(self, row: int) -> QMenu:
        """Returns the context menu of a row. It deletes itself when it closes."""
        menu = QMenu(self)
        menu.setObjectName("compareRowMenu")
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        place = self.rows.entry(row).place
        for side, name in enumerate("AB"):
            action = menu.addAction(f"Open {name} here")
            action.setEnabled(not self.rows.entry(row).is_fold and self.message_at(place, side) >= 0)
            action.triggered.connect(lambda _on=False, side=side: self.open_side(place, side))
        whole = menu.addAction("Compare the whole messages")
        whole.setEnabled(min(self.message_at(place, 0), self.message_at(place, 1)) >= 0)
        whole.triggered.connect(lambda: self.compare_messages(place))
        menu.addAction("Copy row").triggered.connect(lambda: self._copy_row(row))
        return menu

    def compare_messages(self, place: int) -> None:
        """Shows the whole messages of a row side by side."""
        number = self._number
        DifferenceDialog(
            self._themes, self._client, lambda aspect: CompareRowMessages(number, place, aspect), self.window()
        ).open()

    def _copy_row(self, row: int) -> None:
        spec = self.model.spec(row)
        QGuiApplication.clipboard().setText(spec.copied or spec.text)

    # Report

    def _ask_for_report(self) -> None:
        dialog = QFileDialog(self, "Save as HTML report", "comparison.html", "HTML (*.html)")
        dialog.setObjectName("compareReportDialog")
        dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
        dialog.setDefaultSuffix("html")
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.fileSelected.connect(lambda path: self.write_report(Path(path)))
        dialog.open()

    def write_report(self, target: Path) -> None:
        """Writes the comparison as one page."""
        self._client.send_request(
            WriteComparison(self._number, target),
            lambda _done: self.notices.show_sentence(f"The report is in {target.name}."),
            lambda sentence: self.notices.show_sentence(sentence, "severity.error"),
        )  # fmt: skip

    @override
    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit_figures()
        self._wrapping.call()

    def _fit_figures(self) -> None:
        self.figures.setVisible(self.width() >= _FIGURES_FROM * self._themes.theme.zoom)


def _tags_of(verdict: Verdict) -> dict[int, str]:
    """Returns tags for the rows of the first difference and of its cause."""
    found: dict[int, str] = {}
    if verdict.cause is not None and verdict.cause.row >= 0:
        found[verdict.cause.row] = "cause"
    if verdict.first is not None:
        found[verdict.first.row] = first_words(verdict).lower()
    return found
