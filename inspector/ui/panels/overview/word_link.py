"""A link among painted words."""

from __future__ import annotations

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QKeyEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QAbstractButton, QWidget
from typing_extensions import override

from inspector.present.overview.cards import Words
from inspector.present.wire_text import tool_tip
from inspector.ui.look.theme import ThemeController
from inspector.ui.panels.overview.word_flow import Fragment, paint_fragment


class WordLink(QAbstractButton):
    """Words that lead somewhere. Tab focuses them; Return and Space follow them.

    Attributes:
        words: the words, with their target.
    """

    def __init__(self, themes: ThemeController, parent: QWidget) -> None:
        super().__init__(parent)
        self._themes = themes
        self._text = ""
        self._shown: tuple[Fragment, str] | None = None
        self.words = Words("")
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setAttribute(Qt.WidgetAttribute.WA_Hover)

    def show_at(self, fragment: Fragment, *, context: str) -> None:
        """Shows words at a place.

        Args:
            fragment: the words and their box.
            context: words of the row for a screen reader.
        """
        self.show()
        self.update()
        if (fragment, context) == self._shown:
            return
        self._shown = fragment, context
        self._text, self.words = fragment.text, fragment.words
        self.setGeometry(fragment.box.toAlignedRect())
        name = fragment.words.text.strip()
        self.setAccessibleName(name)
        link = fragment.words.link
        leads = link.words if link is not None else ""
        self.setAccessibleDescription(f"{context}. {leads}" if context and context != name else leads)
        whole = f"{name}\n" if fragment.text != fragment.words.text or fragment.words.icon else ""
        self.setToolTip(tool_tip(f"{whole}{leads}"))

    @override
    def sizeHint(self) -> QSize:
        return self.size()

    @override
    def keyPressEvent(self, e: QKeyEvent) -> None:
        if e.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.click()
        else:
            super().keyPressEvent(e)

    @override
    def paintEvent(self, e: QPaintEvent) -> None:
        painter, theme = QPainter(self), self._themes.theme
        box = QRectF(0, 0, self.width(), self.height())
        paint_fragment(painter, theme, Fragment(box, self._text, self.words), link=True, hovered=self.underMouse())
        if self.hasFocus():
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            painter.setPen(QPen(theme.color("accent.ring"), 1.5))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRoundedRect(box.adjusted(1, 1, -1, -1), 3, 3)
