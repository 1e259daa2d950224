"""The card at the cursor: message and named values."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import QRect, QRectF, QSize, Qt
from PySide6.QtGui import QFontMetrics, QPainter, QPaintEvent
from PySide6.QtWidgets import QWidget
from typing_extensions import override

from inspector.ui.look.theme import ThemeController
from inspector.ui.widgets.floating import FloatingFrame

_PAD, _GAP, _AWAY, _WIDEST = 10, 24, 12, 320
_TOP = 22
"""Top of the card in pixels: the label of a limit beyond the scale is above it."""


@dataclass(frozen=True, slots=True)
class CardText:
    """Content of a card.

    Attributes:
        rows: name, value and colour token of the value.
        foot: a small line about the message below them.
    """

    rows: tuple[tuple[str, str, str], ...]
    foot: str = ""

    @property
    def accessible_text(self) -> str:
        """The content as one sentence."""
        parts = [f"{name} {value}" for name, value, _ in self.rows]
        return ". ".join((*parts, self.foot) if self.foot else parts)


class ValuesCard(FloatingFrame):
    """Values of the cursor: names at the left, figures at the right.

    Attributes:
        text: its content as far as it fits; None while hidden.
    """

    def __init__(self, theme_controller: ThemeController, parent: QWidget) -> None:
        super().__init__(theme_controller, name="plotCard", parent=parent)
        self.setAccessibleName("Values at the cursor")
        # Moves of the pointer are for the plot below.
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.text: CardText | None = None
        self.hide()

    def show_away(self, text: CardText | None, area: QRect, x: int) -> None:
        """Shows the content at the end of an area opposite the cursor; None hides the card.

        Args:
            text: its content.
            area: the drawn area in the parent.
            x: the cursor.
        """
        self.text = text
        if text is None:
            self.hide()
            return
        self.setAccessibleDescription(text.accessible_text)
        parent = self.parentWidget()
        if parent is not None:
            self._drop_rows_to_fit(parent.height())
        self.resize(self.sizeHint())
        away = round(_AWAY * self._themes.theme.zoom)
        left = area.left() + away if x > area.center().x() else area.right() - away - self.width()
        below = round(_TOP * self._themes.theme.zoom)
        self.move(max(2, left), min(below, max(0, area.height() - self.height())))
        self.show()
        self.raise_()
        self.update()

    def _drop_rows_to_fit(self, room: int) -> None:
        """Drops the last values until the card fits. The line about the message stays: it matters most."""
        shown = self.text
        while shown is not None and len(shown.rows) > 1 and self.sizeHint().height() > room:
            shown = self.text = CardText(shown.rows[:-1], shown.foot)

    def _height_of_row(self) -> int:
        return QFontMetrics(self._themes.theme.font("small")).height() + round(4 * self._themes.theme.zoom)

    @override
    def sizeHint(self) -> QSize:
        theme, text = self._themes.theme, self.text
        if text is None:
            return QSize(0, 0)
        small, strong = QFontMetrics(theme.font("small")), QFontMetrics(theme.font("label"))
        widths = [
            small.horizontalAdvance(name) + strong.horizontalAdvance(value) + round(_GAP * theme.zoom)
            for name, value, _ in text.rows
        ]
        if text.foot:
            widths.append(small.horizontalAdvance(text.foot) + 2)
        pad = round(_PAD * theme.zoom)
        high = (len(text.rows) + bool(text.foot)) * self._height_of_row()
        return QSize(min(max(widths, default=0), round(_WIDEST * theme.zoom)) + 2 * pad, high + round(1.2 * pad))

    @override
    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        theme, text = self._themes.theme, self.text
        if text is None:
            return
        painter = QPainter(self)
        pad, high = round(_PAD * theme.zoom), self._height_of_row()
        line = QRectF(pad, round(0.6 * pad), self.width() - 2 * pad, high)
        left = Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft
        right = Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight
        for name, value, token in text.rows:
            painter.setFont(theme.font("small"))
            painter.setPen(theme.color("ink.secondary"))
            painter.drawText(line, left, name)
            painter.setFont(theme.font("label"))
            painter.setPen(theme.color(token))
            painter.drawText(line, right, value)
            line.translate(0, high)
        if text.foot:
            painter.setFont(theme.font("small"))
            painter.setPen(theme.color("ink.tertiary"))
            elided = painter.fontMetrics().elidedText(text.foot, Qt.TextElideMode.ElideRight, int(line.width()) + 1)
            painter.drawText(line, left, elided)
