"""Flat buttons of the status bar: a dimmed word, a value, and a dot, icon or sparkline before them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFontMetrics, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QAbstractButton, QSizePolicy, QWidget
from typing_extensions import override

from inspector.present.wire_text import tool_tip
from inspector.ui.look import icons
from inspector.ui.look.theme import ThemeController


def paint_sparkline(painter: QPainter, box: QRectF, values: Sequence[float], color: QColor, width: float = 1.2) -> None:
    """Paints a sparkline, the highest value at the top of the box.

    Args:
        painter: target; its state is kept.
        box: room for the line.
        values: oldest first; fewer than two give a flat line.
        color: colour of the line.
        width: width of the line, in logical pixels.
    """
    inner = box.adjusted(width / 2, width / 2, -width / 2, -width / 2)
    top = max(values, default=0.0)
    shown = list(values) if len(values) > 1 else [0.0, 0.0]
    step = inner.width() / (len(shown) - 1)
    points = [
        QPointF(inner.left() + step * place, inner.bottom() - (value / top * inner.height() if top > 0 else 0.0))
        for place, value in enumerate(shown)
    ]
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(QPen(color, width))
    painter.drawPolyline(points)
    painter.restore()


Dot = Literal["on", "wait", "off", "failed"]
"""Green disc, amber ring, grey ring, red cross."""

_DOT_TOKENS: dict[Dot, str] = {
    "on": "state.active",
    "wait": "severity.warning",
    "off": "state.idle",
    "failed": "severity.error",
}
_PAD = 5


class StatusButton(QAbstractButton):
    """One fact of the status bar."""

    def __init__(
        self, theme_controller: ThemeController, *, name: str, may_shrink: bool = False, parent: QWidget | None = None
    ) -> None:
        """Makes an empty, hidden button.

        Args:
            theme_controller: source of the look.
            name: object name.
            may_shrink: its text may be elided; numbers never are.
            parent: owner.
        """
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_Hover)  # repaints on hover
        self._themes = theme_controller
        self._may_shrink = may_shrink
        self._quiet = ""
        self._value = ""
        self._value_token = "ink.secondary"
        self._icon: tuple[str, str] | None = None
        self._dot: Dot | None = None
        self._values: Sequence[float] | None = None
        self._least = ""
        self._share: float | None = None
        self._tooltip = ""
        self.setObjectName(name)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        self.hide()

    def show_fact(
        self,
        value: str,
        *,
        quiet: str = "",
        tooltip: str = "",
        token: str = "ink.secondary",
        icon: tuple[str, str] | None = None,
        dot: Dot | None = None,
        values: Sequence[float] | None = None,
        least: str = "",
        share: float | None = None,
    ) -> None:
        """Shows a fact.

        Args:
            value: main text.
            quiet: dimmed word before it.
            tooltip: the action of a click, or an explanation.
            token: colour of the value.
            icon: name and colour of an icon before the text.
            dot: a dot before the text.
            values: a sparkline before the text, oldest value first.
            least: text whose width is reserved, so that neighbours do not move.
            share: 0 to 1, a gauge before the text.
        """
        whole = f"{quiet} {value}".strip()
        if tooltip != self._tooltip:
            self._tooltip = tooltip
            self.setToolTip(tool_tip(tooltip))
        look = (value, quiet, token, icon, dot, values, least, share)
        known = (
            self._value, self._quiet, self._value_token, self._icon, self._dot, self._values, self._least, self._share,
        )  # fmt: skip
        if look != known:
            room = self.sizeHint()
            self._value, self._quiet, self._value_token = value, quiet, token
            self._icon, self._dot, self._values, self._least, self._share = icon, dot, values, least, share
            self.setAccessibleName(whole)
            if self.sizeHint() != room:  # an unchanged size needs no new layout of the whole window
                self.updateGeometry()
            self.update()
        self.show()

    # Sizes

    def _lead_width(self) -> int:
        zoom = self._themes.theme.zoom
        if self._values is not None:
            return round(56 * zoom)
        if self._share is not None:
            return round(72 * zoom)
        if self._icon is not None:
            return round(18 * zoom)
        return round(13 * zoom) if self._dot is not None else 0

    def _gap(self, metrics: QFontMetrics) -> int:
        return metrics.horizontalAdvance(" ") + 1 if self._quiet and self._value else 0

    @override
    def sizeHint(self) -> QSize:
        theme = self._themes.theme
        metrics = QFontMetrics(theme.font("small"))
        words = metrics.horizontalAdvance(self._quiet) + self._gap(metrics) + metrics.horizontalAdvance(self._value)
        words = max(words, metrics.horizontalAdvance(self._least))
        return QSize(words + self._lead_width() + 2 * round(_PAD * theme.zoom) + 1, theme.metrics.status_bar - 2)

    @override
    def minimumSizeHint(self) -> QSize:
        hint = self.sizeHint()
        if not self._may_shrink:
            return hint
        return QSize(min(hint.width(), round(48 * self._themes.theme.zoom)), hint.height())

    # Painting

    @override
    def paintEvent(self, event: QPaintEvent) -> None:
        theme = self._themes.theme
        painter = QPainter(self)
        if self.underMouse() or self.isDown():
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(theme.color("accent.washdim"))
            painter.drawRoundedRect(QRectF(self.rect()).adjusted(0, 2, 0, -2), 4, 4)
            painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
        pad = round(_PAD * theme.zoom)
        self._paint_lead(painter, pad)
        painter.setFont(theme.font("small"))
        metrics = QFontMetrics(theme.font("small"))
        room = QRectF(pad + self._lead_width(), 0, self.width() - 2 * pad - self._lead_width() + 1, self.height())
        flags = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
        if self._quiet:
            painter.setPen(theme.color("ink.tertiary"))
            quiet = metrics.elidedText(self._quiet, Qt.TextElideMode.ElideRight, int(room.width()))
            painter.drawText(room, flags, quiet)
            room.setLeft(room.left() + metrics.horizontalAdvance(self._quiet) + self._gap(metrics))
        painter.setPen(theme.color(self._value_token))
        shown = metrics.elidedText(self._value, Qt.TextElideMode.ElideMiddle, int(room.width()))
        if self._least and self._share is None:
            flags = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
        painter.drawText(room, flags, shown)
        if self.hasFocus():
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.setPen(QPen(theme.color("accent.ring"), 2))
            painter.drawRoundedRect(QRectF(self.rect()).adjusted(1, 2, -1, -2), 4, 4)

    def _paint_lead(self, painter: QPainter, left: int) -> None:
        theme = self._themes.theme
        zoom = theme.zoom
        middle = self.height() / 2
        if self._values is not None:
            box = QRectF(left, middle - 6 * zoom, 48 * zoom, 12 * zoom)
            paint_sparkline(painter, box, self._values, theme.color("ink.tertiary"), 1.1 * zoom)
        elif self._share is not None:
            self._paint_gauge(painter, QRectF(left, middle - 2 * zoom, 64 * zoom, 4 * zoom), self._share)
        elif self._icon is not None:
            side = round(14 * zoom)
            name, token = self._icon
            image = icons.pixmap(name, token, side, self.devicePixelRatioF())
            painter.drawPixmap(left, round(middle - side / 2), image)
        elif self._dot is not None:
            self._paint_dot(painter, QPointF(left + 4 * zoom, middle), self._dot)

    def _paint_gauge(self, painter: QPainter, box: QRectF, share: float) -> None:
        theme = self._themes.theme
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(theme.color("line.strong"))
        painter.drawRoundedRect(box, box.height() / 2, box.height() / 2)
        if share > 0:
            done = QRectF(box.topLeft(), box.bottomRight())
            done.setWidth(max(box.height(), box.width() * min(1.0, share)))
            painter.setBrush(theme.color("accent.ring"))
            painter.drawRoundedRect(done, box.height() / 2, box.height() / 2)
        painter.restore()

    def _paint_dot(self, painter: QPainter, center: QPointF, dot: Dot) -> None:
        theme = self._themes.theme
        radius = 3.5 * theme.zoom
        color = theme.color(_DOT_TOKENS[dot])
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if dot == "on":
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(color)
            painter.drawEllipse(center, radius, radius)
        elif dot == "failed":
            painter.setPen(QPen(color, 1.6 * theme.zoom))
            reach = radius - 0.5
            painter.drawLine(center + QPointF(-reach, -reach), center + QPointF(reach, reach))
            painter.drawLine(center + QPointF(-reach, reach), center + QPointF(reach, -reach))
        else:
            painter.setPen(QPen(color, 1.5 * theme.zoom))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawEllipse(center, radius - 0.5, radius - 0.5)
        painter.restore()
