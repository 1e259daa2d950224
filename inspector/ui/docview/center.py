"""The middle column: one view of the document at a time, chosen by its tab (docs/design.md 14).

A view is imported when it is made: the start page, and most documents, go without it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from inspector.ui.look.theme import ThemeController
from inspector.ui.widgets.page_stack import PageStack

if TYPE_CHECKING:
    from inspector.document.document import CaptureDocument
    from inspector.ui.docview.panes import Panes


@runtime_checkable
class _Reading(Protocol):
    """A view that reads the document by itself."""

    def stop(self) -> None:
        """Read no more."""
        ...


@dataclass(frozen=True, slots=True)
class CenterView:
    """One view of the middle column.

    Attributes:
        id: its action is `view.<id>`.
        title: what its tab says.
        make: makes it, when it is wanted first.
        present: whether a document has it.
    """

    id: str
    title: str
    make: Callable[[Panes, ThemeController, QWidget], QWidget]
    present: Callable[[CaptureDocument], bool] = lambda _document: True


def _messages(panes: Panes, _theme: ThemeController, _parent: QWidget) -> QWidget:
    return panes.messages


def _timeline(panes: Panes, theme: ThemeController, parent: QWidget) -> QWidget:
    from inspector.ui.panels.timeline.panel import TimelinePanel

    panel = TimelinePanel(panes.document, theme, panes.rows, parent)
    panes.bridge.settled.connect(panel.apply_changes)
    panes.counts_changed.connect(panel.refresh_view)
    panes.selection_changed.connect(panel.show_message)
    panel.message_requested.connect(panes.go_to)
    panel.filter_requested.connect(panes.combine_filter)
    panel.details_requested.connect(panes.messages.open_details_requested)
    panes.messages.follow_changed.connect(panel.follow)
    panel.end_left.connect(lambda: panes.messages.follow(False))
    panel.follow(panes.messages.following)
    panel.show_message(panes.messages.current_message())
    return panel


def _model_sees(panes: Panes, theme: ThemeController, parent: QWidget) -> QWidget:
    from inspector.ui.panels.model_sees.panel import ModelSeesPanel

    panel = ModelSeesPanel(panes.document, theme, panes.rows, parent)
    panes.bridge.settled.connect(panel.apply_changes)
    panes.selection_changed.connect(panel.show_message)
    panel.message_requested.connect(panes.go_to)
    panel.filter_requested.connect(panes.combine_filter)
    panel.details_requested.connect(panes.messages.open_details_requested)
    panel.show_message(panes.messages.current_message())
    return panel


def _subsessions(panes: Panes, theme: ThemeController, parent: QWidget) -> QWidget:
    sessions = panes.document.msp
    if sessions is None:
        raise KeyError(SUBSESSIONS)
    from inspector.ui.msp import subsessions_panel

    return subsessions_panel(sessions, theme, parent)


def _has_sessions(document: CaptureDocument) -> bool:
    return document.msp is not None


SUBSESSIONS = "subsessions"

CENTER_VIEWS: tuple[CenterView, ...] = (
    CenterView("messages", "Messages", _messages),
    CenterView("timeline", "Timeline", _timeline),
    CenterView("model_sees", "Model sees", _model_sees),
    CenterView(SUBSESSIONS, "Sub-sessions", _subsessions, _has_sessions),
)
"""The views in the order of their tabs."""

MESSAGES = CENTER_VIEWS[0].id


def views_of(document: CaptureDocument) -> list[CenterView]:
    """The views a document has, in the order of their tabs."""
    return [view for view in CENTER_VIEWS if view.present(document)]


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

    def __init__(self, theme: ThemeController, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("center")
        self.setAccessibleName("Views of the document")
        self._theme = theme
        self._panes: Panes | None = None
        self._made: dict[str, QWidget] = {}
        self.current = MESSAGES

    def attach(self, panes: Panes) -> None:
        """Show the messages of these panes; other views are made when they are asked for."""
        self._panes = panes
        self.view(MESSAGES)
        self.show_view(MESSAGES)

    def exchange(self, panes: Panes) -> None:
        """Show these panes in place of others; the view shown stays, and so does that of sessions, which both have."""
        shown = self.current
        self._panes = panes
        for view, made in list(self._made.items()):
            if view != SUBSESSIONS:
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
            declared = next((one for one in CENTER_VIEWS if one.id == view), None)
            if declared is None or self._panes is None:
                raise KeyError(view)
            made = self._made[view] = declared.make(self._panes, self._theme, self)
            self.addWidget(made)
            self.made.emit(made)
        return made

    def show_view(self, view: str) -> None:
        """Show a view; one that is not there, as another document had it or a newer program, changes nothing."""
        if self._panes is None or all(view != one.id for one in views_of(self._panes.document)):
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
        if view != MESSAGES and isinstance(made, _Reading):  # the panes stop theirs
            made.stop()

    def take_focus(self) -> None:
        """Give the keyboard to the view shown."""
        shown = self.currentWidget()
        if shown is not None:
            shown.setFocus()
