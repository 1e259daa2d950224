"""Bar of stacked filter conditions as chips on one line: each has a switch, a count and a close button.

Long expressions are elided if room is short; then further chips move into a menu, never into a second line.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import QEvent, QPoint, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QAction,
    QContextMenuEvent,
    QFontMetricsF,
    QKeyEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QResizeEvent,
)
from PySide6.QtWidgets import QAbstractButton, QMenu, QSizePolicy, QToolButton, QWidget
from typing_extensions import override

from inspector.engine.requests.filters import Condition
from inspector.present import formats
from inspector.present.wire_text import safe_line, tool_tip
from inspector.ui.look.theme import ThemeController
from inspector.ui.widgets.buttons import IconButton
from inspector.ui.widgets.filter_highlighter import TOKENS, tokens

_SHOWN = 200
_MAX_WIDTH, _MIN_WIDTH = 420, 96
"""Largest and smallest width of an expression, in pixels at 100 %."""
_GAP = 6
_LEFT, _SWITCH, _SWITCH_HIGH, _CLOSE = 8, 18, 10, 22

MENU: tuple[tuple[str, str], ...] = (
    ("edit", "Edit in the filter bar"),
    ("negate", "Invert"),
    ("only", "Turn off all others"),
    ("copy", "Copy as filter"),
    ("remove", "Remove"),
)
"""Actions on a condition besides the switch: (name, label)."""


class ConditionChip(QAbstractButton):
    """Chip of one condition; a click switches it on or off.

    Signals:
        asked(str): name of an action of `MENU`.
    """

    asked = Signal(str)
    hides: int | None
    """Number of messages that it hides, or would hide; None while unknown."""

    def __init__(self, themes: ThemeController, condition: Condition, parent: QWidget, words: str = "") -> None:
        """Makes the chip; `words` replace the text of the condition, which stays in the tooltip."""
        super().__init__(parent)
        self._themes = themes
        self.condition = condition
        self._shown = words or safe_line(condition.text, _SHOWN)
        self.setObjectName("conditionChip")
        self.setCheckable(True)
        self.setChecked(condition.on)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        # With this attribute Qt repaints when the pointer enters or leaves.
        self.setAttribute(Qt.WidgetAttribute.WA_Hover)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self._close = IconButton(themes, "clear", "Remove this condition", name="conditionClose", variant="status",
                                 size=14, parent=self)  # fmt: skip
        self._close.setFocusPolicy(Qt.FocusPolicy.NoFocus)  # for the keyboard, Delete on the chip does the same
        self._close.setCursor(Qt.CursorShape.ArrowCursor)
        self._close.clicked.connect(lambda: self.asked.emit("remove"))
        self.set_hides(None)

    def set_hides(self, count: int | None) -> None:
        """Sets the number of messages that it hides, or would hide if it were on; None while unknown."""
        self.hides = count
        self.setAccessibleName(", ".join(filter(None, (f"Condition {self._shown}", self.hides_words()))))
        counted = ""
        if count is not None:
            those = formats.count_of(count, "message")
            counted = (
                f"\nOnly this condition hides {those}"
                if self.condition.on
                else f"\nWould hide {formats.number(count)} more"
            )
        ways = "Click or Space to turn on or off, Enter to edit, Del to remove"
        self.setToolTip(tool_tip(f"{self.condition.text}{counted}\n{ways}"))
        self.setAccessibleDescription(ways)
        self.updateGeometry()
        self.update()

    def hides_words(self) -> str:
        """Returns the text of the count; "" while unknown."""
        if self.hides is None:
            return "" if self.condition.on else "off"
        return f"hides {self.hides:,}" if self.condition.on else f"off, would hide {self.hides:,}"

    def width_for(self, expression: float) -> int:
        """Returns the width of the chip for a width of its expression, in pixels."""
        zoom = self._themes.theme.zoom
        return round(
            (_LEFT + _SWITCH + _CLOSE + 3 * _GAP) * zoom + min(expression, self._wanted()) + self._words_width()
        )

    def _wanted(self) -> float:
        width = QFontMetricsF(self._themes.theme.font("mono-row")).horizontalAdvance(self._shown)
        return min(width + 2, _MAX_WIDTH * self._themes.theme.zoom)

    def _words_width(self) -> float:
        return QFontMetricsF(self._themes.theme.font("small")).horizontalAdvance(self.hides_words())

    @override
    def sizeHint(self) -> QSize:
        return QSize(self.width_for(self._wanted()), self._themes.theme.metrics.chip)

    # User input

    def menu(self) -> QMenu:
        """Builds the context menu; it deletes itself when it closes."""
        menu = QMenu(self)
        menu.setObjectName("conditionMenu")
        menu.setAccessibleName("Condition")
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        switch = menu.addAction("Turn off" if self.condition.on else "Turn on")
        switch.setObjectName("condition.switch")
        switch.triggered.connect(lambda *_: self.click())
        for name, words in MENU:
            action = menu.addAction(words)
            action.setObjectName(f"condition.{name}")
            action.triggered.connect(lambda *_, name=name: self.asked.emit(name))
        return menu

    @override
    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        self.menu().popup(event.globalPos())

    @override
    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Delete, Qt.Key.Key_Backspace):
            self.asked.emit("remove")
        elif event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_F2):
            self.asked.emit("edit")
        else:
            super().keyPressEvent(event)

    # Appearance

    @override
    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        size = self._close.sizeHint().boundedTo(QSize(self.height() - 2, self.height() - 2))
        self._close.setGeometry(self.width() - size.width() - 3, (self.height() - size.height()) // 2,
                                size.width(), size.height())  # fmt: skip

    @override
    def paintEvent(self, event: QPaintEvent) -> None:
        theme, zoom = self._themes.theme, self._themes.theme.zoom
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        on = self.condition.on
        edge = QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5)
        pen = QPen(theme.color("line.strong"), 1)
        if not on:
            pen.setStyle(Qt.PenStyle.DashLine)
        if self.hasFocus():
            pen = QPen(theme.color("accent.ring"), 2)
            edge = edge.adjusted(0.5, 0.5, -0.5, -0.5)
        painter.setPen(pen)
        fill = "surface.hover" if self.underMouse() else "surface.raised"
        painter.setBrush(theme.color(fill) if on or self.underMouse() else Qt.BrushStyle.NoBrush)
        painter.drawRoundedRect(edge, edge.height() / 2, edge.height() / 2)
        left = _LEFT * zoom
        self._paint_switch(painter, QPointF(left, self.height() / 2))
        left += (_SWITCH + _GAP) * zoom
        words = self._words_width()
        right = self.width() - _CLOSE * zoom - words - _GAP * zoom
        self._paint_expression(painter, QRectF(left, 0, right - left, self.height()))
        painter.setFont(theme.font("small"))
        painter.setPen(theme.color("ink.tertiary"))
        room = QRectF(right + _GAP * zoom - 1, 0, words + 2, self.height())
        painter.drawText(room, int(Qt.AlignmentFlag.AlignVCenter), self.hides_words())

    def _paint_switch(self, painter: QPainter, middle: QPointF) -> None:
        """Draws a track with a knob: filled and right for on, hollow and left for off."""
        theme, zoom, on = self._themes.theme, self._themes.theme.zoom, self.condition.on
        track = QRectF(middle.x() + 0.5, middle.y() - _SWITCH_HIGH * zoom / 2, _SWITCH * zoom, _SWITCH_HIGH * zoom)
        painter.setPen(QPen(theme.color("accent.fill" if on else "line.control"), 1.2))
        painter.setBrush(theme.color("accent.fill") if on else Qt.BrushStyle.NoBrush)
        painter.drawRoundedRect(track, track.height() / 2, track.height() / 2)
        radius = track.height() / 2 - 2
        x = track.right() - radius - 2 if on else track.left() + radius + 2
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(theme.color("accent.on" if on else "line.control"))
        painter.drawEllipse(QPointF(x, middle.y()), radius, radius)

    def _paint_expression(self, painter: QPainter, room: QRectF) -> None:
        """Draws the expression in syntax colours; elided in the middle, since conditions often differ at their ends."""
        theme = self._themes.theme
        font = theme.font("mono-row")
        metrics = QFontMetricsF(font)
        shown = metrics.elidedText(self._shown, Qt.TextElideMode.ElideMiddle, room.width())
        painter.setFont(font)
        middle = int(Qt.AlignmentFlag.AlignVCenter)
        if not self.condition.on:
            painter.setPen(theme.color("ink.tertiary"))
            painter.drawText(room, middle, shown)
            return
        for token in tokens(shown):
            painter.setPen(theme.color(TOKENS[token.role]))
            piece = shown[token.start : token.start + token.length]
            x = room.left() + metrics.horizontalAdvance(shown[: token.start])
            painter.drawText(QRectF(x, room.top(), metrics.horizontalAdvance(piece) + 2, room.height()), middle, piece)


class ConditionBar(QWidget):
    """The line of chips; its owner hides it while it is empty.

    Signals:
        switched(int, bool): switch a condition on or off.
        asked(int, str): action of `MENU` on a condition.
        cleared: remove all conditions.
    """

    switched = Signal(int, bool)
    asked = Signal(int, str)
    cleared = Signal()

    def __init__(self, theme_controller: ThemeController, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._themes = theme_controller
        self._chips: list[ConditionChip] = []
        self.words_of: Callable[[str], str] = lambda _text: ""
        self._shown = 0
        self.setObjectName("conditionBar")
        self.setAccessibleName("Conditions")
        self.setProperty("variant", "chrome")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self._more = QToolButton(self)
        self._more.setObjectName("conditionMore")
        self._more.setProperty("variant", "chip")
        self._more.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self._more.clicked.connect(self._open_more)
        self._menu = QMenu(self)
        self._menu.setObjectName("conditionMoreMenu")
        self._menu.setAccessibleName("More conditions")
        self._menu.triggered.connect(self._on_more_triggered)
        self._clear = IconButton(theme_controller, "clear", "Remove all conditions", name="conditionsClear",
                                 variant="small", parent=self)  # fmt: skip
        self._clear.clicked.connect(self.cleared)
        theme_controller.changed.connect(self._arrange)

    def chips(self) -> list[ConditionChip]:
        """Returns all chips in order, also hidden ones."""
        return list(self._chips)

    def set_conditions(self, conditions: Sequence[Condition]) -> None:
        """Shows conditions; counts of unchanged ones and the focus are kept."""
        if [chip.condition for chip in self._chips] == list(conditions):
            return
        focused = next((place for place, chip in enumerate(self._chips) if chip.hasFocus()), None)
        # Switching keeps the number: a condition hides as many messages as it would hide when off.
        hides = {chip.condition.text: chip.hides for chip in self._chips}
        for chip in self._chips:
            # Hidden, since it is deleted only when the event loop runs again.
            chip.hide()
            chip.deleteLater()
        self._chips = [self._chip(condition, hides.get(condition.text)) for condition in conditions]
        self._arrange()
        if focused is not None and self._chips:
            self._chips[min(focused, len(self._chips) - 1)].setFocus(Qt.FocusReason.OtherFocusReason)

    def _chip(self, condition: Condition, hides: int | None) -> ConditionChip:
        chip = ConditionChip(self._themes, condition, self, self.words_of(condition.text))
        chip.set_hides(hides)
        chip.toggled.connect(self._on_toggled)
        chip.asked.connect(self._on_asked)
        return chip

    def set_hides(self, counts: Sequence[int | None]) -> None:
        """Sets the counts of all conditions; None keeps the known one."""
        changed = False
        for chip, count in zip(self._chips, counts, strict=False):
            before = len(chip.hides_words())
            if count is not None:
                chip.set_hides(count)
            changed = changed or len(chip.hides_words()) != before
        if changed:
            self._arrange()

    # User input

    def _on_toggled(self, on: bool) -> None:
        # Not `clicked`: a screen reader toggles checkable buttons, and Qt then emits no click.
        chip = self.sender()
        if isinstance(chip, ConditionChip) and on is not chip.condition.on:
            chip.setChecked(chip.condition.on)  # the chip shows the applied state, set later by the owner
            self.switched.emit(self._chips.index(chip), not chip.condition.on)

    def _on_asked(self, what: str) -> None:
        chip = self.sender()
        if isinstance(chip, ConditionChip):
            self.asked.emit(self._chips.index(chip), what)

    def _open_more(self) -> None:
        self._menu.clear()
        for place in range(self._shown, len(self._chips)):
            chip = self._chips[place]
            words = ", ".join(filter(None, (safe_line(chip.condition.text, 80), chip.hides_words())))
            action = self._menu.addAction(words.replace("&", "&&"))
            action.setCheckable(True)
            action.setChecked(chip.condition.on)
            action.setData(place)
        self._menu.popup(self._more.mapToGlobal(QPoint(0, self._more.height() + 2)))

    def _on_more_triggered(self, action: QAction) -> None:
        self.switched.emit(int(action.data()), action.isChecked())

    # Appearance

    def _arrange(self) -> None:
        metrics, zoom = self._themes.theme.metrics, self._themes.theme.zoom
        self.setFixedHeight(metrics.presets)
        gap, left = round(_GAP * zoom), round(4 * zoom)
        clear = self._clear.sizeHint().boundedTo(self._clear.maximumSize())
        right = self.width() - left - clear.width()
        self._clear.setGeometry(right, (self.height() - clear.height()) // 2, clear.width(), clear.height())
        top = (self.height() - metrics.chip) // 2
        widths = self._widths(right - left - gap)
        self._shown = len(widths)
        for place, chip in enumerate(self._chips):
            if place < self._shown:
                chip.setGeometry(left, top, widths[place], metrics.chip)
                left += widths[place] + gap
            chip.setVisible(place < self._shown)
        rest = len(self._chips) - self._shown
        self._more.setVisible(rest > 0)
        if rest:
            self._more.setText(f"{rest} more")
            self._more.setAccessibleName(f"{rest} more condition{'' if rest == 1 else 's'}")
            self._more.setGeometry(left, top, self._more.sizeHint().width(), metrics.chip)

    def _widths(self, room: int) -> list[int]:
        """Returns widths of the chips that fit: with full expressions, else shorter ones, else only the first chips."""
        zoom, gap = self._themes.theme.zoom, round(_GAP * self._themes.theme.zoom)
        for share in (_MAX_WIDTH, 300, 220, 160, _MIN_WIDTH):
            widths = [chip.width_for(share * zoom) for chip in self._chips]
            if sum(widths) + gap * (len(widths) - 1) <= room:
                return widths
        widths = [chip.width_for(_MIN_WIDTH * zoom) for chip in self._chips]
        room -= self._more.sizeHint().width() + gap + round(12 * zoom)
        shown = len(widths)
        while shown and sum(widths[:shown]) + gap * shown > room:
            shown -= 1
        return widths[:shown]

    @override
    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._arrange()

    @override
    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange:
            self._arrange()

    @override
    def sizeHint(self) -> QSize:
        return QSize(640, self._themes.theme.metrics.presets)

    @override
    def minimumSizeHint(self) -> QSize:
        return QSize(160, self._themes.theme.metrics.presets)
