"""Completion for filter editors: opens the list of candidates and handles its keys."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QWidget

from inspector.engine.requests.filters import Candidate, Completion
from inspector.ui.look.theme import ThemeController
from inspector.ui.widgets.filter_completions import FilterCompletions
from inspector.ui.widgets.filter_editor import FilterEditor

Complete = Callable[[str, int, Callable[[Completion], object]], object]
"""Looks for completions at a cursor position of a filter text, and calls back with them, now or later."""

_LEAVING_KEYS = (Qt.Key.Key_Left, Qt.Key.Key_Right, Qt.Key.Key_Home, Qt.Key.Key_End)
"""Keys that leave the completed word."""


class Completing(QObject):
    """Adds completion to a filter editor.

    Signals:
        changed: the list was shown or hidden.
    """

    changed = Signal()

    def __init__(
        self, theme_controller: ThemeController, editor: FilterEditor, complete: Complete | None, anchor: QWidget
    ) -> None:
        """Prepares completion; the list is hidden.

        Args:
            theme_controller: source of the look.
            editor: filter editor inside of `anchor`.
            complete: called with text and cursor while the user types; None disables completion.
            anchor: the list opens below it.
        """
        super().__init__(anchor)
        self._editor = editor
        self._complete = complete
        self._offered: Completion | None = None
        self._asked: tuple[str, int] | None = None  # text and cursor of the last question, until the list is hidden
        self._list = FilterCompletions(theme_controller, anchor)
        self._list.picked.connect(self._insert)
        self._list.closed.connect(self.changed)
        editor.typed.connect(self._on_typed)

    @property
    def shown(self) -> bool:
        return self._list.isVisible()

    def hide(self) -> None:
        """Hides the list, and drops completions on their way."""
        self._asked = None
        self._list.hide()

    def takes(self, event: QKeyEvent) -> bool:
        """Handles a key of the open list, or Ctrl+Space. Returns True if the key was handled."""
        key = event.key()
        if key == Qt.Key.Key_Space and event.modifiers() == Qt.KeyboardModifier.ControlModifier:
            self._offer()
            return True
        current = self._list.current()
        if current is None:
            return False
        if key in (Qt.Key.Key_Down, Qt.Key.Key_Up):
            self._list.step(1 if key == Qt.Key.Key_Down else -1)
        elif key == Qt.Key.Key_Tab or (key in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and self._list.chosen):
            self._insert(current)
        elif key == Qt.Key.Key_Escape:
            self.hide()
        else:
            if key in _LEAVING_KEYS:
                self.hide()
            return False
        return True

    def _on_typed(self) -> None:
        """Opens the list while typing; in an empty field only on request."""
        if self._editor.text().strip():
            self._offer()
        else:
            self.hide()

    def _offer(self) -> None:
        """Shows the candidates at the cursor."""
        if self._complete is None:
            return
        asked = self._asked = self._place
        # Candidates for an earlier text would replace other characters.
        self._offered = None

        def show(found: Completion) -> None:
            if asked == self._asked == self._place:
                self._offered = found
                self._list.show_completion(found, self._editor.x() + self._editor.left_of(found.start))
                self.changed.emit()

        self._complete(*asked, show)

    @property
    def _place(self) -> tuple[str, int]:
        """Text and cursor."""
        return self._editor.text(), self._editor.cursor_place()

    def _insert(self, candidate: Candidate) -> None:
        """Replaces the current word by a candidate, and offers the next completions."""
        offered = self._offered
        if offered is None:
            return
        text, cursor = offered.applied(self._editor.text(), candidate)
        self._editor.replace_part(0, len(self._editor.text()), text)
        self._editor.set_cursor_place(cursor)
        self.hide()
        self._editor.setFocus(Qt.FocusReason.OtherFocusReason)
        self._offer()
