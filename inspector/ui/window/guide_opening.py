"""Help > Guide: opens the guide at the page about the focused pane."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QApplication

from inspector.present.guide import CONTENTS
from inspector.ui.window.panels import PANELS

if TYPE_CHECKING:
    from inspector.ui.dialogs.guide import GuideWindow
    from inspector.ui.window.window_features import WindowFeatures

_SURVEY, _FILTER = "survey", "search-and-filter"


class GuideOpening(QObject):
    """Shows the guide of one window.

    Attributes:
        shown: the guide window while it is open, else None.
    """

    def __init__(self, window: WindowFeatures) -> None:
        super().__init__(window)
        self._frame = window
        self.shown: GuideWindow | None = None

    def open(self) -> None:
        """Shows the guide at the page about the focused pane, or at its contents on the start page."""
        name = self.focused_page()
        if self.shown is None:
            from inspector.ui.dialogs.guide import GuideWindow

            self.shown = GuideWindow(self._frame.theme, self._frame)
            self.shown.destroyed.connect(self._forget)
        self.shown.show_page(name)
        self.shown.show()
        self.shown.raise_()
        self.shown.activateWindow()

    def focused_page(self) -> str:
        """Returns the name of the page about the focused pane."""
        window = self._frame
        if window.shown.runs is not None:
            return _SURVEY
        if window.panes is None:
            return CONTENTS
        focus = QApplication.focusWidget()
        if focus is None:
            return CONTENTS
        if window.filter_bar.isAncestorOf(focus):
            return _FILTER
        center = window.center.isAncestorOf(focus)
        for panel in PANELS:
            dock = window.docks.get(panel.title)
            holds = panel.id == window.center.current if center else dock is not None and dock.isAncestorOf(focus)
            if holds:
                return panel.guide
        return CONTENTS

    def _forget(self, *_gone: object) -> None:
        self.shown = None
