"""The bars above the panes: tool bar with the filter bar, presets, stacked conditions."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QSize, Qt
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QMainWindow, QSizePolicy, QToolBar, QToolButton, QWidget

from inspector.base.slices import SlicedWork
from inspector.ui.widgets.flat_tool_bar import FlatToolBar

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from inspector.ui.input.keys import Keys
    from inspector.ui.look.theme import ThemeController
    from inspector.ui.widgets.filter_bar import FilterBar

_ACTIONS_WITH_TEXT = ("file.open", "file.connect")
_LIVE_ACTIONS = ("capture.pause", "capture.follow")
_PANEL_ACTIONS = ("view.edge_left", "view.edge_bottom", "view.edge_right")
_ICON_SIZE = 16
"""Pixels at 100 %."""


class ToolBar(QToolBar):
    """Frequent actions and the filter bar. Names follow the shortcuts, icons the zoom."""

    def __init__(
        self, parent: QWidget, theme: ThemeController, keys: Keys, actions: Mapping[str, QAction], filter_bar: FilterBar
    ) -> None:
        super().__init__("Tool bar", parent)
        self._theme = theme
        self.setObjectName("toolBar")
        self.setMovable(False)
        self._zoom_icons()
        # Qt's context menu must not hide the bar.
        self.toggleViewAction().setEnabled(False)
        self._add([actions[name] for name in _ACTIONS_WITH_TEXT], words=True)
        self.addSeparator()
        self._add([actions[name] for name in _LIVE_ACTIONS])
        filter_bar.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.addWidget(filter_bar)
        self._add([actions[name] for name in _PANEL_ACTIONS])
        keys.changed.connect(self._name_buttons)
        theme.changed.connect(self._zoom_icons)
        self._name_buttons()

    def _add(self, actions: Sequence[QAction], *, words: bool = False) -> None:
        for action in actions:
            self.addAction(action)
            button = self.widgetForAction(action)
            if isinstance(button, QToolButton):
                button.setObjectName(f"tool.{action.objectName()}")
                button.toggled.connect(partial(self._on_toggled, action))
                if words:
                    button.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)

    def _on_toggled(self, action: QAction, on: bool) -> None:
        """Triggers the action for a screen reader's press, which toggles only the button in Qt."""
        if action.isCheckable() and action.isChecked() is not on:
            action.trigger()

    def _name_buttons(self) -> None:
        for action in self.actions():
            button = self.widgetForAction(action)
            if isinstance(button, QToolButton):
                button.setAccessibleName(action.toolTip())

    def _zoom_icons(self) -> None:
        side = round(_ICON_SIZE * self._theme.theme.zoom)
        self.setIconSize(QSize(side, side))


class BarStack(QObject):
    """The rows of bars above the panes, created hidden because the window may be visible already.

    Attributes:
        tool_bar: the first row.
        conditions: the last row, hidden while it is empty.
    """

    def __init__(
        self, window: QMainWindow, theme: ThemeController, keys: Keys, actions: Mapping[str, QAction],
        filter_bar: FilterBar, presets: QWidget,
    ) -> None:  # fmt: skip
        """Adds the bars to the window.

        Args:
            window: the window.
            theme: gives the size of icons and the height of the presets.
            keys: the shortcuts in the names of the buttons.
            actions: the actions by id.
            filter_bar: stands among the buttons.
            presets: the content of the row of presets.
        """
        super().__init__(window)
        self._theme = theme
        self.tool_bar = ToolBar(window, theme, keys, actions, filter_bar)
        self.conditions = FlatToolBar("Conditions", "conditionToolBar", window)
        self._preset_bar = FlatToolBar("Presets", "presetToolBar", window)
        self._preset_bar.hold(presets)
        bars = (self.tool_bar, self._preset_bar, self.conditions)
        for place, bar in enumerate(bars):
            bar.hide()  # first, else a visible window shows it for a moment
            if place:
                window.addToolBarBreak(Qt.ToolBarArea.TopToolBarArea)
            window.addToolBar(Qt.ToolBarArea.TopToolBarArea, bar)
        for bar in (*reversed(bars), window.menuBar()):  # screen readers follow the order of the window's children
            bar.lower()
        theme.changed.connect(self._fit_height)
        self._fit_height()

    @property
    def rows(self) -> tuple[QWidget, ...]:
        """The bars that every document has."""
        return self.tool_bar, self._preset_bar

    def show(self) -> SlicedWork[None]:
        """Shows the bars of a document, one a step."""
        for bar in self.rows:
            bar.show()
            yield

    def _fit_height(self) -> None:
        self._preset_bar.setFixedHeight(self._theme.theme.metrics.presets)
