"""The bars above the panes of one window, from the top: tool bar with the filter bar, presets, stacked conditions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Qt
from PySide6.QtWidgets import QToolBar

from inspector.ui.features.filter_conditions import FilterConditions
from inspector.ui.features.filtering import Filtering
from inspector.ui.features.presets import Presets
from inspector.ui.widgets.flat_tool_bar import FlatToolBar
from inspector.ui.window.tool_bar import ToolBar

if TYPE_CHECKING:
    from inspector.ui.window.main_window import MainWindow


class Bars(QObject):
    """Made hidden, in a window that may be seen already.

    Attributes:
        filtering: ties the filter bar to the panes.
        presets, stacking, tool_bar: what the bars are made of.
    """

    def __init__(self, window: MainWindow) -> None:
        super().__init__(window)
        self._window = window
        self.filtering = Filtering(window)
        self.tool_bar = ToolBar(window, window.actions_by_id, self.filtering.bar)
        self.presets = Presets(window)
        self.presets.chosen.connect(self.filtering.apply)
        self.presets.edit_requested.connect(window.commands.edit_preset)
        self.presets.fill_menu(window.menus["&View"], window.actions_by_id["view.presets"])
        self._preset_bar = FlatToolBar("Presets", "presetToolBar", window)
        self._preset_bar.hold(self.presets.bar)
        condition_bar = FlatToolBar("Conditions", "conditionToolBar", window)
        self.filter_conditions = FilterConditions(window.theme, self.filtering.bar, condition_bar)
        self._add(self.tool_bar, self._preset_bar, condition_bar)
        window.theme.changed.connect(self._fit)
        self._fit()

    def _add(self, *bars: QToolBar) -> None:
        top = Qt.ToolBarArea.TopToolBarArea
        for place, bar in enumerate(bars):
            bar.hide()  # first, else a window that is seen shows it for a moment
            if place:
                self._window.addToolBarBreak(top)
            self._window.addToolBar(top, bar)
        for bar in (*reversed(bars), self._window.menuBar()):  # screen readers go by the order of what is in a window
            bar.lower()

    def show(self) -> None:
        """There is a document: conditions show themselves when there are some."""
        self.tool_bar.show()
        self._preset_bar.show()

    def _fit(self) -> None:
        self._preset_bar.setFixedHeight(self._window.theme.theme.metrics.presets)
