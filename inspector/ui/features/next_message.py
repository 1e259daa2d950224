"""Steps to the next problem, mark, or message of the same context or participant; shows a chain alone.

Only shown messages count. Stepping wraps around with a report, and reports if there is no other message.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QObject, Signal

from inspector.filters.next_shown import next_alike, next_shown
from inspector.filters.visible import Messages
from inspector.present import formats
from inspector.present.findings import failed_filter, failed_words, next_problem
from inspector.ui.widgets.notice import Link

if TYPE_CHECKING:
    from inspector.ui.docview.panes import Panes
    from inspector.ui.docview.window_content import Shown
    from inspector.ui.input.keys import Keys
    from inspector.ui.widgets.notice import NoticeStack
    from inspector.ui.widgets.status_bar import StatusBar

_NO_OTHER_NOTICE = "no-other"
_VIEW_NOTICES = ("no-problem", "no-mark", _NO_OTHER_NOTICE)
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
        findings = panes.document.analysis.findings.found
        found = self._select_message(
            panes, next_problem(findings, panes.rows, panes.messages.current_message(), step), step
        )
        total = formats.count_of(len(panes.document.analysis), "message")
        failed = failed_words(panes.document.capture.failed_count)
        none = f"No problem was found in {total}." + (failed and f"{failed}.")
        shows = failed_filter(panes.document.capture)
        links: list[Link] = [("Show failures", lambda: self.filter_requested.emit(shows))] if failed else []
        self._report_hidden_or_none(panes, found, "problem", panes.problem_counts.problems.messages, none, links)

    def to_mark(self, step: int) -> None:
        """Selects the next message with a mark or comment."""
        panes = self._shown.panes
        if panes is None:
            return
        marked = panes.document.analysis.marks.rows
        found = self._select_message(
            panes, next_shown(marked, panes.rows, panes.messages.current_message(), step), step
        )
        key = self._keys.words("edit.mark")
        none = "No message is marked." + (f" {key} marks the current one." if key else "")
        self._report_hidden_or_none(panes, found, "mark", len(marked), none)

    def in_context(self, step: int) -> None:
        """Selects the next message in the same context, child contexts excluded."""
        panes = self._shown.panes
        if panes is None:
            return
        contexts, spaces = panes.document.analysis.contexts, panes.document.capture.columns["space"]

        def alike(current: int, rows: Messages) -> NDArray[np.bool_]:
            return (contexts.nodes_of(rows) == contexts.node_of(current)) & (spaces[rows] == spaces[current])

        self._report_no_other(self._select_alike(panes, step, alike), "No other message of this context is shown.")

    def by_participant(self, step: int) -> None:
        """Selects the next message of the same sender."""
        panes = self._shown.panes
        if panes is None:
            return
        columns = panes.document.capture.columns
        senders, spaces = columns["sender"], columns["space"]

        def alike(current: int, rows: Messages) -> NDArray[np.bool_]:
            return (senders[rows] == senders[current]) & (spaces[rows] == spaces[current])

        self._report_no_other(self._select_alike(panes, step, alike), "No other message by this participant is shown.")

    def _select_alike(self, panes: Panes, step: int, alike: Callable[[int, Messages], NDArray[np.bool_]]) -> bool:
        current = panes.messages.current_message()
        if current is None:
            return False
        message = next_alike(panes.rows, current, step, lambda rows: alike(current, rows))
        if message is not None:
            panes.messages.go_to(message)
        return message is not None

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
        self, panes: Panes, found: bool, what: str, hidden: int, none: str, links: Sequence[Link] = ()
    ) -> None:
        """Reports that all such messages are hidden, or that there are none. Dismisses the notice if one was found."""
        notice = f"no-{what}"
        if found:
            self._notices.dismiss(notice)
            return
        sentence = none
        if hidden:
            sentence = f"No message with a {what} is shown; {hidden:,} {'is' if hidden == 1 else 'are'} hidden."
            links = [("Show all messages", panes.filter_state.clear)]
        self._notices.show_notice(notice, "note", sentence, links, closable=True)

    def show_chain_alone(self) -> None:
        """Toggles the table between the causal chain of the current message and the previous view."""
        panes = self._shown.panes
        message = panes.messages.current_message() if panes is not None else None
        if panes is None or message is None:
            return
        if panes.shows_chain_alone:
            panes.leave_chain()
            return
        several = len(panes.document.chain(message)) > 1
        self._report_no_other(several, "The chain of this message has no other message.")
        if several:
            panes.show_chain(message)

    def _report_no_other(self, found: bool, sentence: str) -> None:
        """Reports that there is no other message. Dismisses the notice if one was found."""
        if found:
            self._notices.dismiss(_NO_OTHER_NOTICE)
        else:
            self._notices.show_notice(_NO_OTHER_NOTICE, "note", sentence, closable=True)
