"""Heads of panes: title, count, small buttons at the right, a hairline below (docs/design.md 13 and 14)."""

from __future__ import annotations

from collections.abc import Container

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QFont, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QSizePolicy, QWidget
from typing_extensions import override

from inspector.present import formats
from inspector.ui.look.theme import ThemeController
from inspector.ui.widgets.buttons import IconButton
from inspector.ui.widgets.labels import ElidingLabel, TextLabel


class LineHead(QWidget):
    """Words and buttons above a view that get shorter where there is little room; as high as the head of a pane.

    Attributes:
        row: its layout.
    """

    def __init__(self, themes: ThemeController, *, name: str, label: str, parent: QWidget) -> None:
        """Make it empty; whoever derives from it calls `begin` when all is in it.

        Args:
            themes: gives the look.
            name: object name.
            label: accessible name.
            parent: owner.
        """
        super().__init__(parent)
        self._themes = themes
        self.setObjectName(name)
        self.setAccessibleName(label)
        self.row = QHBoxLayout(self)

    def begin(self) -> None:
        """Follow the theme from now on."""
        self._themes.changed.connect(self._on_theme_changed)
        self._on_theme_changed()

    def room_beside(self, yielding: Container[QWidget]) -> int:
        """Width that is left for some of its widgets, which can be shorter, beside all others."""
        margins, room = self.row.contentsMargins(), self.width()
        room -= margins.left() + margins.right() + self.row.spacing() * self.row.count()
        for place in range(self.row.count()):
            item = self.row.itemAt(place)
            widget = item.widget() if item is not None else None
            if widget is not None and widget not in yielding:
                room -= widget.sizeHint().width()
        return room

    def fit(self) -> None:
        """Leave words out where they do not all fit."""

    @override
    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.fit()

    @override
    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        theme = self._themes.theme
        painter.fillRect(self.rect(), theme.color("surface.chrome"))
        painter.fillRect(0, self.height() - 1, self.width(), 1, theme.color("line.hair"))

    def _on_theme_changed(self) -> None:
        metrics = self._themes.theme.metrics
        self.setFixedHeight(metrics.head)
        self.row.setContentsMargins(metrics.pane_padding - 4, 0, metrics.pane_padding - metrics.unit, 1)
        self.row.setSpacing(metrics.unit)
        self.update()


class PaneHead(QWidget):
    """A bar 30 px high (at 100 %), the hairline included. It can stand as the title bar of a dock widget."""

    def __init__(
        self, theme_controller: ThemeController, title: str, *, name: str, parent: QWidget | None = None
    ) -> None:
        """Make a head without count and buttons.

        Args:
            theme_controller: gives the look.
            title: what the pane holds.
            name: object name; those of what is in it begin with it.
            parent: owner.
        """
        super().__init__(parent)
        self._themes = theme_controller
        self.setObjectName(name)
        self.setAccessibleName(title)
        self.setProperty("variant", "head")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        self._title = TextLabel(title, variant="strong", name=f"{name}Title", parent=self)
        self._title.setAccessibleName(title)
        self._counted = ("", "")
        self._count = ElidingLabel(variant="hint", name=f"{name}Count", parent=self)
        self._row = QHBoxLayout(self)
        self._row.addWidget(self._title)
        self._row.addWidget(self._count)
        self._row.addStretch(1)
        theme_controller.changed.connect(self._on_theme_changed)
        self._on_theme_changed()

    def count(self) -> str:
        """What stands behind the title."""
        return self._counted[0]

    def set_count(self, text: str, alone: str = "") -> None:
        """Put a count behind the title; "" for none.

        Args:
            text: what stands there.
            alone: says it where the title is not shown; the same by default.
        """
        self._counted = (text, alone or text)
        self._show_count()

    def count_things(self, number: int, noun: str) -> None:
        """Put a number behind the title, which tells of what; nothing for 0."""
        self.set_count(f"{number:,}" if number else "", formats.count_of(number, noun) if number else "")

    def show_title(self, on: bool) -> None:
        """Show the title, or not where a tab says it already."""
        if on == self._title.isHidden():
            self._title.setVisible(on)
            self._show_count()

    def _show_count(self) -> None:
        hidden = self._title.isHidden()
        text = self._counted[hidden]
        self._count.setContentsMargins(0 if hidden else self._themes.theme.metrics.unit, 0, 0, 0)
        if text != self._count.text():
            self._count.setText(text)
            self._count.setAccessibleName(text)

    def explain_count(self, words: str) -> None:
        """Say what the count counts, to the pointer and to screen readers."""
        self._count.setToolTip(words)
        self._count.setAccessibleDescription(words)

    def add_button(self, icon: str, tooltip: str, *, name: str) -> IconButton:
        """Put a small button at the right end.

        Args:
            icon: name as in `icons.ICONS`.
            tooltip: what it does, also its accessible name.
            name: object name.
        """
        button = IconButton(self._themes, icon, tooltip, name=name, variant="small", parent=self)
        self._row.addWidget(button)
        return button

    def add_widget(self, widget: QWidget) -> None:
        """Put any other small widget at the right end; the head becomes its parent."""
        self._row.addWidget(widget)

    @override
    def sizeHint(self) -> QSize:
        """As high as it is fixed to be: a dock gives its title bar what this says."""
        return QSize(super().sizeHint().width(), self._themes.theme.metrics.head)

    def _on_theme_changed(self) -> None:
        metrics = self._themes.theme.metrics
        self.setFixedHeight(metrics.head)
        # A small button has 4 px of its own around its icon: the icon then ends where the numbers below it end.
        self._row.setContentsMargins(metrics.pane_padding, 0, metrics.pane_padding - metrics.unit, 1)
        self._row.setSpacing(metrics.unit)
        self._show_count()


def name_font(font: QFont) -> QFont:
    """A role's font for names and ids: with tabular figures their hyphens would stand apart as wide as digits."""
    plain = QFont(font)
    plain.setFeature(QFont.Tag("tnum"), 0)
    return plain
