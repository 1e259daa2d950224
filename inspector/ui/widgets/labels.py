"""Labels for plain text and icons; text is never parsed as rich text (docs/design.md 3)."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QHelpEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QFrame, QLabel, QSizePolicy, QToolTip, QWidget
from typing_extensions import override

from inspector.present.wire_text import tool_tip
from inspector.ui.look import icons
from inspector.ui.look.theme import ThemeController


class TextLabel(QLabel):
    """A label of plain text."""

    def __init__(
        self, text: str = "", *, variant: str = "", name: str = "", wrap: bool = False, parent: QWidget | None = None
    ) -> None:
        """Makes the label.

        Args:
            text: its text.
            variant: look, see `style_sheet`.
            name: object name.
            wrap: break long text into lines.
            parent: owner.
        """
        super().__init__(parent)
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setText(text)
        self.setWordWrap(wrap)
        if variant:
            self.setProperty("variant", variant)
        if name:
            self.setObjectName(name)


class ElidingLabel(TextLabel):
    """A label that elides its text and shows all of it in the tooltip."""

    @override
    def minimumSizeHint(self) -> QSize:
        return QSize(0, super().minimumSizeHint().height())

    @override
    def event(self, e: QEvent) -> bool:
        if isinstance(e, QHelpEvent) and e.type() is QEvent.Type.ToolTip and self._shown() != self.text():
            QToolTip.showText(e.globalPos(), tool_tip("\n".join(filter(None, (self.text(), self.toolTip())))), self)
            return True
        return super().event(e)

    @override
    def paintEvent(self, arg__1: QPaintEvent) -> None:
        painter = QPainter(self)
        flags = self.alignment() | Qt.TextFlag.TextSingleLine
        self.style().drawItemText(
            painter,
            self.contentsRect(),
            int(flags),
            self.palette(),
            self.isEnabled(),
            self._shown(),
            self.foregroundRole(),
        )

    def _shown(self) -> str:
        return self.fontMetrics().elidedText(self.text(), Qt.TextElideMode.ElideRight, self.contentsRect().width())


class IconLabel(QWidget):
    """An icon without interaction."""

    def __init__(
        self,
        theme_controller: ThemeController,
        icon: str,
        token: str = "ink.secondary",
        *,
        size: int = 16,
        name: str = "",
        parent: QWidget | None = None,
    ) -> None:
        """Makes the label.

        Args:
            theme_controller: source of colours.
            icon: name as in `icons.ICONS`.
            token: colour.
            size: side in logical pixels at 100 % zoom.
            name: object name.
            parent: owner.
        """
        super().__init__(parent)
        self._themes = theme_controller
        self._icon = icon
        self._token = token
        self._size = size
        if name:
            self.setObjectName(name)
        theme_controller.changed.connect(self._on_theme_changed)
        self._on_theme_changed()

    @property
    def icon(self) -> str:
        return self._icon

    @property
    def token(self) -> str:
        return self._token

    def set_icon(self, icon: str, token: str) -> None:
        if (icon, token) != (self._icon, self._token):
            self._icon, self._token = icon, token
            self.update()

    def _on_theme_changed(self) -> None:
        side = round(self._size * self._themes.theme.zoom)
        self.setFixedSize(side, side)
        self.update()

    @override
    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.drawPixmap(0, 0, icons.pixmap(self._icon, self._token, self.width(), self.devicePixelRatioF()))


class HairLine(QFrame):
    """A horizontal hairline."""

    def __init__(self, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName(name)
        self.setProperty("variant", "hair-h")


class Sign(QWidget):
    """The program's logo in the theme's colours: two nested open rings and a point at the opening."""

    def __init__(self, theme_controller: ThemeController, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._themes = theme_controller
        self.setObjectName("startSign")
        self.setAccessibleName("Context Inspector")
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)

    @override
    def sizeHint(self) -> QSize:
        side = round(44 * self._themes.theme.zoom)
        return QSize(side, side)

    @override
    def paintEvent(self, event: QPaintEvent) -> None:
        # Same drawing as resources/icons/context-inspector.svg, without its margin of 6 in 128.
        theme = self._themes.theme
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.scale(self.width() / 116, self.height() / 116)
        painter.translate(-6, -6)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(theme.color("accent.wash"))
        painter.drawRoundedRect(QRectF(6, 6, 116, 116), 27, 27)
        ink = theme.color("accent.text")
        painter.setBrush(ink)
        painter.drawEllipse(QPointF(90.87, 37.13), 8, 8)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        pen = QPen(ink, 9)
        pen.setCapStyle(Qt.PenCapStyle.RoundCap)
        painter.setPen(pen)
        # Angles are in sixteenths of a degree.
        painter.drawArc(QRectF(26, 26, 76, 76), 15 * 16, -300 * 16)
        painter.drawArc(QRectF(45, 45, 38, 38), 3 * 16, -276 * 16)
