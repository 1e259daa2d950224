"""Tab row of the middle column: the views of the document, and the scope at the right end (docs/design.md 14)."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QRectF, QSignalBlocker, QSize, Qt, Signal
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QHBoxLayout, QSizePolicy, QTabBar, QWidget
from typing_extensions import override

from inspector.ui.look.theme import ThemeController

MESSAGES = "Messages"
"""The view that every document has."""


class _Tabs(QTabBar):
    """Tabs with a dimmed count after the title; counting up does not resize a tab."""

    def __init__(self, theme_controller: ThemeController, parent: QWidget) -> None:
        super().__init__(parent)
        self._themes = theme_controller
        self.counts: dict[int, str] = {}
        self.least_digits: dict[int, int] = {}
        self.is_tight = False

    @property
    def _saved(self) -> int:
        """Pixels that a tight tab leaves out on each side."""
        return round(6 * self._themes.theme.zoom) if self.is_tight else 0

    @override
    def tabSizeHint(self, index: int) -> QSize:
        hint = super().tabSizeHint(index)
        # Reserves room by the number of digits, so that counting up moves nothing.
        digits = max(len(self.counts.get(index, "")), self.least_digits.get(index, 0))
        extra = self.fontMetrics().horizontalAdvance("0" * digits) + round(2 * self._themes.theme.zoom) if digits else 0
        return QSize(hint.width() + extra - 2 * self._saved, hint.height())

    @override
    def paintEvent(self, event: QPaintEvent) -> None:
        theme = self._themes.theme
        painter = QPainter(self)
        line = self.height() - 1
        for index in range(self.count()):
            self._paint_tab(painter, index)
        painter.fillRect(0, line, self.width(), 1, theme.color("line.hair"))
        box = self.tabRect(self.currentIndex())
        painter.fillRect(box.left(), line, box.width(), 1, theme.color("surface.base"))

    def _paint_tab(self, painter: QPainter, index: int) -> None:
        theme = self._themes.theme
        box = self.tabRect(index)
        current = index == self.currentIndex()
        if current:
            painter.fillRect(box, theme.color("surface.base"))
            painter.fillRect(box.left(), 0, box.width(), 2, theme.color("accent.ring"))
            painter.fillRect(box.right(), 0, 1, box.height(), theme.color("line.hair"))
        ink = "accent.text" if current and self.hasFocus() else "ink.primary" if current else "ink.secondary"
        font = theme.font("body-strong" if current else "body-medium")
        painter.setFont(font)
        painter.setPen(theme.color(ink))
        words = QRectF(box).adjusted(theme.metrics.pane_padding - self._saved, 2, 0, 0)
        flags = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
        painter.drawText(words, flags, self.tabText(index))
        count = self.counts.get(index)
        if count:
            painter.setFont(theme.font("small"))
            painter.setPen(theme.color("ink.tertiary"))
            right = QRectF(box).adjusted(0, 2, self._saved - theme.metrics.pane_padding + 2, 0)
            painter.drawText(right, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, count)


class ViewTabs(QWidget):
    """The tab row.

    Signals:
        view_chosen(str): title of the newly selected view.
    """

    view_chosen = Signal(str)

    def __init__(self, theme_controller: ThemeController, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._themes = theme_controller
        self._indent = 0
        self.setObjectName("viewTabs")
        self.setAccessibleName("Views")
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self._tabs = _Tabs(theme_controller, self)
        self._tabs.setObjectName("viewTabBar")
        self._tabs.setAccessibleName("Views")
        self._tabs.setDrawBase(False)
        self._tabs.setExpanding(False)
        self._tabs.currentChanged.connect(self._on_current_changed)
        self._row = QHBoxLayout(self)
        self._row.addWidget(self._tabs)
        self._row.addStretch(1)
        self.add_view(MESSAGES)
        theme_controller.changed.connect(self._on_theme_changed)
        self._on_theme_changed()

    @property
    def bar_width(self) -> int:
        """Width of all tabs, in pixels."""
        return self._tabs.sizeHint().width()

    def set_tight(self, on: bool) -> None:
        """Leaves out some of the space beside the titles."""
        if on != self._tabs.is_tight:
            self._tabs.is_tight = on
            # Qt caches tab sizes until the text of a tab changes.
            self._tabs.setTabText(0, self._tabs.tabText(0))
            self._tabs.updateGeometry()

    def set_indent(self, width: int) -> None:
        """Leaves room before the tabs, in pixels."""
        if width != self._indent:
            self._indent = width
            self._on_theme_changed()

    def add_view(self, title: str) -> None:
        self._tabs.addTab(title)

    def set_views(self, titles: Sequence[str]) -> None:
        """Sets the tabs in their order; `MESSAGES`, which is among them, stays."""
        before = titles.index(MESSAGES)
        with QSignalBlocker(self._tabs):
            for place, title in enumerate(titles[:before]):
                self._tabs.insertTab(place, title)
            for title in titles[before + 1 :]:
                self._tabs.addTab(title)

    def show_view(self, title: str) -> None:
        """Selects a view; a title without a tab changes nothing."""
        for index in range(self._tabs.count()):
            if self._tabs.tabText(index) == title:
                self._tabs.setCurrentIndex(index)

    def set_count(self, count: int | None, title: str = MESSAGES) -> None:
        for index in self._indices_of(title):
            words = "" if count is None else f"{count:,}"
            before = self._tabs.counts.get(index, "")
            self._tabs.counts[index] = words
            self._tabs.setAccessibleTabName(index, f"{title} {words}".strip())
            if len(words) != len(before):
                self._resize_tab(index)
            self._tabs.update()

    def reserve_count(self, most: int, title: str) -> None:
        """Keeps room for a count up to `most`, so that the tabs stay in place when it comes."""
        for index in self._indices_of(title):
            digits = len(f"{most:,}") if most else 0
            if digits != self._tabs.least_digits.get(index, 0):
                self._tabs.least_digits[index] = digits
                self._resize_tab(index)

    def _indices_of(self, title: str) -> list[int]:
        return [index for index in range(self._tabs.count()) if self._tabs.tabText(index) == title]

    def _resize_tab(self, index: int) -> None:
        # Qt caches tab sizes until the text of a tab changes.
        self._tabs.setTabText(index, self._tabs.tabText(index))
        self._tabs.updateGeometry()

    def words(self) -> list[str]:
        """Returns titles with counts."""
        return [self._tabs.accessibleTabName(index) or self._tabs.tabText(index) for index in range(self._tabs.count())]

    def set_corner(self, widget: QWidget) -> None:
        self._row.addWidget(widget, 0, Qt.AlignmentFlag.AlignVCenter)

    def _on_current_changed(self, index: int) -> None:
        self.view_chosen.emit(self._tabs.tabText(index))

    def _on_theme_changed(self) -> None:
        self.setFixedHeight(self._themes.theme.metrics.head)
        self._tabs.setFixedHeight(self._themes.theme.metrics.head)
        self._row.setContentsMargins(self._indent, 0, self._themes.theme.metrics.cell_padding, 0)
        self._row.setSpacing(self._themes.theme.metrics.cell_padding)

    @override
    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        theme = self._themes.theme
        painter.fillRect(self.rect(), theme.color("surface.chrome"))
        painter.fillRect(0, self.height() - 1, self.width(), 1, theme.color("line.hair"))
