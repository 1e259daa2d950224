"""Enables the actions of a window by its state, and labels Undo and Redo."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Generic, TypeVar

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QWidget

if TYPE_CHECKING:
    from inspector.ui.debug.developer import Developer
    from inspector.ui.docview.panes import Panes
    from inspector.ui.docview.window_content import Shown
    from inspector.ui.features.undo import UndoHistory
    from inspector.ui.input.action import Actions

W = TypeVar("W", bound=QWidget)


class ActionState(QObject, Generic[W]):
    """Updates the actions of one window of type W when its document changes."""

    def __init__(
        self, actions: Actions[W], history: UndoHistory, shown: Shown, developer: Developer, *,
        unsaved: Callable[[], bool], connected: Callable[[], bool], of_sessions: Callable[[], set[str]],
        tab_needs: Callable[[], set[str]], parent: QWidget,
    ) -> None:  # fmt: skip
        """Subscribes to the undo history.

        Args:
            actions: the actions of the window.
            history: the undo history.
            shown: the document and its panes, if any.
            developer: decides if the Developer menu is shown.
            unsaved: returns True for a capture without a name. Only called with a document, like the next two.
            connected: returns True if the document comes from a gateway.
            of_sessions: returns the `needs` that editable sessions fulfil.
            tab_needs: returns the `needs` that the tabs of the window fulfil.
            parent: the owner.
        """
        super().__init__(parent)
        self._actions = actions
        self._history = history
        self._shown = shown
        self._developer = developer
        self._unsaved = unsaved
        self._connected = connected
        self._session_needs = of_sessions
        self._tab_needs = tab_needs
        history.steps_changed.connect(self._on_steps_changed)

    def attach(self, panes: Panes) -> None:
        """Subscribes to the panes, and adds the keys that work only inside panes to each pane."""
        panes.selection_changed.connect(self.enable)
        switches = self._actions.show_switches
        panes.messages.find_bar.match_case.toggled.connect(switches)
        panes.messages.find_bar.is_pattern.toggled.connect(switches)
        panes.messages.follow_changed.connect(switches)
        made = panes.made.get("conversation")
        for pane in (panes.messages, panes.contexts, panes.participants, *([made] if made is not None else [])):
            self._actions.add_to_pane(pane)
        panes.panel_made.connect(lambda _name, pane: self._actions.add_to_pane(pane))

    def show_view(self, view: QWidget | None) -> None:
        """Updates the actions after a change of the middle view."""
        self._actions.show_switches()
        if view is not None:
            self._actions.add_to_pane(view)

    def enable(self, *_changed: object) -> None:
        """Enables the actions whose `needs` are fulfilled."""
        present = self._history.present
        if self._shown.panes is not None:
            present |= self._needs_of_document(self._shown.panes)
        if self._shown.runs is not None:
            present.add("filter")
        present |= self._tab_needs()
        if self._developer.wanted:
            present.add("developer")
        self._actions.enable(present)
        self._developer.show_menu()

    def _needs_of_document(self, panes: Panes) -> set[str]:
        state = self._shown.state
        present = {"document", "filter"} | self._session_needs()
        if panes.messages.current_message() is not None:
            present.add("message")
        if state.is_live or state.followed is not None:
            present.add("live")
        if state.is_live and self._connected():
            present.add("connection")
        if self._unsaved():
            present.add("unsaved")
        if state.marks:
            present.add("marks")
        return present

    def _on_steps_changed(self, undo: str, redo: str) -> None:
        """Appends the name of the step to Undo and Redo."""
        for name, title, words in (("edit.undo", "&Undo", undo), ("edit.redo", "&Redo", redo)):
            action = self._actions.by_id[name]
            action.setText(f"{title} {words}".rstrip().replace("& ", "&& "))
            action.setToolTip(f"{title.removeprefix('&')} {words}".rstrip())
        self.enable()
