"""Command palette: a card over the window with a search field and all commands."""

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
"""Most rows visible at once."""
_WIDTH = 600
_NOTHING = "No matching commands"

Find = Callable[[str], Sequence[CommandEntry]]
"""Returns the commands that match a query, best first."""


class PaletteCard(FloatingFrame):
    """A card over its parent that closes when it loses the focus.

    Signals:
        run_requested(str): id of the accepted command.

    Attributes:
        field: the search field.
        list: the matching commands.
        came_from: widget that had the focus before; None while the card is closed.
    """

    run_requested = Signal(str)

    def __init__(self, theme_controller: ThemeController, find: Find, parent: QWidget) -> None:
        """Makes the closed card.

        Args:
            theme_controller: source of the look.
            find: called whenever the query changes.
            parent: window below the card.
        """
        super().__init__(theme_controller, name="commandPalette", parent=parent)
        self.setAccessibleName("Command palette")
        self._find = find
        self.came_from: QWidget | None = None
        self.list = CommandList(theme_controller, name="paletteList", label="Commands", parent=self)
        self.list.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        # The surface of the card is the background.
        self.list.viewport().setAutoFillBackground(False)
        self.field = ChoosingField(
            self.list, name="paletteField", label="Command palette", hint="Type a command", parent=self
        )
        self._nothing = TextLabel(_NOTHING, variant="secondary", name="paletteNothing", parent=self)
        self._column = QVBoxLayout(self)
        for widget in (self.field, self.list, self._nothing):
            self._column.addWidget(widget)
        self.field.textChanged.connect(self._show_found)
        self.field.accepted.connect(self._take)
        self.field.left.connect(self.close_card)
        self.list.picked.connect(lambda _row, _clicked: self._take())
        self.field.installEventFilter(self)
        parent.installEventFilter(self)
        theme_controller.changed.connect(self._place)
        self.hide()

    def open(self) -> None:
        """Opens the empty card, or closes it if it is open."""
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
        """Closes the card and restores the focus."""
        if not self.isVisible():
            return
        came_from, self.came_from = self.came_from, None
        inside = self.isAncestorOf(QApplication.focusWidget() or self)
        self.hide()
        # The widget may have been deleted or hidden since.
        if inside and came_from is not None and isValid(came_from) and came_from.isVisible():
            came_from.setFocus(Qt.FocusReason.PopupFocusReason)

    def _take(self) -> None:
        line = self.list.line()
        if line is not None and line.usable:
            self.close_card()  # first, so that the command acts on the widget that had the focus
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
        rows = max(1, min(MOST_ROWS, len(self.list.lines)))
        self.list.setFixedHeight(rows * theme.metrics.control)
        width = min(round(_WIDTH * theme.zoom), parent.width() - 2 * edge)
        top = theme.metrics.menu_bar + theme.metrics.tool_bar
        self.setFixedWidth(width)
        # Otherwise the size hint is that of the layout before.
        self._column.activate()
        self.resize(width, self._column.totalSizeHint().height())
        self.move((parent.width() - width) // 2, min(top, max(0, parent.height() - self.height())))

    @override
    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Closes the card when the field loses the focus, and places it again when the window is resized."""
        if self.isVisible():
            # Another program in front leaves the card open.
            if watched is self.field and event.type() is QEvent.Type.FocusOut and self.window().isActiveWindow():
                self.close_card()
            elif watched is self.parentWidget() and event.type() is QEvent.Type.Resize:
                self._place()
        return super().eventFilter(watched, event)
