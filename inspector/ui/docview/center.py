"""The middle column: shows one view of the document at a time, with a tab for each (docs/design.md 14).

Views are imported on demand, because the start page and most documents do not need them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from inspector.settings import Settings
from inspector.ui.docview.panel import MESSAGES, Area, OutlivesPanes, Panel, ReadsDocument
from inspector.ui.widgets.page_stack import PageStack

if TYPE_CHECKING:
    from inspector.engine.document_state import DocumentState
    from inspector.ui.docview.panes import Panes


def first_view(settings: Settings) -> str:
    """Returns the id of the view that a newly opened document shows."""
    return settings.display.show_first


def folds_sides(settings: Settings) -> bool:
    """Returns True if contexts and participants are hidden while a document offers no choice of them."""
    return settings.display.fold_sides


class Center(PageStack):
    """The views of one document.

    Signals:
        changed(str): another view is shown, with its id.
        added(str): a view that comes on request has a tab from now on.

    Attributes:
        views: all views, also without a tab.
        current: id of the shown view.
        framed: returns the widget for a created view, given with its id: the view itself, or one around it.
    """

    changed = Signal(str)
    added = Signal(str)

    def __init__(self, panels: Sequence[Panel[Panes]], parent: QWidget | None = None) -> None:
        """Starts empty.

        Args:
            panels: all panels; the ones in the middle are views, in the order of their tabs.
            parent: the owner.
        """
        super().__init__(parent)
        self.setObjectName("center")
        self.setAccessibleName("Views of the document")
        self.views = [panel for panel in panels if panel.area is Area.MIDDLE]
        self._added: set[str] = set()
        self._panes: Panes | None = None
        self._created_views: dict[str, QWidget] = {}
        self.current = MESSAGES
        self.framed: Callable[[str, QWidget], QWidget] = lambda _view, made: made

    def views_of(self, state: DocumentState) -> list[Panel[Panes]]:
        """Returns the views of a document in the order of their tabs."""
        return [
            view for view in self.views if view.present(state) and (not view.comes_on_request or view.id in self._added)
        ]

    def add_view(self, view: str) -> None:
        """Gives a view that comes on request its tab."""
        if view not in self._added:
            self._added.add(view)
            self.added.emit(view)

    def attach(self, panes: Panes) -> None:
        """Shows the messages of these panes. Other views are created on demand."""
        self._panes = panes
        self.view(MESSAGES)
        self.show_view(MESSAGES)

    def replace(self, panes: Panes) -> None:
        """Replaces the views by views of these panes. The current view and views that outlive panes stay."""
        shown = self.current
        self._panes = panes
        for view, made in list(self._created_views.items()):
            if isinstance(made, OutlivesPanes):
                made.show_panes(panes)
            else:
                self._stop(view, made)
                del self._created_views[view]
                self.removeWidget(made)
                made.deleteLater()
        self.view(MESSAGES)
        self.setCurrentWidget(self.view(shown))

    def view(self, view: str) -> QWidget:
        """Returns a view, created on first use.

        Raises:
            KeyError: there is no such view or no document.
        """
        made = self._created_views.get(view)
        if made is None:
            if self._panes is None or all(view != one.id for one in self.views):
                raise KeyError(view)
            made = self._created_views[view] = self.framed(view, self._panes.panel(view))
            self.addWidget(made)
        return made

    def show_view(self, view: str) -> None:
        """Shows a view. An unknown one is ignored, such as a view of another document or of a newer version."""
        if self._panes is None or all(view != one.id for one in self.views_of(self._panes.client.state)):
            return
        self.setCurrentWidget(self.view(view))
        if view != self.current:
            self.current = view
            self.changed.emit(view)

    def stop(self) -> None:
        """Stops the views because the document is about to close."""
        for view, made in self._created_views.items():
            self._stop(view, made)

    def _stop(self, view: str, made: QWidget) -> None:
        if view != MESSAGES and isinstance(made, ReadsDocument):  # the panes stop their own
            made.stop()

    def take_focus(self) -> None:
        """Focuses the shown view."""
        shown = self.currentWidget()
        if shown is not None:
            shown.setFocus()
