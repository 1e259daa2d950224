"""Three rows that show what context hints are, because the words alone do not explain them (docs/design.md 16)."""

from __future__ import annotations

from PySide6.QtCore import QRect, QSize
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QFrame, QSizePolicy, QWidget
from typing_extensions import override

from inspector.present.badges import BADGE_BY_ID
from inspector.ui.look.paint_cache import PaintCache
from inspector.ui.look.theme import ThemeController

_ROWS = (
    ("1203", "transient", "", "10 activity records (page 2/3, IDs: 210, 211, 212...)"),
    ("1201", "consumed", "analysis_store", "Stored 1 analysis finding(s)"),
    ("1199", "collapsed", "", "10 activity records (page 1/3, IDs: 200, 201, 202...)"),
)
"""No., badge, tool, text: an example in the words of the real protocol."""


class HintsPreview(QFrame):
    """The example, with hints or without, painted with the table's own brushes."""

    def __init__(self, theme_controller: ThemeController, parent: QWidget | None = None) -> None:
        """Make the preview without hints."""
        super().__init__(parent)
        self._themes = theme_controller
        self._hints = False
        self._paints: PaintCache | None = None
        self.setObjectName("settingsHintsPreview")
        self.setAccessibleName("Example of context hints")
        self.setProperty("variant", "card")
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        theme_controller.changed.connect(self._on_theme_changed)

    def shows_hints(self) -> bool:
        """Whether the badges are shown."""
        return self._hints

    def set_hints(self, shown: bool) -> None:
        """Show the rows with badges, or without."""
        self._hints = shown
        words = ", ".join(badge for _, badge, _, _ in _ROWS)
        self.setAccessibleDescription(f"Rows with the badges {words}" if shown else "Rows without badges")
        self.update()

    def _on_theme_changed(self) -> None:
        self._paints = None
        self.updateGeometry()
        self.update()

    def _brushes(self) -> PaintCache:
        dpr = self.devicePixelRatioF()
        if self._paints is None or self._paints.dpr != dpr:
            self._paints = PaintCache(self._themes.theme, dpr)
        return self._paints

    @override
    def sizeHint(self) -> QSize:
        theme = self._themes.theme
        return QSize(round(300 * theme.zoom), len(_ROWS) * theme.metrics.row + round(14 * theme.zoom))

    @override
    def minimumSizeHint(self) -> QSize:
        return QSize(round(160 * self._themes.theme.zoom), self.sizeHint().height())

    @override
    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        painter = QPainter(self)
        theme = self._themes.theme
        top = round(7 * theme.zoom)
        for place, (number, badge, tool, text) in enumerate(_ROWS):
            row = QRect(0, top + place * theme.metrics.row, self.width(), theme.metrics.row)
            self._paint_row(painter, row, number, badge, tool, text)

    def _paint_row(self, painter: QPainter, row: QRect, number: str, badge: str, tool: str, text: str) -> None:
        paints = self._brushes()
        zoom = paints.theme.zoom
        gap = round(8 * zoom)
        right = row.right() - round(14 * zoom)
        x = round(13 * zoom)
        x += paints.draw(painter, "body", "ink.tertiary", x, row, number, right - x) + round(12 * zoom)
        collapsed = badge == "collapsed"
        if collapsed:
            x += paints.icon(painter, "expand", "ink.secondary", x - round(2 * zoom), row) + round(2 * zoom)
        if self._hints:
            x += paints.badge(painter, BADGE_BY_ID[badge], x, row) + gap
        if tool:
            x += paints.draw(painter, "mono-row", "ink.primary", x, row, tool, right - x) + gap
        paints.draw(painter, "body", "ink.tertiary" if collapsed else "ink.primary", x, row, text, right - x)
