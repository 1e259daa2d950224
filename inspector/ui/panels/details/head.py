"""Head of the details: kind, tool and state of the message; number, time, route and size (docs/design.md 15)."""

from __future__ import annotations

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QFontMetrics, QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget
from typing_extensions import override

from inspector.present.head_words import SEPARATOR, HeadWords
from inspector.present.states import StatePill
from inspector.present.wire_text import safe_line
from inspector.ui.look import icons
from inspector.ui.look.theme import ThemeController
from inspector.ui.panels.details.state_pills import paint_pill, pill_width

_FEW_FACTS = 2
"""Facts of the second line that are shortened, and not left out."""


class DetailHead(QWidget):
    """Two painted lines: icon, kind, tool and state; number, time, route and size."""

    def __init__(self, theme_controller: ThemeController, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("detailHead")
        self.setAccessibleName("No message")
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self._themes = theme_controller
        self.glyph = (icons.UNKNOWN_ICON, "family.unknown")
        self.namespace = ""
        self.name = ""
        self.tool = ""
        self.second_line = ""
        self.state: StatePill | None = None
        self._shown = False

    def clear(self) -> None:
        """Shows nothing."""
        self._shown = False
        self.update()

    def show_words(self, words: HeadWords) -> None:
        """Shows the head of a message, a context, a participant or a document."""
        before, self._shown = self._content_key(), True
        kind = words.kind
        self.glyph = (icons.kind_icon(kind), icons.kind_token(kind)) if kind else words.glyph
        self.state, self.second_line = words.state, words.second_line
        self.namespace, self.name, self.tool = words.namespace, safe_line(words.name, 200), words.tool
        title = " ".join(filter(None, (words.what, f"{self.namespace}{self.name}", self.tool)))
        spoken = (title, words.state.word if words.state else "", words.second_line)
        self.setAccessibleName(", ".join(filter(None, spoken)))
        self._paint_if_changed(before)

    def _content_key(self) -> tuple[object, ...]:
        return self._shown, self.glyph, self.namespace, self.name, self.tool, self.state, self.second_line

    def _paint_if_changed(self, before: tuple[object, ...]) -> None:
        if self._content_key() != before:
            self.update()

    @override
    def sizeHint(self) -> QSize:
        return QSize(200, self._themes.theme.metrics.detail_head)

    @override
    def minimumSizeHint(self) -> QSize:
        return QSize(0, self._themes.theme.metrics.detail_head)

    @override
    def paintEvent(self, event: QPaintEvent) -> None:
        theme = self._themes.theme
        metrics, unit = theme.metrics, theme.metrics.unit
        painter = QPainter(self)
        # Qt would let the dock's own colour show through.
        painter.fillRect(event.rect(), theme.color("surface.base"))
        if not self._shown:
            return
        left, right = metrics.pane_padding, self.width() - metrics.pane_padding
        top, line = 2 * unit, 6 * unit
        if self.state is not None:
            width = pill_width(theme, self.state)
            paint_pill(
                painter,
                theme,
                QRectF(right - width, top + (line - metrics.badge) / 2, width, metrics.badge),
                self.state,
            )
            right -= width + 2 * unit
        side = metrics.icon
        pixmap = icons.pixmap(*self.glyph, side, self.devicePixelRatioF())
        painter.drawPixmap(left, top + (line - side) // 2, pixmap)
        self._paint_title(painter, left + side + unit + 2, top, right, line)
        painter.setFont(theme.font("small"))
        painter.setPen(theme.color("ink.secondary"))
        rect = QRectF(left, top + line, self.width() - left - metrics.pane_padding, 5 * unit)
        text = fitted_line(self.second_line, QFontMetrics(theme.font("small")), int(rect.width()))
        painter.drawText(rect, int(Qt.AlignmentFlag.AlignVCenter), text)

    def _paint_title(self, painter: QPainter, left: int, top: int, right: int, line: int) -> None:
        theme = self._themes.theme
        plain_heading = theme.font("heading")
        namespace_font = theme.font("body")
        # A copy, since the theme's fonts are shared.
        namespace_font = type(namespace_font)(namespace_font)
        namespace_font.setPixelSize(plain_heading.pixelSize())
        parts = (
            (self.namespace, namespace_font, "ink.tertiary", 0),
            (self.name, plain_heading, "ink.primary", 2 * theme.metrics.unit),
            (self.tool, theme.font("mono"), "ink.primary", 0),
        )
        wide = sum(QFontMetrics(font).horizontalAdvance(text) + gap for text, font, _, gap in parts)
        if wide > right - left and self.name:
            # The icon already shows the namespace.
            parts = parts[1:]
        place = left
        for text, font, token, gap in parts:
            room = right - place
            if not text or room < 3 * theme.metrics.unit:
                continue
            shown = QFontMetrics(font).elidedText(text, Qt.TextElideMode.ElideRight, room)
            painter.setFont(font)
            painter.setPen(theme.color(token))
            painter.drawText(QRectF(place, top, room, line), int(Qt.AlignmentFlag.AlignVCenter), shown)
            place += QFontMetrics(font).horizontalAdvance(shown) + gap


def fitted_line(line: str, metrics: QFontMetrics, width: int) -> str:
    """Fits facts into a width. The last of many, a size, is left out before a figure or a name is cut."""
    if metrics.horizontalAdvance(line) <= width:
        return line
    facts = line.split(SEPARATOR)
    line = SEPARATOR.join(facts[:-1]) if len(facts) > _FEW_FACTS else line
    return metrics.elidedText(line, Qt.TextElideMode.ElideRight, width)
