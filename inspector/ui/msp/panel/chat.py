"""Reading and writing one sub-session: head, conversation and input line."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import pairwise
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QVBoxLayout, QWidget

from inspector.engine.requests.filters import Scope
from inspector.engine.requests.msp_sessions import ShownSubsession, ShowSubsession
from inspector.ui.look.theme import ThemeController
from inspector.ui.msp.panel.chat_bars import ChatHead, MessageInput
from inspector.ui.msp.panel.sessions_client import SessionsClient
from inspector.ui.widgets.notice import NoticeStack

if TYPE_CHECKING:
    from inspector.ui.panels.conversation.panel import ConversationPanel

MAKE_GLOBAL, TAKE_BACK = "Make global", "Limit to the sub-session"
CLOSED = "This sub-session is closed."
_Place = tuple[int, int, bool]


class ChatPanel(QWidget):
    """The conversation of a session, or of one sub-session with its input line.

    Signals:
        message_added(str, str): add a message with this role and text.
        shown(str): another sub-session is displayed; its key, or "" for the whole session.
        left(): Esc was pressed in the conversation.
        removed(): the displayed sub-session was removed.

    Attributes:
        sub: the displayed sub-session; None for the whole session.
        conversation: shows the messages; another one for each projection.
        head, input, notices: its other parts.
    """

    message_added = Signal(str, str)
    shown = Signal(str)
    left = Signal()
    removed = Signal()

    def __init__(
        self, client: SessionsClient, themes: ThemeController, conversation: ConversationPanel,
        parent: QWidget | None = None,
    ) -> None:  # fmt: skip
        super().__init__(parent)
        self._client = client
        self.setObjectName("chatPanel")
        self.setAccessibleName("Conversation of the sub-session")
        self.setProperty("variant", "base")
        self.sub: ShownSubsession | None = None
        self._wanted = ""
        self._awaits_focus = False
        self._read_only = ""
        self._drafts: dict[str, str] = {}
        self._places: dict[str, _Place] = {}
        self._act: Callable[[], object] | None = None  # for the context to show
        self.head = ChatHead(themes, self)
        self.notices = NoticeStack(themes, self)
        self.input = MessageInput(themes, self)
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(0)
        self._column.addWidget(self.head)
        self._column.addWidget(self.notices)
        self._column.addWidget(self.input)
        self.conversation = conversation
        self._place_conversation()
        self.input.added.connect(self.message_added)
        self.input.left.connect(lambda: self.conversation.setFocus())
        self.head.whole_requested.connect(self.show_whole)
        self._fit_state()

    # Conversation

    def replace_conversation(
        self, conversation: ConversationPanel, context: Scope | None, found: Mapping[int, int]
    ) -> None:
        """Shows the conversation of another projection at the same place, with the same cards open.

        Args:
            conversation: the other conversation.
            context: the context of the sub-session in it.
            found: its messages by the messages of this one.
        """
        before = self.conversation
        place, row, outline = before.view.place, before.view.currentIndex().row(), before.model.outline
        was_unfolded = outline is not None and before.model.is_inherited(1)

        def return_to_place() -> None:
            conversation.view.show_row(row, quietly=True)
            conversation.view.return_to(place)

        def restore() -> None:
            if was_unfolded and not conversation.model.is_inherited(1):
                conversation.when_shown(return_to_place)
                conversation.open_row(0)
            else:
                return_to_place()

        conversation.open_as(before, found)
        before.stop()
        self._column.removeWidget(before)
        before.hide()
        before.deleteLater()
        self.conversation = conversation
        conversation.when_shown(restore)
        conversation.show_alone(context)
        self._place_conversation()

    def _place_conversation(self) -> None:
        self._column.insertWidget(2, self.conversation, 1)
        self.conversation.head.hide()
        self.conversation.view.left.connect(self.left)
        self.conversation.outside_selected.connect(self._show_outside)
        self.setFocusProxy(self.conversation)
        # Tab follows the order of children, and that of later conversations the order set here.
        self.input.raise_()
        for first, second in pairwise((self.head.new, self.conversation.view, self.input.role, self.input.text)):
            QWidget.setTabOrder(first, second)

    def _show_outside(self, message: int) -> None:
        """Shows the whole session at a message that was selected elsewhere."""
        self._act = lambda: self.conversation.show_message(message)
        self.show_whole()

    # Content

    def show_subsession(self, key: str, then: Callable[[], object] | None = None) -> None:
        """Displays a sub-session, and calls `then`. Ignores unknown keys.

        Without `then` it is displayed at its last scroll position, else at its end.
        """
        if key != self._wanted:
            self._wanted, self._act = key, then
            self._client.send_request(ShowSubsession(key), self._show)

    def show_whole(self) -> None:
        """Displays the whole session."""
        if self.sub is not None or self._wanted:
            self._wanted = ""
            self._change_to(None)

    def refresh(self) -> None:
        """Asks for the displayed sub-session again: another state, or its removal."""
        if self._wanted:
            shown = self.sub is not None and self.sub.key == self._wanted
            self._client.send_request(ShowSubsession(self._wanted), self._take if shown else self._show)

    def _show(self, sub: ShownSubsession | None) -> None:
        if sub is None:
            self._wanted = self.sub.key if self.sub is not None else ""
        elif sub.key == self._wanted and (self.sub is None or self.sub.key != sub.key):
            self._change_to(sub)

    def _change_to(self, sub: ShownSubsession | None) -> None:
        if self.sub is not None:
            self._places[self.sub.key] = self.conversation.view.place
        self._keep_draft()
        self.sub = sub
        key = "" if sub is None else sub.key
        self.input.clear()
        self.input.offer_roles([] if sub is None else sub.roles)
        place = self._places.get(key, (0, 0, sub is not None))
        self._act = self._act or (lambda: self.conversation.view.return_to(place))
        self._show_context()
        self._fit_state()
        if self._awaits_focus:
            self.focus_input()
        self.shown.emit(key)

    def _show_context(self) -> None:
        """Shows the context of the sub-session alone, once the capture has it."""
        if self.sub is None or self.sub.context is not None:
            act, self._act = self._act, None
            context = None if self.sub is None or self.sub.context is None else Scope(*self.sub.context)
            self.conversation.show_alone(context, act or (lambda: None))

    def _take(self, sub: ShownSubsession | None) -> None:
        """Shows the present state of the displayed sub-session."""
        before = self.sub
        if before is None or before.key != self._wanted:
            return
        if sub is None:
            self._keep_draft()
            self.input.clear()
            self.show_whole()
            self.removed.emit()
            return
        self.sub = sub
        self._show_context()
        self._fit_state()
        if sub != before:
            self.shown.emit(sub.key)

    def _keep_draft(self) -> None:
        draft = self.input.text.toPlainText()
        if self.sub is not None and draft.strip():
            self._drafts[self.sub.key] = draft

    @property
    def drafts(self) -> list[str]:
        """Messages typed but not added, of all sub-sessions."""
        return [draft for draft in (*self._drafts.values(), self.input.text.toPlainText()) if draft.strip()]

    def set_read_only(self, reason: str) -> None:
        """Shows the reason for read-only sessions, or ""."""
        self._read_only = reason
        self._fit_state()

    def _fit_state(self) -> None:
        """Updates head and input from the sub-session."""
        sub = self.sub
        self.head.show_state(sub, editable=not self._read_only)
        reason = self._read_only
        if sub is not None and not reason:
            reason = sub.why_not_add if sub.is_open else CLOSED
        if reason and not self.input.reason:
            # Until messages can be added again.
            self._keep_draft()
            self.input.clear()
        held = self.input.isAncestorOf(self.window().focusWidget() or self)
        self.input.set_reason(reason)
        self.input.setVisible(sub is not None)
        if held and (reason or sub is None):  # else Qt moves the focus to the next widget in the window
            self.conversation.setFocus()
        if sub is not None and not reason and sub.key in self._drafts and not self.input.text.toPlainText():
            self.input.text.setPlainText(self._drafts.pop(sub.key))
        label = "" if sub is None else sub.label
        self.conversation.view.setAccessibleName(f"Conversation of {label}" if label else "Conversation")

    def focus_input(self) -> None:
        """Focuses the input line; that of another sub-session when it has arrived."""
        self._awaits_focus = self._wanted != (self.sub.key if self.sub is not None else "")
        if not self._awaits_focus:
            self.input.text.setFocus(Qt.FocusReason.ShortcutFocusReason)
