"""Marks and comments of a window, with undo steps and their file."""

from __future__ import annotations

import asyncio
import contextlib
import time
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QRect, QTimer, Signal
from PySide6.QtWidgets import QApplication, QWidget

from inspector.analysis import AnalysisChanges
from inspector.analysis.passes.contexts.context_tree import MAIN
from inspector.analysis.passes.user_marks import ContextTarget, Note, Target, UserMarks
from inspector.document.marks_file import MarksFile, Snapshot, search_failure
from inspector.document.marks_file.finding import FoundMarks
from inspector.present import formats
from inspector.present.context_labels import node_label
from inspector.present.subject import ContextPlace
from inspector.present.wire_text import safe_line
from inspector.ui import budgets
from inspector.ui.widgets.comment_editor import CommentEditor
from inspector.ui.widgets.notice import Link

if TYPE_CHECKING:
    from inspector.ui.docview.panes import Panes
    from inspector.ui.docview.window_content import Shown
    from inspector.ui.features.undo import UndoHistory
    from inspector.ui.look.theme import ThemeController
    from inspector.ui.services import TaskOwner
    from inspector.ui.widgets.notice import NoticeStack

_MAX_NAME_LENGTH = 40
_COMMENT_COLUMN = 3
"""Index of the column that the comment editor starts under, so that number and time stay visible."""
_MAX_MARKED = 5_000
"""Maximum number of messages to mark at once. Each mark is an object, and an undo step keeps them all."""
_NOT_SAVED_NOTICE = "marks-not-saved"
_FOUND_NOTICE = "marks-elsewhere"
_STORED_ELSEWHERE = (
    "The program's data folder has the marks of the copy, because its own folder is read-only or has other marks."
)
RETRY_MS = 10_000
"""Delay before unsaved marks are written again; milliseconds."""


