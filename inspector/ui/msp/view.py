"""Sub-sessions in the conversation of a window, in step with the context tree and the details panel."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, cast

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QDockWidget, QMenu, QWidget

from inspector.engine.request import RequestError
from inspector.engine.requests.conversation import CardKind
from inspector.engine.requests.filters import Scope
from inspector.engine.requests.locations import MAIN
from inspector.engine.requests.msp_sessions import (
    ContextOfSubsession,
    MessageRef,
    PlaceOfRow,
    RowOfMessage,
    ShownSubsession,
    SubsessionOfContext,
    SubsessionPlace,
)
from inspector.present.places import ContextPlace
from inspector.ui.docview.panel import CONVERSATION
from inspector.ui.look import icons
from inspector.ui.look.theme import ThemeController

if TYPE_CHECKING:
    from inspector.ui.docview.center import Center
    from inspector.ui.docview.panes import Panes
    from inspector.ui.docview.window_content import Shown
    from inspector.ui.docview.window_requests import WindowRequests
    from inspector.ui.msp.panel.panel import SubsessionsPanel
    from inspector.ui.panels.conversation.panel import ConversationPanel
    from inspector.ui.services import SettingsOwner
    from inspector.ui.widgets.notice import NoticeStack

_DETAILS = "Details"


class MspView(QObject):
    """Displays the sessions of one window.

    Signals:
        made(SubsessionsPanel): the view was created; the editing feature connects to it.
        global_requested(MessageRef): make a message global, or take that back.
        rules_changed(): rules or budget changed in the settings of all windows; this view is up to date.

    Attributes:
        panel: the conversation with list, input line and indicator; None before it is first needed.
    """

    made = Signal(object)
    global_requested = Signal(object)
    rules_changed = Signal()

    def __init__(
        self, window: QWidget, shown: Shown, services: SettingsOwner, themes: ThemeController,
        requests: WindowRequests, notices: NoticeStack, docks: Mapping[str, QDockWidget],
    ) -> None:  # fmt: skip
        """Creates the feature without a view.

        Args:
            window: owner.
            shown: the displayed document.
            services: contain rules and budget.
            themes: give the look.
            requests: requests to the window.
            notices: shows reasons for refused actions.
            docks: by title; the details are hidden while the indicator takes their place.
        """
        super().__init__(window)
        self._shown = shown
        self._services = services
        self._themes = themes
        self._requests = requests
        self._notices = notices
        self._docks = docks
        self._center: Center | None = None
        self._panes: Panes | None = None
        self._hid_details = False
        self._wanted: str | None = None
        self._read_only = ""
        self.panel: SubsessionsPanel | None = None

    @property
    def sub(self) -> ShownSubsession | None:
        """The displayed sub-session."""
        return None if self.panel is None else self.panel.sub

    def attach(self, center: Center) -> None:
        """Attaches to the views of a session document."""
        self._center = center
        center.changed.connect(self._on_view_changed)
        self._on_view_changed(center.current)

    def speak_of(self, panes: Panes, *, is_sessions: bool = True) -> None:
        """Attaches to the panes of a document."""
        self._panes = panes
        if is_sessions:
            panes.contexts.selected.connect(self._on_context_selected)
            panes.contexts.space_selected.connect(self._show_whole)
            panes.filter_state.scope_changed.connect(self._on_scope_changed)
            self.mark_shown()

    def frame_view(self, view: str, made: QWidget) -> QWidget:
        """Returns the widget of a view: the conversation of sessions with its surroundings, others as they are."""
        panes = self._shown.panes
        if view != CONVERSATION or panes is None or not panes.client.state.is_sessions:
            return made
        from inspector.ui.msp.panel.indicator import Indicator
        from inspector.ui.msp.panel.panel import SubsessionsPanel
        from inspector.ui.msp.panel.sessions_client import SessionsClient

        self.panel = panel = SubsessionsPanel(
            SessionsClient(panes.client, self), self._themes, cast("ConversationPanel", made), panes.frame
        )
        indicator = Indicator(panel.client, self._themes, self._services.settings, panel.counts, panel)
        indicator.rules_changed.connect(self._on_rules_changed)
        indicator.message_requested.connect(self._go_to_message)
        panel.add_indicator(indicator)
        panel.conversation_shown.connect(self._on_conversation_shown)
        self._on_conversation_shown()
        self.made.emit(panel)
        panel.shown.connect(self._on_shown)
        if self._wanted is not None:
            panel.show_subsession(self._wanted)
        return panel

    def _on_conversation_shown(self) -> None:
        """Connects the conversation, another one for each projection."""
        if self.panel is not None:
            conversation = self.panel.chat.conversation
            conversation.menu_opening.connect(self._fill_menu)
            conversation.global_requested.connect(self.switch_global)
            conversation.view.selectionModel().currentChanged.connect(lambda *_: self._requests.actions_changed.emit())

    def show_subsessions(self) -> None:
        """Shows the conversation of a sub-session: of the displayed one, else of the first open one."""
        self._requests.view_requested.emit(CONVERSATION)
        self._requests.center_requested.emit()
        if self.panel is not None:
            self.panel.show_any()

    def _fill_menu(self, menu: QMenu, message: int) -> None:
        """Adds acts to the menu of a card of the conversation, for a message of a sub-session."""
        from inspector.ui.msp.panel.chat import MAKE_GLOBAL, TAKE_BACK

        place = self._place_of(message)
        if place is None:
            return
        menu.addSeparator()
        if place.message is not None:
            words = TAKE_BACK if place.is_global else MAKE_GLOBAL
            toggle = menu.addAction(icons.icon("global"), f"{words}\tG")
            toggle.setObjectName("conversation.global")
            toggle.setEnabled(not self._read_only)
            toggle.triggered.connect(lambda *_checked: self.switch_global(message))
        if self.sub is None or self.sub.key != place.key:
            opened = menu.addAction("Show this sub-session")
            opened.setObjectName("conversation.subsession")
            opened.triggered.connect(lambda *_checked: self._open(place.key, message))

    def _place_of(self, message: int) -> SubsessionPlace | None:
        """Returns the place of a message of the capture in a sub-session."""
        try:
            return None if self._panes is None else self._panes.client.answer_now(PlaceOfRow(message))
        except RequestError:
            return None

    @property
    def own_message(self) -> int | None:
        """The current message if it belongs to the displayed sub-session."""
        if self.sub is None or self.panel is None:
            return None
        model, row = self.panel.chat.conversation.model, self.panel.chat.conversation.view.currentIndex().row()
        if model.outline is None or not 0 <= row < len(model) or model.is_inherited(row):
            return None
        kind, message = model.key(row)
        return message if kind in (CardKind.PROMPT, CardKind.ANSWER) else None

    def switch_global(self, message: int) -> None:
        """Requests to make a message global, or to take that back."""
        place = self._place_of(message)
        if place is not None and place.message is not None and not self._read_only:
            self.global_requested.emit(place.message)

    def _open(self, key: str, message: int) -> None:
        if self.panel is not None:
            conversation = self.panel.chat.conversation
            self.panel.show_subsession(key, lambda: conversation.go_to_message(message))

    def set_read_only(self, reason: str) -> None:
        """Shows the reason for read-only sessions, or ""."""
        self._read_only = reason
        if self.panel is not None:
            self.panel.set_read_only(reason)

    def count_now(self) -> bool:
        """Counts missing tokens at once, for screenshots. Returns False without a view."""
        if self.panel is None or self.panel.indicator is None:
            return False
        self.panel.counts.count_here()
        return True

    def apply_settings(self) -> None:
        """Applies rules and budget."""
        if self.panel is not None and self.panel.indicator is not None:
            self.panel.indicator.apply_settings(self._services.settings)

    def _on_rules_changed(self) -> None:
        self._services.save_settings()
        self.rules_changed.emit()

    def _on_view_changed(self, view: str) -> None:
        """Hides the details while a sub-session is in front, and shows them again afterwards."""
        details = self._docks.get(_DETAILS)
        if details is None or self._panes is None:
            return
        if view == CONVERSATION and self.sub is not None:
            # A floating panel takes no width from the view.
            if not details.isHidden() and not details.isFloating():
                self._hid_details = True
                details.hide()
            self.mark_shown()
        else:
            self.give_back()
            self._panes.contexts.show_place(self._panes.details.place)
        self._requests.actions_changed.emit()

    def give_back(self) -> None:
        """Shows the details again."""
        if self._hid_details and _DETAILS in self._docks:
            self._docks[_DETAILS].show()
        self._hid_details = False

    @property
    def is_shown(self) -> bool:
        """True if the conversation of a sub-session is in front."""
        return self.sub is not None and self._center is not None and self._center.current == CONVERSATION

    # Context tree

    def _on_context_selected(self, space: int, node: int) -> None:
        """Displays the sub-session of a context selected in the tree."""
        if self._panes is None:
            return
        try:
            key = self._panes.client.answer_now(SubsessionOfContext(node))
        except RequestError:
            key = None
        if key is not None:
            self._wanted = key
            if self.panel is not None:
                self.panel.show_subsession(key)
        else:
            self._show_whole()

    def _on_scope_changed(self, scope: Scope | None) -> None:
        if scope is not None and scope.node not in (None, MAIN):
            self._on_context_selected(scope.space, scope.node)

    def _show_whole(self) -> None:
        self._wanted = None
        if self.panel is not None:
            self.panel.chat.show_whole()

    def _on_shown(self, key: str) -> None:
        self._wanted = key or None
        if self._center is not None and self._center.current == CONVERSATION:
            self._on_view_changed(CONVERSATION)

    def mark_shown(self) -> None:
        """Selects the displayed sub-session in the tree, if the view is in front and there is no scope."""
        panes, sub = self._panes, self.sub
        if panes is not None and sub is not None and self.is_shown:
            panes.client.send_request(ContextOfSubsession(sub.key), self._mark_in_tree)

    def _mark_in_tree(self, context: tuple[int, int] | None) -> None:
        if self._panes is not None and context is not None and self.is_shown:
            self._panes.contexts.show_place(ContextPlace(*context))

    def _go_to_message(self, message: MessageRef) -> None:
        """Moves to a message of the merged context."""
        if self._panes is None or self.panel is None:
            return
        try:
            row = self._panes.client.answer_now(RowOfMessage(message))
        except RequestError:
            row = None
        if row is None:
            self._notices.show_sentence("This message is not in the capture yet.")
        else:
            self.panel.chat.conversation.go_to_message(row)
