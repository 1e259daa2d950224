"""Tokens of a result before and now, as a bar: what collapsing saved, or would save (docs/design.md 15)."""

from __future__ import annotations

from PySide6.QtCore import QRect, QRectF, QSize, Qt
from PySide6.QtGui import QFontMetrics, QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget
from typing_extensions import override

from inspector.analysis.lifecycles import Saving
from inspector.present import formats
from inspector.ui.look.theme import ThemeController
from inspector.ui.panels.details.token_facts import ESTIMATE


class SavingBar(QWidget):
    """A bar as long as the result was, filled as far as the model still sees of it, and both figures in words.

    Args:
        saving: tokens of the result and its summary, both counted.
        collapsed: whether the summary stands for it by now.
    """

    def __init__(
        self, themes: ThemeController, saving: Saving, *, collapsed: bool, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._themes = themes
        before, summary = saving.before or 0, saving.summary or 0
        saved = before - summary
        most = max(before, summary, 1)
        self._share = (summary if collapsed else before) / most
        self.saved = f"{formats.count_of(saved, 'token')} {'saved' if collapsed else 'to be saved'}"
        if saved <= 0:
            self.saved = "nothing saved" if collapsed else "nothing to be saved"
        self.figures = f"{formats.number(summary)} instead of {formats.number(before)}"
        if not collapsed:
            self.figures = f"{formats.number(before)} now, {formats.number(summary)} once consumed"
        self.estimate = ESTIMATE
        self._good = collapsed and saved > 0
        self.setObjectName("savingBar")
        self.setAccessibleName(f"{self.saved}: {self.figures}, {self.estimate}")
        self.setToolTip(f"Tokens counted by {saving.tokenizer}: an estimate. What a model counts may differ.")
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)

    @override
    def sizeHint(self) -> QSize:
        return QSize(100, 2 * self._themes.theme.metrics.content_row)

    @override
    def paintEvent(self, event: QPaintEvent) -> None:
        theme = self._themes.theme
        line, unit, height = theme.metrics.content_row, theme.metrics.unit, theme.metrics.gauge_height
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        upper, lower = QRect(0, 0, self.width(), line), QRect(0, line, self.width(), line)
        font = theme.font("body-medium")
        words = QFontMetrics(font).horizontalAdvance(self.saved) + 3 * unit
        room = max(0, self.width() - words)
        painter.setPen(Qt.PenStyle.NoPen)
        top = (line - height) / 2
        painter.setBrush(theme.color("line.strong"))
        painter.drawRoundedRect(QRectF(0, top, room, height), height / 2, height / 2)
        painter.setBrush(theme.color("badge.consumed" if self._good else "ink.tertiary"))
        filled = max(min(height, room), room * self._share)
        painter.drawRoundedRect(QRectF(0, top, filled, height), height / 2, height / 2)
        right = int(Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight)
        left = int(Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft)
        painter.setFont(font)
        painter.setPen(theme.color("badge.consumed" if self._good else "ink.secondary"))
        painter.drawText(upper, right, self.saved)
        painter.setFont(theme.font("small"))
        painter.setPen(theme.color("ink.tertiary"))
        painter.drawText(lower, left, self.figures)
        if QFontMetrics(theme.font("small")).horizontalAdvance(self.figures + self.estimate) + 3 * unit < self.width():
            painter.drawText(lower, right, self.estimate)
