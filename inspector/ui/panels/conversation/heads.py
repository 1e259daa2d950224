"""Heads of the conversation: the turn in sight with its switches, and the sections of the column beside it."""

from __future__ import annotations

from PySide6.QtCore import QRect, Qt
from PySide6.QtGui import QFontMetrics, QPainter, QPaintEvent
from PySide6.QtWidgets import QHBoxLayout, QSizePolicy, QWidget
from typing_extensions import override

from inspector.ui.look.text_flags import LEFT
from inspector.ui.look.theme import ThemeController
from inspector.ui.widgets.buttons import IconButton


class PlainHead(QWidget):
    """A line of a title, facts, and hints at the right.

    Attributes:
        title, facts, hints: its words.
    """

    def __init__(self, themes: ThemeController, *, is_chrome: bool, parent: QWidget) -> None:
        """Starts empty.

        Args:
            themes: gives the look.
            is_chrome: it has the ground of a pane's head.
            parent: owner.
        """
        super().__init__(parent)
        self._themes = themes
        self._is_chrome = is_chrome
        self.title = self.facts = self.hints = ""
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self._buttons = QHBoxLayout(self)
        self._buttons.addStretch(1)
        themes.changed.connect(self._fit)
        self._fit()

    def _fit(self) -> None:
        metrics = self._themes.theme.metrics
        self.setFixedHeight(metrics.head)
        self._buttons.setContentsMargins(0, 0, metrics.pane_padding - metrics.unit, 1)
        self._buttons.setSpacing(metrics.unit)
        self.update()

    def add_switch(self, icon: str, tip: str, name: str) -> IconButton:
        """Adds a small switch at the right."""
        button = self.add_button(icon, tip, name)
        button.setCheckable(True)
        return button

    def add_button(self, icon: str, tip: str, name: str) -> IconButton:
        """Adds a small button at the right."""
        button = IconButton(self._themes, icon, tip, name=name, variant="small", on_token="accent.text", parent=self)
        self._buttons.addWidget(button)
        return button

    def show_words(self, title: str, facts: str, hints: str = "") -> None:
        """Shows words; facts and hints are left out where room is short."""
        if (title, facts, hints) != (self.title, self.facts, self.hints):
            self.title, self.facts, self.hints = title, facts, hints
            self.setAccessibleName(f"{title} {facts}".strip())
            self.update()

    @override
    def paintEvent(self, event: QPaintEvent) -> None:
        theme = self._themes.theme
        painter = QPainter(self)
        painter.fillRect(self.rect(), theme.color("surface.chrome" if self._is_chrome else "surface.base"))
        painter.fillRect(0, self.height() - 1, self.width(), 1, theme.color("line.hair"))
        pad, gap = theme.metrics.pane_padding, round(8 * theme.zoom)
        title_role = "body-strong" if self._is_chrome else "heading"
        first = self._buttons.itemAt(1)
        x, right = pad, (self.width() - pad if first is None else first.geometry().left() - gap)
        for role, token, text in (
            (title_role, "ink.primary", self.title), ("body", "ink.tertiary", self.facts),
        ):  # fmt: skip
            font = theme.font(role)
            metrics = QFontMetrics(font)
            shown = metrics.elidedText(text, Qt.TextElideMode.ElideRight, max(0, right - x))
            painter.setFont(font)
            painter.setPen(theme.color(token))
            painter.drawText(QRect(x, 0, max(0, right - x), self.height() - 1), LEFT, shown)
            x += metrics.horizontalAdvance(shown) + gap
        metrics = QFontMetrics(theme.font("body"))
        width = metrics.horizontalAdvance(self.hints)
        if self.hints and right - width > x + gap:
            painter.setPen(theme.color("ink.tertiary"))
            painter.drawText(QRect(right - width, 0, width + 1, self.height() - 1), LEFT, self.hints)