class Marking(QObject):
    """Marks, unmarks and comments, and saves the result beside the capture.

    Attributes:
        file: the file of marks; None while there is no document.
    """

    _closing = Signal()

    def __init__(
        self, theme: ThemeController, shown: Shown, tasks: TaskOwner, history: UndoHistory, notices: NoticeStack,
        parent: QWidget,
    ) -> None:  # fmt: skip
        """Stores its collaborators.

        Args:
            theme: gives the look of the editor.
            shown: the document and its panes.
            tasks: runs the writing task.
            history: receives the undo steps.
            notices: shows errors of the file.
            parent: parent of the editor.
        """
        super().__init__(parent)
        self._shown = shown
        self._tasks = tasks
        self._history = history
        self._notices = notices
        self._parent = parent
        self._theme = theme
        self.file: MarksFile | None = None
        self._panes: Panes | None = None
        self._dirty = self._closed = False
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(budgets.current.write_ms)
        self._timer.timeout.connect(self._write_soon)
        self._retry = QTimer(self)
        self._retry.setSingleShot(True)
        self._retry.setInterval(RETRY_MS)
        self._retry.timeout.connect(self._write_soon)

    @cached_property
    def editor(self) -> CommentEditor:
        """The comment editor, created on first use."""
        editor = CommentEditor(self._theme, self._parent)
        editor.saved.connect(self._on_comment_saved)
        self._closing.connect(editor.save)
        return editor

    def attach(self, panes: Panes, home: Path | None) -> None:
        """Finds the marks of a newly shown document.

        Args:
            panes: the panes of the document.
            home: the capture's file; None for a temporary document.
        """
        self._panes = panes
        self.file = MarksFile(panes.document, home)
        self._retry.stop()
        self._notices.dismiss(_NOT_SAVED_NOTICE)
        self._notices.dismiss(_FOUND_NOTICE)
        panes.mark_requested.connect(self.toggle)
        panes.messages.mark_selected_requested.connect(self.toggle_selected)
        panes.comment_requested.connect(self.comment)
        panes.unmark_requested.connect(self.remove)
        panes.when_made("marks", lambda marks: marks.clear_requested.connect(self.clear))
        panes.bridge.settled.connect(self._on_settled)
        self.restore(complete=False)

    def carried_over(self) -> None:
        """Saves marks that were taken over from another document."""
        if len(self._marks):
            self._changed()

    # Restoring

    def _on_settled(self, changes: AnalysisChanges) -> None:
        self.restore(complete=False)
        if changes.tree_moved and any(True for _ in self._marks.contexts()):
            self._changed()  # the file stores contexts by their path

    def restore(self, *, complete: bool) -> None:
        """Applies the saved marks to the messages read so far.

        Args:
            complete: True if reading is over for now.
        """
        if self.file is None or self._panes is None or (self.file.is_settled and not complete):
            return
        until = None if complete else time.perf_counter() + budgets.current.background_slice_s
        try:
            placed = self.file.restore(complete=complete, until=until)
        except OSError as error:  # of the log, or of a folder searched for marks
            if complete:
                self._notices.show_sentence(safe_line(search_failure(error)), "severity.warning")
            return
        if placed:
            self._panes.show_notes()
        if complete and self.file.problem:
            self._notices.show_sentence(self.file.problem, "severity.warning")
        if complete:
            self._report_found(self.file)

    def _report_found(self, file: MarksFile) -> None:
        """Reports marks found under an earlier name of the capture, or offers the marks of a copy."""
        if file.notice:
            self._notices.show_notice(_FOUND_NOTICE, "note", safe_line(file.notice), closable=True)
            file.notice = ""
            self._changed()  # from now on they are saved with the capture
        elif file.offered is not None:
            name = safe_line((file.offered.capture or file.offered.file).name)
            sentence = f"{name}, a capture with the same first {_messages_words(file.offered)}, has marks."
            links: list[Link] = [("Import its marks", self.take_offered)]
            self._notices.show_notice(_FOUND_NOTICE, "note", sentence, links, closable=True)

    def take_offered(self) -> None:
        """Takes over the offered marks of an equal capture as one undo step."""
        self._notices.dismiss(_FOUND_NOTICE)
        if self.file is None or self._panes is None or self.file.offered is None:
            return
        # the marks are restored first and then applied again as one undo step
        before = {target: self._marks.note(target) for target in self._marks.targets()}
        self.file.accept_offered()
        try:
            placed = self.file.restore(complete=True)
        except OSError as error:
            self._notices.show_sentence(safe_line(search_failure(error)), "severity.warning")
            return
        notes = {target: self._marks.note(target) for target in placed}
        self._panes.show_notes()
        for target in placed:
            self._marks.set_note(target, before.get(target, Note()))
        self._push_step("import marks", notes)

    # User actions

    @property
    def _marks(self) -> UserMarks:
        return self._shown.document.analysis.marks

    def toggle(self, target: Target | None = None) -> None:
        """Marks or unmarks a target; by default the current one, or the selection of the table."""
        if target is None and self._panes is not None and self._panes.messages.holds_focus:
            self.toggle_selected()
            return
        target = self._target(target)
        if target is not None:
            note = self._marks.note(target)
            self._push_step(f"{'unmark' if note.marked else 'mark'} {self._name(target)}", {
                target: Note(not note.marked, note.comment),
            })  # fmt: skip

    def toggle_selected(self) -> None:
        """Marks the selected messages, or unmarks them if all are marked."""
        if self._panes is None:
            return
        messages = self._panes.messages.selected_messages()
        if len(messages) <= 1:
            target = int(messages[0]) if len(messages) else self._panes.messages.current_message()
            if target is not None:
                self.toggle(target)
            return
        if len(messages) > _MAX_MARKED:
            self._notices.show_sentence(
                f"{len(messages):,} messages are too many to mark at once. The limit is {_MAX_MARKED:,}."
            )
            return
        notes = {message: self._marks.note(message) for message in messages.tolist()}
        on = not all(note.marked for note in notes.values())
        words = f"{'mark' if on else 'unmark'} {formats.count_of(len(notes), 'message')}"
        self._push_step(words, {message: Note(on, note.comment) for message, note in notes.items()})

    def comment(self, target: Target | None = None) -> None:
        """Opens the comment editor for a target; by default the current one."""
        target = self._target(target)
        if target is None or self._panes is None:
            return
        widget, rect = _target_rect(self._panes, target)
        near = QRect(widget.mapTo(self._parent, rect.topLeft()), rect.size())
        self.editor.open(target, f"Comment on {self._name(target)}", self._marks.note(target).comment, near)

    def remove(self, target: Target) -> None:
        """Removes mark and comment."""
        words = "comment on" if self._marks.note(target).comment else "mark"
        self._push_step(f"remove {words} {self._name(target)}", {target: Note()})

    def clear(self) -> None:
        """Removes all marks and comments."""
        targets = self._marks.targets()
        if targets:
            self._push_step("clear all marks", dict.fromkeys(targets, Note()))

    def _on_comment_saved(self, target: Target, text: str) -> None:
        note = self._marks.note(target)
        words = f"comment on {self._name(target)}"
        self._push_step(words if text else f"remove {words}", {target: Note(note.marked, text)})

    def _target(self, target: Target | None) -> Target | None:
        if target is not None or self._panes is None:
            return self._marks.current_target(target) if isinstance(target, ContextTarget) else target
        return _current_target(self._panes)

    def _name(self, target: Target) -> str:
        if isinstance(target, ContextTarget):
            if target.node == MAIN:
                return "the main context"
            label = node_label(self._shown.document, target.node)
            return label if len(label) <= _MAX_NAME_LENGTH else f"{label[: _MAX_NAME_LENGTH - 1]}…"
        return formats.message_number(target)

    def _push_step(self, words: str, notes: dict[Target, Note]) -> None:
        before = {target: self._marks.note(target) for target in notes}
        if before != notes:
            self._history.do(words, lambda: self._put(notes), lambda: self._put(before))

    def _put(self, notes: dict[Target, Note]) -> None:
        for target, note in notes.items():
            self._marks.set_note(target, note)
        if self._panes is not None:
            self._panes.show_notes()
        self._changed()

    # Saving

    def _changed(self) -> None:
        self._dirty = True
        if not self._timer.isActive():
            self._timer.start()

    def _write_soon(self) -> None:
        if self._dirty and self.file is not None:
            try:
                snapshot = self.file.snapshot()
            except (OSError, ValueError) as error:
                self._report_not_written(error)
                return
            try:
                self._tasks.spawn(self._write(self.file, snapshot), "write marks")
            except RuntimeError:  # the event loop has ended; `close` writes
                return
            # At once: a change during the writing sets it again.
            self._dirty = False

    async def _write(self, file: MarksFile, snapshot: Snapshot) -> None:
        try:
            await asyncio.to_thread(file.write, snapshot)
        except (OSError, ValueError) as error:
            if self._closed:  # the last attempt was made and no window is left for a report
                return
            # The window may show another document by now, with marks of its own.
            self._dirty = self._dirty or file is self.file
            self._report_not_written(error)
        else:
            if file is self.file and not self._dirty and not self._closed:
                self._retry.stop()
                self._notices.dismiss(_NOT_SAVED_NOTICE)

    def _report_not_written(self, error: OSError | ValueError) -> None:
        """Reports unsaved marks. They are written again later, with the next mark, and on close."""
        reason = str((error.strerror if isinstance(error, OSError) else None) or error).rstrip(".")
        sentence = f"The marks could not be saved: {reason}. Saving is retried until this window closes."
        links: list[Link] = [("Try again", self._write_soon)]
        self._notices.show_notice(
            _NOT_SAVED_NOTICE, "warning", safe_line(sentence), links, token="severity.warning", closable=True
        )
        self._retry.start()

    def moved_to(self, home: Path) -> None:
        """Moves the marks with a saved capture."""
        if self.file is not None:
            self.file.move_to(home)
            if len(self._marks):
                self._changed()

    def copied_to(self, home: Path) -> None:
        """Copies the marks beside a copy of the capture.

        Raises:
            OSError: the marks cannot be written.
        """
        if self.file is not None:
            try:
                place = self.file.write_copy(home)
            except ValueError as error:
                raise OSError(str(error)) from error
            if place is not None and place.parent != home.parent:
                self._notices.show_notice(_FOUND_NOTICE, "note", _STORED_ELSEWHERE, closable=True)

    def close(self) -> None:
        """Saves the open comment and the marks while the document is still readable."""
        self._closing.emit()
        self._closed = True  # tasks in threads end after the timers are gone
        self._timer.stop()
        self._retry.stop()
        if self._dirty and self.file is not None:
            self._dirty = False
            with contextlib.suppress(OSError, ValueError):  # no window is left for a report
                self.file.write(self.file.snapshot())


