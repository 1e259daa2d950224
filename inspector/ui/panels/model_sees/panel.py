"""Model sees panel of one document: assembles head, figures, comparison and list of entries."""

from __future__ import annotations

from PySide6.QtCore import QTimer, Signal
from PySide6.QtGui import QHideEvent, QShowEvent
from PySide6.QtWidgets import QVBoxLayout, QWidget
from typing_extensions import override

from inspector.engine.requests.seen_contexts import (
    EntryText,
    NextChange,
    Reader,
    ReaderAt,
    SeenContext,
    ShowSeenContext,
)
from inspector.ui import intervals
from inspector.ui.look.theme import ThemeController
from inspector.ui.panels.list_panel import ListPanel, ShownMessages
from inspector.ui.panels.model_sees.context_export import ContextExport
from inspector.ui.panels.model_sees.context_state import ContextState
from inspector.ui.panels.model_sees.figures import ContextFigures
from inspector.ui.panels.model_sees.head import ComparingLine, ModelSeesHead
from inspector.ui.panels.model_sees.menu import EntryMenu, MoreActions, filter_for
from inspector.ui.panels.model_sees.source import CHANGE, NUMBER, TOKENS, EntriesSource, key_of
from inspector.ui.panels.plot_choices import PlotChoices
from inspector.ui.widgets.latest_answer import Client, LatestAnswer
from inspector.ui.widgets.notice import NoticeStack
from inspector.ui.widgets.rows.heads import RowHeads
from inspector.ui.widgets.rows.model import RowsModel
from inspector.ui.widgets.rows.view import RowsView

