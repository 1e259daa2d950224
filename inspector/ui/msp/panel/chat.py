"""Conversation of one sub-session: head, messages with context menu, and input line."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress

from PySide6.QtCore import QPoint, Qt, Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QMenu, QVBoxLayout, QWidget

from inspector.engine.request import RequestError
from inspector.engine.requests.msp_sessions import ChatMessage, CopyMessage, MessageRef, ShownSubsession, ShowSubsession
from inspector.present.wire_text import safe_line
from inspector.ui.look import icons
from inspector.ui.look.theme import ThemeController
from inspector.ui.msp.panel.bubbles import is_row_cut
from inspector.ui.msp.panel.chat_bars import ChatHead, MessageInput
from inspector.ui.msp.panel.chat_model import ChatModel
from inspector.ui.msp.panel.chat_view import ChatView
from inspector.ui.msp.panel.sessions_client import SessionsClient
from inspector.ui.panels.details.text_block import may_be_opened
from inspector.ui.widgets.notice import NoticeStack

MAKE_GLOBAL, TAKE_BACK = "Make global", "Limit to the sub-session"
_MAX_LINKS = 5


class MessageMenu(QMenu):
    """Context menu of a message.

    Signals:
        global_chosen(): make it global, or take that back.
        whole_chosen(): expand it.
        table_chosen(): show it in the table.
        link_chosen(str): open an address.
        copy_chosen(bool): copy its text, or its JSON if True.
    """

    global_chosen = Signal()
    whole_chosen = Signal()
    table_chosen = Signal()
    link_chosen = Signal(str)
    copy_chosen = Signal(bool)

    def __init__(
        self, message: ChatMessage, *, own: bool, editable: bool, cut: bool, links: Sequence[str],
        parent: QWidget | None = None,
    ) -> None:  # fmt: skip
        """Creates the menu.

        Args:
            message: the message.
            own: True for a message of the sub-session, False for one of its parent.
            editable: True if the document can be edited.
            cut: True if only its beginning is visible.
            links: addresses in it.
            parent: owner.
        """
        super().__init__(parent)
        self.setObjectName("chatMessageMenu")
        self.setAccessibleName("Message")
        if own:
            words = TAKE_BACK if message.is_global else MAKE_GLOBAL
            toggle = self.addAction(f"{words}\tG")
            toggle.setObjectName("chat.global")
            toggle.setEnabled(editable)
            toggle.setIcon(icons.icon("global"))
            toggle.triggered.connect(lambda: self.global_chosen.emit())
            self.addSeparator()
        if cut:
            whole = self.addAction("Show all")
            whole.setObjectName("chat.whole")
            whole.triggered.connect(lambda: self.whole_chosen.emit())
        table = self.addAction("Show in the table")
        table.setObjectName("chat.table")
        table.triggered.connect(lambda: self.table_chosen.emit())
        for address in links[:_MAX_LINKS]:
            link = self.addAction(f"Open {safe_line(address, 60)}...".replace("&", "&&"))
            link.setObjectName("chat.link")
            link.triggered.connect(lambda _=False, address=address: self.link_chosen.emit(address))
        self.addSeparator()
        text = self.addAction(icons.icon("copy"), "Copy text")
        text.setObjectName("chat.copyText")
        text.triggered.connect(lambda: self.copy_chosen.emit(False))
        as_json = self.addAction("Copy as JSON")
        as_json.setObjectName("chat.copyJson")
        as_json.triggered.connect(lambda: self.copy_chosen.emit(True))


CLOSED = "This sub-session is closed."
NOTHING_CHOSEN = "Select a sub-session to read it."


class ChatPanel(QWidget):
    """The conversation.

    Signals:
        message_added(str, str): add a message with this role and text.
        global_requested(MessageRef): make a message global, or take that back.
        table_requested(MessageRef): show a message in the table.
        link_requested(str): open an address.
        current_changed(): the current message changed.
        shown(str): another sub-session is displayed; its key.
        removed(): the displayed sub-session was removed.
        left(): Esc was pressed.

    Attributes:
        sub: the displayed sub-session, or None.
        head, view, model, input, notices: its parts.
    """

    message_added = Signal(str, str)
    global_requested = Signal(object)
    table_requested = Signal(object)
    link_requested = Signal(str)
    current_changed = Signal()
    shown = Signal(str)
    removed = Signal()
    left = Signal()

    def __init__(self, client: SessionsClient, themes: ThemeController, parent: QWidget | None = None) -> None:
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
        self._places: dict[str, tuple[int, int, bool]] = {}
        self.head = ChatHead(themes, self)
        self.notices = NoticeStack(themes, self)
        self.model = ChatModel(client, self)
        self.view = ChatView(self.model, themes, self)
        self.input = MessageInput(themes, self)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        for widget in (self.head, self.notices):
            column.addWidget(widget)
        column.addWidget(self.view, 1)
        column.addWidget(self.input)
        self.setFocusProxy(self.view)
        self.input.added.connect(self.message_added)
        self.input.left.connect(self.view.setFocus)
        self.view.left.connect(self.left)
        self.view.opened.connect(self._on_opened)
        self.view.menu_asked.connect(self._on_menu_asked)
        self.view.copy_asked.connect(self._on_copy_asked)
        self.view.global_asked.connect(self._on_global_asked)
        self.view.link_asked.connect(self.link_requested)
        self.view.selectionModel().currentChanged.connect(lambda *_indexes: self.current_changed.emit())
        self._fit_state()

    # Content

    def show_subsession(self, key: str) -> None:
        """Displays another sub-session at its last scroll position, else at its end. Ignores unknown keys."""
        if key != self._wanted:
            self._wanted = key
            self._client.send_request(ShowSubsession(key), self._show)

    def refresh(self) -> None:
        """Asks for the displayed sub-session again: new messages, another state, or its removal."""
        if self.sub is not None and self.sub.key == self._wanted:
            self._client.send_request(self._question(self.sub, expanded=self.model.rows.expanded), self._take)
        elif self._wanted:
            self._client.send_request(ShowSubsession(self._wanted), self._show)

    def _question(self, sub: ShownSubsession, *, expanded: bool) -> ShowSubsession:
        return ShowSubsession(sub.key, expanded, self.model.rows.own_count, sub.structure)

    def _show(self, sub: ShownSubsession | None) -> None:
        if sub is None:
            self._wanted = self.sub.key if self.sub is not None else ""
            return
        if sub.key != self._wanted or (self.sub is not None and self.sub.key == sub.key):
            return
        self._keep_place()
        self.sub = sub
        self.model.say_inherited("")
        self.model.show(sub)
        place = self._places.get(sub.key)
        if place is not None:
            self.view.return_to(place)
        self.input.clear()
        self.input.offer_roles(sub.roles)
        self._fit_state()
        if self._awaits_focus:
            self.focus_input()
        self.shown.emit(sub.key)
        self.current_changed.emit()

    def _take(self, sub: ShownSubsession | None) -> None:
        """Shows the present state of the displayed sub-session."""
        before = self.sub
        if before is None or before.key != self._wanted:
            return
        if sub is None:
            self._begin_anew(None)
            self.removed.emit()
            return
        sub = self.model.rows.with_sizes(sub)
        if (sub.structure, sub.state) != (before.structure, before.state):
            self._begin_anew(sub)
            return
        self.sub = sub
        if sub.revision != before.revision:
            self.model.take_in(sub)
        self.model.rows.sub = sub
        self._fit_state()
        if sub.revision != before.revision:
            self.current_changed.emit()

    def _keep_place(self) -> None:
        if self.sub is None:
            return
        self._places[self.sub.key] = self.view.place
        self._keep_draft()

    def _keep_draft(self) -> None:
        draft = self.input.text.toPlainText()
        if self.sub is not None and draft.strip():
            self._drafts[self.sub.key] = draft

    def _store_draft(self) -> None:
        """Stores the draft until messages can be added again."""
        self._keep_draft()
        self.input.clear()

    @property
    def drafts(self) -> list[str]:
        """Messages typed but not added, of all sub-sessions."""
        return [draft for draft in (*self._drafts.values(), self.input.text.toPlainText()) if draft.strip()]

    def set_read_only(self, reason: str) -> None:
        """Shows the reason for read-only sessions, or ""."""
        self._read_only = reason
        self._fit_state()

    @property
    def read_only(self) -> str:
        """The reason for read-only sessions, or ""."""
        return self._read_only

    def _fit_state(self) -> None:
        """Updates head and input from the sub-session."""
        sub = self.sub
        self.head.show_state(sub, editable=not self._read_only)
        reason = NOTHING_CHOSEN if sub is None else self._read_only
        if sub is not None and not reason:
            reason = sub.why_not_add if sub.is_open else CLOSED
        if reason and not self.input.reason:
            self._store_draft()
        held = self.input.isAncestorOf(self.window().focusWidget() or self)
        self.input.set_reason(reason)
        if reason and held:  # else Qt moves the focus to the next widget in the window
            self.view.setFocus()
        if sub is not None and not reason and sub.key in self._drafts and not self.input.text.toPlainText():
            self.input.text.setPlainText(self._drafts.pop(sub.key))
        label = "" if sub is None else sub.label
        self.view.setAccessibleName(f"Conversation of {label}" if label else "Conversation")

    def _begin_anew(self, sub: ShownSubsession | None) -> None:
        """Rebuilds the rows at the same scroll position."""
        place, current = self.view.place, self.view.currentIndex().row()
        if sub is None:
            self._store_draft()
            self._wanted = ""
        self.sub = sub
        self.model.show(sub, expanded=self.model.rows.expanded)
        self.view.return_to(place)
        self.view.show_row(current, quietly=True)
        self._fit_state()
        self.current_changed.emit()

    def say_inherited(self, words: str) -> None:
        """Sets the text of the line about the inherited part."""
        self.model.say_inherited(words)

    def show_message(self, message: MessageRef) -> None:
        """Moves to a message, of the sub-session or its parent."""
        rows = self.model.rows
        if rows.row_of(message) < 0 and not rows.expanded and rows.opens:
            self.expand(on=True, wanted=message)
        else:
            self.view.show_row(rows.row_of(message))

    def expand(self, *, on: bool, wanted: MessageRef | None = None) -> None:
        """Shows or hides earlier messages of the parent, and moves to one; visible rows stay in place."""
        sub = self.sub
        if sub is None or self.model.rows.expanded == on:
            return

        def show(found: ShownSubsession | None) -> None:
            if found is not None and self.sub is not None and self.sub.key == found.key:
                self._show_expanded(self.model.rows.with_sizes(found), on=on)
                if wanted is not None:
                    self.view.show_row(self.model.rows.row_of(wanted))

        self._client.send_request(self._question(sub, expanded=on), show)

    def _show_expanded(self, sub: ShownSubsession, *, on: bool) -> None:
        line = self.model.rows.own_start - 1
        offset, keyboard = self.view.offset_of(line), self.view.currentIndex().row() == line
        self.sub = sub
        self.model.show(sub, expanded=on)
        line = self.model.rows.own_start - 1
        self.view.return_to((line, offset, False))
        if keyboard:
            self.view.show_row(line, quietly=True)

    # Current message

    @property
    def current(self) -> ChatMessage | None:
        """The current message, of the sub-session or its parent."""
        row = self.model.row(self.view.currentIndex().row())
        return None if row is None else row.message

    @property
    def current_own(self) -> ChatMessage | None:
        """The current message if it belongs to the sub-session."""
        row = self.model.row(self.view.currentIndex().row())
        return row.message if row is not None and row.kind == "own" else None

    def _on_opened(self, row: int) -> None:
        found = self.model.row(row)
        if found is None:
            return
        if found.kind == "inherited":
            self.expand(on=not self.model.rows.expanded and self.model.rows.opens)
        elif is_row_cut(found):
            self.view.show_whole(row)

    def _copy(self, message: ChatMessage, *, as_json: bool = False) -> None:
        """Copies a message with secrets masked."""
        with suppress(RequestError):  # it was removed
            QGuiApplication.clipboard().setText(self._client.answer_now(CopyMessage(message.ref, as_json)))

    def _on_copy_asked(self, row: int) -> None:
        found = self.model.row(row)
        if found is not None and found.message is not None:
            self._copy(found.message)

    def _on_global_asked(self, row: int) -> None:
        found = self.model.row(row)
        if found is not None and found.kind == "own" and found.message is not None and not self._read_only:
            self.global_requested.emit(found.message.ref)

    def menu_for(self, row: int) -> MessageMenu | None:
        """Returns the context menu of a row, or None. The menu deletes itself when it closes."""
        found = self.model.row(row)
        if found is None or found.message is None:
            return None
        message = found.message
        links = list(filter(may_be_opened, self.view.painting.links(found, self.view.viewport().width())))
        menu = MessageMenu(
            message, own=found.kind == "own", editable=not self._read_only, cut=is_row_cut(found), links=links,
            parent=self,
        )  # fmt: skip
        menu.global_chosen.connect(lambda: self.global_requested.emit(message.ref))
        menu.whole_chosen.connect(lambda: self.view.show_whole(self.model.rows.row_of(message.ref)))
        menu.table_chosen.connect(lambda: self.table_requested.emit(message.ref))
        menu.link_chosen.connect(self.link_requested)
        menu.copy_chosen.connect(lambda as_json: self._copy(message, as_json=as_json))
        # Menus of one message each would otherwise accumulate.
        menu.aboutToHide.connect(menu.deleteLater)
        return menu

    def _on_menu_asked(self, row: int, at: QPoint) -> None:
        menu = self.menu_for(row)
        if menu is not None:
            menu.popup(at)

    def focus_input(self) -> None:
        """Focuses the input line; that of another sub-session when it has arrived."""
        self._awaits_focus = self._wanted != (self.sub.key if self.sub is not None else "")
        if not self._awaits_focus:
            self.input.text.setFocus(Qt.FocusReason.ShortcutFocusReason)
