"""The "Sub-sessions" view in its window: created on demand, in step with the context tree and the details panel."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QUrl, Signal
from PySide6.QtWidgets import QDockWidget, QWidget

from inspector.msp.objects import Message, Subsession
from inspector.present.subject import ContextPlace
from inspector.ui.docview.panel import SUBSESSIONS
from inspector.ui.look.theme import ThemeController

if TYPE_CHECKING:
    from inspector.msp.document import SessionDocument
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
        rules_changed(): rules or budget changed in the settings of all windows; this view is up to date.

    Attributes:
        panel: the view; None before it is first needed.
    """

    made = Signal(object)
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
        self.panel: SubsessionsPanel | None = None

    @property
    def _document(self) -> SessionDocument | None:
        return self._shown.document.msp

    @property
    def sub(self) -> Subsession | None:
        """The displayed sub-session."""
        return None if self.panel is None else self.panel.sub

    def attach(self, center: Center) -> None:
        """Attaches to the views of a session document."""
        self._center = center
        center.changed.connect(self._on_view_changed)
        self._on_view_changed(center.current)

    def speak_of(self, panes: Panes) -> None:
        """Attaches to the panes of a document."""
        self._panes = panes
        if self._document is not None:
            panes.contexts.selected.connect(self._on_context_selected)
            self.mark_shown()

    def adopt(self, panel: QWidget) -> None:
        """Connects the signals of the new view."""
        document = self._document
        if document is None:
            return
        from inspector.ui.msp.panel.indicator import Indicator
        from inspector.ui.msp.panel.panel import SubsessionsPanel
        from inspector.ui.panels.details.text_block import ask_to_open

        if not isinstance(panel, SubsessionsPanel):
            return
        self.panel = panel
        indicator = Indicator(document, self._themes, self._services.settings, panel)
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
        if self.panel is not None:
            self.panel.set_read_only(reason)

    def count_now(self) -> bool:
        """Counts missing tokens at once, for screenshots. Returns False without a view."""
        if self.panel is None or self.panel.indicator is None:
            return False
        self.panel.indicator.counts.count_here()
        return True

    def tick(self) -> None:
        if self.panel is not None:
            self.panel.tick()

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
        sub = self._subsession_of(node)
        if sub is None:
            return
        self._wanted = sub.key
        if self.panel is not None:
            self.panel.show_subsession(sub.key)

    def _subsession_of(self, node: int) -> Subsession | None:
        tree = self._shown.document.analysis.contexts.tree
        if self._document is None or tree.resolve(node) < 0:
            return None
        living = tree.resolve(node)
        names = (tree.name[living], *tree.ids_of(living))
        return next((found for name in names if (found := self._document.subsession(name)) is not None), None)

    def _on_shown(self, key: str) -> None:
        sub = None if self._document is None else self._document.subsession(key)
        if sub is not None and self.is_shown:
            self._mark_in_tree(sub)
        self._requests.actions_changed.emit()

    def mark_shown(self) -> None:
        """Selects the displayed sub-session in the tree, if the view is in front."""
        if self.is_shown and self.sub is not None:
            self._mark_in_tree(self.sub)

    def _mark_in_tree(self, sub: Subsession) -> None:
        """Selects the context of a sub-session, unless there is a scope."""
        place = self._place_of(sub)
        if self._panes is not None and place is not None:
            self._panes.contexts.show_place(place)

    def _place_of(self, sub: Subsession) -> ContextPlace | None:
        contexts = self._shown.document.analysis.contexts
        capture = self._shown.document.capture
        row = self._row_of(sub.messages[0]) if len(sub.messages) else None
        if row is not None and row < len(capture):
            return ContextPlace(int(capture.columns["space"][row]), contexts.node_of(row))
        tree = contexts.tree
        for space in set(tree.space):
            node = tree.find(space, sub.key)
            if node >= 0:
                return ContextPlace(space, tree.resolve(node))
        return None

    def _row_of(self, message: Message) -> int | None:
        following = self._shown.document.sessions
        return None if following is None else following.shown.projection.row_of_message(message)

    def _show_in_table(self, message: Message) -> None:
        row = self._row_of(message)
        if row is None or self._panes is None or row >= len(self._shown.document.capture):
            self._notices.show_sentence("This message is not in the table yet.")
            return
        self._requests.view_requested.emit("messages")
        self._panes.go_to(row)
