"""Widgets and texts of a merged context's layers: figures, bar, budget and notes with switches."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QFontMetrics, QPainter, QPainterPath, QPaintEvent
from PySide6.QtWidgets import QGridLayout, QHBoxLayout, QSizePolicy, QVBoxLayout, QWidget
from typing_extensions import override

from inspector.engine.requests.msp_contexts import Note
from inspector.present import formats
from inspector.present.wire_text import tool_tip
from inspector.ui.look.gauge import WARN_SHARE, gauge_color
from inspector.ui.look.text_flags import LEFT, RIGHT
from inspector.ui.look.theme import Theme, ThemeController
from inspector.ui.msp.panel.rules_form import BudgetField
from inspector.ui.panels.details.section import LinkText
from inspector.ui.panels.list_head import HintLabel
from inspector.ui.widgets.labels import IconLabel, TextLabel

_ALPHAS = (1.0, 0.68, 0.44)
"""Opacities of the accent colour for inherited layers. The sub-session's own layer is grey."""
_ROW, _BAR = 50, 10
_STRIPE, _TEXT_X = 4, 14


def layer_color(theme: Theme, place: int) -> QColor:
    """Returns the colour of a layer, by index from 0."""
    if place >= len(_ALPHAS):
        return theme.color("ink.tertiary")
    color = QColor(theme.color("accent.ring"))
    color.setAlphaF(_ALPHAS[place])
    return color


@dataclass(frozen=True, slots=True)
class LayerFigures:
    """Content of a layer's row.

    Attributes:
        number: from 1.
        tokens: None without token counts.
        included: True if the policy includes it.
        share: of all sent tokens, as text.
        words: its description; safe to show.
        why: the reason, for the tooltip.
    """

    number: int
    title: str
    tokens: int | None
    share: str
    words: str
    why: str
    included: bool

    @property
    def accessible_text(self) -> str:
        """Everything as one text."""
        tokens = "" if self.tokens is None else formats.count_of(self.tokens, "token")
        parts = (f"{self.number} {self.title}", tokens, self.share, self.words)
        return ", ".join(filter(None, parts))


