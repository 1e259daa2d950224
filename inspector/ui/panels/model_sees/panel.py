"""Model sees panel of one document: assembles head, figures, comparison and list of entries."""

from __future__ import annotations

from typing import Literal

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtGui import QHideEvent, QKeyEvent, QResizeEvent, QShowEvent
from PySide6.QtWidgets import QVBoxLayout, QWidget
from typing_extensions import override

from inspector.analysis import AnalysisChanges
from inspector.analysis.views.model_context import Reader
from inspector.analysis.views.model_context.chat_messages import content_of
from inspector.document.document import CaptureDocument
from inspector.filters.visible import VisibleRows
from inspector.protocol.secrets.masking import mask_text
from inspector.ui import budgets
from inspector.ui.look.theme import ThemeController
from inspector.ui.panels.list_panel import ListPanel
from inspector.ui.panels.list_view import Key, ListView
from inspector.ui.panels.model_sees.context_export import ContextExport
from inspector.ui.panels.model_sees.context_state import ContextState, key_of
from inspector.ui.panels.model_sees.delegate import ColumnHeads, EntryDelegate
from inspector.ui.panels.model_sees.figures import ContextFigures, figures_of
from inspector.ui.panels.model_sees.head import ComparingLine, ModelSeesHead
from inspector.ui.panels.model_sees.menu import EntryMenu, MoreActions, filter_for
from inspector.ui.panels.model_sees.model import EntriesModel
from inspector.ui.panels.plot_choices import PlotChoices
from inspector.ui.widgets.notice import NoticeStack


class EntriesView(ListView):
    """List of entries.

    Signals:
        step_asked(int): go to the next (1) or previous (-1) message that changes the context: ] and [.
        hold_asked(), compare_asked(), out_asked(): the switches of the head: H, C and O.
        order_asked(): largest first, or oldest first: S.
        requests_asked(): compare with the previous request: R.
    """

    step_asked = Signal(int)
    hold_asked = Signal()
    compare_asked = Signal()
    out_asked = Signal()
    order_asked = Signal()
    requests_asked = Signal()

    _pinned: Literal["end", "selected"] | None = None
    _pinned_at = 0

    @override
    def keyPressEvent(self, event: QKeyEvent) -> None:
        asks = {
            Qt.Key.Key_H: self.hold_asked, Qt.Key.Key_C: self.compare_asked, Qt.Key.Key_O: self.out_asked,
            Qt.Key.Key_S: self.order_asked, Qt.Key.Key_R: self.requests_asked,
        }  # fmt: skip
        modifiers = event.modifiers() & ~(Qt.KeyboardModifier.KeypadModifier | Qt.KeyboardModifier.ShiftModifier)
        key = Qt.Key(event.key())
        # By text: keyboards have these keys at different places.
        if event.text() in ("[", "]"):
            self.step_asked.emit(1 if event.text() == "]" else -1)
        elif not modifiers and key in asks:
            asks[key].emit()
        else:
            super().keyPressEvent(event)

    @property
    def at_end(self) -> bool:
        """True if the last row is visible."""
        bar = self.verticalScrollBar()
        return bar.value() >= bar.maximum()

    def scroll_to_end(self) -> None:
        """Scrolls to the last row."""
        # Otherwise the maximum of the bar is that of the rows before.
        self.executeDelayedItemsLayout()
        self.verticalScrollBar().setValue(self.verticalScrollBar().maximum())
        self._pin_position("end")

    @override
    def select(self, key: Key | None, *, into_view: bool = True) -> None:
        super().select(key, into_view=into_view)
        if key is not None and into_view:
            self._pin_position("selected")

    def _pin_position(self, what: Literal["end", "selected"]) -> None:
        """Keeps the end or the selected row visible during resizes, until the user scrolls."""
        self._pinned, self._pinned_at = what, self.verticalScrollBar().value()

    @override
    def resizeEvent(self, event: QResizeEvent) -> None:
        pinned = self._pinned if self.verticalScrollBar().value() == self._pinned_at else None
        super().resizeEvent(event)
        if pinned == "end":
            self.scroll_to_end()
        elif pinned is not None and self.currentIndex().isValid():
            self.scrollTo(self.currentIndex())
            self._pin_position(pinned)


