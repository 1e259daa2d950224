"""The "Sub-sessions" view in its window: created on demand, in step with the context tree and the details panel."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, QUrl, Signal
from PySide6.QtWidgets import QDockWidget, QMenu, QWidget

from inspector.engine.request import RequestError
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
from inspector.ui.docview.panel import SUBSESSIONS
from inspector.ui.look import icons
from inspector.ui.look.theme import ThemeController

if TYPE_CHECKING:
    from inspector.ui.docview.center import Center
    from inspector.ui.docview.panes import Panes
    from inspector.ui.docview.window_content import Shown
    from inspector.ui.docview.window_requests import WindowRequests
    from inspector.ui.msp.panel.panel import SubsessionsPanel
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
        panel: the view; None before it is first needed.
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
            window: owner; asks before links are opened.
            shown: the displayed document.
            services: contain rules and budget.
            themes: give the look.
            requests: requests to the window.
            notices: shows reasons for refused actions.
            docks: by title; the details are hidden while the indicator takes their place.
        """
        super().__init__(window)
        self._window = window
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
            if self.panel is not None:
                self.panel.client.replace_by(panes.client)
            self.mark_shown()

    def adopt_view(self, view: str, panel: Any) -> None:
        """Connects a new view of the document, given by its id."""
        if view == SUBSESSIONS:
            self.adopt(panel)
        elif view == "conversation":
            panel.menu_opening.connect(self._fill_menu)

    def _fill_menu(self, menu: QMenu, message: int) -> None:
        """Adds acts to the menu of a card of the conversation, for a message of a sub-session."""
        from inspector.ui.msp.panel.chat import MAKE_GLOBAL, TAKE_BACK

        panes = self._panes
        if panes is None or not panes.client.state.is_sessions:
            return
        try:
            place = panes.client.answer_now(PlaceOfRow(message))
        except RequestError:
            return
        if place is None:
            return
        shown = place.message
        menu.addSeparator()
        if shown is not None:
            toggle = menu.addAction(icons.icon("global"), TAKE_BACK if shown.is_global else MAKE_GLOBAL)
            toggle.setObjectName("conversation.global")
            toggle.setEnabled(not self._read_only)
            toggle.triggered.connect(lambda *_checked: self.global_requested.emit(shown.ref))
        opened = menu.addAction("Open in Sub-sessions")
        opened.setObjectName("conversation.subsession")
        opened.triggered.connect(lambda *_checked: self._open(place))

    def _open(self, place: SubsessionPlace) -> None:
        self._wanted = place.key
        self._requests.view_requested.emit(SUBSESSIONS)
        if self.panel is not None:
            self.panel.show_subsession(place.key)
            if place.message is not None and self.panel.sub is not None and self.panel.sub.key == place.key:
                self.panel.chat.show_message(place.message.ref)

    def adopt(self, panel: SubsessionsPanel) -> None:
        """Connects the signals of the new view."""
        from inspector.ui.msp.panel.indicator import Indicator
        from inspector.ui.panels.details.text_block import ask_to_open

        self.panel = panel
        indicator = Indicator(panel.client, self._themes, self._services.settings, panel.counts, panel)
        indicator.rules_changed.connect(self._on_rules_changed)
        panel.add_indicator(indicator)
        self.made.emit(panel)
        panel.shown.connect(self._on_shown)
        panel.chat.table_requested.connect(self._show_in_table)
        panel.chat.link_requested.connect(lambda address: ask_to_open(QUrl(address), self._window))
        panel.chat.current_changed.connect(self._requests.actions_changed)
        if self._wanted is not None:
            panel.show_subsession(self._wanted)

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
        """Hides the details while the view is in front, and shows them again afterwards."""
        details = self._docks.get(_DETAILS)
        if details is None or self._panes is None:
            return
        if view == SUBSESSIONS:
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
        """True if the view is in front."""
        return self._panes is not None and self._center is not None and self._center.current == SUBSESSIONS

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

    def _on_shown(self, _key: str) -> None:
        self.mark_shown()
        self._requests.actions_changed.emit()

    def mark_shown(self) -> None:
        """Selects the displayed sub-session in the tree, if the view is in front and there is no scope."""
        panes, sub = self._panes, self.sub
        if panes is not None and sub is not None and self.is_shown:
            panes.client.send_request(ContextOfSubsession(sub.key), self._mark_in_tree)

    def _mark_in_tree(self, context: tuple[int, int] | None) -> None:
        if self._panes is not None and context is not None and self.is_shown:
            self._panes.contexts.show_place(ContextPlace(*context))

    def _show_in_table(self, message: MessageRef) -> None:
        if self._panes is None:
            return
        try:
            row = self._panes.client.answer_now(RowOfMessage(message))
        except RequestError:
            row = None
        if row is None:
            self._notices.show_sentence("This message is not in the table yet.")
            return
        self._requests.view_requested.emit("messages")
        self._panes.go_to(row)
