"""A severity as a switch with its count: "3 warnings" in a pill (docs/design.md 16)."""

from __future__ import annotations

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QFontMetrics, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QAbstractButton, QSizePolicy, QWidget
from typing_extensions import override

from inspector.analysis.findings import Severity
from inspector.present import formats
from inspector.ui.look import icons
from inspector.ui.look.theme import ThemeController
from inspector.ui.panels.findings.delegate import ICON_TOKENS
from inspector.ui.panels.findings.lines import PLURALS

_PAD = 9
_ICON = 14
_GAP = 5


class SeverityToggle(QAbstractButton):
    """Checked: its findings are listed. Off it has no edge, and its icon is an eye struck through."""

    def __init__(self, theme_controller: ThemeController, severity: Severity, parent: QWidget | None = None) -> None:
        """Make the switch, on, with nothing to count."""
        super().__init__(parent)
        self._themes = theme_controller
        self.severity = severity
        self._count = 0
        self._brief = False
        self.setObjectName(f"findings.{severity.word}")
        self.setCheckable(True)
        self.setChecked(True)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setAttribute(Qt.WidgetAttribute.WA_Hover)
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self.toggled.connect(self._say)
        theme_controller.changed.connect(self.updateGeometry)
        self._say()

    @property
    def words(self) -> str:
        """What it says."""
        return formats.count_of(self._count, self.severity.word, PLURALS[self.severity])

    @property
    def shown_words(self) -> str:
        """What is painted: the count alone where room is short."""
        return f"{self._count:,}" if self._brief else self.words

    def set_brief(self, brief: bool) -> None:
        """Show the count alone, as there is little room."""
        if brief != self._brief:
            self._brief = brief
            self._say()

    def set_count(self, count: int) -> None:
        """Say how many there are."""
        if count != self._count:
            self._count = count
            self._say()

    def _say(self, *_on: object) -> None:
        self.setText(self.words)
        self.setAccessibleName(self.words)
        verb = "Hide" if self.isChecked() else "List"
        self.setToolTip(f"{self.words}. {verb} the {PLURALS[self.severity]}.")
        self.updateGeometry()
        self.update()

    @override
    def sizeHint(self) -> QSize:
        theme = self._themes.theme
        words = QFontMetrics(theme.font("small")).horizontalAdvance(self.shown_words)
        return QSize(words + round((2 * _PAD + _ICON + _GAP) * theme.zoom) + 1, theme.metrics.chip - 2)

    @override
    def minimumSizeHint(self) -> QSize:
        return self.sizeHint()

    @override
    def paintEvent(self, event: QPaintEvent) -> None:
        theme, on = self._themes.theme, self.isChecked()
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        pill = QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5)
        if on or self.underMouse():
            painter.setPen(QPen(theme.color("line.strong"), 1) if on else Qt.PenStyle.NoPen)
            painter.setBrush(theme.color("accent.washdim" if self.underMouse() else "surface.raised"))
            painter.drawRoundedRect(pill, pill.height() / 2, pill.height() / 2)
        if self.hasFocus():
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.setPen(QPen(theme.color("accent.ring"), 2))
            ring = QRectF(self.rect()).adjusted(1, 1, -1, -1)
            painter.drawRoundedRect(ring, ring.height() / 2, ring.height() / 2)
        name, token = ICON_TOKENS[self.severity]
        if not on:
            name, token = "hidden", "ink.tertiary"
        elif not self._count:
            token = "ink.tertiary"
        side = round(_ICON * theme.zoom)
        left = round(_PAD * theme.zoom)
        painter.drawPixmap(left, (self.height() - side) // 2, icons.pixmap(name, token, side, self.devicePixelRatioF()))
        painter.setFont(theme.font("small"))
        painter.setPen(theme.color("ink.primary" if on and self._count else "ink.tertiary"))
        left += side + round(_GAP * theme.zoom)
        flags = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
        painter.drawText(QRectF(left, 0, self.width() - left, self.height()), flags, self.shown_words)
