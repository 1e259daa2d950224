"""Segmented control: a choice among a few words side by side."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QRectF, QSize, Qt, Signal
from PySide6.QtGui import QKeyEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QButtonGroup, QFrame, QHBoxLayout, QSizePolicy, QToolButton, QWidget
from typing_extensions import override

from inspector.ui.look.theme import ThemeController

LEAST_WIDTH = 88
"""Smallest width of a segment, in logical pixels at 100 % zoom."""


class SegmentButton(QToolButton):
    """One segment."""

    def __init__(self, theme_controller: ThemeController, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._themes = theme_controller

    @override
    def sizeHint(self) -> QSize:
        # The sheet's minimum width would overrule `setMinimumWidth`.
        hint = super().sizeHint()
        return QSize(max(hint.width(), round(LEAST_WIDTH * self._themes.theme.zoom)), hint.height())


class SegmentedControl(QFrame):
    """Segments in a frame; arrow keys move between them.

    Signals:
        chosen(str): id of the segment that the user chose.
    """

    chosen = Signal(str)

    def __init__(
        self,
        theme_controller: ThemeController,
        options: Sequence[tuple[str, str]],
        *,
        name: str,
        label: str,
        parent: QWidget | None = None,
    ) -> None:
        """Makes the control; the first segment is selected.

        Args:
            theme_controller: source of sizes.
            options: ids and labels.
            name: object name.
            label: accessible name of the choice.
            parent: owner.
        """
        super().__init__(parent)
        self._themes = theme_controller
        self.setObjectName(name)
        self.setAccessibleName(label)
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        row = QHBoxLayout(self)
        row.setContentsMargins(3, 0, 3, 0)
        row.setSpacing(2)
        self._group = QButtonGroup(self)
        self._buttons: dict[str, SegmentButton] = {}
        self._showing = True
        for option, words in options:
            button = SegmentButton(theme_controller, self)
            button.setObjectName(f"{name}_{option}")
            button.setAccessibleName(f"{label}: {words}")
            button.setProperty("variant", "segment")
            button.setText(words)
            button.setCheckable(True)
            button.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
            button.toggled.connect(self._on_toggled)
            self._group.addButton(button)
            self._buttons[option] = button
            row.addWidget(button)
        next(iter(self._buttons.values())).setChecked(True)
        self._showing = False
        theme_controller.changed.connect(self._on_theme_changed)
        self._on_theme_changed()

    def value(self) -> str:
        """Returns the id of the selected segment."""
        return next(option for option, button in self._buttons.items() if button.isChecked())

    def set_value(self, option: str) -> None:
        """Selects a segment without emitting `chosen`.

        Raises:
            KeyError: if there is no such segment.
        """
        button = self._buttons[option]
        self._showing = True
        button.setChecked(True)
        self._showing = False

    def _on_toggled(self, on: bool) -> None:
        # Not `clicked`: a screen reader toggles checkable buttons, and Qt then emits no click.
        if on and not self._showing:
            self.chosen.emit(self.value())

    @override
    def keyPressEvent(self, event: QKeyEvent) -> None:
        steps = {Qt.Key.Key_Left: -1, Qt.Key.Key_Up: -1, Qt.Key.Key_Right: 1, Qt.Key.Key_Down: 1}
        step = steps.get(Qt.Key(event.key()))
        if step is None:
            super().keyPressEvent(event)
            return
        buttons = list(self._buttons.values())
        place = next(i for i, button in enumerate(buttons) if button.isChecked()) + step
        if 0 <= place < len(buttons):
            buttons[place].setFocus(Qt.FocusReason.TabFocusReason)
            buttons[place].click()

    def _on_theme_changed(self) -> None:
        theme = self._themes.theme
        self.setFixedHeight(theme.metrics.control)
        for button in self._buttons.values():
            button.updateGeometry()
        self.update()

    @override
    def paintEvent(self, event: QPaintEvent) -> None:
        theme = self._themes.theme
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(theme.color("line.control"), 1))
        painter.setBrush(theme.color("surface.input"))
        radius = theme.metrics.radius_field
        painter.drawRoundedRect(QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5), radius, radius)
