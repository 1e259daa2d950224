"""The filter bar of one window, tied to the panes whose filter it shows and changes, and to the presets beside it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject

from inspector.filters import FilterError
from inspector.filters.completion import Completion
from inspector.ui.features import filter_memory
from inspector.ui.widgets.filter_bar import FilterBar

if TYPE_CHECKING:
    from inspector.ui.docview.panes import Panes
    from inspector.ui.window.main_window import MainWindow


class Filtering(QObject):
    """Ties the filter bar to the panes.

    Attributes:
        bar: the filter bar.
    """

    def __init__(self, window: MainWindow) -> None:
        super().__init__(window)
        self._window = window
        self._panes: Panes | None = None
        self.bar = FilterBar(window.theme, self._check, window, complete=self._complete, preview=self._preview)
        self.bar.applied.connect(self._apply_own_text)
        self.bar.stack_requested.connect(self._stack)
        self.bar.search_all_requested.connect(self._search_all)
        self.bar.save_requested.connect(self._save)
        self.bar.history_cleared.connect(lambda: filter_memory.forget(window.application))
        self.bar.left.connect(window.focus_center)

    def attach(self, panes: Panes) -> None:
        """These panes' filter is in the bar from now on."""
        self._panes = panes
        panes.filter_applied.connect(self._on_applied)
        panes.filter_failed.connect(self.bar.show_error)
        panes.filter_grown.connect(self.bar.go_on_with)
        panes.searching.connect(self.bar.set_busy)
        panes.scope_changed.connect(self._show_context)
        panes.scope_changed.connect(self._say_where_else)
        panes.selection_changed.connect(self._show_context)
        panes.view_left.connect(self._say_left)

    def show_first(self) -> None:
        """Show what is in force before anybody has chosen a filter."""
        self.bar.set_history(self._window.application.settings.filter_history)
        self._on_applied()
        self._show_context()

    # What the panes report

    def _on_applied(self, *_text: object) -> None:
        window, panes = self._window, self._panes
        if panes is None:
            return
        own = panes.stack.text
        # A preset is at hand already; if it was written, it is kept all the same.
        remembers = not window.presets.bar.holds(own)
        self.bar.set_applied(own, remembers=remembers)
        window.presets.show_active(panes.stack.chosen)
        if remembers:
            filter_memory.remember(window.application, own)
        self._say_where_else()

    def _show_context(self, *_changed: object) -> None:
        """`$context` may stand for something else, or for nothing."""
        panes = self._panes
        selected = panes is not None and bool(panes.selected_context)
        self._window.presets.set_context_selected(selected, document=panes is not None)
        self.bar.recheck()

    def _say_where_else(self, *_scope: object) -> None:
        """Let the filter bar know whether something besides its own text chooses, which can be left out."""
        panes = self._panes
        if panes is not None:
            self.bar.set_narrowed(panes.scope is not None or any(c.on for c in panes.stack.conditions))

    def _say_left(self, message: int, hider: str, put_back: Callable[[], None]) -> None:
        """A message was gone to that the view did not show."""
        sentence = f"No. {message + 1:,} was hidden by {hider}, so all messages are shown."
        self._window.say(sentence, link=(f"Put {hider} back", put_back))

    # What the bar asks for

    def _check(self, text: str) -> FilterError | None:
        return self._panes.check_filter(text) if self._panes is not None else None

    def _complete(self, text: str, cursor: int) -> Completion:
        return self._panes.completer.complete(text, cursor) if self._panes is not None else Completion(cursor, cursor)

    def _preview(self, text: str) -> int | None:
        return self._panes.preview(text) if self._panes is not None else None

    def apply(self, text: str) -> None:
        """Put a filter in force that was chosen, not written."""
        if self._panes is not None:
            self._panes.apply_filter(text)

    def _apply_own_text(self, text: str) -> None:
        if self._panes is not None:
            filter_memory.remember(self._window.application, text)
            self._panes.apply_own_text(text)

    def _stack(self, text: str) -> None:
        if self._panes is not None:
            filter_memory.remember(self._window.application, text)
            self._panes.stack_filter(text)

    def _save(self, text: str) -> None:
        """Keep what was written, and the conditions that count, as one preset."""
        self._window.presets.ask_to_save(self._panes.stack.with_text(text).chosen if self._panes is not None else text)

    def _search_all(self) -> None:
        if self._panes is not None:
            self._panes.search_all()
