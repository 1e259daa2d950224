"""The head of a conversation: state, label, how long and how much, and what can be done with the sub-session."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QPointF, QSize, Qt, Signal
from PySide6.QtGui import QFontMetrics, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QPushButton, QWidget
from typing_extensions import override

from inspector.ui.panels.contexts.dots import draw_state
from inspector.ui.panels.subsessions.words import dot_state, label_of, state_words
from inspector.ui.theme import ThemeController
from inspector.ui.widgets.buttons import IconButton
from inspector.ui.widgets.labels import TextLabel

if TYPE_CHECKING:
    from inspector.msp.objects import Subsession

_HEIGHT = 44
_DOT = 22
_LEAST_WORDS = 60


class _Dot(QWidget):
    """The shape of the state, as contexts have it."""

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
    """The head.

    Signals:
        discard_requested, close_requested, merge_requested, new_requested: a button was pressed.
    """

    discard_requested = Signal()
    close_requested = Signal()
    merge_requested = Signal()
    new_requested = Signal()

    def __init__(self, themes: ThemeController, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._themes = themes
        self.setObjectName("chatHead")
        self.setAccessibleName("Sub-session")
        self._label = ""
        self._dot = _Dot(themes, self)
        self.label = TextLabel("", variant="heading", name="chatLabel", parent=self)
        self.words = TextLabel("", variant="small", name="chatWords", parent=self)
        self.discard = self._button("Discard", "chatDiscard", self.discard_requested)
        self.close_button = self._button("Close & Summarize", "chatClose", self.close_requested)
        self.merge = self._button("Merge to parent", "chatMerge", self.merge_requested)
        self.new = IconButton(themes, "add", "New sub-session", name="chatNew", variant="small", parent=self)
        self.new.clicked.connect(self.new_requested)
        self._row = QHBoxLayout(self)
        for widget in (self._dot, self.label, self.words):
            self._row.addWidget(widget)
        self._row.addStretch(1)
        for widget in (self.discard, self.close_button, self.merge, self.new):
            self._row.addWidget(widget)
        themes.changed.connect(self._on_theme_changed)
        self._on_theme_changed()

    def _button(self, words: str, name: str, said: object) -> QPushButton:
        button = QPushButton(words.replace("&", "&&"), self)
        button.setObjectName(name)
        button.setAccessibleName(words)
        button.setAutoDefault(False)
        button.clicked.connect(said)
        return button

    def show_state(
        self, sub: Subsession | None, *, editable: bool, mergeable: bool = False, now_ns: int | None = None
    ) -> None:
        """Say how a sub-session stands, and offer what can be done with it.

        Args:
            sub: it; None for nothing.
            editable: whether anything can be done.
            mergeable: whether it can be merged to its parent.
            now_ns: the time it is; the wall clock's by default.
        """
        open_ = sub is not None and sub.is_open
        self.setAccessibleDescription("" if sub is None else f"{label_of(sub)}, {state_words(sub, now_ns)}")
        self._label = "" if sub is None else label_of(sub)
        self.words.setText("" if sub is None else state_words(sub, now_ns))
        self._dot.setVisible(sub is not None)
        self._dot.state = "idle" if sub is None else dot_state(sub)
        self._dot.update()
        held = self.focusWidget()
        for button, shown in ((self.discard, open_), (self.close_button, open_), (self.merge, mergeable)):
            button.setVisible(shown)
            button.setEnabled(editable)
        self.new.setEnabled(editable)
        if held is not None and held.isHidden():  # what was pressed has gone
            self.new.setFocus()
        self._fit()

    def _fit(self) -> None:
        """The label is whole as long as there is room; then the words give way, then the label."""
        margins = self._row.contentsMargins()
        room = self.width() - margins.left() - margins.right() - self._row.spacing() * (self._row.count() - 1)
        for widget in (self._dot, self.discard, self.close_button, self.merge, self.new):
            if not widget.isHidden():
                room -= widget.sizeHint().width()
        heading = QFontMetrics(self._themes.theme.font("heading"))
        label = heading.horizontalAdvance(self._label) + 4
        words = QFontMetrics(self._themes.theme.font("small")).horizontalAdvance(self.words.text()) + 4
        shown = label + min(words, round(_LEAST_WORDS * self._themes.theme.zoom)) <= room
        self.words.setVisible(shown)
        width = max(20, min(label, room))
        self.label.setText(heading.elidedText(self._label, Qt.TextElideMode.ElideRight, width - 2))
        self.label.setToolTip("" if width == label else self._label)
        self.label.setFixedWidth(width)
        self.words.setFixedWidth(max(0, min(words, room - label)))

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
