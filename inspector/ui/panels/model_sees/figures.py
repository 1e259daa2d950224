"""View of the figures of a model context."""

from __future__ import annotations

from PySide6.QtCore import QRect, QRectF, QSize, Qt
from PySide6.QtGui import QBrush, QColor, QFontMetrics, QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget
from typing_extensions import override

from inspector.engine.requests.seen_contexts import TOKENIZER, Role
from inspector.present import formats
from inspector.present.seen_figures import ROLE_WORDS, Figures
from inspector.present.wire_text import tool_tip
from inspector.ui.look.gauge import gauge_color
from inspector.ui.look.theme import ThemeController

_ROLE_ALPHAS = {Role.TOOLS: 0.45, Role.SYSTEM: 0.28, Role.USER: 0.62, Role.ASSISTANT: 0.8, Role.TOOL: 1.0}
"""Opacity of the accent by role (docs/design.md 11); all are visible in the dark theme."""
_HEIGHT, _LINE = 84, 18
_INKS = ("ink.primary", "ink.secondary")


class ContextFigures(QWidget):
    """View of the figures.

    Attributes:
        figures: current figures, or None.
    """

    def __init__(self, themes: ThemeController, parent: QWidget) -> None:
        super().__init__(parent)
        self._themes = themes
        self.figures: Figures | None = None
        self.setObjectName("modelSeesFigures")
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        themes.changed.connect(self.updateGeometry)
        self.show_figures(None)

    def show_figures(self, figures: Figures | None) -> None:
        """Shows other figures; None hides the view."""
        self.figures = figures
        self.setVisible(figures is not None)
        self.updateGeometry()
        words = "" if figures is None else figures.accessible_text
        self.setAccessibleName(f"Tokens: {words}" if words else "Tokens")
        self.setToolTip(tool_tip(self._tip(figures)) if figures is not None else "")
        self.update()

    def _tip(self, figures: Figures) -> str:
        lines = [
            f"{ROLE_WORDS[role]}: {formats.count_of(count, 'entry', 'entries')}, {tokens:,} tokens"
            for role, count, tokens in figures.roles
        ]
        if figures.saved:
            lines.append(f"saved by collapsing: {figures.saved:,} tokens")
        if figures.reported:
            # Narrow views do not paint it.
            lines += ["", *figures.reported.split("\n")]
        if figures.lines:
            lines += ["", *(" ".join(filter(None, line)) for line in figures.lines)]
        note = f"Estimate, counted with {TOKENIZER}. Tokens reported by the participant are a separate count."
        return "\n".join([*lines, "", note])

    @override
    def sizeHint(self) -> QSize:
        more = _LINE * len(self.figures.lines) if self.figures is not None else 0
        return QSize(0, round((_HEIGHT + more) * self._themes.theme.zoom))

    # Painting

    @override
    def paintEvent(self, event: QPaintEvent) -> None:
        figures, theme = self.figures, self._themes.theme
        painter = QPainter(self)
        painter.fillRect(self.rect(), theme.color("surface.base"))
        painter.fillRect(0, self.height() - 1, self.width(), 1, theme.color("line.hair"))
        if figures is None:
            return
        pad, zoom = theme.metrics.pane_padding, theme.zoom
        area = self.rect().adjusted(pad, round(6 * zoom), -pad, -round(6 * zoom))
        top = QRect(area.left(), area.top(), area.width(), round(34 * zoom))
        report = self._paint_report(painter, top, figures)
        self._paint_numbers(painter, top.adjusted(0, 0, -report, 0), figures)
        bar = QRect(area.left(), top.bottom() + round(5 * zoom), area.width(), round(6 * zoom))
        self._paint_bar(painter, bar, figures)
        legend = QRect(area.left(), bar.bottom() + round(5 * zoom), area.width(), round(16 * zoom))
        self._paint_legend(painter, legend, figures)
        for place, (lead, rest) in enumerate(figures.lines, 1):
            line = legend.translated(0, round(place * _LINE * zoom))
            self._line(painter, line, tuple((ink, text) for ink, text in zip(_INKS, (lead, rest), strict=True) if text))

    def _paint_numbers(self, painter: QPainter, box: QRect, figures: Figures) -> None:
        """Paints the large figure, and beside it two small lines: its unit, and savings."""
        theme = self._themes.theme
        display = theme.font("display")
        painter.setFont(display)
        painter.setPen(theme.color("ink.primary"))
        text = figures.headline
        painter.drawText(box, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter, text)
        wide = QFontMetrics(display).horizontalAdvance(text) + round(10 * theme.zoom)
        beside, half = box.adjusted(wide, 0, 0, 0), box.height() // 2
        upper = QRect(beside.left(), beside.top(), beside.width(), half)
        lower = QRect(beside.left(), beside.top() + half, beside.width(), half)
        self._line(painter, upper, figures.beside)
        self._line(painter, lower, figures.detail_parts)

    def _numbers_width(self, figures: Figures) -> int:
        """Returns the width of the large figure and its text; numbers are never cut."""
        theme = self._themes.theme
        small = QFontMetrics(theme.font("small"))
        beside = [figures.beside[0][1]]
        if figures.given is not None:
            beside.append(figures.detail_parts[0][1])
        elif figures.saved:
            beside.append("   ".join(text for _, text in figures.detail_parts))
        big = QFontMetrics(theme.font("display")).horizontalAdvance(figures.headline)
        return big + round(10 * theme.zoom) + max(map(small.horizontalAdvance, beside))

    def _line(self, painter: QPainter, box: QRect, parts: tuple[tuple[str, str], ...]) -> None:
        theme, x = self._themes.theme, box.left()
        metrics = QFontMetrics(theme.font("small"))
        painter.setFont(theme.font("small"))
        for token, text in parts:
            room = box.right() - x
            if room <= 0:
                return
            painter.setPen(theme.color(token))
            shown = metrics.elidedText(text, Qt.TextElideMode.ElideRight, room)
            painter.drawText(QRect(x, box.top(), room, box.height()), Qt.AlignmentFlag.AlignVCenter, shown)
            x += metrics.horizontalAdvance(f"{text}   ")

    def _paint_report(self, painter: QPainter, box: QRect, figures: Figures) -> int:
        """Paints the report with its gauge at the right end if it fits; returns its width."""
        theme = self._themes.theme
        metrics = QFontMetrics(theme.font("small"))
        first, _, second = figures.reported.partition("\n")
        wide = max(metrics.horizontalAdvance(first), metrics.horizontalAdvance(second)) + 2
        room = box.width() - self._numbers_width(figures) - wide - 2 * round(12 * theme.zoom)
        is_told = figures.given is not None and figures.share is None and "messages" not in first
        if not figures.reported or is_told or room < 0:
            return 0
        share = figures.share if theme.metrics.gauge_width + round(8 * theme.zoom) <= room else None
        area = QRect(box.right() + 1 - wide, box.top(), wide, box.height())
        flags = Qt.AlignmentFlag.AlignRight
        painter.setFont(theme.font("small"))
        painter.setPen(theme.color("ink.secondary"))
        painter.drawText(area, flags | Qt.AlignmentFlag.AlignTop, first)
        painter.setPen(theme.color("ink.tertiary"))
        painter.drawText(area, flags | Qt.AlignmentFlag.AlignBottom, second)
        left = area.left() - self._paint_gauge(painter, area, share)
        line = left - round(12 * theme.zoom)
        painter.fillRect(line, box.top() + 3, 1, box.height() - 6, theme.color("line.hair"))
        return box.right() + 1 - line + round(12 * theme.zoom)

    def _paint_gauge(self, painter: QPainter, area: QRect, share: float | None) -> int:
        """Paints the gauge of the reported share; returns its width."""
        if share is None:
            return 0
        theme = self._themes.theme
        wide, high, gap = theme.metrics.gauge_width, theme.metrics.gauge_height, round(8 * theme.zoom)
        top = area.top() + (area.height() // 2 - high) // 2
        whole = QRectF(area.left() - gap - wide, top, wide, high)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(theme.color("line.strong"))
        painter.drawRoundedRect(whole, high / 2, high / 2)
        painter.setBrush(gauge_color(theme, share))
        whole.setWidth(max(high, wide * share) if share > 0 else 0)
        painter.drawRoundedRect(whole, high / 2, high / 2)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
        return wide + gap

    def _paint_bar(self, painter: QPainter, box: QRect, figures: Figures) -> None:
        """Paints the uncollapsed total as a bar: entries by role, then savings."""
        theme = self._themes.theme
        painter.fillRect(box, theme.color("line.hair"))
        if figures.whole <= 0:
            return
        # Edges come from running sums: rounding each part would leave gaps.
        done, x = 0, box.left()
        for role, _, tokens in figures.roles:
            done += tokens
            end = box.left() + round(box.width() * min(done, figures.whole) / figures.whole)
            if end - x > 1:
                painter.fillRect(QRect(x, box.top(), end - x - (end <= box.right()), box.height()), self._color(role))
            x = end
        if figures.saved > 0 and box.right() - x > 2:
            self._paint_saved(painter, QRect(x, box.top(), box.right() + 1 - x, box.height()))

    def _paint_saved(self, painter: QPainter, box: QRect) -> None:
        """Paints savings hatched; parts of the context are filled."""
        color = self._themes.theme.color("badge.consumed")
        painter.fillRect(box, self._themes.theme.color("surface.base"))
        # Hatched, so that savings differ from the context without colour.
        painter.fillRect(box, QBrush(color, Qt.BrushStyle.BDiagPattern))
        edge = QColor(color)
        # The frame shows the extent where the hatching is sparse.
        edge.setAlphaF(0.6)
        painter.setPen(edge)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawRect(box.adjusted(0, 0, -1, -1))

    def _color(self, role: Role) -> QColor:
        color = QColor(self._themes.theme.color("accent.ring"))
        color.setAlphaF(_ROLE_ALPHAS[role])
        return color

    def _paint_legend(self, painter: QPainter, box: QRect, figures: Figures) -> None:
        theme, x = self._themes.theme, box.left()
        metrics, side = QFontMetrics(theme.font("small")), round(8 * theme.zoom)
        painter.setFont(theme.font("small"))
        items: list[tuple[QColor | None, str]] = [
            (self._color(role), f"{ROLE_WORDS[role]} {tokens:,}") for role, _, tokens in figures.roles
        ]
        if figures.saved:
            items.append((None, f"saved {figures.saved:,}, not in the context"))
        for color, text in items:
            wide = metrics.horizontalAdvance(text)
            if x + side + wide > box.right():
                return
            sample = QRect(x, round(box.center().y() - side / 2 + 1), side, side)
            if color is None:
                self._paint_saved(painter, sample)
            else:
                painter.fillRect(sample, color)
            painter.setPen(theme.color("ink.secondary"))
            x += side + round(5 * theme.zoom)
            painter.drawText(QRect(x, box.top(), wide + 2, box.height()), Qt.AlignmentFlag.AlignVCenter, text)
            x += wide + round(16 * theme.zoom)
