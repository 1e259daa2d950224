"""The middle column: one view of the document at a time, chosen by its tab (docs/design.md 14).

A view is imported when it is made: the start page, and most documents, go without it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from inspector.ui.docview.panel import MESSAGES, Area, Panel, ReadsDocument
from inspector.ui.widgets.page_stack import PageStack

if TYPE_CHECKING:
    from inspector.document.document import CaptureDocument
    from inspector.ui.docview.panes import Panes


class Center(PageStack):
    """The views of one document.

    Signals:
        changed(str): another view is shown; its id.
        made(QWidget): a view was made.

    Attributes:
        current: id of the view shown.
    """

    changed = Signal(str)
    made = Signal(object)

    def __init__(self, panels: Sequence[Panel[Panes]], parent: QWidget | None = None) -> None:
        """Show nothing yet.

        Args:
            panels: those of the middle are its views, in the order of their tabs.
            parent: owner.
        """
        super().__init__(parent)
        self.setObjectName("center")
        self.setAccessibleName("Views of the document")
        self._views = [panel for panel in panels if panel.area is Area.MIDDLE]
        self._panes: Panes | None = None
        self._made: dict[str, QWidget] = {}
        self.current = MESSAGES

    def views_of(self, document: CaptureDocument) -> list[Panel[Panes]]:
        """The views a document has, in the order of their tabs."""
        return [view for view in self._views if view.present(document)]

    def attach(self, panes: Panes) -> None:
        """Show the messages of these panes; other views are made when they are asked for."""
        self._panes = panes
        self.view(MESSAGES)
        self.show_view(MESSAGES)

    def replace(self, panes: Panes) -> None:
        """Show these panes in place of others; the view shown stays, and so does that of sessions, which both have."""
        shown = self.current
        self._panes = panes
        staying = {one.id for one in self._views if one.outlives_panes}
        for view, made in list(self._made.items()):
            if view not in staying:
                self._stop(view, made)
                del self._made[view]
                self.removeWidget(made)
                made.deleteLater()
        self.view(MESSAGES)
        self.setCurrentWidget(self.view(shown))

    def view(self, view: str) -> QWidget:
        """A view, made now if it was not yet.

        Raises:
            KeyError: there is no such view, or no document.
        """
        made = self._made.get(view)
        if made is None:
            if self._panes is None or all(view != one.id for one in self._views):
                raise KeyError(view)
            made = self._made[view] = self._panes.panel(view)
            self.addWidget(made)
            self.made.emit(made)
        return made

    def show_view(self, view: str) -> None:
        """Show a view; one that is not there, as another document had it or a newer program, changes nothing."""
        if self._panes is None or all(view != one.id for one in self.views_of(self._panes.document)):
            return
        self.setCurrentWidget(self.view(view))
        if view != self.current:
            self.current = view
            self.changed.emit(view)

    def stop(self) -> None:
        """Read no more of the document: it is about to be closed."""
        for view, made in self._made.items():
            self._stop(view, made)

    def _stop(self, view: str, made: QWidget) -> None:
        if view != MESSAGES and isinstance(made, ReadsDocument):  # the panes stop theirs
            made.stop()

    def take_focus(self) -> None:
        """Give the keyboard to the view shown."""
        shown = self.currentWidget()
        if shown is not None:
            shown.setFocus()
