"""The head of the timeline: what lanes stand for, what is drawn, the legend, and zoom."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QPoint, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QActionGroup, QFontMetrics, QPainter, QPaintEvent
from PySide6.QtWidgets import QHBoxLayout, QMenu, QSizePolicy, QToolButton, QWidget
from typing_extensions import override

from inspector.ui import icons
from inspector.ui.panels.timeline.shapes import draw_mark
from inspector.ui.theme import ThemeController
from inspector.ui.widgets.buttons import IconButton

_LEGEND = ("chat", "tools", "proposals", "reasoning", "streams", "control")


class Choice(QToolButton):
    """A sentence whose last words are chosen from a menu: "Lanes by **participant** v".

    Signals:
        chosen(str): id of what was chosen.
    """

    chosen = Signal(str)

    def __init__(
        self, themes: ThemeController, lead: str, options: Sequence[tuple[str, str]], *, name: str, parent: QWidget
    ) -> None:
        """Make the choice; the first option holds.

        Args:
            themes: gives the look.
            lead: what the sentence begins with.
            options: ids and words.
            name: object name.
            parent: owner.
        """
        super().__init__(parent)
        self._themes, self._lead = themes, lead
        self._words = dict(options)
        self.value = options[0][0]
        self.setObjectName(name)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self.menu_of_options = QMenu(self)
        self.menu_of_options.setObjectName(f"{name}Menu")
        self.menu_of_options.setAccessibleName(lead)
        group = QActionGroup(self)
        for option, text in options:
            action = group.addAction(text)
            action.setCheckable(True)
            action.setChecked(option == self.value)
            action.setData(option)
            self.menu_of_options.addAction(action)
        group.triggered.connect(lambda action: self.choose(action.data()))
        self.clicked.connect(lambda: self.menu_of_options.popup(self.mapToGlobal(QPoint(0, self.height()))))
        self._say()

    def choose(self, option: str) -> None:
        """Choose, and say so where it is another."""
        if option != self.value:
            self.value = option
            self._say()
            self.chosen.emit(option)
        for action in self.menu_of_options.actions():
            action.setChecked(action.data() == self.value)

    def _say(self) -> None:
        self.setAccessibleName(f"{self._lead} {self._words[self.value]}")
        self.updateGeometry()
        self.update()

    @override
    def sizeHint(self) -> QSize:
        theme = self._themes.theme
        lead = QFontMetrics(theme.font("body")).horizontalAdvance(f"{self._lead} ")
        words = QFontMetrics(theme.font("body-medium")).horizontalAdvance(self._words[self.value])
        return QSize(lead + words + round(24 * theme.zoom), round(24 * theme.zoom))

    @override
    def minimumSizeHint(self) -> QSize:
        return self.sizeHint()

    @override
    def paintEvent(self, event: QPaintEvent) -> None:
        theme = self._themes.theme
        painter = QPainter(self)
        if self.hasFocus() or self.underMouse():
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            painter.setPen(theme.color("accent.ring") if self.hasFocus() else Qt.PenStyle.NoPen)
            painter.setBrush(theme.color("accent.washdim") if self.underMouse() else Qt.BrushStyle.NoBrush)
            painter.drawRoundedRect(QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5), 5, 5)
        line = QRectF(self.rect()).adjusted(4, 0, 0, 0)
        flags = Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft
        painter.setFont(theme.font("body"))
        painter.setPen(theme.color("ink.secondary"))
        painter.drawText(line, flags, self._lead)
        line.setLeft(line.left() + painter.fontMetrics().horizontalAdvance(f"{self._lead} "))
        painter.setFont(theme.font("body-medium"))
        painter.setPen(theme.color("ink.primary"))
        painter.drawText(line, flags, self._words[self.value])
        side = round(14 * theme.zoom)
        chevron = icons.pixmap("ri.arrow-down-s-line", "ink.secondary", side, self.devicePixelRatioF())
        painter.drawPixmap(self.width() - side - 3, (self.height() - side) // 2, chevron)


class Legend(QWidget):
    """The marks of the families with their names, as many as there is room for."""

    def __init__(self, themes: ThemeController, parent: QWidget) -> None:
        super().__init__(parent)
        self.setObjectName("timelineLegend")
        self.setAccessibleName("Legend: " + ", ".join(_LEGEND))
        self._themes = themes
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)

    @override
    def paintEvent(self, event: QPaintEvent) -> None:
        theme = self._themes.theme
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        font = theme.font("small")
        painter.setFont(font)
        metrics, zoom = QFontMetrics(font), theme.zoom
        widths = [metrics.horizontalAdvance(family) + 25 * zoom for family in _LEGEND]
        shown = len(_LEGEND)
        while shown and sum(widths[:shown]) > self.width():
            shown -= 1
        x = self.width() - sum(widths[:shown])
        flags = Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft
        for family, wide in zip(_LEGEND[:shown], widths, strict=False):
            draw_mark(painter, QPointF(x + 6 * zoom, self.height() / 2), theme, family)
            painter.setPen(theme.color("ink.secondary"))
            painter.drawText(QRectF(x + 15 * zoom, 0, wide, self.height()), flags, family)
            x += wide


class TimelineHead(QWidget):
    """One line above the ruler.

    Signals:
        by_chosen(str): what a lane stands for.
        shown_chosen(str): "all" or "table".
        fit_requested(), zoom_requested(float): show everything; more (over 1) or less.
    """

    by_chosen = Signal(str)
    shown_chosen = Signal(str)
    fit_requested = Signal()
    zoom_requested = Signal(float)

    def __init__(self, themes: ThemeController, parent: QWidget) -> None:
        super().__init__(parent)
        self._themes = themes
        self.setObjectName("timelineHead")
        self.setAccessibleName("What the timeline shows")
        by = (("participant", "participant"), ("context", "context"))
        shown = (("all", "all messages"), ("table", "what the table shows"))
        self.by = Choice(themes, "Lanes by", by, name="timelineBy", parent=self)
        self.shown = Choice(themes, "Show", shown, name="timelineShown", parent=self)
        self.by.chosen.connect(self.by_chosen)
        self.shown.chosen.connect(self.shown_chosen)
        self.legend = Legend(themes, self)
        self._row = QHBoxLayout(self)
        for widget in (self.by, self.shown, self.legend):
            self._row.addWidget(widget)
        for icon, words, name in (
            ("ri.fullscreen-line", "Show the whole capture (F)", "timelineFit"),
            ("ri.subtract-line", "Show more time (-)", "timelineLess"),
            ("ri.add-line", "Show less time (+)", "timelineMore"),
        ):
            button = IconButton(themes, icon, words, name=name, variant="small", parent=self)
            self._row.addWidget(button)
            if name == "timelineFit":
                button.clicked.connect(self.fit_requested)
            else:
                factor = 1.5 if name == "timelineMore" else 1 / 1.5
                button.clicked.connect(lambda _=False, factor=factor: self.zoom_requested.emit(factor))
        themes.changed.connect(self._on_theme_changed)
        self._on_theme_changed()

    @override
    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        theme = self._themes.theme
        painter.fillRect(self.rect(), theme.color("surface.chrome"))
        painter.fillRect(0, self.height() - 1, self.width(), 1, theme.color("line.hair"))

    def _on_theme_changed(self) -> None:
        metrics = self._themes.theme.metrics
        self.setFixedHeight(metrics.head)
        self._row.setContentsMargins(metrics.pane_padding - 4, 0, metrics.pane_padding - metrics.unit, 1)
        self._row.setSpacing(metrics.unit)
        self.update()
