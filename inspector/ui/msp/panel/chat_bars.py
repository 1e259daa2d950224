"""Head and input line of a conversation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QObject, QPointF, QRect, QSize, Qt, Signal
from PySide6.QtGui import QFontMetrics, QKeyEvent, QKeySequence, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QComboBox, QHBoxLayout, QPlainTextEdit, QPushButton, QWidget
from typing_extensions import override

from inspector.present.wire_text import safe_line
from inspector.ui.look.state_dots import draw_state
from inspector.ui.look.theme import ThemeController
from inspector.ui.widgets.buttons import IconButton
from inspector.ui.widgets.labels import TextLabel

if TYPE_CHECKING:
    from inspector.engine.requests.msp_sessions import ShownSubsession

_HEIGHT = 44
_DOT = 22
_MIN_STATE_WIDTH, _MIN_LABEL_WIDTH = 60, 120
WHOLE = "Whole session"
_CLOSE, _CLOSE_SHORT = "Close & Summarize", "Close"


class _Dot(QWidget):
    """The state's shape, as in the context tree."""

    def __init__(self, themes: ThemeController, parent: QWidget) -> None:
        super().__init__(parent)
        self._themes = themes
        self.state = "idle"
        self.setObjectName("chatState")
        self._fit()
        themes.changed.connect(self._fit)

    def _fit(self) -> None:
        side = round(_DOT * self._themes.theme.zoom)
        self.setFixedSize(QSize(side, side))

    @override
    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        halo = 1.0 if self.state == "active" else 0.0
        center = QPointF(self.rect().center()) + QPointF(0.5, 0.5)
        draw_state(painter, center, self.state, self._themes.theme, implicit=False, halo=halo)


