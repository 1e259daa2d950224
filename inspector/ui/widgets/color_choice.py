"""Radio group of colour swatches for highlighted rows."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QKeyEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QAbstractButton, QButtonGroup, QHBoxLayout, QWidget
from typing_extensions import override

from inspector.settings import HighlightColor
from inspector.ui.look.theme import ThemeController

COLORS: tuple[tuple[HighlightColor, str], ...] = (
    ("rose", "Rose"),
    ("orange", "Orange"),
    ("lime", "Lime"),
    ("teal", "Teal"),
    ("sky", "Sky"),
    ("violet", "Violet"),
)
"""Colours with their labels."""
_SWATCH = 14


class Swatch(QAbstractButton):
    """Button for one colour."""

    def __init__(self, theme_controller: ThemeController, color: HighlightColor, words: str, parent: QWidget) -> None:
        super().__init__(parent)
        self._themes = theme_controller
        self.color: HighlightColor = color
        self.setAccessibleName(words)
        self.setToolTip(words)
        self.setCheckable(True)
        self.setAutoExclusive(True)  # screen readers announce it as a radio button
        # With this attribute Qt repaints when the pointer enters or leaves.
        self.setAttribute(Qt.WidgetAttribute.WA_Hover)

    @override
    def sizeHint(self) -> QSize:
        side = self._themes.theme.metrics.control
        return QSize(side, side)

    @override
    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Left, Qt.Key.Key_Right):
            event.ignore()  # ColorChoice moves the selection; Qt would stop at swatches outside of the tab order
        else:
            super().keyPressEvent(event)

    @override
    def paintEvent(self, event: QPaintEvent) -> None:
        theme = self._themes.theme
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        box = QRectF(self.rect())
        side = _SWATCH * theme.zoom
        disc = QRectF(box.center() - QPointF(side / 2, side / 2), box.center() + QPointF(side / 2, side / 2))
        if self.underMouse() and self.isEnabled() and not self.isChecked():
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(theme.color("surface.hover"))
            painter.drawEllipse(box.adjusted(2, 2, -2, -2))
        color = theme.color(f"highlight.{self.color}" if self.isEnabled() else "ink.disabled")
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(color)
        painter.drawEllipse(disc)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        if self.isChecked():
            painter.setPen(QPen(color, 1.5))
            painter.drawEllipse(disc.adjusted(-3, -3, 3, 3))
        if self.hasFocus():
            painter.setPen(QPen(theme.color("accent.ring"), theme.metrics.focus_ring))
            radius = theme.metrics.radius_button
            painter.drawRoundedRect(box.adjusted(1, 1, -1, -1), radius, radius)


class ColorChoice(QWidget):
    """Swatches side by side; arrow keys move between them.

    Signals:
        chosen(str): the user chose another colour.
    """

    chosen = Signal(str)

    def __init__(self, theme_controller: ThemeController, *, name: str, label: str, parent: QWidget) -> None:
        """Makes the choice; the first colour is selected.

        Args:
            theme_controller: source of colours.
            name: object name; a swatch adds its colour to it.
            label: accessible name.
            parent: owner.
        """
        super().__init__(parent)
        self.setObjectName(name)
        self.setAccessibleName(label)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(2)
        self._group = QButtonGroup(self)
        self._swatches: list[Swatch] = []
        self._showing = False
        for color, words in COLORS:
            swatch = Swatch(theme_controller, color, words, self)
            swatch.setObjectName(f"{name}_{color}")
            swatch.toggled.connect(self._on_toggled)
            self._group.addButton(swatch)
            self._swatches.append(swatch)
            row.addWidget(swatch)
        row.addStretch(1)
        self.set_color(COLORS[0][0])

    @property
    def color(self) -> HighlightColor:
        return next(swatch.color for swatch in self._swatches if swatch.isChecked())

    def set_color(self, color: HighlightColor) -> None:
        """Selects a colour without emitting `chosen`."""
        self._showing = True
        for swatch in self._swatches:
            swatch.setChecked(swatch.color == color)
            # A single tab stop, as for a group of radio buttons.
            focus = Qt.FocusPolicy.StrongFocus if swatch.color == color else Qt.FocusPolicy.ClickFocus
            swatch.setFocusPolicy(focus)
        self._showing = False

    def _on_toggled(self, on: bool) -> None:
        # Not `clicked`: a screen reader toggles checkable buttons, and Qt then emits no click.
        if on and not self._showing:
            self.set_color(self.color)
            self.chosen.emit(self.color)

    @override
    def keyPressEvent(self, event: QKeyEvent) -> None:
        step = {Qt.Key.Key_Left: -1, Qt.Key.Key_Right: 1}.get(Qt.Key(event.key()), 0)
        place = next(i for i, swatch in enumerate(self._swatches) if swatch.isChecked()) + step
        if step and 0 <= place < len(self._swatches):
            self._swatches[place].setFocus(Qt.FocusReason.TabFocusReason)
            self._swatches[place].click()
        elif not step:
            super().keyPressEvent(event)