class LayerRow(QWidget):
    """One layer: colour, number, title and tokens; description and share."""

    def __init__(self, themes: ThemeController, place: int, parent: QWidget) -> None:
        super().__init__(parent)
        self._themes = themes
        self._place = place
        self.figures: LayerFigures | None = None
        self.setObjectName(f"subsessionLayer{place + 1}")
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        themes.changed.connect(self.updateGeometry)

    def show_figures(self, figures: LayerFigures) -> None:
        if figures != self.figures:
            self.figures = figures
            self.setAccessibleName(figures.accessible_text)
            self.setToolTip(tool_tip(f"{figures.words}\n\n{figures.why}".strip()))
            self.update()

    @override
    def sizeHint(self) -> QSize:
        return QSize(0, round(_ROW * self._themes.theme.zoom))

    @override
    def paintEvent(self, event: QPaintEvent) -> None:
        figures, theme = self.figures, self._themes.theme
        if figures is None:
            return
        zoom, painter = theme.zoom, QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        high = round(34 * zoom)
        area = QRect(0, (self.height() - high) // 2, self.width(), high)
        color = layer_color(theme, self._place) if figures.tokens != 0 else theme.color("line.strong")
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(color)
        painter.drawRoundedRect(QRectF(0, area.top(), round(_STRIPE * zoom), high), 2 * zoom, 2 * zoom)
        left = round(_TEXT_X * zoom)
        upper = QRect(left, area.top(), area.width() - left, high // 2)
        lower = QRect(left, area.top() + high // 2, area.width() - left, high - high // 2)
        ink = "ink.primary" if figures.included else "ink.tertiary"
        tokens = "" if figures.tokens is None else f"{figures.tokens:,}"
        self._line(painter, upper, "body-medium", ink, f"{figures.number}  {figures.title}", tokens)
        self._line(painter, lower, "small", "ink.tertiary", figures.words, figures.share)

    def _line(self, painter: QPainter, box: QRect, role: str, token: str, text: str, right: str) -> None:
        theme = self._themes.theme
        metrics = QFontMetrics(theme.font(role))
        painter.setFont(theme.font(role))
        painter.setPen(theme.color(token))
        painter.drawText(box, RIGHT, right)
        room = box.width() - metrics.horizontalAdvance(right) - (theme.metrics.cell_padding if right else 0)
        painter.drawText(box, LEFT, metrics.elidedText(text, Qt.TextElideMode.ElideRight, room))


class LayerBar(QWidget):
    """Tokens of the layers side by side, with a line at the budget if they exceed it."""

    def __init__(self, themes: ThemeController, parent: QWidget) -> None:
        super().__init__(parent)
        self._themes = themes
        self._tokens: tuple[int, ...] = ()
        self._budget = 0
        self.setObjectName("subsessionBar")
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        themes.changed.connect(self.updateGeometry)

    def show_tokens(self, tokens: tuple[int, ...], budget: int) -> None:
        """Shows figures.

        Args:
            tokens: of each layer.
            budget: 0 for none.
        """
        self._tokens, self._budget = tokens, budget
        total = sum(tokens)
        against = f" of a budget of {budget:,}" if budget else ""
        self.setAccessibleName(f"{formats.count_of(total, 'token')}{against}")
        self.update()

    @override
    def sizeHint(self) -> QSize:
        return QSize(0, round(_BAR * self._themes.theme.zoom))

    @override
    def paintEvent(self, event: QPaintEvent) -> None:
        theme, painter = self._themes.theme, QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        whole = QRectF(self.rect())
        outline = QPainterPath()
        radius = 3 * theme.zoom
        outline.addRoundedRect(whole, radius, radius)
        painter.setClipPath(outline)
        painter.fillRect(whole, theme.color("line.strong" if theme.dark else "line.hair"))
        scale = sum(self._tokens)
        if not scale:
            return
        x, done = 0.0, 0
        for place, tokens in enumerate(self._tokens):
            done += tokens
            end = whole.width() * done / scale
            if end - x >= 0.5:
                piece = QRectF(x, 0, end - x, whole.height())
                painter.fillRect(piece, theme.color("surface.base"))  # the accent colour is translucent
                painter.fillRect(piece.adjusted(0, 0, -1.5 if end - x > 3 else 0, 0), layer_color(theme, place))
            x = end
        if sum(self._tokens) > self._budget > 0:
            at = whole.width() * self._budget / scale
            painter.fillRect(QRectF(at - 2, 0, 4, whole.height()), theme.color("surface.base"))
            painter.fillRect(QRectF(at - 1, 0, 2, whole.height()), theme.color("gauge.full"))


class NoteLine(QWidget):
    """One note."""

    def __init__(self, themes: ThemeController, place: int, parent: QWidget) -> None:
        super().__init__(parent)
        self._themes = themes
        self.setObjectName(f"subsessionNote{place}")
        self._grid = QGridLayout(self)
        self._grid.setColumnStretch(1, 1)
        self._icon = IconLabel(themes, "note", "severity.note", size=14, name=f"subsessionNote{place}Icon", parent=self)
        self._text = TextLabel("", variant="small", name=f"subsessionNote{place}Text", wrap=True, parent=self)
        self.link = LinkText(themes, "", f"subsessionNote{place}Link", self)
        self._grid.addWidget(self._icon, 0, 0, Qt.AlignmentFlag.AlignTop)
        self._grid.addWidget(self._text, 0, 1)
        self._grid.addWidget(self.link, 1, 1, Qt.AlignmentFlag.AlignLeft)
        self.note = Note("")
        themes.changed.connect(self._on_theme_changed)
        self._on_theme_changed()

    def show_note(self, note: Note) -> None:
        if note == self.note:
            return
        self.note = note
        self._icon.set_icon(*(("warning", "severity.warning") if note.warns else ("note", "severity.note")))
        self._text.setText(note.text)
        self.setAccessibleName(note.text)
        self.link.setText(note.link)
        self.link.setAccessibleName(f"{note.link}: {note.text}" if note.link else "")
        self.link.setVisible(bool(note.link))
        self.link.updateGeometry()

    def _on_theme_changed(self) -> None:
        zoom = self._themes.theme.zoom
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setHorizontalSpacing(round(8 * zoom))
        self._grid.setVerticalSpacing(0)


class NotesBox(QWidget):
    """The notes, one below the other.

    Signals:
        rule_switched(str): toggle this rule.
    """

    rule_switched = Signal(str)

    def __init__(self, themes: ThemeController, parent: QWidget) -> None:
        super().__init__(parent)
        self._themes = themes
        self.lines: list[NoteLine] = []
        self.setObjectName("subsessionNotes")
        self.setAccessibleName("Notes")
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 4, 0, 4)
        self._column.setSpacing(8)

    def show_notes(self, notes: Sequence[Note]) -> None:
        while len(self.lines) < len(notes):
            line = NoteLine(self._themes, len(self.lines), self)
            line.link.clicked.connect(self._on_link_clicked)
            self._column.addWidget(line)
            self.lines.append(line)
        for place, line in enumerate(self.lines):
            if place < len(notes):
                line.show_note(notes[place])
            line.setVisible(place < len(notes))
        self.setVisible(bool(notes))

    @property
    def notes(self) -> list[Note]:
        return [line.note for line in self.lines if not line.isHidden()]

    def _on_link_clicked(self) -> None:
        for line in self.lines:
            if line.link is self.sender():
                self.rule_switched.emit(line.note.rule)
                return


class SmallGauge(QWidget):
    """Gauge of the budget."""

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
    """Gauge, share and field of the budget, with a warning near the limit and above it.

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
        # 99 keeps its object name apart from those of the notes.
        self.warning = NoteLine(themes, 99, self)
        self.warning.setObjectName("subsessionBudgetWarning")
        self.warning.link.hide()
        column.addWidget(self.warning)
        themes.changed.connect(self._on_theme_changed)
        self._on_theme_changed()

    def show_budget(self, tokens: int, budget: int) -> None:
        """Shows the use of the budget without emitting `changed`."""
        self._showing = True
        self.field.setValue(budget)
        self._showing = False
        share = tokens / self.field.value()
        self._gauge.share = share
        percent = "<1" if 0 < share < 0.005 else f"{round(100 * share):,}"
        self._share.set_text(f"{percent} % of the budget")
        self._gauge.setAccessibleName(f"{percent} % of the budget")
        self._gauge.update()
        text = budget_words(tokens, self.field.value())
        self.warning.setVisible(bool(text))
        self.warning.show_note(Note(text, warns=True))
        self.warning.link.hide()

    def _on_changed(self, budget: int) -> None:
        if not self._showing:
            self.changed.emit(budget)

    def _on_theme_changed(self) -> None:
        self.field.setFixedWidth(round(108 * self._themes.theme.zoom))
        self._gauge.updateGeometry()


def budget_words(tokens: int, budget: int) -> str:
    """Returns a warning near the limit and above it, else ""."""
    if tokens > budget:
        return f"{tokens - budget:,} tokens above the budget."
    if tokens >= WARN_SHARE * budget:
        return f"Near the budget: {budget - tokens:,} tokens are left."
    return ""
