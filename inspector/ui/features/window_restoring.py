"""Saves and restores the state of a window across starts: filter, scope, order, place, docks.

Parts that need messages wait until these are read, and stop when the user acts. `ui/app/last_open.py` stores the list
of open windows, and `inspector.settings.window_state` is the file.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

from PySide6.QtCore import QByteArray, QObject, QTimer
from PySide6.QtWidgets import QWidget

from inspector.engine.request import Request
from inspector.engine.requests.filters import MOST_CONDITIONS, Condition, FilterStack, Reach, Scope
from inspector.engine.requests.saved_views import HEAD_MESSAGES, FindScope, HeadDigest, NamedScope, NameScope
from inspector.present import secret_settings
from inspector.settings import ConnectionSettings
from inspector.settings.window_state import MAX_TEXT_LENGTH, SavedCondition, SavedScope, SavedWindow

if TYPE_CHECKING:
    from inspector.engine.requests.gateways import Connection
    from inspector.ui.docview.panes import Panes
    from inspector.ui.docview.window_content import Shown
    from inspector.ui.panels.runs.page import RunsPage
    from inspector.ui.widgets.notice import NoticeStack


AnswerT = TypeVar("AnswerT")


class Restoring(QObject):
    """The saved and the current state of one window.

    Attributes:
        saved: the saved state until it is completely restored or given up.
    """

    def __init__(
        self, parent: QWidget, shown: Shown, *, notices: NoticeStack,
        joined: Callable[[], Connection | None], is_demo: Callable[[], bool],
        layout: Callable[[], tuple[str, str, bool, str]],
    ) -> None:  # fmt: skip
        """Stores its collaborators.

        Args:
            parent: the window, whose geometry is saved.
            shown: the document and its panes.
            notices: reports parts that cannot be restored.
            joined: returns the connection to the present or past gateway; None for a log.
            is_demo: returns True if the window shows the demo, which is not opened again.
            layout: returns the docks (base64), the middle view, True if the user dragged the sides, and the hidden
                panes.
        """
        super().__init__(parent)
        self._parent, self._shown, self._notices = parent, shown, notices
        self._joined, self._is_demo, self._layout = joined, is_demo, layout
        self.saved: SavedWindow | None = None
        self._is_restoring = self._is_read_through = self._is_same = False
        self._stored: SavedWindow | None = None  # written to disk until `saved` is restored
        self._head = (0, "")
        self._named_scope: tuple[Scope, NamedScope] | None = None
        self._asked: set[Request[Any]] = set()
        self._answers: dict[Request[Any], Any] = {}

    # Restoring the state

    def begin(self, saved: SavedWindow) -> None:
        """Restores the geometry at once, and the rest when the document is shown."""
        self.saved = self._stored = saved
        if saved.geometry:
            self._parent.restoreGeometry(QByteArray.fromBase64(saved.geometry.encode()))

    def continue_from(self, other: Restoring) -> None:
        """Shows the view of another window, whose document is opened again here."""
        self.saved, self._stored, self._is_same = other.saved or other._view(), other.noted(), True

    def give_up(self) -> None:
        """Drops the saved state."""
        self.saved = None

    def attach(self, panes: Panes) -> None:
        """Restores what the panes allow. The window has already restored the docks."""
        from inspector.ui.panels.details.panel import TABS

        saved = self.saved
        panes.filter_state.scope_changed.connect(lambda scope: self._name_scope(panes, scope))
        if saved is None or not self._is_saved_document(saved):
            self.give_up()
            return
        if saved.tab in TABS:
            panes.details.show_tab(saved.tab)
        # Signals of the restored filter are not actions of the user.
        self._is_restoring = True
        self._restore_filter(panes, saved)
        self._is_restoring = False
        panes.filter_state.filter_applied.connect(self._on_user_moved)
        panes.filter_state.scope_changed.connect(self._on_user_moved)
        panes.messages.chosen.connect(self._on_user_moved)
        # This signal reports the user's scrolling only, unlike `valueChanged`.
        panes.messages.view.verticalScrollBar().actionTriggered.connect(self._on_user_moved)
        panes.counts_changed.connect(self._restore_more)
        panes.messages.sorter.changed.connect(self._restore_more)
        QTimer.singleShot(0, self, self._restore_more)

    def attach_runs(self, page: RunsPage) -> None:
        """Restores filter and order of a survey."""
        saved = self.saved
        self.give_up()
        if saved is not None and self._is_saved_document(saved):
            page.apply_filter(saved.filter)
            page.sort_by(saved.sorted_by, descending=saved.descending)

    def _is_saved_document(self, saved: SavedWindow) -> bool:
        """Returns True if the window shows the saved document. It may be connected to another gateway."""
        if self._is_same:
            return True
        now = self._joined()
        if now is not None:
            then = saved.connection
            return then is not None and (now.shown_url, now.space) == (then.url, then.space)
        target = self._target()
        return bool(target) and target == saved.path

    def _target(self) -> str:
        """Returns the target that opens the same document; "" if it is no file of the user."""
        if self._shown.runs is not None:
            return self._shown.location.target(self._shown.runs.runs.path)
        location = self._shown.location
        file = location.user_file(self._shown.state)
        return "" if file is None else location.target(file)

    def restore_remaining(self) -> None:
        """Restores the rest after the whole log is read."""
        if self.saved is not None and not self._is_read_through:
            self._is_read_through = True
            self._restore_more()

    def _restore_filter(self, panes: Panes, saved: SavedWindow) -> None:
        state = panes.filter_state
        conditions = tuple(
            Condition(one.text, one.on, one.later)
            for one in saved.conditions[:MOST_CONDITIONS]
            if state.check_filter(one.text) is None
        )
        text = saved.filter if state.check_filter(saved.filter) is None else ""
        stack = FilterStack(conditions, text, saved.besides if state.check_filter(saved.besides) is None else "")
        if stack != FilterStack():
            state.apply_stack(stack)

    def _on_user_moved(self, *_: object) -> None:
        """Stops because the user has moved on."""
        if not self._is_restoring:
            self.give_up()

    def _restore_more(self, *_: object) -> None:
        """Restores as much as the messages read so far allow."""
        panes, saved = self._shown.panes, self.saved
        if panes is None or saved is None or self._is_restoring:
            return
        self._is_restoring = True
        try:
            is_another = self._is_another(panes, saved)
            if is_another is None:
                return
            if is_another:
                self.give_up()
                name = self._shown.state.name
                self._notices.show_sentence(
                    f"{name} has changed since it was last open. Its filter is restored, but not its position."
                )
            elif self._restore_all(panes, saved) or (
                self._is_read_through
                and not self._asked
                and not saved.sorted_by
                and _is_view_in_force(panes)
                and panes.rows.seen_count >= self._shown.state.messages
            ):
                self.give_up()
        finally:
            self._is_restoring = False

    def _restore_all(self, panes: Panes, saved: SavedWindow) -> bool:
        """Returns True if everything is restored. The place comes last because it depends on the rows."""
        return (
            self._restore_scope(panes, saved)
            and self._restore_order(panes, saved)
            and self._restore_position(panes, saved)
        )

    def _answer(self, panes: Panes, request: Request[AnswerT]) -> AnswerT | None:
        """Returns the answer to a question, or None until it has arrived; restoring then goes on."""
        if request not in self._asked and request not in self._answers:
            self._asked.add(request)
            is_whole = self._is_read_through
            panes.client.send_request(request, lambda answer: self._take_answer(request, answer, is_whole))
        return self._answers.pop(request, None)

    def _take_answer(self, request: Request[Any], answer: object, is_whole: bool) -> None:
        """Stores an answer. One about a part of the log is asked for again if the whole log has been read since."""
        self._asked.discard(request)
        if is_whole == self._is_read_through:
            self._answers[request] = answer
        self._restore_more()

    def _is_another(self, panes: Panes, saved: SavedWindow) -> bool | None:
        """Returns True if the log has changed since, or None if this is not known so far."""
        messages = self._shown.state.messages
        if not saved.path or not saved.head or (messages < saved.head_messages and not self._is_read_through):
            return False
        head = self._answer(panes, HeadDigest(saved.head_messages))
        return None if head is None else head != saved.head

    def _restore_scope(self, panes: Panes, saved: SavedWindow) -> bool:
        """Restores the scope. Returns True if it is done."""
        wanted = saved.scope
        if wanted is None or panes.filter_state.scope is not None:
            return True
        found = self._answer(panes, FindScope(NamedScope(wanted.space, wanted.context, wanted.source)))
        if found is None:
            return False
        if not found.exists:
            return self._is_read_through
        if found.source is not None:
            panes.filter_state.set_scope(Scope(0, None, calls=wanted.calls, source=found.source))
        else:
            reach = Reach.__members__.get(wanted.reach, Reach.BELOW)
            panes.filter_state.set_scope(Scope(found.space, found.node, reach, wanted.calls))
        return True

    def _restore_order(self, panes: Panes, saved: SavedWindow) -> bool:
        """Restores the sort order after the log is read. Returns True if it is done."""
        if not saved.sorted_by:
            return True
        if not self._is_read_through or not _is_view_in_force(panes):
            return False
        if panes.rows.sorted_by is not None:
            return True
        if not panes.messages.sorter.busy:
            panes.messages.sorter.sort(saved.sorted_by, saved.descending)
        # A field of another version cannot be sorted by.
        return panes.rows.sorted_by is not None or not panes.messages.sorter.busy

    def _restore_position(self, panes: Panes, saved: SavedWindow) -> bool:
        """Restores selection and scroll position. Returns True if they are in place."""
        seen = panes.rows.seen_count
        if not saved.path or not _is_view_in_force(panes) or max(saved.message or 0, saved.top or 0) >= seen:
            return not saved.path
        if saved.message is not None and panes.rows.row_of(saved.message) is not None:
            panes.messages.go_to(saved.message)
        if saved.following:
            panes.messages.follow(True)
        elif saved.top is not None:
            panes.messages.view.anchor.put_at_top(saved.top, saved.offset)
        return True

    # Saving the state

    def noted(self) -> SavedWindow | None:
        """Returns the current state; None for the start page, the demo and pasted text."""
        panes, runs = self._shown.panes, self._shown.runs
        if self.saved is not None:  # not completely restored yet
            return self._stored
        if panes is None and runs is None:
            return None
        if self._is_demo():
            return None
        joined, connection = self._joined(), None
        if joined is not None:
            connection = ConnectionSettings(
                url=joined.shown_url, space=joined.space, answer_tools_list=joined.answer_tools_list
            )
        saved = SavedWindow(
            path=self._storable_text(self._target()),
            connection=connection if connection is not None and secret_settings.has_no_secret(connection) else None,
        )
        if not saved.opens:
            return None
        saved.geometry = _base64(self._parent.window().saveGeometry())
        if panes is not None:
            self._save_view(panes, saved, self._storable_text)
        elif runs is not None:
            saved.filter = self._storable_text(runs.filter)
            saved.sorted_by, saved.descending = runs.order
        return saved

    def _view(self) -> SavedWindow | None:
        """Returns the state of the shown document, which is not written to disk; None without one."""
        panes = self._shown.panes
        if panes is None:
            return None
        saved = SavedWindow(path=str(self._shown.location.opened))
        self._save_view(panes, saved, str)
        return saved

    def _save_view(self, panes: Panes, saved: SavedWindow, storable: Callable[[str], str]) -> None:
        saved.docks, saved.view, saved.dragged, saved.gave_way = self._layout()
        self._save_filter(panes, saved, storable)
        self._save_position(panes, saved)

    def _save_filter(self, panes: Panes, saved: SavedWindow, storable: Callable[[str], str]) -> None:
        stack = panes.filter_state.stack
        saved.filter, saved.besides = storable(stack.text), storable(stack.besides)
        saved.conditions = [
            SavedCondition(text=one.text, on=one.on, later=one.later) for one in stack.conditions if storable(one.text)
        ]
        scope = panes.filter_state.scope
        if scope is not None:
            self._name_scope(panes, scope)  # its context may have another path by the next time
            if self._named_scope is not None and self._named_scope[0] == scope:
                self._save_scope(saved, *self._named_scope, storable)
        by = panes.rows.sorted_by
        if by is not None and storable(by.field):
            saved.sorted_by, saved.descending = by.field, by.descending

    def _name_scope(self, panes: Panes, scope: Scope | None) -> None:
        if scope is not None:
            panes.client.send_request(NameScope(scope), lambda named: self._note_scope(scope, named))

    def _note_scope(self, scope: Scope, named: NamedScope) -> None:
        self._named_scope = scope, named

    def _note_head(self, messages: int, digest: str) -> None:
        self._head = messages, digest

    def _save_scope(
        self, saved: SavedWindow, scope: Scope, named: NamedScope, storable: Callable[[str], str]
    ) -> None:  # fmt: skip
        if all(storable(one) == one for one in (named.space, named.context or "", named.source)):
            saved.scope = SavedScope(
                space=named.space, context=named.context, source=named.source, reach=scope.reach.name,
                calls=scope.calls,
            )  # fmt: skip

    def _save_position(self, panes: Panes, saved: SavedWindow) -> None:
        from inspector.ui.panels.details.panel import TABS

        saved.tab = TABS[max(0, panes.details.tabs.currentIndex())]
        if not saved.path:
            return
        count = min(HEAD_MESSAGES, self._shown.state.messages)
        # The digest changes only with the number of messages in the head.
        if count and count != self._head[0]:
            panes.client.send_request(HeadDigest(count), lambda digest: self._note_head(count, digest))
        saved.head_messages, saved.head = self._head
        saved.message = panes.messages.current_message()
        saved.following = panes.messages.following
        at_top = panes.messages.view.anchor.at_top()
        if at_top is not None:
            saved.top, saved.offset = at_top

    def _storable_text(self, text: str) -> str:
        """Returns the text if it can be stored in plain; "" if it contains a secret or is not storable."""
        if not _is_storable(text):
            return ""
        # Asked every two seconds, which is cheap: `filter_holds_secret` caches its results.
        return "" if secret_settings.holds_secret(text) else text


def _is_view_in_force(panes: Panes) -> bool:
    """Returns True if the requested filter and scope are in force."""
    return panes.filter_state.filter is panes.rows.filter and panes.filter_state.scope == panes.rows.scope


def _is_storable(text: str) -> bool:
    """Returns True for valid Unicode up to the length of handwritten text. The filter of a chain is longer."""
    try:
        return len(text.encode()) <= MAX_TEXT_LENGTH
    except UnicodeEncodeError:  # lone surrogates have no UTF-8 form
        return False


def _base64(data: QByteArray) -> str:
    return bytes(data.toBase64().data()).decode()
