"""Hints over the lanes: the card at the pointer, and links to the nearest messages if none is visible."""

from __future__ import annotations

from PySide6.QtCore import QPoint, QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QFontMetrics, QPainter, QPaintEvent
from PySide6.QtWidgets import QHBoxLayout, QWidget
from typing_extensions import override

from inspector.engine.requests.timeline import ItemTexts
from inspector.ui.look.theme import ThemeController
from inspector.ui.widgets.buttons import LinkButton
from inspector.ui.widgets.floating import FloatingFrame
from inspector.ui.widgets.labels import TextLabel

_WIDEST, _PAD, _AWAY = 360, 10, 14


class HoverCard(FloatingFrame):
    """A title, a line and a small line of plain text.

    Attributes:
        lines: its texts.
    """

    def __init__(self, theme_controller: ThemeController, parent: QWidget) -> None:
        super().__init__(theme_controller, name="timelineCard", parent=parent)
        self.setAccessibleName("Item at the pointer")
        # The card follows the pointer, and clicks are for the lanes below.
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.lines: tuple[str, str, str] = ("", "", "")
        self.hide()

    def show_texts(self, texts: ItemTexts, at: QPoint) -> None:
        """Shows the texts beside a position of the parent."""
        lines = texts.title, texts.text, texts.foot
        if lines != self.lines:
            self.lines = lines
            self.setAccessibleDescription(". ".join(filter(None, lines)))
        self.resize(self.sizeHint())
        parent = self.parentWidget()
        away = round(_AWAY * self._themes.theme.zoom)
        x, y = at.x() + away, at.y() + away
        if parent is not None:
            if x + self.width() > parent.width():
                x = max(0, at.x() - away - self.width())
            if y + self.height() > parent.height():
                y = max(0, at.y() - away - self.height())
        self.move(x, y)
        self.show()
        self.raise_()
        self.update()

    def _rows(self) -> list[tuple[str, str, str]]:
        title, text, foot = self.lines
        roles = (
            ("body-medium", "ink.primary", title),
            ("body", "ink.secondary", text),
            ("small", "ink.tertiary", foot),
        )
        return [row for row in roles if row[2]]

    @override
    def sizeHint(self) -> QSize:
        theme = self._themes.theme
        pad = round(_PAD * theme.zoom)
        metrics = [(QFontMetrics(theme.font(role)), text) for role, _, text in self._rows()]
        width = max((one.horizontalAdvance(text) + 2 for one, text in metrics), default=0)
        height = sum(one.height() + 2 for one, _ in metrics)
        return QSize(min(width, round(_WIDEST * theme.zoom)) + 2 * pad, height + 2 * pad - 4)

    @override
    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        theme = self._themes.theme
        painter = QPainter(self)
        pad = round(_PAD * theme.zoom)
        y = pad - 2
        for role, token, text in self._rows():
            font = theme.font(role)
            metrics = QFontMetrics(font)
            painter.setFont(font)
            painter.setPen(theme.color(token))
            room = self.width() - 2 * pad
            line = QRectF(pad, y, room + 1, metrics.height())
            painter.drawText(
                line, Qt.AlignmentFlag.AlignLeft, metrics.elidedText(text, Qt.TextElideMode.ElideRight, room + 1)
            )
            y += metrics.height() + 2


NOTHING_HERE = "No message in this time range."


class Beyond(FloatingFrame):
    """A sentence and links to the nearest messages on both sides.

    Signals:
        asked(int): bring the next (1) or previous (-1) message into view.

    Attributes:
        previous, next: the links.
    """

    asked = Signal(int)

    def __init__(self, theme_controller: ThemeController, parent: QWidget) -> None:
        super().__init__(theme_controller, name="timelineBeyond", parent=parent)
        self.setAccessibleName(NOTHING_HERE)
        words = TextLabel(NOTHING_HERE, variant="secondary", name="timelineBeyondWords", parent=self)
        self.previous = LinkButton("\N{LEFTWARDS ARROW} Previous", name="timelineBeyondPrevious", parent=self)
        self.next = LinkButton("Next \N{RIGHTWARDS ARROW}", name="timelineBeyondNext", parent=self)
        row = QHBoxLayout(self)
        for widget in (self.previous, words, self.next):
            row.addWidget(widget)
        self.previous.setAccessibleName("Previous message")
        self.next.setAccessibleName("Next message")
        self.previous.clicked.connect(lambda: self.asked.emit(-1))
        self.next.clicked.connect(lambda: self.asked.emit(1))
        self.hide()

    def show_ways(self, before: bool, after: bool, *, area: QRect) -> None:
        """Shows the available links in the middle of an area of the parent."""
        self.previous.setVisible(before)
        self.next.setVisible(after)
        self.adjustSize()
        place = QRect(self.rect())
        place.moveCenter(area.center())
        self.move(place.topLeft())
        self.show()
        self.raise_()