_COMPUTE_PAUSE_FACTOR = 10
"""The computation takes at most this fraction of the time."""
NOBODY = "This capture has no message that a model could have seen."
WORKING = "Computing this context..."
NOTHING = "The context was empty at this message. Select a later message, or show excluded entries."
UNCHANGED = "No changes between the two moments."


class ModelSeesPanel(ListPanel):
    """Model context of a participant.

    Signals:
        details_requested(int): show a message's details.

    Attributes:
        context_state: reader, moment and comparison.
        head, figures, comparing, notices, heads, view, model, context_export, more: its parts.
    """

    details_requested = Signal(int)

    def __init__(
        self, document: CaptureDocument, theme_controller: ThemeController, rows: VisibleRows, choices: PlotChoices,
        parent: QWidget,
    ) -> None:  # fmt: skip
        super().__init__(document, rows, "Model sees", parent)
        self._choices = choices
        self._stopped = False
        self._held = False
        # True while this panel itself selects a message.
        self._is_selecting = False
        self._current: int | None = None
        self._shown_key: object = None
        self.setObjectName("modelSeesPanel")
        self.context_state = ContextState(document, choices)
        self.model = EntriesModel(document, rows, self)
        self.head = ModelSeesHead(theme_controller, self)
        self.figures = ContextFigures(theme_controller, self)
        self.comparing = ComparingLine(theme_controller, self)
        self.notices = NoticeStack(theme_controller, self)
        self.view = EntriesView(
            self.model, theme_controller, name="modelSeesList", title="Entries of the context", parent=self
        )
        self.heads = ColumnHeads(self.model, self.view, theme_controller, self)
        self.view.setItemDelegate(EntryDelegate(self.model, theme_controller, self.view))
        self.context_export = ContextExport(self.notices, self)
        self.more = MoreActions(self.head.more, self.context_state, self.context_export, self)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        for widget in (self.head, self.notices, self.figures, self.comparing, self.heads):
            column.addWidget(widget)
        column.addWidget(self.view, 1)
        self.setFocusProxy(self.view)
        self._moved = self._timer("followTimer", budgets.current.repeat_ms, self._show_moment)
        self._later = self._timer("refreshTimer", budgets.current.figures_ms, self.refresh)
        self._counting = self._timer("countingTimer", budgets.current.summaries_ms, self._count_summaries)
        self._working = self._timer("workTimer", budgets.current.more_ms, self._show_moment)
        self._connect()

    def _timer(self, name: str, interval_ms: int, act: object) -> QTimer:
        timer = QTimer(self)
        timer.setObjectName(name)
        timer.setSingleShot(True)
        timer.setInterval(interval_ms)
        timer.timeout.connect(act)
        return timer

    def _connect(self) -> None:
        self.head.reader_chosen.connect(self._choices.choose)
        self._choices.reader_changed.connect(self._on_reader_changed)
        self.head.assumed.connect(self._set_option)
        self.head.step_requested.connect(self.step)
        self.head.hold_toggled.connect(self.hold)
        self.head.compare_toggled.connect(self._on_compare_toggled)
        self.head.out_toggled.connect(self._show_excluded)
        self.more.filter_requested.connect(self.filter_requested)
        self.more.end_requested.connect(self.show_end)
        self.more.order_requested.connect(self.order_by_size)
        self.comparing.closed.connect(self.stop_comparing)
        self.comparing.reach_switched.connect(self._toggle_changes_only)
        self.listen_to(self.view, self.model)
        self.view.left.connect(self.stop_comparing)
        self.view.step_asked.connect(self.step)
        self.view.hold_asked.connect(self.head.hold.toggle)
        self.view.compare_asked.connect(self.head.compare.toggle)
        self.view.out_asked.connect(self.head.out.toggle)
        self.view.order_asked.connect(self.switch_order)
        self.view.requests_asked.connect(self.compare_with_request_before)
        self.more.request_compare_requested.connect(self.compare_with_request_before)
        self.heads.order_requested.connect(self.order_by_size)

    # Input from panels

    def apply_changes(self, changes: AnalysisChanges) -> None:
        """Schedules a refresh after a flush; hidden panels skip it. O(1)."""
        self.context_state.spoil()
        self._refresh_later()

    def _refresh_later(self) -> None:
        if self.isVisible() and not self._later.isActive() and not self._stopped:
            # The pause grows with the cost of the last computation.
            self._later.setInterval(
                max(budgets.current.figures_ms, round(self.context_state.cost_s * 1000 * _COMPUTE_PAUSE_FACTOR))
            )
            self._later.start()

    def show_message(self, message: int | None) -> None:
        """Moves to a selected message, unless the moment is held or the selection came from here.

        During a comparison the first moment stays, and the selection sets the second one. The first selection may also
        come from the list.
        """
        self._current = message
        state = self.context_state
        wanted = state.compared is not None and (not self._is_selecting or state.change is None)
        moves = message is not None and (wanted or not (self._held or self._is_selecting))
        if moves:
            state.moment_message = message
        if self.isVisible() and not self._stopped:
            if self._is_selecting and not moves:
                self._mark_current()
            elif not self._moved.isActive():
                self._moved.start()

    def show_here(self, message: int) -> None:
        """Shows the context at a message for its most likely reader."""
        self.context_state.choose_for(message)
        self._current = message
        self.refresh()

    def choose_reader(self, reader: Reader) -> None:
        self._choices.choose(reader)

    def _on_reader_changed(self, at_once: bool) -> None:
        """Refreshes after a change of reader, here, in a plot, or by the selected message."""
        if at_once:
            self.refresh()
        elif self.isVisible() and not self._stopped and not self._moved.isActive():
            self._moved.start()

    def stop(self) -> None:
        """Stops reading the document."""
        self._stopped = True
        for timer in (self._moved, self._later, self._counting, self._working):
            timer.stop()
        self.context_export.stop()

    # Refresh

    def refresh(self) -> None:
        self._later.stop()
        self._show_moment()

    def _show_moment(self) -> None:
        self._moved.stop()
        if self._stopped or not self.isVisible():
            return
        context_state, view = self.context_state, self.view
        at_end = view.at_end and context_state.moment_message is None and not context_state.by_size
        if not context_state.update():
            self._working.start()
            if not len(context_state.rows):
                view.set_empty_text(WORKING)
            return
        # The capture changed meanwhile.
        if context_state.spoilt:
            self._refresh_later()
        self.model.show_state(context_state)
        self.update_texts()
        moved = self._shown_key != (
            look_at := (context_state.reader, context_state.moment_message, context_state.compared, self._current)
        )
        self._shown_key = look_at
        listed = self._mark_current(into_view=moved)
        if moved and not listed and context_state.by_size:
            view.scrollToTop()
        elif (moved and not listed) or (at_end and not moved):
            view.scroll_to_end()
        if context_state.moment is not None and context_state.moment.context.counting:
            self._counting.start()

    def _mark_current(self, *, into_view: bool = True) -> bool:
        """Selects the row of the current message; returns True if it is listed."""
        key = None if self._current is None else key_of(self._current)
        # The current message may belong to another participant.
        listed = key is not None and self.model.rows.row_of(key) >= 0
        self.view.select(key if listed else None, into_view=into_view)
        return listed

    def _count_summaries(self) -> None:
        """Counts remaining summaries in slices and refreshes at the end."""
        if self._stopped or not self.isVisible() or not self.context_state.count_further():
            return
        if self.context_state.moment is not None and self.context_state.moment.context.counting:
            self._counting.start()
        else:
            self._show_moment()

    @override
    def update_texts(self) -> None:
        context_state, moment = self.context_state, self.context_state.moment
        self.head.show_reader(context_state.reader, context_state.readers)
        self.head.show_options(context_state.options)
        number = f"No. {context_state.message + 1}"
        at = (
            ""
            if moment is None
            else f"at {number}"
            if context_state.moment_message is not None
            else f"at the end, {number}"
        )
        self.head.show_at(at, held=self._held, follows=context_state.moment_message is not None)
        self.head.show_comparing(context_state.compared is not None)
        self.figures.show_figures(None if moment is None else figures_of(moment, counting=context_state.counting))
        self.comparing.show_change(
            context_state.compared, context_state.change, changes_only=context_state.changes_only
        )
        self.heads.setVisible(bool(len(context_state.rows)))
        nothing = UNCHANGED if context_state.change is not None else NOTHING
        self.view.set_empty_text("" if len(context_state.rows) else NOBODY if moment is None else nothing)

    @override
    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self.context_state.spoil()
        self.refresh()

    @override
    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        for timer in (self._moved, self._later, self._counting, self._working):
            timer.stop()

    # User actions

    def step(self, direction: int) -> None:
        """Goes to the next (1) or previous (-1) message that changes the context, and selects it if visible."""
        found = self.context_state.step(direction)
        if found is None:
            return
        self.context_state.moment_message = self._current = found
        if self._shown.row_of(found) is not None:
            self._select(found)
        self.refresh()

    def hold(self, on: bool) -> None:
        """Holds this moment, or follows the selection again."""
        self._held = on
        self._hold_reader()
        if on:
            self.context_state.moment_message = self.context_state.message
        else:
            self.context_state.moment_message = self._current
        self.refresh()

    def show_end(self) -> None:
        """Follows the end of the capture."""
        self._held = False
        self._hold_reader()
        self.context_state.moment_message = self._current = None
        self.refresh()

    def show_at(self, message: int) -> None:
        """Shows the moment of a message."""
        self.context_state.moment_message = self._current = message
        self.refresh()

    def compare_with(self, message: int) -> None:
        """Compares the current moment with another one."""
        self.context_state.compared = message
        self._hold_reader()
        self.refresh()

    def compare_with_request_before(self) -> None:
        """Compares with the request before the last one."""
        before = self.context_state.request_before()
        if before is not None:
            self.compare_with(before)

    def stop_comparing(self) -> None:
        """Ends the comparison."""
        if self.context_state.compared is not None:
            if self._held:
                self.context_state.moment_message = self.context_state.compared
            self.context_state.compared = None
            self._hold_reader()
            self.refresh()

    def _hold_reader(self) -> None:
        """Fixes the reader while a moment is held or compared."""
        self._choices.hold(self._held or self.context_state.compared is not None)

    def _on_compare_toggled(self, on: bool) -> None:
        if on and self.context_state.moment is not None:
            self.compare_with(self.context_state.message)
        else:
            self.stop_comparing()

    def _toggle_changes_only(self) -> None:
        self.context_state.changes_only = not self.context_state.changes_only
        self.refresh()

    def order_by_size(self, on: bool) -> None:
        """Lists the largest entries first, or the oldest."""
        self.context_state.by_size = on
        self.refresh()
        if on:
            self.view.scrollToTop()
        elif not self._mark_current():
            self.view.scroll_to_end()

    def switch_order(self) -> None:
        """Switches between the two orders."""
        self.order_by_size(not self.context_state.by_size)

    def _show_excluded(self, on: bool) -> None:
        self.context_state.with_out = on
        self.head.out.set_description("Hide excluded entries (O)" if on else "Show excluded entries (O)")
        self.refresh()

    def _set_option(self, option: str, on: bool) -> None:
        self.context_state.assume(**{option: on})
        self.refresh()

    def _select(self, message: int) -> None:
        """Selects a message in all panels; the moment stays, because it contains the message."""
        # The signals of the selection arrive inside the call: the flags mark them as this panel's.
        self._is_selecting = self._choices.looking_up = True
        self.message_requested.emit(message)
        self._is_selecting = self._choices.looking_up = False

    @override
    def go_to_row(self, row: int) -> bool:
        self._select(int(self.model.rows.messages[row]))
        return True

    @override
    def _on_entered(self, row: int) -> None:
        self.go_to_row(row)
        self.details_requested.emit(int(self.model.rows.messages[row]))

    @override
    def menu_for(self, row: int) -> EntryMenu:
        """Builds the context menu of a row; it deletes itself on close."""
        line = self.model.line(row)
        menu = EntryMenu(line, self._content(row), filter_for(self.model.rows), self)
        menu.message_chosen.connect(self._select)
        menu.details_chosen.connect(self.details_requested)
        menu.moment_chosen.connect(self.show_at)
        menu.compare_chosen.connect(self.compare_with)
        menu.filter_chosen.connect(self.filter_requested)
        menu.aboutToHide.connect(menu.deleteLater)
        return menu

    def _content(self, row: int) -> str:
        rows = self.model.rows
        if rows.moment is None or self._document.capture.records.is_big(int(rows.messages[row])):
            return ""
        return mask_text(content_of(rows.moment, int(rows.places[row])))

    @override
    def row_text(self, row: int) -> str:
        return self.model.line(row).copied
