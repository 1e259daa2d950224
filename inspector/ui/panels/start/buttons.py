"""Pressable parts of the start page: action cards, rows of recent things, the drop hint."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QFontMetrics, QKeyEvent, QMouseEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QAbstractButton, QSizePolicy, QWidget
from typing_extensions import override

from inspector.present.wire_text import safe_line, tool_tip
from inspector.ui.look import icons
from inspector.ui.look.theme import ThemeController
from inspector.ui.panels.start.recents import Recent

_LEFT = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter


class Pressable(QAbstractButton):
    """A large button with two lines, hover and focus ring. Enter presses it; the page handles arrow keys."""

    def __init__(
        self, theme_controller: ThemeController, title: str, detail: str, *, name: str, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_Hover)  # repaints as the pointer enters and leaves
        self._themes = theme_controller
        self.title = title
        self.detail = detail
        self.setObjectName(name)
        self.setText(title.replace("&", "&&"))
        self.setAccessibleName(title)
        self.setAccessibleDescription(detail)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    @override
    def keyPressEvent(self, event: QKeyEvent) -> None:
        key = event.key()
        if key in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.click()
        elif key in (Qt.Key.Key_Up, Qt.Key.Key_Down, Qt.Key.Key_Left, Qt.Key.Key_Right):
            event.ignore()
        else:
            super().keyPressEvent(event)

    def _raised(self) -> bool:
        return self.hasFocus() or self.underMouse() or self.isDown()

    def _paint_ground(self, painter: QPainter) -> None:
        theme = self._themes.theme
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        radius = theme.metrics.radius_bubble
        if self._raised():
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(theme.color("accent.washdim" if self.isDown() else "surface.hover"))
            painter.drawRoundedRect(QRectF(self.rect()), radius, radius)
        if self.hasFocus():
            painter.setPen(QPen(theme.color("accent.ring"), theme.metrics.focus_ring))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRoundedRect(QRectF(self.rect()).adjusted(1, 1, -1, -1), radius, radius)

    def _paint_line(self, painter: QPainter, box: QRectF, role: str, token: str, text: str) -> None:
        theme = self._themes.theme
        painter.setFont(theme.font(role))
        painter.setPen(theme.color(token))
        metrics = QFontMetrics(theme.font(role))
        painter.drawText(box, _LEFT, metrics.elidedText(text, Qt.TextElideMode.ElideMiddle, int(box.width())))

    def _paint_icon(self, painter: QPainter, name: str, token: str, left: float, middle: float) -> None:
        side = round(16 * self._themes.theme.zoom)
        image = icons.pixmap(name, token, side, self.devicePixelRatioF())
        painter.drawPixmap(QPointF(round(left), round(middle - side / 2)), image)


class ActionCard(Pressable):
    """An action of the start page with its shortcut."""

    def __init__(
        self,
        theme_controller: ThemeController,
        icon: str,
        title: str,
        detail: str,
        keys: str,
        *,
        name: str,
        parent: QWidget | None = None,
    ) -> None:
        """Creates a card.

        Args:
            theme_controller: gives the look.
            icon: name as in `icons.ICONS`.
            title: the action.
            detail: a second line.
            keys: its shortcut, or "".
            name: object name.
            parent: owner.
        """
        super().__init__(theme_controller, title, detail, name=name, parent=parent)
        self._icon = icon
        self._keys = keys

    @property
    def keys(self) -> str:
        return self._keys

    def show_keys(self, keys: str) -> None:
        """Shows another shortcut, or none."""
        self._keys = keys
        self.setAccessibleDescription(", ".join(filter(None, (self.detail, keys))))
        self.update()

    @override
    def sizeHint(self) -> QSize:
        zoom = self._themes.theme.zoom
        return QSize(round(410 * zoom), round(56 * zoom))

    @override
    def minimumSizeHint(self) -> QSize:
        zoom = self._themes.theme.zoom
        return QSize(round(250 * zoom), round(56 * zoom))

    @override
    def paintEvent(self, event: QPaintEvent) -> None:
        theme = self._themes.theme
        zoom = theme.zoom
        painter = QPainter(self)
        self._paint_ground(painter)
        middle = self.height() / 2
        token = "accent.text" if self._raised() else "ink.secondary"
        self._paint_icon(painter, self._icon, token, 17 * zoom, middle)
        right = self.width() - 14 * zoom - self._paint_keys(painter)
        width = right - 48 * zoom - 8 * zoom
        self._paint_line(painter, QRectF(48 * zoom, middle - 18 * zoom, width, 18 * zoom), "heading", "ink.primary",
                         self.title)  # fmt: skip
        self._paint_line(painter, QRectF(48 * zoom, middle, width, 17 * zoom), "body", "ink.secondary", self.detail)

    def _paint_keys(self, painter: QPainter) -> float:
        """Paints the shortcut at the right and returns its width."""
        if not self._keys:
            return 0.0
        theme = self._themes.theme
        zoom = theme.zoom
        font = theme.font("column")
        width = QFontMetrics(font).horizontalAdvance(self._keys) + 14 * zoom
        box = QRectF(self.width() - 14 * zoom - width, self.height() / 2 - 10 * zoom, width, 20 * zoom)
        painter.setPen(QPen(theme.color("line.strong"), 1))
        painter.setBrush(theme.color("surface.raised" if not theme.dark else "surface.base"))
        painter.drawRoundedRect(box.toAlignedRect().toRectF().adjusted(0.5, 0.5, -0.5, -0.5), 4 * zoom, 4 * zoom)
        painter.setFont(font)
        painter.setPen(theme.color("ink.secondary"))
        painter.drawText(box, Qt.AlignmentFlag.AlignCenter, self._keys)
        return width


class RecentRow(Pressable):
    """A recent file or connection.

    Attributes:
        is_chosen: one of two logs to compare.
        with_ctrl: it was pressed with Ctrl.
    """

    def __init__(
        self, theme_controller: ThemeController, recent: Recent, *, name: str, parent: QWidget | None = None
    ) -> None:
        super().__init__(theme_controller, safe_line(recent.title), safe_line(recent.detail), name=name, parent=parent)
        self._recent = recent
        self.is_chosen = self.with_ctrl = False
        self.setToolTip(tool_tip(recent.tooltip))
        self.setEnabled(recent.there)

    @override
    def mousePressEvent(self, event: QMouseEvent) -> None:
        self.with_ctrl = bool(event.modifiers() & Qt.KeyboardModifier.ControlModifier)
        super().mousePressEvent(event)

    @override
    def keyPressEvent(self, event: QKeyEvent) -> None:
        self.with_ctrl = bool(event.modifiers() & Qt.KeyboardModifier.ControlModifier)
        super().keyPressEvent(event)

    def choose(self, is_chosen: bool) -> None:
        """Marks it as one of the logs to compare."""
        self.is_chosen = is_chosen
        self.setAccessibleName(f"{self.title}, chosen to compare" if is_chosen else self.title)
        self.update()

    @override
    def sizeHint(self) -> QSize:
        zoom = self._themes.theme.zoom
        return QSize(round(430 * zoom), round(44 * zoom))

    @override
    def minimumSizeHint(self) -> QSize:
        zoom = self._themes.theme.zoom
        return QSize(round(220 * zoom), round(44 * zoom))

    @override
    def paintEvent(self, event: QPaintEvent) -> None:
        zoom = self._themes.theme.zoom
        painter = QPainter(self)
        there = self._recent.there
        if self.is_chosen:
            theme = self._themes.theme
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            painter.setPen(QPen(theme.color("accent.ring"), 1))
            painter.setBrush(theme.color("accent.wash"))
            edge = QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5)
            painter.drawRoundedRect(edge, theme.metrics.radius_bubble, theme.metrics.radius_bubble)
        if there:
            self._paint_ground(painter)
        self._paint_icon(
            painter,
            "check" if self.is_chosen else self._recent.icon,
            "ink.secondary" if there else "ink.tertiary",
            12 * zoom,
            15 * zoom,
        )
        width = self.width() - 50 * zoom
        ink = "ink.primary" if there else "ink.tertiary"
        self._paint_line(painter, QRectF(38 * zoom, 5 * zoom, width, 17 * zoom), "body", ink, self.title)
        self._paint_line(painter, QRectF(38 * zoom, 23 * zoom, width, 16 * zoom), "small", "ink.tertiary", self.detail)


class DropHint(QWidget):
    """A dashed frame as a hint that files can be dropped. The window accepts the drop."""

    WORDS = "or drop files anywhere in this window"

    def __init__(self, theme_controller: ThemeController, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._themes = theme_controller
        self.setObjectName("startDropHint")
        self.setAccessibleName(self.WORDS)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    @override
    def sizeHint(self) -> QSize:
        zoom = self._themes.theme.zoom
        return QSize(round(410 * zoom), round(64 * zoom))

    @override
    def paintEvent(self, event: QPaintEvent) -> None:
        theme = self._themes.theme
        zoom = theme.zoom
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        pen = QPen(theme.color("line.strong"), 1.4 * zoom)
        pen.setDashPattern([5, 4])
        painter.setPen(pen)
        radius = theme.metrics.radius_bubble
        painter.drawRoundedRect(QRectF(self.rect()).adjusted(1, 1, -1, -1), radius, radius)
        font = theme.font("body")
        side = round(16 * zoom)
        metrics = QFontMetrics(font)
        room = int(self.width() - side - 32 * zoom)
        words = metrics.elidedText(self.WORDS, Qt.TextElideMode.ElideRight, room)
        width = side + 6 * zoom + metrics.horizontalAdvance(words)
        left = round((self.width() - width) / 2)
        image = icons.pixmap("ri.drag-drop-line", "ink.tertiary", side, self.devicePixelRatioF())
        painter.drawPixmap(left, round((self.height() - side) / 2), image)
        painter.setFont(font)
        painter.setPen(theme.color("ink.secondary"))
        painter.drawText(QRectF(left + side + 6 * zoom, 0, self.width(), self.height()), _LEFT, words)
