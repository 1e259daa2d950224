"""Saves and restores the state of a window across starts: filter, scope, order, place, docks.

Parts that need messages wait until these are read, and stop when the user acts. `ui/app/last_open.py` stores the list
of open windows, and `inspector.settings.window_state` is the file.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtCore import QByteArray, QObject, QTimer
from PySide6.QtWidgets import QWidget

from inspector.analysis.passes.contexts.context_tree import MAIN
from inspector.document.marks_file.identity import HEAD_MESSAGES, Digests
from inspector.filters import FilterError
from inspector.filters.scope import Reach, Scope, source_named
from inspector.filters.stacked_conditions import MOST_CONDITIONS, Condition, FilterStack
from inspector.present import secret_settings
from inspector.settings import ConnectionSettings
from inspector.settings.window_state import MAX_TEXT_LENGTH, SavedCondition, SavedScope, SavedWindow

if TYPE_CHECKING:
    from inspector.sources.connection import Connection
    from inspector.ui.docview.panes import Panes
    from inspector.ui.docview.window_content import Shown
    from inspector.ui.panels.runs.page import RunsPage
    from inspector.ui.widgets.notice import NoticeStack


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
        self._is_restoring = self._is_read_through = False
        self._head = (0, "")

    # Restoring the state

    def begin(self, saved: SavedWindow) -> None:
        """Restores the geometry at once, and the rest when the document is shown."""
        self.saved = saved
        if saved.geometry:
            self._parent.restoreGeometry(QByteArray.fromBase64(saved.geometry.encode()))

    def give_up(self) -> None:
        """Drops the saved state."""
        self.saved = None

    def attach(self, panes: Panes) -> None:
        """Restores what the panes allow. The window has already restored the docks."""
        from inspector.ui.panels.details.panel import TABS

        saved = self.saved
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
        now = self._joined()
        if now is not None:
            then = saved.connection
            return then is not None and (now.shown_url, now.space) == (then.url, then.space)
        target = self._target()
        return bool(target) and target == saved.path

    def _target(self) -> str:
        """Returns the target that opens the same document; "" if it is no file of the user."""
        if self._shown.runs is not None:
            return str(self._shown.runs.runs.path.absolute())
        location = self._shown.location
        file = location.user_file(self._shown.document)
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
            if self._is_another(saved):
                self.give_up()
                name = self._shown.document.name
                self._notices.show_sentence(
                    f"{name} has changed since it was last open. Its filter is restored, but not its position."
                )
            elif self._restore_all(panes, saved) or (
                self._is_read_through and not saved.sorted_by and _is_view_in_force(panes)
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

    def _is_another(self, saved: SavedWindow) -> bool:
        capture = self._shown.document.capture
        if not saved.path or not saved.head or (len(capture) < saved.head_messages and not self._is_read_through):
            return False
        heads = Digests(capture).head_digests()
        return len(heads) < saved.head_messages or heads[saved.head_messages - 1] != saved.head

    def _restore_scope(self, panes: Panes, saved: SavedWindow) -> bool:
        """Restores the scope. Returns True if it is done."""
        wanted = saved.scope
        if wanted is None or panes.filter_state.scope is not None:
            return True
        document = self._shown.document
        if wanted.source:
            source = source_named(document.capture, wanted.source)
            if source is not None:
                panes.filter_state.set_scope(Scope(0, None, calls=wanted.calls, source=source))
            return source is not None or self._is_read_through
        space = document.capture.strings.find(wanted.space) if wanted.space else 0
        node = None if wanted.context is None else MAIN
        if space is not None and wanted.context:
            node = document.analysis.contexts.tree.find_displayed(space, wanted.context)
        if space is None or (wanted.context and node == MAIN):
            return self._is_read_through
        reach = Reach.__members__.get(wanted.reach, Reach.BELOW)
        panes.filter_state.set_scope(Scope(space, node, reach, wanted.calls))
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
            try:
                panes.messages.sorter.sort(saved.sorted_by, saved.descending)
            except FilterError:  # a field of another version
                return True
        return panes.rows.sorted_by is not None

    def _restore_position(self, panes: Panes, saved: SavedWindow) -> bool:
        """Restores selection and scroll position. Returns True if they are in place."""
        total = len(self._shown.document.capture)
        if not saved.path or not _is_view_in_force(panes) or max(saved.message or 0, saved.top or 0) >= total:
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
            return self.saved
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
        saved.geometry = _base64(self._parent.saveGeometry())
        if panes is not None:
            saved.docks, saved.view, saved.dragged, saved.gave_way = self._layout()
            self._save_filter(panes, saved)
            self._save_position(panes, saved)
        elif runs is not None:
            saved.filter = self._storable_text(runs.filter)
            saved.sorted_by, saved.descending = runs.order
        return saved

    def _save_filter(self, panes: Panes, saved: SavedWindow) -> None:
        stack = panes.filter_state.stack
        saved.filter, saved.besides = self._storable_text(stack.text), self._storable_text(stack.besides)
        saved.conditions = [
            SavedCondition(text=one.text, on=one.on, later=one.later)
            for one in stack.conditions
            if self._storable_text(one.text)
        ]
        scope, capture = panes.filter_state.scope, self._shown.document.capture
        if scope is not None:
            space = capture.strings[scope.space]
            tree = self._shown.document.analysis.contexts.tree
            node = None if scope.node is None else tree.resolve(scope.node)
            context = None if node is None else tree.path(node) if node >= 0 else ""
            source = "" if scope.source is None else capture.sources[scope.source].name
            if all(self._storable_text(one) == one for one in (space, context or "", source)):
                saved.scope = SavedScope(
                    space=space, context=context, source=source, reach=scope.reach.name, calls=scope.calls
                )
        by = panes.rows.sorted_by
        if by is not None and self._storable_text(by.field.name):
            saved.sorted_by, saved.descending = by.field.name, by.descending

    def _save_position(self, panes: Panes, saved: SavedWindow) -> None:
        from inspector.ui.panels.details.panel import TABS

        saved.tab = TABS[max(0, panes.details.tabs.currentIndex())]
        if not saved.path:
            return
        count = min(HEAD_MESSAGES, len(self._shown.document.capture))
        # the digests change only with the number of messages in the head
        if count != self._head[0]:
            heads = Digests(self._shown.document.capture).head_digests()
            self._head = (len(heads), heads[-1] if heads else "")
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
