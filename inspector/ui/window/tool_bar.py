"""The tool bar of a window: what is used all the time, around the filter bar."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QSizePolicy, QToolBar, QToolButton

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from inspector.ui.widgets.filter_bar import FilterBar
    from inspector.ui.window.main_window import MainWindow

_WITH_WORDS = ("file.open", "file.connect")
_LIVE = ("capture.pause", "capture.follow")
_PANES = ("view.contexts", "view.findings", "view.details")
_ICON = 16
"""Pixels at 100 %."""


class ToolBar(QToolBar):
    """Buttons, the filter bar, buttons; their names follow the keys, their icons the zoom."""

    def __init__(self, window: MainWindow, actions: Mapping[str, QAction], filter_bar: FilterBar) -> None:
        super().__init__("Tool bar", window)
        self._theme = window.theme
        self.setObjectName("toolBar")
        self.setMovable(False)
        self._zoom_icons()
        self.toggleViewAction().setEnabled(False)
        self._add([actions[name] for name in _WITH_WORDS], words=True)
        self.addSeparator()
        self._add([actions[name] for name in _LIVE])
        filter_bar.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.addWidget(filter_bar)
        self._add([actions[name] for name in _PANES])
        window.keys.changed.connect(self._name_buttons)
        window.theme.changed.connect(self._zoom_icons)
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
        """A screen reader's press toggles the button, of which Qt does not tell the action."""
        if action.isCheckable() and action.isChecked() is not on:
            action.trigger()

    def _name_buttons(self) -> None:
        for action in self.actions():
            button = self.widgetForAction(action)
            if isinstance(button, QToolButton):
                button.setAccessibleName(action.toolTip())

    def _zoom_icons(self) -> None:
        side = round(_ICON * self._theme.theme.zoom)
        self.setIconSize(QSize(side, side))
