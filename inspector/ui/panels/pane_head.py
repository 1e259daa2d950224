"""Heads of panes: title, count, small buttons at the right and a hairline below (docs/design.md 13 and 14)."""

from __future__ import annotations

from collections.abc import Container

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QSizePolicy, QWidget
from typing_extensions import override

from inspector.present import formats
from inspector.ui.look.theme import ThemeController
from inspector.ui.widgets.buttons import IconButton
from inspector.ui.widgets.labels import ElidingLabel, TextLabel


class LineHead(QWidget):
    """A bar of texts and buttons above a view, as high as a pane's head. Texts get shorter in a narrow bar.

    Attributes:
        row: its layout.
    """

    def __init__(self, themes: ThemeController, *, name: str, label: str, parent: QWidget) -> None:
        """Creates an empty bar. Subclasses call `begin` after adding their widgets.

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
        """Applies the theme and follows its changes."""
        self._themes.changed.connect(self._on_theme_changed)
        self._on_theme_changed()

    def room_beside(self, yielding: Container[QWidget]) -> int:
        """Returns the width left for the `yielding` widgets beside all others, in pixels."""
        margins, room = self.row.contentsMargins(), self.width()
        room -= margins.left() + margins.right() + self.row.spacing() * self.row.count()
        for place in range(self.row.count()):
            item = self.row.itemAt(place)
            widget = item.widget() if item is not None else None
            if widget is not None and widget not in yielding:
                room -= widget.sizeHint().width()
        return room

    def fit(self) -> None:
        """Shortens texts if they do not all fit. Subclasses override it."""

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
    """A bar of 30 px (at 100 %) including the hairline. It can be the title bar of a dock widget."""

    def __init__(
        self, theme_controller: ThemeController, title: str, *, name: str, parent: QWidget | None = None
    ) -> None:
        """Creates a head without count and buttons.

        Args:
            theme_controller: gives the look.
            title: name of the pane.
            name: object name and prefix of its children's object names.
            parent: owner.
        """
        super().__init__(parent)
        self._themes = theme_controller
        self.setObjectName(name)
        self.setAccessibleName(title)
        self.setProperty("variant", "head")
        # A plain QWidget ignores the background of the style sheet otherwise.
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        self._title = TextLabel(title, variant="strong", name=f"{name}Title", parent=self)
        self._title.setAccessibleName(title)
        self._counted, self._short_count = ("", ""), ""
        self._count = ElidingLabel(variant="hint", name=f"{name}Count", parent=self)
        self._row = QHBoxLayout(self)
        self._row.addWidget(self._title)
        self._row.addWidget(self._count)
        self._row.addStretch(1)
        theme_controller.changed.connect(self._on_theme_changed)
        self._on_theme_changed()

    def count(self) -> str:
        """Returns the text after the title."""
        return self._counted[0]

    def set_count(self, text: str, alone: str = "", short: str = "") -> None:
        """Shows a count after the title; "" removes it.

        Args:
            text: the count.
            alone: the count for a head without a visible title; defaults to `text`.
            short: the count for a head too narrow for `text`.
        """
        self._counted, self._short_count = (text, alone or text), short
        self._show_count()

    def count_things(self, number: int, noun: str) -> None:
        """Shows a number after the title, or with its noun if the title is hidden. 0 removes it."""
        self.set_count(f"{number:,}" if number else "", formats.count_of(number, noun) if number else "")

    def show_title(self, on: bool) -> None:
        """Shows or hides the title. A tab that already has the title hides it."""
        if on == self._title.isHidden():
            self._title.setVisible(on)
            self._show_count()

    def _show_count(self) -> None:
        hidden = self._title.isHidden()
        text = self._counted[hidden]
        if self._short_count and self._count.fontMetrics().horizontalAdvance(text) > self._count_room():
            text = self._short_count
        self._count.setContentsMargins(0 if hidden else self._themes.theme.metrics.unit, 0, 0, 0)
        if text != self._count.text():
            self._count.setText(text)
            self._count.setAccessibleName(text)

    def _count_room(self) -> int:
        """Returns the width that title and buttons leave for the count."""
        others = [item.widget() for item in map(self._row.itemAt, range(self._row.count())) if item is not None]
        taken = sum(
            one.sizeHint().width() + self._row.spacing()
            for one in others
            if one is not None and one is not self._count and not one.isHidden()
        )
        margins = self._row.contentsMargins()
        return self.width() - taken - margins.left() - margins.right() - self._row.spacing()

    @override
    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if self._short_count:
            self._show_count()

    def explain_count(self, words: str) -> None:
        """Sets the tooltip and accessible description of the count."""
        self._count.setToolTip(words)
        self._count.setAccessibleDescription(words)

    def add_button(self, icon: str, tooltip: str, *, name: str) -> IconButton:
        """Adds a small button at the right edge.

        Args:
            icon: name as in `icons.ICONS`.
            tooltip: its action; also the accessible name.
            name: object name.
        """
        button = IconButton(self._themes, icon, tooltip, name=name, variant="small", parent=self)
        self._row.addWidget(button)
        return button

    def add_widget(self, widget: QWidget) -> None:
        """Adds another small widget at the right edge and becomes its parent."""
        self._row.addWidget(widget)

    @override
    def sizeHint(self) -> QSize:
        """Returns the fixed height. QDockWidget sizes its title bar by this hint."""
        return QSize(super().sizeHint().width(), self._themes.theme.metrics.head)

    def _on_theme_changed(self) -> None:
        metrics = self._themes.theme.metrics
        self.setFixedHeight(metrics.head)
        # A small button has 4 px around its icon. This margin aligns the icon with the right edge of the numbers below.
        self._row.setContentsMargins(metrics.pane_padding, 0, metrics.pane_padding - metrics.unit, 1)
        self._row.setSpacing(metrics.unit)
        self._show_count()