def _current_target(panes: Panes) -> Target | None:
    """Returns the current context or row of the focused list, else the current message."""
    focus = QApplication.focusWidget()
    place = panes.details.place
    if focus is not None and "marks" in panes.made and panes.marks.isAncestorOf(focus):
        return panes.marks.current
    if focus is not None and panes.contexts.isAncestorOf(focus) and panes.contexts.current is not None:
        return panes.contexts.current
    if isinstance(place, ContextPlace) and focus is not None and panes.details.isAncestorOf(focus):
        return ContextTarget(place.space, place.node)
    return panes.messages.current_message()


def _target_rect(panes: Panes, target: Target) -> tuple[QWidget, QRect]:
    """Returns the widget and the rectangle that show a target."""
    if isinstance(target, ContextTarget):
        return panes.contexts.place_of(target) or (panes.details, QRect(0, 0, panes.details.width(), 0))
    view, row = panes.messages.view, panes.rows.row_of(target)
    area = view.viewport().rect()
    rect = QRect() if row is None else view.painter.row_rect(row).intersected(area)
    if rect.isEmpty():
        rect = QRect(0, area.height() // 3, area.width(), 0)
    return view.viewport(), rect.adjusted(view.columnViewportPosition(_COMMENT_COLUMN), 0, 0, 0)


def _messages_words(offered: FoundMarks) -> str:
    count = offered.content.of.messages
    return "message" if count == 1 else f"{count:,} messages"