class ChatHead(QWidget):
    """Head of the conversation: label, state and buttons.

    Signals:
        discard_requested, close_requested, merge_requested, new_requested: a button was pressed.
        whole_requested: show the whole session instead of one sub-session.
    """

    discard_requested = Signal()
    close_requested = Signal()
    merge_requested = Signal()
    new_requested = Signal()
    whole_requested = Signal()

    def __init__(self, themes: ThemeController, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._themes = themes
        self.setObjectName("chatHead")
        self.setAccessibleName("Sub-session")
        self._label = self._words = ""
        self.back = IconButton(themes, "back", WHOLE, name="chatWhole", variant="small", parent=self)
        self.back.clicked.connect(self.whole_requested)
        self._dot = _Dot(themes, self)
        self.label = TextLabel("", variant="heading", name="chatLabel", parent=self)
        self.words = TextLabel("", variant="small", name="chatWords", parent=self)
        self.discard = self._button("Discard", "chatDiscard", self.discard_requested)
        self.close_button = self._button(_CLOSE, "chatClose", self.close_requested)
        self.merge = self._button("Merge to parent", "chatMerge", self.merge_requested)
        self.new = IconButton(themes, "add", "New sub-session", name="chatNew", variant="small", parent=self)
        self.new.clicked.connect(self.new_requested)
        self._row = QHBoxLayout(self)
        for widget in (self.back, self._dot, self.label, self.words):
            self._row.addWidget(widget)
        self._row.addStretch(1)
        for widget in (self.discard, self.close_button, self.merge, self.new):
            self._row.addWidget(widget)
        themes.changed.connect(self._on_theme_changed)
        self._on_theme_changed()

    def _button(self, words: str, name: str, slot: object) -> QPushButton:
        button = QPushButton(words.replace("&", "&&"), self)
        button.setObjectName(name)
        button.setAccessibleName(words)
        button.setAutoDefault(False)
        button.clicked.connect(slot)
        return button

    def show_state(self, sub: ShownSubsession | None, *, editable: bool) -> None:
        """Shows a sub-session's state and its actions; `editable` enables them."""
        open_, mergeable = sub is not None and sub.is_open, sub is not None and sub.is_mergeable
        self._label, self._words = (WHOLE, "") if sub is None else (sub.label, sub.words)
        self.setAccessibleDescription(", ".join(filter(None, (self._label, self._words))))
        for widget in (self.back, self._dot):
            widget.setVisible(sub is not None)
        self._dot.state = "idle" if sub is None else sub.mark
        self._dot.update()
        held = self.focusWidget()
        for button, shown in ((self.discard, open_), (self.close_button, open_), (self.merge, mergeable)):
            button.setVisible(shown)
            button.setEnabled(editable)
        self.new.setEnabled(editable)
        if held is not None and held.isHidden():  # the pressed button was hidden
            self.new.setFocus()
        self._fit()

    def _fit(self) -> None:
        """Elides label and state to half the width each, the state first, if they do not fit."""
        theme = self._themes.theme
        label, words = (
            QFontMetrics(theme.font(role)).horizontalAdvance(text) + 4
            for role, text in (("heading", self._label), ("small", self._words))
        )
        room = self._room()
        is_short = not self.close_button.isHidden() and room < min(label, round(_MIN_LABEL_WIDTH * theme.zoom))
        room += self._shorter(_CLOSE, _CLOSE_SHORT) if is_short else 0
        self._set_close_text(_CLOSE_SHORT if is_short else _CLOSE)
        for_words = min(words, max(room - label, room // 2))
        if for_words < min(words, round(_MIN_STATE_WIDTH * theme.zoom)):
            for_words, room = 0, room + self._row.spacing()
        self.words.setVisible(for_words > 0)
        self._set_elided_text(self.words, "small", self._words, max(0, for_words))
        self._set_elided_text(self.label, "heading", self._label, max(20, min(label, room - for_words)))
        if not for_words:
            self.label.setToolTip(self.accessibleDescription())

    def _room(self) -> int:
        """Returns the width for label and state beside the full label of the Close button."""
        margins, gap = self._row.contentsMargins(), self._row.spacing()
        room = self.width() - margins.left() - margins.right() - gap
        for widget in (self.back, self._dot, self.discard, self.close_button, self.merge, self.new):
            if not widget.isHidden():
                widget.ensurePolished()  # the size hint is wrong before polishing
                room -= widget.sizeHint().expandedTo(widget.minimumSize()).width() + gap
        return room if self.close_button.isHidden() else room - self._shorter(_CLOSE, self.close_button.text())

    def _shorter(self, whole: str, shown: str) -> int:
        metrics = self.close_button.fontMetrics()
        return metrics.horizontalAdvance(whole) - metrics.horizontalAdvance(shown.replace("&&", "&"))

    def _set_close_text(self, words: str) -> None:
        self.close_button.setText(words.replace("&", "&&"))
        self.close_button.setToolTip("" if words == _CLOSE else _CLOSE)

    def _set_elided_text(self, shown: TextLabel, role: str, text: str, width: int) -> None:
        """Shows a text elided to a width, and all of it in the tooltip."""
        metrics = QFontMetrics(self._themes.theme.font(role))
        elided = metrics.elidedText(text, Qt.TextElideMode.ElideRight, width - 2)
        shown.setText(elided)
        shown.setToolTip("" if elided == text else text)
        shown.setFixedWidth(width)

    @override
    def event(self, event: QEvent) -> bool:
        if event.type() is QEvent.Type.LayoutRequest:
            self._fit()  # buttons change their width with the zoom
        return super().event(event)

    @override
    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    @override
    def minimumSizeHint(self) -> QSize:
        return QSize(200, super().minimumSizeHint().height())

    def _on_theme_changed(self) -> None:
        theme = self._themes.theme
        self.setFixedHeight(round(_HEIGHT * theme.zoom))
        self._row.setContentsMargins(round(11 * theme.zoom), 0, round(12 * theme.zoom), 1)
        self._row.setSpacing(round(7 * theme.zoom))
        self._fit()
        self.update()

    @override
    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        theme = self._themes.theme
        painter.fillRect(self.rect(), theme.color("surface.base"))
        painter.fillRect(0, self.height() - 1, self.width(), 1, theme.color("line.hair"))


ROLES = ("user", "assistant", "system", "tool")
"""Roles that are always offered; roles of the document follow."""
PLACEHOLDER = "Add a message"
_MAX_LINES = 6
_MAX_ROLES = 20


class MessageInput(QWidget):
    """The input line for messages.

    Signals:
        added(str, str): role and text.
        left(): Esc was pressed.

    Attributes:
        role: menu of roles.
        text: the text.
    """

    added = Signal(str, str)
    left = Signal()

    def __init__(self, themes: ThemeController, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._themes = themes
        self._reason = ""
        self.setObjectName("messageInput")
        self.setAccessibleName("New message")
        self.role = QComboBox(self)
        self.role.setObjectName("messageRole")
        self.role.setAccessibleName("Role")
        self.role.setToolTip("Role")
        self.text = QPlainTextEdit(self)
        self.text.setObjectName("messageText")
        self.text.setAccessibleName("Message")
        self.text.setAccessibleDescription("Enter adds it, Shift+Enter starts a new line")
        self.text.setProperty("variant", "field")
        self.text.setTabChangesFocus(True)
        self.text.setPlaceholderText(PLACEHOLDER)
        self.text.setToolTip("Enter adds it, Shift+Enter starts a new line")
        self.text.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.text.installEventFilter(self)
        self.text.textChanged.connect(self._fit)
        self._row = QHBoxLayout(self)
        self._row.addWidget(self.role, 0, Qt.AlignmentFlag.AlignBottom)
        self._row.addWidget(self.text, 1)
        self.setFocusProxy(self.text)
        self.offer_roles(())
        themes.changed.connect(self._fit)
        self._fit()

    def offer_roles(self, seen: Sequence[str]) -> None:
        """Offers the standard roles and the document's; the choice stays."""
        offered = list(dict.fromkeys((*ROLES, *seen)))[:_MAX_ROLES]
        if offered == [self.role.itemData(place) for place in range(self.role.count())]:
            return
        chosen = self.role.currentData()
        self.role.clear()
        for role in offered:
            self.role.addItem(safe_line(role, 40), role)
        self.role.setCurrentIndex(max(0, self.role.findData(chosen)))

    def set_reason(self, reason: str) -> None:
        """Disables the input with a reason, or enables it with ""."""
        if reason == self._reason:
            return
        self._reason = reason
        self.text.setPlaceholderText(reason or PLACEHOLDER)
        for widget in (self.role, self.text):
            widget.setEnabled(not reason)
        self.role.setVisible(not reason)
        self.setAccessibleDescription(reason)
        self.text.setToolTip(reason or "Enter adds it, Shift+Enter starts a new line")
        self._fit()

    @property
    def reason(self) -> str:
        """The reason for a disabled input, or ""."""
        return self._reason

    def add(self) -> None:
        """Emits the text unless it is blank."""
        words = self.text.toPlainText().strip("\n")
        if words.strip() and not self._reason:
            self.added.emit(str(self.role.currentData()), words)

    def clear(self) -> None:
        self.text.clear()

    @override
    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if watched is self.text and event.type() == QEvent.Type.Resize and self._reason:
            self._fit()
        if watched is self.text and isinstance(event, QKeyEvent) and event.type() == QEvent.Type.ShortcutOverride:
            document = self.text.document()
            undo, redo = (event.matches(key) for key in (QKeySequence.StandardKey.Undo, QKeySequence.StandardKey.Redo))
            if (undo and not document.isUndoAvailable()) or (redo and not document.isRedoAvailable()):
                event.ignore()  # no edit of this text to undo: the shortcut undoes edits of the sessions
                return True
        if watched is self.text and isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress:
            modifiers = event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier
            if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
                if modifiers:  # Qt would insert a line separator character instead of a line break
                    self.text.insertPlainText("\n")
                else:
                    self.add()
                return True
            if event.key() == Qt.Key.Key_Escape and not modifiers:
                self.left.emit()
                return True
        return super().eventFilter(watched, event)

    def _fit(self) -> None:
        """Fits the height to the text, within limits."""
        theme = self._themes.theme
        self.text.setFont(theme.font("body"))
        metrics = self.text.fontMetrics()
        edge = theme.metrics.control - metrics.lineSpacing()
        self.text.document().setDocumentMargin(max(1, (edge - 2) / 2))
        lines = min(_MAX_LINES, max(1, round(self.text.document().size().height())))
        if self._reason:  # the reason replaces the placeholder and must not be elided
            room = QRect(0, 0, self.text.viewport().width() - 2 * int(self.text.document().documentMargin()), 0)
            wanted = metrics.boundingRect(room, Qt.TextFlag.TextWordWrap.value, self._reason).height()
            lines = max(lines, min(_MAX_LINES, -(-wanted // metrics.lineSpacing())))
        self.text.setFixedHeight(lines * metrics.lineSpacing() + edge)
        several = Qt.ScrollBarPolicy.ScrollBarAsNeeded if lines >= _MAX_LINES else Qt.ScrollBarPolicy.ScrollBarAlwaysOff
        self.text.setVerticalScrollBarPolicy(several)
        side, above = theme.metrics.pane_padding, round(9 * theme.zoom)
        self._row.setContentsMargins(side, above + 1, side, above)
        self._row.setSpacing(theme.metrics.section_gap)

    @override
    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.fillRect(self.rect(), self._themes.theme.color("surface.base"))
        painter.fillRect(0, 0, self.width(), 1, self._themes.theme.color("line.hair"))