_SORT_TIP = "Sort largest first, or oldest first (S)"
_ASSUMED_TIP = "A star marks an assumed reason: clients do not report the context they give to their model."
_TIPS = {NUMBER: "Oldest first", TOKENS: _SORT_TIP, CHANGE: _SORT_TIP, "": _ASSUMED_TIP}
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
        latest: the shown context.
        head, figures, comparing, notices, heads, view, source, model, context_export, more: its parts.
    """

    details_requested = Signal(int)

    def __init__(
        self, client: Client, theme_controller: ThemeController, rows: ShownMessages, choices: PlotChoices,
        parent: QWidget,
    ) -> None:  # fmt: skip
        super().__init__(rows, "Model sees", parent)
        self._client = client
        self._choices = choices
        self._stopped = False
        self._held = False
        # True while this panel itself selects a message.
        self._is_selecting = False
        self._current: int | None = None
        self._shown_key: object = None
        self._is_by_size = False
        self._asked: ShowSeenContext | None = None
        self.setObjectName("modelSeesPanel")
        self.context_state = ContextState(choices)
        self.source = EntriesSource(client, lambda row: self.model.renew(row, row))
        self.model = RowsModel(self.source, self)
        self.head = ModelSeesHead(theme_controller, self)
        self.figures = ContextFigures(theme_controller, self)
        self.comparing = ComparingLine(theme_controller, self)
        self.notices = NoticeStack(theme_controller, self)
        self.view = RowsView(
            self.model, theme_controller, name="modelSeesList", title="Entries of the context", parent=self
        )
        self.heads = RowHeads(self.view, theme_controller, self, name="modelSeesColumns", tips=_TIPS)
        self.context_export = ContextExport(client, self.notices, self)
        self.more = MoreActions(self.head.more, self.context_state, self.context_export, self)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        for widget in (self.head, self.notices, self.figures, self.comparing, self.heads):
            column.addWidget(widget)
        column.addWidget(self.view, 1)
        self.setFocusProxy(self.view)
        self.latest = LatestAnswer(
            self, client, self._question, self._show,
            every_ms=lambda: intervals.FIGURES_MS, rest=_COMPUTE_PAUSE_FACTOR,
        )  # fmt: skip
        self._moved = self._timer("followTimer", intervals.REPEAT_MS, self.refresh)
        self._counting = self._timer("countingTimer", intervals.SUMMARIES_MS, self.refresh)
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
        self.view.letters = {
            "[": lambda: self.step(-1), "]": lambda: self.step(1), "h": self.head.hold.toggle,
            "c": self.head.compare.toggle, "o": self.head.out.toggle, "s": self.switch_order,
            "r": self.compare_with_request_before,
        }  # fmt: skip
        self.more.request_compare_requested.connect(self.compare_with_request_before)
        self.heads.title_clicked.connect(self._on_title_clicked)

    # Input from panels

    def show_message(self, message: int | None) -> None:
        """Moves to a selected message, unless the moment is held or the selection came from here.

        During a comparison the first moment stays, and the selection sets the second one. The first selection may also
        come from the list.
        """
        self._current = message
        state, from_here = self.context_state, self._is_selecting
        if message is not None and message == self._choices.awaited:
            self._choices.awaited, from_here = None, True
        wanted = state.compared is not None and (not from_here or state.seen.change is None)
        moves = message is not None and (wanted or not (self._held or from_here))
        if moves:
            state.moment_message = message
        if not self.isVisible():
            self.latest.is_stale = True
        elif not self._stopped:
            if from_here and not moves:
                self._mark_current()
            elif not self._moved.isActive():
                self._moved.start()

    def show_here(self, message: int, context: tuple[int, int] | None = None) -> None:
        """Shows the context at a message for its most likely reader.

        Args:
            message: the message.
            context: the owner of this context is preferred: (string id of the space, node).
        """
        self.context_state.moment_message = self._current = message
        reader = self._client.answer_now(ReaderAt(message, context))
        if reader is not None:
            self._choices.choose(reader)
        self.refresh()

    def choose_reader(self, reader: Reader) -> None:
        self._choices.choose(reader)

    def _on_reader_changed(self, at_once: bool) -> None:
        """Refreshes after a change of reader, here, in a plot, or by the selected message."""
        if at_once or not self.isVisible():
            self.refresh()
        elif not self._stopped and not self._moved.isActive():
            self._moved.start()

    def stop(self) -> None:
        """Ends all requests."""
        self._stopped = True
        self.latest.stop()
        for timer in (self._moved, self._counting):
            timer.stop()
        self.context_export.stop()

    # Refresh

    def refresh(self) -> None:
        """Asks for the present choices, unless their answer is on its way."""
        self._moved.stop()
        if not self.latest.is_pending or self._asked != self.context_state.question():
            self.latest.request_now()
        if self.latest.is_pending and not len(self.source):
            self.view.set_empty_text(WORKING)

    def _question(self) -> ShowSeenContext:
        self._asked = self.context_state.question()
        return self._asked

    def _show(self, seen: SeenContext) -> None:
        context_state, view = self.context_state, self.view
        at_end = view.at_end and context_state.moment_message is None and not context_state.by_size
        context_state.seen, self._choices.shown = seen, seen.reader
        with self.model.changing():
            self.source.show_context(seen)
        self.update_texts()
        reordered, self._is_by_size = self._is_by_size != context_state.by_size, context_state.by_size
        look_at = (seen.reader, context_state.moment_message, context_state.compared, self._current)
        moved, self._shown_key = reordered or self._shown_key != look_at, look_at
        listed = self._mark_current(into_view=moved)
        if context_state.by_size and (reordered or (moved and not listed)):
            view.scrollToTop()
        elif (moved and not listed) or (at_end and not moved):
            view.scroll_to_end()
        if seen.unfinished:
            self._counting.start()

    def _mark_current(self, *, into_view: bool = True) -> bool:
        """Selects the row of the current message; returns True if it is listed."""
        key = None if self._current is None else key_of(self._current)
        # The current message may belong to another participant.
        listed = key is not None and self.source.row_of(key) >= 0
        self.view.select(key if listed else None, into_view=into_view)
        return listed

    @override
    def update_texts(self) -> None:
        context_state, seen = self.context_state, self.context_state.seen
        self.head.show_reader(seen.reader, seen.readers)
        self.head.show_options(context_state.options)
        number, follows = f"No. {seen.message + 1}", context_state.moment_message is not None
        at = "" if seen.reader is None else f"at {number}" if follows else f"at the end, {number}"
        self.head.show_at(at, held=self._held, follows=follows)
        self.head.show_comparing(context_state.compared is not None)
        self.figures.show_figures(seen.figures)
        self.comparing.show_change(context_state.compared, seen.change, changes_only=context_state.changes_only)
        self.heads.setVisible(bool(len(self.source)))
        amount = CHANGE if seen.change is not None else TOKENS
        self.heads.show_order(amount if context_state.by_size else NUMBER, largest=context_state.by_size)
        nothing = UNCHANGED if seen.change is not None else NOTHING
        self.view.set_empty_text("" if len(self.source) else NOBODY if seen.reader is None else nothing)

    @override
    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        if not self.latest.is_current:
            self.refresh()

    @override
    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        for timer in (self._moved, self._counting):
            timer.stop()

    # User actions

    def step(self, direction: int) -> None:
        """Goes to the next (1) or previous (-1) message that changes the context, and selects it if visible."""
        found = self._client.answer_now(NextChange(self.context_state.message, direction))
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
        before = self.context_state.seen.request_before
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
        if on and self.context_state.seen.reader is not None:
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

    def _on_title_clicked(self, title: str) -> None:
        self.order_by_size(title != NUMBER and not self.context_state.by_size)

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
        # The flags mark the signals of the selection as this panel's. They arrive inside the call, or once the view
        # shows a hidden message.
        self._is_selecting = self._choices.looking_up = True
        self.message_requested.emit(message)
        self._is_selecting = self._choices.looking_up = False
        self._choices.awaited = message if self._shown.row_of(message) is None else None

    @override
    def go_to_row(self, row: int) -> bool:
        self._select(int(self.source.messages[row]))
        return True

    @override
    def _on_entered(self, row: int) -> None:
        self.go_to_row(row)
        self.details_requested.emit(int(self.source.messages[row]))

    @override
    def menu_for(self, row: int) -> EntryMenu:
        """Builds the context menu of a row; it deletes itself on close."""
        line = self.source.line(row)
        menu = EntryMenu(line, self._content(row), filter_for(self.context_state.seen), self)
        menu.message_chosen.connect(self._select)
        menu.details_chosen.connect(self.details_requested)
        menu.moment_chosen.connect(self.show_at)
        menu.compare_chosen.connect(self.compare_with)
        menu.filter_chosen.connect(self.filter_requested)
        menu.aboutToHide.connect(menu.deleteLater)
        return menu

    def _content(self, row: int) -> str:
        seen = self.context_state.seen
        return self._client.answer_now(EntryText(seen.list_number, int(self.source.messages[row])))
