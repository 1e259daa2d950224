"""The budget a merged context is measured against: a field for it, and how much of it is taken."""

from __future__ import annotations

from PySide6.QtCore import QRectF, QSize, Qt, Signal
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QHBoxLayout, QSizePolicy, QVBoxLayout, QWidget
from typing_extensions import override

from inspector.ui.look.theme import ThemeController
from inspector.ui.msp.panel.layer_words import Note
from inspector.ui.msp.panel.layers import WARN_FROM
from inspector.ui.msp.panel.notes_box import NoteLine
from inspector.ui.msp.panel.number_field import NumberField
from inspector.ui.panels.details.figures import gauge_color
from inspector.ui.panels.list_head import HintLabel

LEAST, MOST, STEP = 100, 10_000_000, 500
"""Of the field; as the settings have it."""


class BudgetField(NumberField):
    """Tokens a sub-session may send."""

    def __init__(self, name: str, parent: QWidget) -> None:
        super().__init__(name, "Budget in tokens", LEAST, MOST, parent)
        self.setToolTip("What a sub-session may send, in tokens")
        self.setSingleStep(STEP)


class SmallGauge(QWidget):
    """How full the budget is."""

    def __init__(self, themes: ThemeController, parent: QWidget) -> None:
        super().__init__(parent)
        self._themes = themes
        self.share = 0.0
        self.setObjectName("subsessionGauge")
        self.setAccessibleName("Share of the budget")
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)

    @override
    def sizeHint(self) -> QSize:
        metrics = self._themes.theme.metrics
        return QSize(metrics.gauge_width, metrics.gauge_height)

    @override
    def paintEvent(self, event: QPaintEvent) -> None:
        theme, high = self._themes.theme, self.height()
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(theme.color("line.strong"))
        painter.drawRoundedRect(QRectF(self.rect()), high / 2, high / 2)
        if self.share > 0:
            painter.setBrush(gauge_color(theme, self.share))
            wide = max(high, self.width() * min(1.0, self.share))
            painter.drawRoundedRect(QRectF(0, 0, wide, high), high / 2, high / 2)


class BudgetLine(QWidget):
    """Gauge, share and field; below them a warning near the limit and above it.

    Signals:
        changed(int): the user set another budget.
    """

    changed = Signal(int)

    def __init__(self, themes: ThemeController, parent: QWidget) -> None:
        super().__init__(parent)
        self._themes = themes
        self._showing = False
        self.setObjectName("subsessionBudget")
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(6)
        row = QHBoxLayout()
        row.setSpacing(8)
        self._gauge = SmallGauge(themes, self)
        self._share = HintLabel(themes, name="subsessionShare", parent=self)
        self.field = BudgetField("subsessionBudgetField", self)
        self.field.valueChanged.connect(self._on_changed)
        row.addWidget(self._share)
        row.addStretch(1)
        row.addWidget(self.field)
        column.addLayout(row)
        column.addWidget(self._gauge)
        self.warning = NoteLine(themes, 99, self)
        self.warning.setObjectName("subsessionBudgetWarning")
        self.warning.link.hide()
        column.addWidget(self.warning)
        themes.changed.connect(self._on_theme_changed)
        self._on_theme_changed()

    def show_budget(self, tokens: int, budget: int) -> None:
        """Say what is taken of it; says nothing to others."""
        self._showing = True
        self.field.setValue(budget)
        self._showing = False
        share = tokens / self.field.value()
        self._gauge.share = share
        percent = "<1" if 0 < share < 0.005 else f"{round(100 * share):,}"
        self._share.say(f"{percent} % of the budget")
        self._gauge.setAccessibleName(f"{percent} % of the budget")
        self._gauge.update()
        text = budget_words(tokens, self.field.value())
        self.warning.setVisible(bool(text))
        self.warning.say(Note(text, warns=True))
        self.warning.link.hide()

    def _on_changed(self, budget: int) -> None:
        if not self._showing:
            self.changed.emit(budget)

    def _on_theme_changed(self) -> None:
        self.field.setFixedWidth(round(108 * self._themes.theme.zoom))
        self._gauge.updateGeometry()


def budget_words(tokens: int, budget: int) -> str:
    """What to say near the limit and above it; "" below."""
    if tokens > budget:
        return f"{tokens - budget:,} tokens above the budget."
    if tokens >= WARN_FROM * budget:
        return f"Near the budget: {budget - tokens:,} tokens are left."
    return ""
