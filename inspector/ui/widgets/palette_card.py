"""The command palette: a card over the window with a field and everything that can be done, found by a few letters."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import QEvent, QObject, Qt, Signal
from PySide6.QtWidgets import QApplication, QVBoxLayout, QWidget
from shiboken6 import isValid
from typing_extensions import override

from inspector.ui.look.theme import ThemeController
from inspector.ui.widgets.choosing_field import ChoosingField
from inspector.ui.widgets.command_list import CommandEntry, CommandList
from inspector.ui.widgets.floating import FloatingFrame
from inspector.ui.widgets.labels import TextLabel

MOST_ROWS = 12
"""Rows seen at once."""
_WIDTH = 600
_NOTHING = "Nothing that can be done is called so."

Find = Callable[[str], Sequence[CommandEntry]]
"""What fits a query, best first."""


class PaletteCard(FloatingFrame):
    """Opens over its parent, and closes when it is left.

    Signals:
        run_requested(str): a line was taken; its id.

    Attributes:
        field: what is looked for.
        list: what fits.
        came_from: what had the keyboard before; None while it is closed.
    """

    run_requested = Signal(str)

    def __init__(self, theme_controller: ThemeController, find: Find, parent: QWidget) -> None:
        """Make it, closed.

        Args:
            theme_controller: gives the look.
            find: asked whenever the query changes.
            parent: the window it lies over.
        """
        super().__init__(theme_controller, name="commandPalette", parent=parent)
        self.setAccessibleName("Command palette")
        self._find = find
        self.came_from: QWidget | None = None
        self.list = CommandList(theme_controller, name="paletteList", label="What can be done", parent=self)
        self.list.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.list.viewport().setAutoFillBackground(False)
        self.field = ChoosingField(
            self.list, name="paletteField", label="Command palette", hint="What do you want to do?", parent=self
        )
        self._nothing = TextLabel(_NOTHING, variant="secondary", name="paletteNothing", parent=self)
        self._column = QVBoxLayout(self)
        for widget in (self.field, self.list, self._nothing):
            self._column.addWidget(widget)
        self.field.textChanged.connect(self._show_found)
        self.field.taken.connect(self._take)
        self.field.left.connect(self.close_card)
        self.list.clicked.connect(lambda _index: self._take())
        self.field.installEventFilter(self)
        parent.installEventFilter(self)
        theme_controller.changed.connect(self._place)
        self.hide()

    def open(self) -> None:
        """Open it, empty; when it is open already, close it."""
        if self.isVisible():
            self.close_card()
            return
        self.came_from = QApplication.focusWidget()
        self.field.clear()
        self._show_found()
        self.show()
        self.raise_()
        self.field.setFocus(Qt.FocusReason.PopupFocusReason)

    def close_card(self) -> None:
        """Close it; the keyboard goes back to where it was."""
        if not self.isVisible():
            return
        came_from, self.came_from = self.came_from, None
        inside = self.isAncestorOf(QApplication.focusWidget() or self)
        self.hide()
        if inside and came_from is not None and isValid(came_from) and came_from.isVisible():
            came_from.setFocus(Qt.FocusReason.PopupFocusReason)

    def _take(self) -> None:
        line = self.list.line()
        if line is not None and line.usable:
            self.close_card()  # first, so that it is done where the keyboard was
            self.run_requested.emit(line.id)

    def _show_found(self, *_text: object) -> None:
        found = list(self._find(self.field.text()))
        self.list.show_lines(found)
        self.list.setVisible(bool(found))
        self._nothing.setVisible(not found)
        self._place()

    def _place(self) -> None:
        parent, theme = self.parentWidget(), self._themes.theme
        if parent is None:
            return
        edge = 2 * theme.metrics.unit
        self._column.setContentsMargins(edge, edge, edge, edge)
        self._column.setSpacing(edge)
        self._nothing.setContentsMargins(theme.metrics.cell_padding, 0, 0, edge)
        rows = max(1, min(MOST_ROWS, len(self.list.lines.lines)))
        self.list.setFixedHeight(rows * theme.metrics.control)
        width = min(round(_WIDTH * theme.zoom), parent.width() - 2 * edge)
        top = theme.metrics.menu_bar + theme.metrics.tool_bar
        self.setFixedWidth(width)
        self._column.activate()
        self.resize(width, self._column.totalSizeHint().height())
        self.move((parent.width() - width) // 2, min(top, max(0, parent.height() - self.height())))

    @override
    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Leaving the field closes the card; so does what changes the window's size."""
        if self.isVisible():
            if watched is self.field and event.type() is QEvent.Type.FocusOut and self.window().isActiveWindow():
                self.close_card()
            elif watched is self.parentWidget() and event.type() is QEvent.Type.Resize:
                self._place()
        return super().eventFilter(watched, event)
