"""Steps to the next problem, mark, or message of the same context or participant; shows a chain alone.

Only shown messages count. Stepping wraps around with a report, and reports if there is no other message.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from inspector.engine.requests.chains import ChainOfMessage
from inspector.engine.requests.next_messages import FindNextMessage, FoundMessage, Likeness
from inspector.engine.requests.problems import CountFailures
from inspector.present import formats
from inspector.present.findings import failed_words
from inspector.ui.panels.messages.view_rows import VIEW
from inspector.ui.widgets.notice import Link

if TYPE_CHECKING:
    from inspector.ui.docview.panes import Panes
    from inspector.ui.docview.window_content import Shown
    from inspector.ui.input.keys import Keys
    from inspector.ui.widgets.notice import NoticeStack
    from inspector.ui.widgets.status_bar import StatusBar

_NO_PROBLEM_NOTICE, _NO_MARK_NOTICE, _NO_OTHER_NOTICE = "no-problem", "no-mark", "no-other"
_VIEW_NOTICES = (_NO_PROBLEM_NOTICE, _NO_MARK_NOTICE, _NO_OTHER_NOTICE)
"""Notices about hidden messages, dismissed when the view changes."""


class NextMessage(QObject):
    """Selects the next (1) or previous (-1) message of a kind in one window.

    Signals:
        filter_requested(str): apply this filter instead.
    """

    filter_requested = Signal(str)

    def __init__(self, shown: Shown, notices: NoticeStack, status: StatusBar, keys: Keys, parent: QObject) -> None:
        """Stores its collaborators.

        Args:
            shown: the document and its panes.
            notices: shows that there is no other message.
            status: shows that stepping wrapped around.
            keys: the shortcuts named in sentences.
            parent: the owner.
        """
        super().__init__(parent)
        self._shown = shown
        self._notices = notices
        self._status = status
        self._keys = keys

    def attach(self, panes: Panes) -> None:
        """Dismisses notices when the view of these panes changes."""
        panes.filter_state.filter_applied.connect(self._dismiss_notices)
        panes.filter_state.scope_changed.connect(self._dismiss_notices)

    def _dismiss_notices(self, *_view: object) -> None:
        for notice in _VIEW_NOTICES:
            self._notices.dismiss(notice)

    def to_problem(self, step: int) -> None:
        """Selects the next message with a problem."""
        panes = self._shown.panes
        if panes is None:
            return
        found = self._find(panes, "problem", step)
        if self._select_message(panes, found.message, step):
            self._notices.dismiss(_NO_PROBLEM_NOTICE)
            return
        failures = panes.client.answer_now(CountFailures())
        failed = failed_words(failures.count)
        none = f"No problem was found in {formats.count_of(panes.client.state.messages, 'message')}."
        links: list[Link] = [("Show failures", lambda: self.filter_requested.emit(failures.filter))] if failed else []
        self._report_hidden_or_none(panes, "problem", found.total, none + (failed and f"{failed}."), links)

    def to_mark(self, step: int) -> None:
        """Selects the next message with a mark or comment."""
        panes = self._shown.panes
        if panes is None:
            return
        found = self._find(panes, "mark", step)
        if self._select_message(panes, found.message, step):
            self._notices.dismiss(_NO_MARK_NOTICE)
            return
        key = self._keys.words("edit.mark")
        none = "No message is marked." + (f" {key} marks the current one." if key else "")
        self._report_hidden_or_none(panes, "mark", found.total, none)

    def in_context(self, step: int) -> None:
        """Selects the next message in the same context, child contexts excluded."""
        self._select_alike("context", step, "No other message of this context is shown.")

    def by_participant(self, step: int) -> None:
        """Selects the next message of the same sender."""
        self._select_alike("participant", step, "No other message by this participant is shown.")

    def _find(self, panes: Panes, kind: Likeness, step: int) -> FoundMessage:
        return panes.client.answer_now(FindNextMessage(VIEW, kind, panes.messages.current_message(), step))

    def _select_alike(self, kind: Likeness, step: int, none: str) -> None:
        panes = self._shown.panes
        if panes is None:
            return
        message = self._find(panes, kind, step).message
        if message is not None:
            panes.messages.go_to(message)
        self._report_no_other(message is not None, none)

    def _select_message(self, panes: Panes, message: int | None, step: int) -> bool:
        """Selects a message and reports a wrap-around. Returns False without a message."""
        before = panes.messages.current_message()
        if message is None:
            return False
        panes.messages.go_to(message)
        if before is not None and (message - before) * step <= 0:
            self._status.show_message("continued from the first" if step > 0 else "continued from the last")
        return True

    def _report_hidden_or_none(
        self, panes: Panes, what: str, hidden: int, none: str, links: Sequence[Link] = ()
    ) -> None:
        """Reports that all such messages are hidden, or that there are none."""
        sentence = none
        if hidden:
            sentence = f"No message with a {what} is shown; {hidden:,} {'is' if hidden == 1 else 'are'} hidden."
            links = [("Show all messages", panes.filter_state.clear)]
        self._notices.show_notice(f"no-{what}", "note", sentence, links, closable=True)

    def show_chain_alone(self) -> None:
        """Toggles the table between the causal chain of the current message and the previous view."""
        panes = self._shown.panes
        message = panes.messages.current_message() if panes is not None else None
        if panes is None or message is None:
            return
        if panes.chain.is_alone:
            panes.chain.leave()
            return
        several = len(panes.client.answer_now(ChainOfMessage(message)).members) > 1
        self._report_no_other(several, "The chain of this message has no other message.")
        if several:
            panes.chain.show(message)

    def _report_no_other(self, found: bool, sentence: str) -> None:
        """Reports that there is no other message. Dismisses the notice if one was found."""
        if found:
            self._notices.dismiss(_NO_OTHER_NOTICE)
        else:
            self._notices.show_notice(_NO_OTHER_NOTICE, "note", sentence, closable=True)
