"""Conversation of a session document: list of sub-sessions, conversation and indicator side by side.

It never edits: it emits requests to the window, and asks again after edits.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, cast

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QResizeEvent, QShowEvent
from PySide6.QtWidgets import QSplitter, QStackedWidget, QVBoxLayout, QWidget
from typing_extensions import override

from inspector.engine.request import RequestError
from inspector.engine.requests.filters import Scope
from inspector.engine.requests.msp_sessions import ContextOfSubsession
from inspector.engine.requests.places import KeepPlaces, RestorePlaces
from inspector.ui.look.theme import ThemeController
from inspector.ui.msp.panel.chat import ChatPanel
from inspector.ui.msp.panel.list import NOTHING, SubsessionList
from inspector.ui.msp.panel.sessions_client import SessionsClient
from inspector.ui.msp.panel.token_counts import TokenCounts
from inspector.ui.widgets.buttons import LinkButton
from inspector.ui.widgets.labels import TextLabel

if TYPE_CHECKING:
    from inspector.engine.requests.msp_sessions import ListedSubsessions, ShownSubsession
    from inspector.ui.docview.panes import Panes
    from inspector.ui.msp.panel.indicator import Indicator
    from inspector.ui.panels.conversation.panel import ConversationPanel

_SIDES = {False: (217, 300), True: (288, 400)}
"""Widths of list and indicator in a narrow and a wide panel; pixels at 100 %."""
_WIDE = 1_300
_MIN_WIDTHS = (140, 320, 200)
"""Minimum widths of list, conversation and indicator. The list is hidden first; the context tree can replace it."""


class SubsessionsPanel(QWidget):
    """The panel.

    Signals:
        shown(str): another sub-session is displayed, or the same in another state; its key, "" for the whole session.
        new_requested, close_requested, discard_requested, merge_requested: requests of the head's buttons.
        conversation_shown(): another conversation is displayed.
        sub_context_requested: edit the sub-context; used before there is a sub-session.

    Attributes:
        client: asks the engine.
        counts: state of the counting of tokens.
        list, chat, indicator: its parts; `add_indicator` adds the indicator.
    """

    shown = Signal(str)
    new_requested = Signal()
    close_requested = Signal()
    discard_requested = Signal()
    merge_requested = Signal()
    sub_context_requested = Signal()
    conversation_shown = Signal()

    def __init__(
        self, client: SessionsClient, themes: ThemeController, conversation: ConversationPanel,
        parent: QWidget | None = None,
    ) -> None:  # fmt: skip
        super().__init__(parent)
        self.client = client
        self._themes = themes
        self._dragged = self._is_edited = self._wants_first = False
        self.setObjectName("subsessionsPanel")
        self.setAccessibleName("Sub-sessions")
        self.setProperty("variant", "base")
        self.indicator: Indicator | None = None
        self.counts = TokenCounts(client, self)
        self.list = SubsessionList(client, themes, self.counts, self)
        self.chat = ChatPanel(client, themes, conversation, self)
        self._split = QSplitter(Qt.Orientation.Horizontal, self)
        self._split.setObjectName("subsessionsSplit")
        self._split.setChildrenCollapsible(False)
        self._split.setHandleWidth(1)
        self._side = QStackedWidget(self)
        self._side.addWidget(self.list)
        self._side.addWidget(self._empty_page())
        self._split.addWidget(self._side)
        self._split.addWidget(self.chat)
        self._split.setStretchFactor(1, 1)
        self._order_parts()
        self._split.splitterMoved.connect(self._on_dragged)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.addWidget(self._split)
        self.setFocusProxy(self.chat)
        self.list.chosen.connect(self.show_subsession)
        self.list.entered.connect(lambda _key: self.chat.setFocus(Qt.FocusReason.OtherFocusReason))
        self.list.left.connect(lambda: self.chat.setFocus(Qt.FocusReason.OtherFocusReason))
        head = self.chat.head
        head.new_requested.connect(self.new_requested)
        head.close_requested.connect(self.close_requested)
        head.discard_requested.connect(self.discard_requested)
        head.merge_requested.connect(self.merge_requested)
        self.chat.left.connect(lambda: self.list.setFocus(Qt.FocusReason.OtherFocusReason))
        self.chat.shown.connect(self._on_shown)
        self.chat.removed.connect(self._on_removed)
        self.list.latest.answered.connect(self._on_listed)
        client.changed.connect(self.chat.refresh)
        client.replaced.connect(self.refresh)
        themes.changed.connect(self._fit)
        if self.list.latest.answer is not None:
            self._on_listed(self.list.latest.answer)

    def _empty_page(self) -> QWidget:
        page = QWidget(self)
        page.setObjectName("subsessionsEmpty")
        page.setProperty("variant", "base")
        page.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        column = QVBoxLayout(page)
        padding = self._themes.theme.metrics.pane_padding
        column.setContentsMargins(padding, padding, padding, padding)
        self._nothing = TextLabel(NOTHING, variant="secondary", name="subsessionsNothing", wrap=True, parent=page)
        self._open_one = LinkButton("New sub-session", name="subsessionsNew", parent=page)
        self._open_one.clicked.connect(self.new_requested)
        self._agree = LinkButton("Edit the sub-context", name="subsessionsAgree", parent=page)
        self._agree.clicked.connect(self.sub_context_requested)
        column.addWidget(self._nothing)
        for link in (self._open_one, self._agree):
            column.addWidget(link, 0, Qt.AlignmentFlag.AlignLeft)
        column.addStretch(1)
        return page

    def add_indicator(self, indicator: Indicator) -> None:
        """Adds the indicator at the right."""
        self.indicator = indicator
        self._split.addWidget(indicator)
        self._split.setStretchFactor(2, 0)
        self._order_parts()
        self.update_indicator()
        self._fit()

    def _order_parts(self) -> None:
        """Orders children from left to right, because Tab follows them and QSplitter reverses them."""
        for part in (self._side, self.chat, self.indicator):
            if part is not None:
                part.raise_()
        for place in range(1, self._split.count()):
            self._split.handle(place).raise_()

    def set_read_only(self, reason: str) -> None:
        """Shows the reason for read-only sessions, or ""."""
        self.chat.set_read_only(reason)
        self._open_one.setEnabled(not reason)
        self._agree.setEnabled(not reason)
        if self.indicator is not None:
            self.indicator.set_read_only(reason)

    def stop(self) -> None:
        """Stops asking, before the document is closed."""
        self.chat.conversation.stop()
        self.counts.stop()
        self.list.stop()
        if self.indicator is not None:
            self.indicator.stop()

    # Content

    @property
    def sub(self) -> ShownSubsession | None:
        """The displayed sub-session."""
        return self.chat.sub

    def show_subsession(self, key: str, then: Callable[[], object] | None = None) -> None:
        """Displays a sub-session, and calls `then`. Ignores unknown keys."""
        self.chat.show_subsession(key, then)

    def show_panes(self, panes: Panes) -> None:
        """Shows another projection of the sessions."""
        context = None
        if self.chat.sub is not None:
            with suppress(RequestError):  # it was removed
                context = panes.client.answer_now(ContextOfSubsession(self.chat.sub.key))
        conversation = cast("ConversationPanel", panes.panel("conversation"))
        opened = self.chat.conversation.reading_place().open_messages
        found: dict[int, int] = {}
        if opened:
            kept = self.client.answer_now(KeepPlaces(opened))
            here = panes.client.answer_now(RestorePlaces(kept)).messages
            found = {there: message for there, message in zip(opened, here, strict=True) if message is not None}
        self.chat.replace_conversation(conversation, None if context is None else Scope(*context), found)
        self.conversation_shown.emit()
        self.client.replace_by(panes.client)

    def show_any(self) -> None:
        """Displays the first open sub-session, else the first, unless one is displayed already."""
        listed = self.list.latest.answer
        self._wants_first = self.chat.sub is None and listed is None
        if self.chat.sub is None and listed is not None:
            self.show_subsession(listed.first)

    def _on_shown(self, key: str) -> None:
        self.list.mark(key)
        self.update_indicator()
        self.shown.emit(key)

    def _on_removed(self) -> None:
        self.update_indicator()
        self.list.refresh()

    def _on_listed(self, listed: ListedSubsessions) -> None:
        self._side.setCurrentIndex(0 if listed.all else 1)
        if self._wants_first:
            self.show_any()
        # The user may have listed open ones alone, without the displayed one.
        elif self.chat.sub is not None and self._is_edited:
            self.list.mark(self.chat.sub.key)
        self._is_edited = False

    def update_indicator(self) -> None:
        """Updates the indicator, including its switches."""
        if self.indicator is not None:
            self.indicator.show_subsession(None if self.chat.sub is None else self.chat.sub.key)
            self.indicator.setVisible(self.chat.sub is not None)
            self._fit()

    def refresh(self) -> None:
        """Asks for all parts again, after an edit."""
        self._is_edited = True
        self.chat.refresh()
        self.list.refresh()
        if self.indicator is not None:
            self.indicator.refresh()

    # Widths

    def _on_dragged(self, *_place: int) -> None:
        self._dragged = True

    def _fit(self) -> None:
        """Sets the widths of docs/design.md 16, unless the user dragged a handle.

        The conversation keeps its minimum width.
        """
        zoom, width = self._themes.theme.zoom, self.width()
        if width < 100:
            return
        is_listed = width >= sum(_MIN_WIDTHS) * zoom
        if not is_listed and self.list.view.hasFocus():  # else Qt moves the focus to the next widget in the window
            self.chat.setFocus(Qt.FocusReason.OtherFocusReason)
        self._side.setVisible(is_listed)
        if self._dragged:
            return
        least_left, chat, least_right = (round(least * zoom) for least in _MIN_WIDTHS)
        left, right = (round(side * zoom) for side in _SIDES[width >= _WIDE * zoom])
        if self._side.isHidden():
            left = least_left = 0
        spare = max(0, chat + left + right - width)
        given = spare // 2 if left else 0
        shows_indicator = self.indicator is not None and self.chat.sub is not None
        right = max(least_right, right - spare + given) if shows_indicator else 0
        left = max(least_left, left - given)
        self._split.setSizes([left, max(1, width - left - right - 2), right])

    @override
    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    @override
    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._fit()
