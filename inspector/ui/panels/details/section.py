"""Parts of a details page: sections, labels, segments, cards, links, and the scrolling page."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QRectF, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QFontMetrics, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import (
    QAbstractButton,
    QButtonGroup,
    QFrame,
    QHBoxLayout,
    QListView,
    QScrollArea,
    QSizePolicy,
    QVBoxLayout,
    QWidget,
)
from typing_extensions import override

from inspector.ui.look.theme import ThemeController


class _PaintedButton(QAbstractButton):
    """Painted button in small type; cheaper than a styled one, and a page has several."""

    def __init__(self, themes: ThemeController, text: str, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._themes = themes
        self.setText(text)
        self.setObjectName(name)
        self.setAccessibleName(text)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)

    def _paint_focus(self, painter: QPainter) -> None:
        if not self.hasFocus():
            return
        theme = self._themes.theme
        # 1 pixel: a link begins at the very edge.
        painter.setPen(QPen(theme.color("accent.ring"), 1))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        radius = theme.metrics.radius_mark
        painter.drawRoundedRect(QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5), radius, radius)


class LinkText(_PaintedButton):
    """Link in small type."""

    @override
    def sizeHint(self) -> QSize:
        theme = self._themes.theme
        width = QFontMetrics(theme.font("column")).horizontalAdvance(self.text())
        return QSize(width + 2, theme.metrics.content_row)

    @override
    def paintEvent(self, event: QPaintEvent) -> None:
        theme = self._themes.theme
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        # A copy, since the theme's fonts are shared.
        font = type(theme.font("column"))(theme.font("column"))
        font.setUnderline(self.underMouse())
        painter.setFont(font)
        painter.setPen(theme.color("accent.text"))
        painter.drawText(self.rect(), int(Qt.AlignmentFlag.AlignCenter), self.text())
        self._paint_focus(painter)


class SegmentButton(_PaintedButton):
    """One choice of `Segments`."""

    def __init__(self, themes: ThemeController, text: str, name: str, parent: QWidget | None = None) -> None:
        super().__init__(themes, text, name, parent)
        self.setCheckable(True)
        self.setAutoExclusive(False)

    @override
    def sizeHint(self) -> QSize:
        theme = self._themes.theme
        width = QFontMetrics(theme.font("column")).horizontalAdvance(self.text())
        return QSize(width + 4 * theme.metrics.unit, theme.metrics.content_row)

    @override
    def paintEvent(self, event: QPaintEvent) -> None:
        theme = self._themes.theme
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if self.isChecked():
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(theme.color("accent.washdim"))
            painter.drawRoundedRect(self.rect(), theme.metrics.radius_mark, theme.metrics.radius_mark)
        painter.setFont(theme.font("column"))
        token = "ink.primary" if self.isChecked() or self.underMouse() else "ink.secondary"
        painter.setPen(theme.color(token))
        painter.drawText(self.rect(), int(Qt.AlignmentFlag.AlignCenter), self.text())
        self._paint_focus(painter)


class Segments(QWidget):
    """Row of exclusive choices.

    Signals:
        chosen(str): another choice was made.
    """

    chosen = Signal(str)

    def __init__(
        self, themes: ThemeController, choices: Sequence[str], name: str, label: str, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self.setObjectName(name)
        self.setAccessibleName(label)
        layout = QHBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(2)
        self._group = QButtonGroup(self)
        self._group.setExclusive(True)
        self.buttons: dict[str, SegmentButton] = {}
        for choice in choices:
            button = SegmentButton(themes, choice, f"{name}{choice}", self)
            self._group.addButton(button)
            layout.addWidget(button)
            self.buttons[choice] = button
        self._group.buttonToggled.connect(self._on_toggled)

    def choose(self, choice: str) -> None:
        """Selects a choice in code."""
        if choice in self.buttons:
            self.buttons[choice].setChecked(True)

    @property
    def choice(self) -> str:
        """The current choice; "" before the first."""
        checked = self._group.checkedButton()
        return checked.text() if checked is not None else ""

    def _on_toggled(self, button: QAbstractButton, checked: bool) -> None:
        if checked:
            self.chosen.emit(button.text())


class SectionLabel(QWidget):
    """Painted label of a section, with space for one action."""

    def __init__(
        self, themes: ThemeController, text: str, action: QWidget | None, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._themes = themes
        self._text = text
        self.setAccessibleName(text)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        if action is not None:
            layout = QHBoxLayout(self)
            layout.setContentsMargins(0, 0, 0, 0)
            layout.addStretch(1)
            layout.addWidget(action)

    @override
    def sizeHint(self) -> QSize:
        return QSize(100, self._themes.theme.metrics.section_label)

    @override
    def minimumSizeHint(self) -> QSize:
        return QSize(0, self._themes.theme.metrics.section_label)

    @override
    def paintEvent(self, event: QPaintEvent) -> None:
        theme = self._themes.theme
        painter = QPainter(self)
        painter.setFont(theme.font("label"))
        painter.setPen(theme.color("ink.secondary"))
        painter.drawText(self.rect(), int(Qt.AlignmentFlag.AlignVCenter), self._text)


class Section(QWidget):
    """A label, at most one action, and a body."""

    def __init__(
        self,
        themes: ThemeController,
        label: str,
        body: Sequence[QWidget],
        *,
        name: str,
        action: QWidget | None = None,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self.setObjectName(name)
        self.setAccessibleName(label)
        self.label = label
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(SectionLabel(themes, label, action, self))
        for widget in body:
            layout.addWidget(widget)


class Card(QFrame):
    """Inset card around the main content."""

    def __init__(
        self, themes: ThemeController, body: Sequence[QWidget], name: str, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self.setObjectName(name)
        self.setProperty("variant", "card")
        unit = themes.theme.metrics.unit
        layout = QVBoxLayout(self)
        layout.setContentsMargins(3 * unit - 1, 2 * unit - 1, 3 * unit - 1, 2 * unit - 1)
        layout.setSpacing(unit)
        for widget in body:
            layout.addWidget(widget)


class Page(QScrollArea):
    """Page of sections that scrolls as a whole."""

    def __init__(self, themes: ThemeController, name: str, label: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._themes = themes
        self.setObjectName(name)
        self.setAccessibleName(label)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setWidgetResizable(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.sections: list[QWidget] = []

    def show_sections(self, sections: Sequence[QWidget], *, keep_place: bool) -> None:
        """Replaces the content.

        Args:
            keep_place: keeps the scroll position as far as possible.
        """
        place = self.verticalScrollBar().value() if keep_place else 0
        focused = self._saved_focus() if keep_place else None
        metrics = self._themes.theme.metrics
        body = QWidget()
        body.setObjectName(f"{self.objectName()}Body")
        body.setProperty("variant", "base")
        layout = QVBoxLayout(body)
        layout.setContentsMargins(metrics.pane_padding, metrics.unit, metrics.pane_padding, 2 * metrics.section_gap)
        layout.setSpacing(metrics.section_gap)
        for section in sections:
            layout.addWidget(section)
        layout.addStretch(1)
        self.sections = list(sections)
        # Without this the page flashes empty between the two bodies.
        self.setUpdatesEnabled(False)
        # Take the old body: setWidget would delete it at once.
        old = self.takeWidget()
        self.setWidget(body)
        if old is not None:
            # Deferred: the click that requested the new body may come from inside the old one.
            old.deleteLater()
        layout.activate()
        if focused is not None:
            self._restore_focus(*focused)
        self.verticalScrollBar().setValue(place)
        self.setUpdatesEnabled(True)

    def scroll_to(self, place: int) -> None:
        """Scrolls to an offset in pixels, again after layout if necessary."""
        bar = self.verticalScrollBar()
        bar.setValue(place)
        if bar.value() != place:
            # The bar takes the place only after the pending layout has set its range.
            QTimer.singleShot(0, self, lambda: bar.setValue(place))

    def _saved_focus(self) -> tuple[str, int] | None:
        """Returns object name and list row of the focused widget, so that a refresh can restore the focus."""
        focus = self.focusWidget()
        if focus is None or not focus.hasFocus() or not self.isAncestorOf(focus):
            return None
        return focus.objectName(), focus.currentIndex().row() if isinstance(focus, QListView) else -1

    def _restore_focus(self, name: str, row: int) -> None:
        again = self.findChild(QWidget, name) if name else None
        if again is None:
            return
        again.setFocus(Qt.FocusReason.OtherFocusReason)
        if isinstance(again, QListView) and row >= 0 and again.model().rowCount():
            again.setCurrentIndex(again.model().index(min(row, again.model().rowCount() - 1), 0))
