"""Connects the filter bar of a window to the panes and the presets."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QWidget

from inspector.engine.request import RequestError
from inspector.engine.requests.filters import (
    CheckFilter,
    CompleteFilter,
    Completion,
    FilterAsSql,
    FilterNote,
    FilterProblem,
    SqlCondition,
)
from inspector.present.secret_settings import holds_secret
from inspector.ui.widgets.filter_bar import FilterBar

if TYPE_CHECKING:
    from inspector.ui.docview.panes import Panes
    from inspector.ui.features.presets import Presets
    from inspector.ui.look.theme import ThemeController
    from inspector.ui.services import SettingsOwner
    from inspector.ui.widgets.notice import NoticeStack


class Filtering(QObject):
    """Connects the filter bar to the panes.

    Signals:
        left(): return the focus to the view.

    Attributes:
        bar: the filter bar.
    """

    left = Signal()

    def __init__(
        self, theme: ThemeController, owner: SettingsOwner, presets: Presets, notices: NoticeStack, parent: QWidget
    ) -> None:
        """Creates the bar without panes.

        Args:
            theme: gives the look.
            owner: saves the filter history.
            presets: marks the preset of the active filter.
            notices: shows that a hidden message was revealed.
            parent: the owner.
        """
        super().__init__(parent)
        self._owner = owner
        self._presets = presets
        self._notices = notices
        self._panes: Panes | None = None
        self._note: FilterNote | None = None  # about the text checked last
        self._is_own_text = False
        self.bar = FilterBar(
            theme, self._check, parent, complete=self._complete, preview=self._preview, note=lambda: self._note,
            to_sql=self._to_sql,
        )  # fmt: skip
        self.bar.applied.connect(self._apply_own_text)
        self.bar.stack_requested.connect(self._stack_filter)
        self.bar.search_all_requested.connect(self._search_all)
        self.bar.save_requested.connect(self._save_preset)
        self.bar.history_cleared.connect(self._clear_history)
        self.bar.left.connect(self.left)
        presets.saved_changed.connect(self.bar.set_saved)
        owner.settings_changes.filter_history_changed.connect(self._show_history)

    def attach(self, panes: Panes) -> None:
        """Shows the filter of these panes in the bar."""
        self._panes = panes
        state = panes.filter_state
        state.filter_applied.connect(self._on_applied)
        state.filter_failed.connect(self.bar.show_error)
        state.filter_refused.connect(self._notices.show_sentence)
        state.filter_grown.connect(self.bar.go_on_with)
        state.search.searching.connect(self.bar.set_busy)
        state.scope_changed.connect(self._show_context)
        state.context_changed.connect(self._show_context)
        state.scope_changed.connect(self._show_narrowed)
        state.scope_changed.connect(self._show_preset)
        panes.view_left.connect(self._report_view_left)

    def show_first(self) -> None:
        """Shows the initial filter."""
        self._show_history()
        self._on_applied()
        self._show_context()

    # Signals of the panes

    def _on_applied(self, *_text: object) -> None:
        panes = self._panes
        if panes is None:
            return
        own = panes.filter_state.stack.text
        # A preset needs no place in the history, unless the user typed it.
        remembers = self._is_own_text or not self._presets.bar.contains_filter(own)
        if not self._is_own_text or own != self.bar.applied_text():
            self.bar.set_applied(own, remembers=remembers)
        self._show_preset()
        if remembers:
            self._add_to_history(own)
        self._show_narrowed()

    def _show_context(self, *_changed: object) -> None:
        """Checks the filter again, since the meaning of `$context` may have changed."""
        panes = self._panes
        selected = panes is not None and bool(panes.filter_state.selected_context)
        self._presets.set_context_selected(selected, document=panes is not None)
        if "$" in self.bar.text():
            self.bar.recheck()

    def _show_preset(self, *_scope: object) -> None:
        """Marks the active preset."""
        panes = self._panes
        if panes is not None:
            self._presets.show_active(
                panes.filter_state.stack.active_filter, scoped=panes.filter_state.scope is not None
            )

    def _show_narrowed(self, *_scope: object) -> None:
        """Tells the filter bar if a scope or condition also narrows the view."""
        if self._panes is not None:
            state = self._panes.filter_state
            self.bar.set_narrowed(state.scope is not None or any(c.on for c in state.stack.conditions))

    def _report_view_left(self, message: int, hider: str, put_back: Callable[[], None]) -> None:
        """Reports that a hidden message was revealed by showing all messages."""
        sentence = f"No. {message + 1:,} was hidden by {hider}, so all messages are shown."
        self._notices.show_sentence(sentence, link=(f"Restore {hider}", put_back))

    # Signals of the bar

    def _check(self, text: str) -> FilterProblem | None:
        if self._panes is None:
            self._note = None
            return None
        found = self._panes.filter_state.check(text)
        self._note = found.note
        # The engine knows values of the document that the user may mean by a word.
        if self._note is not None and self._note.replacement is None and " " not in text.strip():
            with suppress(RequestError):
                self._note = self._panes.client.answer_now(
                    CheckFilter(text, self._panes.filter_state.selected_context)
                ).note
        return found.problem

    def _complete(self, text: str, cursor: int, show: Callable[[Completion], object]) -> None:
        if self._panes is not None:
            self._panes.client.send_request(CompleteFilter(text, cursor), show)

    def _preview(self, text: str, show: Callable[[int | None], object]) -> None:
        if self._panes is not None:
            self._panes.filter_state.preview(text, show)

    def _to_sql(self, text: str) -> SqlCondition:
        return self._panes.client.answer_now(FilterAsSql(text)) if self._panes is not None else SqlCondition()

    def apply(self, text: str) -> None:
        """Applies a chosen filter. An empty one shows all messages of all contexts."""
        if self._panes is None:
            return
        if text.strip():
            self._panes.filter_state.apply_filter(text)
        else:
            self._panes.filter_state.show_everything()

    def _apply_own_text(self, text: str) -> None:
        if self._panes is not None:
            self._is_own_text = True
            try:
                self._panes.filter_state.apply_own_text(text)
            finally:
                self._is_own_text = False

    def _stack_filter(self, text: str) -> None:
        if self._panes is not None:
            self._add_to_history(text)
            self._panes.filter_state.stack_filter(text)

    def _save_preset(self, text: str) -> None:
        """Saves the text and the active conditions as one preset."""
        panes = self._panes
        self._presets.ask_to_save(text if panes is None else panes.filter_state.stack.with_text(text).active_filter)

    # Filter history

    def _add_to_history(self, text: str) -> None:
        """Adds an applied filter to the history of all windows, unless it contains a secret."""
        if not holds_secret(text) and self._owner.settings.remember_filter(text):
            self._owner.save_settings()
            self._owner.settings_changes.filter_history_changed.emit()

    def _clear_history(self) -> None:
        self._owner.settings.filter_history = []
        self._owner.save_settings()
        self._owner.settings_changes.filter_history_changed.emit()

    def _show_history(self) -> None:
        self.bar.set_history(self._owner.settings.filter_history)

    def _search_all(self) -> None:
        if self._panes is not None:
            self._panes.filter_state.search_all()
