"""Filter bar: editor for a display filter with checks while typing, completion and counts (docs/design.md 14).

It knows the filter language only through its `check` callback; the window applies the filter.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import QEvent, QObject, QRectF, Qt, QTimer, Signal
from PySide6.QtGui import QGuiApplication, QKeyEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QSizePolicy, QWidget
from typing_extensions import override

from inspector.engine.requests.filters import FilterNote, FilterProblem, SqlCondition
from inspector.ui.look.style_sheet import repolish
from inspector.ui.look.theme import ThemeController
from inspector.ui.widgets.buttons import IconButton, LinkButton
from inspector.ui.widgets.filter_completing import Complete, Completing
from inspector.ui.widgets.filter_counts import FilterCounts
from inspector.ui.widgets.filter_editor import PLACEHOLDER, FilterEditor
from inspector.ui.widgets.filter_history import FilterHistory
from inspector.ui.widgets.filter_trouble import FilterTrouble
from inspector.ui.widgets.labels import IconLabel, TextLabel

_PATIENCE_MS = 350
"""Pause in typing a filter before its error is shown."""

_MAX_APPLIED_SHOWN = 40
"""Characters shown of the applied filter."""
Check = Callable[[str], FilterProblem | None]
"""Returns the error of a filter text, or None."""

ToSql = Callable[[str], SqlCondition]
"""Translates a filter text to SQL."""

Note = Callable[[], FilterNote | None]
"""Returns advice about the text checked last, or None."""
Preview = Callable[[str, Callable[["int | None"], object]], object]
"""Counts the matches of a filter text and calls back with their number, now or later; None if that takes too long."""


class FilterBar(QFrame):
    """The filter bar.

    Signals:
        applied(str): a valid filter was entered; empty shows everything.
        save_requested(str): save this filter as a preset.
        left: Esc was pressed with nothing to undo.
        stack_requested(str): turn this filter into a condition, so that another filter can be added.
        search_all_requested: apply the text without the scope and the other conditions.
        history_cleared: forget the earlier filters.
    """

    applied = Signal(str)
    save_requested = Signal(str)
    left = Signal()
    stack_requested = Signal(str)
    search_all_requested = Signal()
    history_cleared = Signal()

    def __init__(
        self,
        theme_controller: ThemeController,
        check: Check,
        parent: QWidget | None = None,
        *,
        complete: Complete | None = None,
        preview: Preview | None = None,
        note: Note | None = None,
        placeholder: str = PLACEHOLDER,
        noun: str = "messages",
        alone: bool = False,
        to_sql: ToSql | None = None,
    ) -> None:
        """Makes an empty bar.

        Args:
            theme_controller: source of the look.
            check: called with the text on every change; must be quick and must not raise.
            parent: owner.
            complete: called with text and cursor while the user types.
            preview: called with a valid text when the user pauses.
            note: called after `check` found no error.
            placeholder: text of the empty editor.
            noun: the filtered things.
            alone: hides the buttons for conditions and presets.
            to_sql: converts a filter to a SQL condition; None copies nothing.
        """
        super().__init__(parent)
        self._themes = theme_controller
        self._placeholder, self._noun, self._alone, self._to_sql = placeholder, noun, alone, to_sql
        self._check = check
        self._preview = preview
        self._note_of = note
        self._note: FilterNote | None = None
        self._applied = ""
        self._error: FilterProblem | None = None
        self._counts = FilterCounts()
        self._saved = False
        self.setObjectName("filterBar")
        self.setAccessibleName("Filter bar")
        self.setProperty("variant", "field")
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setMinimumWidth(240)
        self._build(complete)
        self._patience = QTimer(self)
        self._patience.setSingleShot(True)
        self._patience.setInterval(_PATIENCE_MS)
        self._patience.timeout.connect(self._on_typing_paused)
        theme_controller.changed.connect(self._on_theme_changed)
        self._on_theme_changed()
        self._refresh()

    def _build(self, complete: Complete | None) -> None:
        themes = self._themes
        self._row = QHBoxLayout(self)
        self._funnel = IconLabel(themes, "filter", name="filterFunnel", parent=self)
        self._editor = FilterEditor(themes, self, placeholder=self._placeholder)
        self._editor.textChanged.connect(self._on_text_changed)
        self._editor.entered.connect(self._on_entered)
        self._editor.escaped.connect(self._on_escaped)
        self._editor.history_asked.connect(self._open_history)
        self._editor.sql_asked.connect(self.copy_as_sql)
        self._editor.focus_moved.connect(self._on_focus_moved)
        self.setFocusProxy(self._editor)
        self._count = TextLabel(variant="small", name="filterCounts", parent=self)
        self._search_all = LinkButton("Search all", name="filterSearchAll", parent=self)
        self._search_all.setToolTip("Search all messages, without the scope and other conditions")
        self._search_all.clicked.connect(self.search_all_requested)
        self._stack = self._button("add", "Add as a condition (Ctrl+Enter)", "filterStack")
        self._stack.clicked.connect(self._on_stack_asked)
        self._clear = self._button("clear", "Clear the filter", "filterClear")
        self._clear.clicked.connect(self._on_clear_clicked)
        self._history_button = self._button("history", "Earlier filters (Down)", "filterHistory")
        self._history_button.clicked.connect(self._open_history)
        self._star = self._button("save", "Save as preset", "filterSave")
        self._star.clicked.connect(self._on_star_clicked)
        self._star.setVisible(not self._alone)
        self._row.addWidget(self._funnel)
        self._row.addSpacing(4)
        self._row.addWidget(self._editor, 1)
        self._row.addSpacing(4)
        self._row.addWidget(self._count)
        for button in (self._search_all, self._stack, self._clear, self._history_button, self._star):
            self._row.addWidget(button)
        self._history = FilterHistory(self)
        self._history.chosen.connect(self._on_history_chosen)
        self._history.cleared.connect(self._on_history_cleared)
        self._trouble = FilterTrouble(themes, self)
        self._trouble.suggestion_taken.connect(self._on_suggestion_taken)
        self._completing = Completing(themes, self._editor, complete, self)
        self._completing.changed.connect(self._on_completions_changed)
        self._editor.installEventFilter(self)

    def _button(self, icon: str, tooltip: str, name: str) -> IconButton:
        return IconButton(self._themes, icon, tooltip, name=name, variant="small", parent=self)

    # State set by the window

    def text(self) -> str:
        return self._editor.text()

    def applied_text(self) -> str:
        return self._applied

    def set_applied(self, text: str, *, remembers: bool = True) -> None:
        """Sets the applied filter; it replaces the text in the editor.

        Args:
            text: the filter.
            remembers: add it to the history.
        """
        self._store_applied(text)
        self._completing.hide()
        if remembers:
            self._history.remember(self._applied)
        if self._editor.text() != text:
            self._editor.set_text(text)
        self.show_error(None)

    def discard_written(self) -> None:
        """Restores the applied filter in the editor."""
        self._note = None
        self._completing.hide()
        if self._editor.text() != self._applied:
            self._editor.set_text(self._applied)
        self.show_error(None)

    def go_on_with(self, text: str) -> None:
        """Replaces the applied filter by an extended one, such as a growing chain, and keeps unapplied text."""
        before = self._applied
        self._store_applied(text)
        self._history.replace(before, self._applied)
        if self._editor.text().strip() == before:
            self._editor.set_text(self._applied)
            self.show_error(None)

    def _store_applied(self, text: str) -> None:
        self._applied = text.strip()
        self._counts.filtered = bool(self._applied)

    def set_counts(self, shown: int, total: int) -> None:
        self._counts.shown, self._counts.total = shown, total
        self._show_counts()

    def counts_text(self) -> str:
        return self._count.text()

    def set_busy(self, fraction: float | None, found: int | None = None) -> None:
        """Shows the progress of a running filter.

        Args:
            fraction: 0 to 1, or None if no filter is running.
            found: matches so far, if known.
        """
        self._counts.busy = None if fraction is None else min(1.0, max(0.0, fraction))
        self._counts.found = found if fraction is not None else None
        self._show_counts()
        self.update()

    def set_left_out(self, count: int) -> None:
        """Sets the number of values that were too slow for a regular expression and count as no match."""
        if not count:
            self._count.setToolTip("")
            return
        values = "1 value took" if count == 1 else f"{count:,} values took"
        self._count.setToolTip(f"{values} too long for the regular expression and count as no match")

    def set_narrowed(self, narrowed: bool) -> None:
        """Tells the bar that a scope or other conditions apply too, so that a wider search is possible."""
        self._counts.narrowed = narrowed
        self._show_counts()

    @property
    def matches_nothing(self) -> bool:
        return self._counts.matches_nothing

    def set_saved(self, saved: bool) -> None:
        """Marks the applied filter as a preset or not."""
        self._saved = saved
        self._show_star()

    def error(self) -> FilterProblem | None:
        return self._error

    def show_error(self, error: FilterProblem | None) -> None:
        """Shows an error at once, or removes it."""
        self._patience.stop()
        self._error, self._note = error, None
        self._refresh()
        if error is not None:
            self._show_message()

    def copy_as_sql(self) -> None:
        """Copies the text as a SQL condition; parts without an equivalent in SQL are shown as errors."""
        if self._to_sql is None:
            return
        found = self._to_sql(self._editor.text())
        if found.problem is not None:
            self.show_error(found.problem)
        else:
            QGuiApplication.clipboard().setText(found.text)

    def recheck(self) -> None:
        """Checks the text again after its meaning may have changed, such as `$context` after a click in the tree."""
        self._on_text_changed()

    def focus_editor(self) -> None:
        self._editor.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self._editor.selectAll()

    def set_history(self, texts: Sequence[str]) -> None:
        """Sets the earlier filters, latest first."""
        self._history.set_texts(texts)
        self._refresh()

    def history(self) -> list[str]:
        return list(self._history.texts)

    # User input

    def _on_completions_changed(self) -> None:
        """Hides the error while completions are shown in its place."""
        self._trouble.setVisible(self._trouble.isVisible() and not self._completing.shown)
        self._refresh()

    def _takes_key(self, event: QKeyEvent) -> bool:
        """Handles keys that do not edit the text. Returns True for these."""
        control = event.modifiers() & Qt.KeyboardModifier.ControlModifier
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and control:
            self._on_stack_asked()
            return True
        offering = self._completing.shown
        if self._completing.takes(event):
            return True
        if event.key() == Qt.Key.Key_Tab and not control and not offering and self._trouble.offers:
            self._on_suggestion_taken()
            return True
        return False

    @override
    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if watched is self._editor:
            if event.type() == QEvent.Type.KeyPress and isinstance(event, QKeyEvent) and self._takes_key(event):
                return True
            if event.type() == QEvent.Type.ShortcutOverride and isinstance(event, QKeyEvent):
                # Accepted, so that the keys reach the list and not a shortcut.
                if self._completing.shown and event.key() in (Qt.Key.Key_Escape, Qt.Key.Key_Tab):
                    event.accept()
                    return True
            elif event.type() == QEvent.Type.FocusOut:
                self._completing.hide()
                self._patience.stop()
                self._trouble.hide()  # it would cover the newly focused widget; the red edge stays
            elif event.type() == QEvent.Type.FocusIn and self._error is not None:
                self._patience.start()
        return super().eventFilter(watched, event)

    def _on_text_changed(self) -> None:
        explained = (self._error is not None or self._note is not None) and not self._trouble.isHidden()
        text = self._editor.text()
        if not text.strip():
            self._completing.hide()
        self._error = self._check(text) if text.strip() else None
        self._note = self._note_of() if self._note_of is not None and text.strip() and self._error is None else None
        self._refresh()
        self._counts.would_match = None
        if (self._error is not None or self._note is not None) and explained:
            self._show_message()
            self._patience.start()
        elif self._error is not None or text.strip() != self._applied:
            self._patience.start()
        else:
            self._patience.stop()
        self._show_counts()

    def _on_typing_paused(self) -> None:
        """After a pause in typing: shows the error, or the number of matches."""
        text = self._editor.text().strip()
        self._show_message()
        if self._error is None and self._preview is not None and text and text != self._applied:
            self._preview(text, lambda count: self._show_would_match(text, count))

    def _show_would_match(self, text: str, count: int | None) -> None:
        """Shows the number of matches of unapplied text, unless it has changed meanwhile."""
        if text == self._editor.text().strip() != self._applied:
            self._counts.would_match = count
            self._show_counts()

    def _on_stack_asked(self) -> None:
        text = self._editor.text().strip()
        error = self._check(text) if text else None
        self._completing.hide()
        if error is not None:
            self.show_error(self._check(self._editor.text()) or error)
        elif text:
            self._history.remember(text)
            self.stack_requested.emit(text)
            self._editor.document().clearUndoRedoStacks()  # else Undo would restore the text of the condition
            self._editor.setFocus(Qt.FocusReason.OtherFocusReason)

    def _on_entered(self) -> None:
        text = self._editor.text().strip()
        error = self._check(text) if text else None
        if error is not None:
            self._completing.hide()
            self.show_error(self._check(self._editor.text()) or error)
            return
        self._apply(text)

    def _apply(self, text: str) -> None:
        # Kept, since applying clears the note.
        note = self._note
        self._completing.hide()
        self.set_applied(text)
        self.applied.emit(text)
        if note is not None and self._editor.text().strip() == text:
            self._note = note
            self._show_message()

    def _on_escaped(self) -> None:
        """Undoes one step for each Esc: hides the message, then restores the text, then leaves the bar."""
        if not self._trouble.isHidden():
            self._patience.stop()  # else the message would come back at once
            self._trouble.hide()
        elif self._editor.text() != self._applied:
            self._editor.set_text(self._applied)
            self.show_error(None)
        elif self._error is not None:
            self.show_error(None)
        else:
            self.left.emit()

    def _on_clear_clicked(self) -> None:
        had = self._applied
        self._note = None
        self.set_applied("")
        if had:
            self.applied.emit("")
        self._editor.setFocus(Qt.FocusReason.OtherFocusReason)

    def _on_star_clicked(self) -> None:
        self.save_requested.emit(self._editor.text().strip())

    def _on_suggestion_taken(self) -> None:
        error, note = self._error, self._note
        if error is None and note is not None and note.replacement is not None:
            self._editor.replace_part(0, len(self._editor.text()), note.replacement)
            self._editor.set_cursor_place(len(note.replacement))
            self._editor.setFocus(Qt.FocusReason.OtherFocusReason)
        if error is not None and error.replacement is not None:
            place, behind = self._editor.cursor_place(), error.position + error.length
            self._editor.replace_part(error.position, error.length, error.replacement)
            if place > behind:  # keeps the cursor behind the same characters
                self._editor.set_cursor_place(place + len(error.replacement) - error.length)
            self._editor.setFocus(Qt.FocusReason.OtherFocusReason)

    def _open_history(self) -> None:
        self._history.open_below(self)

    def _on_history_cleared(self) -> None:
        self._refresh()
        self.history_cleared.emit()

    def _on_history_chosen(self, text: str) -> None:
        self._editor.set_text(text)
        self._on_entered()

    def _on_focus_moved(self, focused: bool) -> None:
        self.setProperty("focused", "true" if focused else "false")
        repolish(self)
        self._show_counts()

    # Appearance

    def _refresh(self) -> None:
        # while completions are shown the text is only unfinished
        wrong = self._error is not None and not self._completing.shown
        text = self._editor.text().strip()
        if (self.property("wrong") == "true") != wrong:
            self.setProperty("wrong", "true" if wrong else "false")
            repolish(self)
        self._editor.mark_trouble((self._error.position, self._error.length) if wrong and self._error else None)
        self._editor.setAccessibleDescription(str(self._error) if self._error is not None else self._placeholder)
        if not wrong and self._note is None:
            self._trouble.hide()
        self._clear.setVisible(bool(self._editor.text() or self._applied))
        self._history_button.setEnabled(bool(self._history.texts))
        self._stack.setVisible(bool(text) and not self._alone)
        self._stack.setEnabled(bool(text) and self._error is None)
        self._show_star()
        self._show_counts()

    def _show_funnel(self, *, nothing: bool) -> None:
        """Colours the icon: green for a valid text, red for an error, neutral for no matches."""
        wrong, text = self.property("wrong") == "true", self._editor.text().strip()
        self._funnel.set_icon(
            "filter", "severity.error" if wrong else "state.active" if text and not nothing else "ink.secondary"
        )

    def _show_star(self) -> None:
        same = self._editor.text().strip() == self._applied
        saved = self._saved and same and bool(self._applied)
        self._star.set_icon("saved" if saved else "save", "accent.text" if saved else "ink.secondary")
        self._star.set_description("This filter is a preset" if saved else "Save as preset")
        self._star.setEnabled(bool(self._editor.text().strip()) and self._error is None)

    def _show_counts(self) -> None:
        written = self._editor.text().strip() != self._applied  # not applied yet
        self._counts.unapplied = self._unapplied_hint() if written else ""
        words, nothing = self._counts.in_words(written=written)
        self._count.setText(words)
        self._count.setVisible(bool(words))
        self._search_all.setVisible(self.matches_nothing and not written and self._counts.narrowed)
        self._show_funnel(nothing=nothing)

    def _unapplied_hint(self) -> str:
        """Returns the hint on unapplied text: the key that applies it, or without focus the filter in force."""
        if self.property("focused") == "true":
            return "" if self._error is not None else "Enter to apply"
        if not self._applied:
            return f"not applied, all {self._noun} are shown" if not self._counts.narrowed else "not applied"
        applied = self._applied
        shown = applied if len(applied) <= _MAX_APPLIED_SHOWN else applied[: _MAX_APPLIED_SHOWN - 1] + "…"
        return f"not applied, current filter: {shown}"

    def _show_message(self) -> None:
        if not self.isVisible() or self._completing.shown:
            return
        if self._error is not None:
            self._trouble.show_error(self._error)
        elif self._note is not None:
            self._trouble.show_note(self._note)

    def _on_theme_changed(self) -> None:
        theme = self._themes.theme
        zoom = theme.zoom
        self.setFixedHeight(theme.metrics.control)
        self._row.setContentsMargins(round(7 * zoom), 0, round(4 * zoom), 0)
        self._row.setSpacing(round(4 * zoom))
        self.update()

    @override
    def event(self, event: QEvent) -> bool:
        kinds = (QEvent.Type.Move, QEvent.Type.Resize)
        if event.type() in kinds:
            self._completing.hide()
            if not self._trouble.isHidden():
                self._trouble.place()
        elif event.type() == QEvent.Type.Hide:
            self._trouble.hide()
            self._completing.hide()
        return super().event(event)

    @override
    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        if self._counts.busy is None:
            return
        painter = QPainter(self)
        width = (self.width() - 8) * self._counts.busy
        painter.fillRect(QRectF(4, self.height() - 3, round(width), 2), self._themes.theme.color("accent.ring"))
