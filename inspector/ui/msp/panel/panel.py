"""The "Sub-sessions" panel: list, conversation and indicator side by side.

It reads the `SessionDocument` directly, so that edits are visible at once. It never edits: it emits requests to the
window.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtGui import QResizeEvent, QShowEvent
from PySide6.QtWidgets import QSplitter, QStackedWidget, QVBoxLayout, QWidget
from typing_extensions import override

from inspector.present import formats
from inspector.ui.look.theme import ThemeController
from inspector.ui.msp.panel.chat import ChatPanel
from inspector.ui.msp.panel.list import NOTHING, SubsessionList
from inspector.ui.widgets.buttons import LinkButton
from inspector.ui.widgets.labels import TextLabel

if TYPE_CHECKING:
    from inspector.msp.document import Edit, SessionDocument
    from inspector.msp.objects import Subsession
    from inspector.ui.msp.panel.indicator import Indicator

_SIDES = {False: (217, 300), True: (288, 400)}
"""Widths of list and indicator in a narrow and a wide panel; pixels at 100 %."""
_WIDE = 1_300
_MIN_WIDTHS = (140, 320, 200)
"""Minimum widths of list, conversation and indicator. The list is hidden first; the context tree can replace it."""


class SubsessionsPanel(QWidget):
    """The panel.

    Signals:
        shown(str): another sub-session is displayed; its key.
        new_requested, close_requested, discard_requested, merge_requested: requests of the head's buttons.
        sub_context_requested: edit the sub-context; used before there is a sub-session.

    Attributes:
        list, chat, indicator: its parts; `add_indicator` adds the indicator.
    """

    shown = Signal(str)
    new_requested = Signal()
    close_requested = Signal()
    discard_requested = Signal()
    merge_requested = Signal()
    sub_context_requested = Signal()

    def __init__(self, document: SessionDocument, themes: ThemeController, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._document = document
        self._themes = themes
        self._dragged = False
        self._stopped = False
        self.setObjectName("subsessionsPanel")
        self.setAccessibleName("Sub-sessions")
        self.setProperty("variant", "base")
        self.indicator: Indicator | None = None
        self.list = SubsessionList(document, themes, self)
        self.chat = ChatPanel(document, themes, self)
        self._split = QSplitter(Qt.Orientation.Horizontal, self)
        self._split.setObjectName("subsessionsSplit")
        self._split.setChildrenCollapsible(False)
        self._split.setHandleWidth(1)
        self._split.addWidget(self.list)
        self._split.addWidget(self.chat)
        self._split.setStretchFactor(1, 1)
        self._order_parts()
        self._split.splitterMoved.connect(self._on_dragged)
        self._pages = QStackedWidget(self)
        self._pages.addWidget(self._split)
        self._pages.addWidget(self._empty_page())
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.addWidget(self._pages)
        self.setFocusProxy(self.chat)
        self._refresh_timer = QTimer(self)
        self._refresh_timer.setSingleShot(True)
        # Several changes in one turn of the event loop refresh once.
        self._refresh_timer.setInterval(0)
        self._refresh_timer.timeout.connect(self._refresh_sides)
        self.list.chosen.connect(self.show_subsession)
        self.list.entered.connect(lambda _key: self.chat.setFocus(Qt.FocusReason.OtherFocusReason))
        self.list.left.connect(lambda: self.chat.setFocus(Qt.FocusReason.OtherFocusReason))
        head = self.chat.head
        head.new_requested.connect(self.new_requested)
        head.close_requested.connect(self.close_requested)
        head.discard_requested.connect(self.discard_requested)
        head.merge_requested.connect(self.merge_requested)
        self.chat.left.connect(self._focus_list)
        document.observers.append(self)
        themes.changed.connect(self._fit)
        self._show_first()

    def _empty_page(self) -> QWidget:
        page = QWidget(self)
        page.setObjectName("subsessionsEmpty")
        page.setProperty("variant", "base")
        page.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        column = QVBoxLayout(page)
        padding = self._themes.theme.metrics.pane_padding
        column.setContentsMargins(padding, padding, padding, padding)
        self._nothing = TextLabel(NOTHING, variant="secondary", name="subsessionsNothing", parent=page)
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
        indicator.setVisible(True)
        indicator.message_requested.connect(self.chat.show_message)
        indicator.inherited_changed.connect(self._set_inherited_text)
        self.list.share_counts(indicator.counts)
        self._order_parts()
        self.update_indicator()
        self._fit()

    def _order_parts(self) -> None:
        """Orders children from left to right, because Tab follows them and QSplitter reverses them."""
        for part in (self.list, self.chat, self.indicator):
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
        """Stops reading the document."""
        self._stopped = True
        self._refresh_timer.stop()
        if self in self._document.observers:
            self._document.observers.remove(self)
        self.list.stop()
        if self.indicator is not None:
            self.indicator.stop()

    # Content

    @property
    def sub(self) -> Subsession | None:
        """The displayed sub-session."""
        return self.chat.sub

    def show_subsession(self, key: str) -> None:
        """Displays a sub-session. Ignores unknown keys."""
        sub = self._document.subsession(key)
        if sub is None or sub is self.chat.sub:
            return
        self.chat.say_inherited("")
        self.chat.show_subsession(sub)
        self.list.mark(sub.key)
        self.update_indicator()
        self.shown.emit(sub.key)

    def _show_first(self) -> None:
        """Displays the first open sub-session, else the first; without any, the empty page."""
        subs = self._document.subsessions
        self._pages.setCurrentIndex(0 if subs else 1)
        self.setFocusProxy(self.chat if subs else self._open_one)
        if subs and self.chat.sub is None:
            self.show_subsession(next((sub for sub in subs if sub.is_open), subs[0]).key)

    def update_indicator(self) -> None:
        """Updates the indicator, including its switches."""
        if self.indicator is not None:
            self.indicator.show_subsession(None if self.chat.sub is None else self.chat.sub.key)

    # Calls of the document

    def session_edited(self, edit: Edit) -> None:
        """Updates the conversation at once after an edit, and list and indicator in the next iteration."""
        if self._stopped:
            return
        sub = self.chat.sub
        living = None if sub is None else self._document.subsession(sub.key)
        if edit.kind == "append" and living is sub and sub is not None:
            if edit.key == sub.key and sub.is_open:
                self.chat.take_in()
            elif edit.key == sub.key:
                self.chat.begin_anew(sub)
            self.chat.refresh()
        elif edit.kind == "visibility" and edit.message is not None and living is sub:
            self.chat.model.renew(edit.message)
        elif edit.kind in ("policy", "session") and living is sub:
            pass  # only the merged context changes
        else:
            self.chat.begin_anew(living)
            if living is None:
                self.update_indicator()
        self.chat.current_changed.emit()
        self._show_first()
        self._refresh_timer.start()

    def refresh(self) -> None:
        self._refresh_sides()
        self.chat.refresh()

    def _refresh_sides(self) -> None:
        if self._stopped:
            return
        self.list.refresh()
        if self.chat.sub is not None:
            self.list.mark(self.chat.sub.key)
        if self.indicator is not None:
            self.indicator.refresh()

    def _set_inherited_text(self, tokens: int, layers: int) -> None:
        self.chat.say_inherited(inherited_words(tokens, layers))

    def tick(self) -> None:
        """Updates ages each second."""
        if self.isVisible():
            self.chat.refresh()

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
        self.list.setVisible(is_listed)
        if self._dragged:
            return
        least_left, chat, least_right = (round(least * zoom) for least in _MIN_WIDTHS)
        left, right = (round(side * zoom) for side in _SIDES[width >= _WIDE * zoom])
        if self.list.isHidden():
            left = least_left = 0
        spare = max(0, chat + left + right - width)
        given = spare // 2 if left else 0
        right = max(least_right, right - spare + given) if self.indicator is not None else 0
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
        self.refresh()

    def _focus_list(self) -> None:
        self.list.setFocus(Qt.FocusReason.OtherFocusReason)


def inherited_words(tokens: int, layers: int) -> str:
    """Returns the text of the inherited part: "inherited from the chat: 1,020 tokens in 3 layers"."""
    if not layers:
        return "nothing is inherited from the chat"
    counted = f"{formats.count_of(tokens, 'token')} in " if tokens else ""
    return f"inherited from the chat: {counted}{formats.count_of(layers, 'layer')}"
