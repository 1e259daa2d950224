"""What the actions of a window say: which make sense now, which are on, and what Undo and Redo would do."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Generic, TypeVar

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QWidget

if TYPE_CHECKING:
    from inspector.ui.debug.developer import Developer
    from inspector.ui.docview.panes import Panes
    from inspector.ui.docview.shown import Shown
    from inspector.ui.features.undo import UndoHistory
    from inspector.ui.input.action import Actions

W = TypeVar("W", bound=QWidget)


class ActionState(QObject, Generic[W]):
    """Keeps the actions of one window, of the kind W, true to its document."""

    def __init__(
        self, actions: Actions[W], history: UndoHistory, shown: Shown, developer: Developer, *,
        unsaved: Callable[[], bool], connected: Callable[[], bool], of_sessions: Callable[[], set[str]],
        parent: QWidget,
    ) -> None:  # fmt: skip
        """Leave them as they are until something changes.

        Args:
            actions: of the window.
            history: what can be undone.
            shown: the document, if there is one.
            developer: knows whether its menu is there.
            unsaved: whether it is a capture without a name yet; asked only with a document, as are the next two.
            connected: whether it comes from a gateway, or did.
            of_sessions: what there is of sessions that are edited.
            parent: owner.
        """
        super().__init__(parent)
        self._actions = actions
        self._history = history
        self._shown = shown
        self._developer = developer
        self._unsaved = unsaved
        self._connected = connected
        self._of_sessions = of_sessions
        history.steps_changed.connect(self._on_steps_changed)

    def attach(self, panes: Panes) -> None:
        """Go by these panes, too, and let each of them take the keys that count in panes only."""
        panes.selection_changed.connect(self.enable)
        switches = self._actions.show_switches
        panes.messages.find_bar.match_case.toggled.connect(switches)
        panes.messages.find_bar.is_pattern.toggled.connect(switches)
        panes.messages.follow_changed.connect(switches)
        for pane in (panes.messages, panes.contexts, panes.participants):
            self._actions.add_to_pane(pane)
        panes.panel_made.connect(lambda _name, pane: self._actions.add_to_pane(pane))

    def show_view(self, view: QWidget | None) -> None:
        """Another view of the middle column is shown."""
        self._actions.show_switches()
        if view is not None:
            self._actions.add_to_pane(view)

    def enable(self, *_changed: object) -> None:
        """Enable the actions that make sense now."""
        present = self._history.present
        if self._shown.panes is not None:
            present |= self._present_in(self._shown.panes)
        if self._shown.runs is not None:
            present.add("filter")
        if self._developer.wanted:
            present.add("developer")
        self._actions.enable(present)
        self._developer.show_menu()

    def _present_in(self, panes: Panes) -> set[str]:
        document = self._shown.document
        present = {"document", "filter"} | self._of_sessions()
        if panes.messages.current_message() is not None:
            present.add("message")
        if document.live or document.sources.followed is not None:
            present.add("live")
        if document.live and self._connected():
            present.add("connection")
        if self._unsaved():
            present.add("unsaved")
        if len(document.analysis.marks):
            present.add("marks")
        return present

    def _on_steps_changed(self, undo: str, redo: str) -> None:
        """Undo and Redo say what they would do."""
        for name, title, words in (("edit.undo", "&Undo", undo), ("edit.redo", "&Redo", redo)):
            action = self._actions.by_id[name]
            action.setText(f"{title} {words}".rstrip().replace("& ", "&& "))
            action.setToolTip(f"{title.removeprefix('&')} {words}".rstrip())
        self.enable()
