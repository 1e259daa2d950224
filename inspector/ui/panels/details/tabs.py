"""Tab bar of the details: underlined tabs with counts; spacing shrinks first, then long titles (docs/design.md 15)."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QEvent, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QCursor, QFontMetrics, QPainter, QPaintEvent, QPen, QResizeEvent
from PySide6.QtWidgets import QTabBar, QWidget
from typing_extensions import override

from inspector.ui.look.theme import ThemeController

_MAX_GAP, _MIN_GAP = 12, 0
_COUNT_GAP = 4
SIDE = 3
"""Padding of a tab's words inside the focus ring, pixels at 100 %."""
_MIN_BAR_WIDTH = 160
"""Narrower tab bars scroll; pixels at 100 %."""
_MIN_TITLE_WIDTH = 22
"""Least width of a shortened title, pixels at 100 %."""


class DetailTabs(QTabBar):
    """Row of titles; the current one is underlined."""

    def __init__(self, themes: ThemeController, titles: Sequence[str], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._themes = themes
        self._counts: dict[int, str] = {}
        self._gap = _MAX_GAP
        # Widths of shortened tabs.
        self._shortened: dict[int, int] = {}
        self.setObjectName("detailTabs")
        self.setAccessibleName("Details")
        self.setProperty("variant", "underline")
        self.setDrawBase(False)
        self.setExpanding(False)
        self.setElideMode(Qt.TextElideMode.ElideNone)
        self.setMouseTracking(True)
        for title in titles:
            self.addTab(title)
        themes.changed.connect(self._fit_titles)

    def set_count(self, title: str, count: int) -> None:
        """Shows a count after a title; none for 0."""
        words = f"{count:,}" if count else ""
        for index in range(self.count()):
            if self.tabText(index) == title and self._counts.get(index, "") != words:
                self._counts[index] = words
                self.setAccessibleTabName(index, f"{title} {words}".strip())
                self.setTabToolTip(index, f"{words} finding{'s' if count != 1 else ''}" if words else "")
                self._fit_titles()

    def show_title(self, title: str, shown: bool) -> None:
        """Shows or hides a tab; the current tab stays visible."""
        for index in range(self.count()):
            if self.tabText(index) == title and self.isTabVisible(index) != (shown or index == self.currentIndex()):
                self.setTabVisible(index, not self.isTabVisible(index))
                self._fit_titles()

    def words(self) -> list[str]:
        """Visible titles with their counts."""
        return [f"{self.tabText(index)} {self._counts.get(index, '')}".strip() for index in self._shown()]

    def _shown(self) -> list[int]:
        return [index for index in range(self.count()) if self.isTabVisible(index)]

    # Geometry

    def _words_width(self, index: int) -> int:
        return self._shortened.get(index, self._wanted(index))

    def _wanted(self, index: int) -> int:
        theme = self._themes.theme
        width = QFontMetrics(theme.font("body-medium")).horizontalAdvance(self.tabText(index)) + 2 * self._padding()
        count = self._counts.get(index)
        if count:
            width += QFontMetrics(theme.font("small")).horizontalAdvance(count) + round(_COUNT_GAP * theme.zoom)
        return width

    def _padding(self) -> int:
        return round(SIDE * self._themes.theme.zoom)

    def _fit_titles(self) -> None:
        """Fits all titles: shrinks the spacing, then the longest titles."""
        zoom, tabs = self._themes.theme.zoom, self._shown()
        widths = {index: self._wanted(index) for index in tabs}
        between = (self.width() - sum(widths.values())) // max(1, len(tabs) - 1)
        self._gap = max(round(_MIN_GAP * zoom), min(round(_MAX_GAP * zoom), between))
        missing = sum(widths.values()) + self._gap * max(0, len(tabs) - 1) - self.width()
        least = round(_MIN_TITLE_WIDTH * zoom)
        # The widest title gives way first, so that short ones stay readable.
        while missing > 0 and max(widths.values(), default=0) > least:
            widest = max(tabs, key=lambda index: widths[index])
            widths[widest] -= 1
            missing -= 1
        self._shortened = {index: widths[index] for index in tabs if widths[index] < self._wanted(index)}
        if self.count():
            # Forces a new layout: Qt caches tab sizes until it sees a change.
            self.setTabText(0, self.tabText(0))
        self.updateGeometry()
        self.update()

    @override
    def tabSizeHint(self, index: int) -> QSize:
        gap = self._gap if index < self.count() - 1 else 0
        return QSize(self._words_width(index) + gap, self._themes.theme.metrics.head - 1)

    @override
    def minimumSizeHint(self) -> QSize:
        """Narrow bars scroll, so the titles do not limit the panel's width."""
        return QSize(round(_MIN_BAR_WIDTH * self._themes.theme.zoom), self._themes.theme.metrics.head - 1)

    @override
    def minimumTabSizeHint(self, index: int) -> QSize:
        return self.tabSizeHint(index)

    @override
    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if event.oldSize().width() != event.size().width():
            self._fit_titles()

    # Painting

    @override
    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.fillRect(self.rect(), self._themes.theme.color("surface.base"))
        under = self.tabAt(self.mapFromGlobal(QCursor.pos())) if self.underMouse() else -1
        for index in self._shown():
            self._paint_tab(painter, index, hovered=index == under)

    def _paint_tab(self, painter: QPainter, index: int, *, hovered: bool) -> None:
        theme = self._themes.theme
        box, current = self.tabRect(index), index == self.currentIndex()
        ink = "accent.text" if current and self.hasFocus() else "ink.primary" if current or hovered else "ink.secondary"
        font = theme.font("body-medium")
        painter.setFont(font)
        painter.setPen(theme.color(ink))
        words = box.adjusted(self._padding(), 0, 0, 0)
        flags = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
        count, metrics = self._counts.get(index), QFontMetrics(font)
        title = self.tabText(index)
        if index in self._shortened:
            aside = self._wanted(index) - metrics.horizontalAdvance(title) - self._padding()
            title = metrics.elidedText(title, Qt.TextElideMode.ElideRight, self._shortened[index] - aside)
        painter.drawText(words, flags, title)
        if count:
            past = metrics.horizontalAdvance(title) + round(_COUNT_GAP * theme.zoom)
            painter.setFont(theme.font("small"))
            painter.setPen(theme.color("ink.tertiary"))
            painter.drawText(words.adjusted(past, 0, 0, 0), flags, count)
        if current:
            line = QRect(box.left(), box.bottom() - 1, self._words_width(index), 2)
            painter.fillRect(line, theme.color("accent.ring"))
        if current and self.hasFocus():
            ring = QRectF(box.left(), box.top(), self._words_width(index), box.height()).adjusted(1, 1, -1, -1)
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            painter.setPen(QPen(theme.color("accent.ring"), 2))
            painter.drawRoundedRect(ring, theme.metrics.radius_mark, theme.metrics.radius_mark)
            painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)

    @override
    def event(self, event: QEvent) -> bool:
        if event.type() in (QEvent.Type.HoverMove, QEvent.Type.HoverLeave, QEvent.Type.MouseMove, QEvent.Type.Leave):
            self.update()
        return super().event(event)
