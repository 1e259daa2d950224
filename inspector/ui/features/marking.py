"""Marks and comments of a window, with undo steps and their file."""

from __future__ import annotations

import contextlib
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QRect, QTimer, Signal
from PySide6.QtWidgets import QApplication, QWidget

from inspector.engine.request import AnswerT, Request, RequestError
from inspector.engine.requests.marks import (
    ContextTarget,
    CopyMarks,
    LookForMarks,
    MoveMarks,
    NamedTarget,
    NameTarget,
    Note,
    NotedTargets,
    NotesOfTargets,
    OfferedNotes,
    RestoredMarks,
    RestoreMarks,
    SetNotes,
    Target,
    TargetNote,
    WriteMarks,
)
from inspector.present import formats
from inspector.present.places import ContextPlace
from inspector.ui import intervals
from inspector.ui.widgets.comment_editor import CommentEditor
from inspector.ui.widgets.notice import Link

if TYPE_CHECKING:
    from inspector.engine.update import Update
    from inspector.ui.document_client import DocumentClient
    from inspector.ui.docview.panes import Panes
    from inspector.ui.features.undo import UndoHistory
    from inspector.ui.look.theme import ThemeController
    from inspector.ui.widgets.notice import NoticeStack

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
    """Marks, unmarks and comments. The engine saves the result beside the capture."""

    _closing = Signal()

    def __init__(
        self, theme: ThemeController, history: UndoHistory, notices: NoticeStack, parent: QWidget,
    ) -> None:  # fmt: skip
        """Stores its collaborators.

        Args:
            theme: gives the look of the editor.
            history: receives the undo steps.
            notices: shows errors of the file.
            parent: parent of the editor.
        """
        super().__init__(parent)
        self._history = history
        self._notices = notices
        self._parent = parent
        self._theme = theme
        self._panes: Panes | None = None
        self._is_settled = self._restoring = self._dirty = self._is_writing = self._closed = False
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(intervals.WRITE_MS)
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
        self._is_settled = self._restoring = self._is_writing = False
        self._retry.stop()
        self._notices.dismiss(_NOT_SAVED_NOTICE)
        self._notices.dismiss(_FOUND_NOTICE)
        panes.mark_requested.connect(self.toggle)
        panes.messages.mark_selected_requested.connect(self.toggle_selected)
        panes.comment_requested.connect(self.comment)
        panes.unmark_requested.connect(self.remove)
        panes.when_made("marks", lambda marks: marks.clear_requested.connect(self.clear))
        panes.bridge.settled.connect(self._on_settled)
        panes.client.send_request(LookForMarks(home), lambda _: None)
        self.restore(complete=False)

    def carried_over(self) -> None:
        """Saves marks that were taken over from another document."""
        self._changed()

    # Restoring

    def _on_settled(self, changes: Update) -> None:
        self.restore(complete=False)
        if changes.tree_moved and self._panes is not None and self._panes.client.state.marks:
            self._changed()  # the file stores contexts by their path

    def restore(self, *, complete: bool) -> None:
        """Applies the saved marks to the messages read so far.

        Args:
            complete: True if reading is over for now.
        """
        panes = self._panes
        if panes is None or ((self._is_settled or self._restoring) and not complete):
            return
        self._restoring = True

        def take(found: RestoredMarks) -> None:
            if panes is self._panes:
                self._restoring, self._is_settled = False, found.is_settled
                if found.placed:
                    panes.show_notes(found.changed)
                if complete:
                    self._report_found(found)

        def report(sentence: str) -> None:
            if panes is self._panes:
                self._restoring = False
                if complete:
                    self._notices.show_sentence(sentence, "severity.warning")

        panes.client.send_request(RestoreMarks(complete), take, report)

    def _report_found(self, found: RestoredMarks) -> None:
        """Reports a problem and marks found under an earlier name of the capture, or offers the marks of a copy."""
        if found.problem:
            self._notices.show_sentence(found.problem, "severity.warning")
        if found.notice:
            self._notices.show_notice(_FOUND_NOTICE, "note", found.notice, closable=True)
            self._changed()  # from now on they are saved with the capture
        elif found.offered:
            count = found.offered_messages
            words = "message" if count == 1 else f"{count:,} messages"
            sentence = f"{found.offered}, a capture with the same first {words}, has marks."
            links: list[Link] = [("Import its marks", self.take_offered)]
            self._notices.show_notice(_FOUND_NOTICE, "note", sentence, links, closable=True)

    def take_offered(self) -> None:
        """Takes over the offered marks of an equal capture as one undo step."""
        self._notices.dismiss(_FOUND_NOTICE)
        if self._panes is not None:
            self._panes.client.send_request(
                OfferedNotes(),
                lambda found: self._push_step("import marks", {one.target: one.note for one in found}),
                lambda sentence: self._notices.show_sentence(sentence, "severity.warning"),
            )

    # User actions

    def toggle(self, target: Target | None = None) -> None:
        """Marks or unmarks a target; by default the current one, or the selection of the table."""
        if target is None and self._panes is not None and self._panes.messages.holds_focus:
            self.toggle_selected()
            return
        named = self._named(target)
        if named is not None:
            note = named.note
            self._push_step(
                f"{'unmark' if note.marked else 'mark'} {named.name}",
                {named.target: Note(not note.marked, note.comment)},
            )

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
        notes = self._notes_of(messages.tolist())
        if notes is None:
            return
        on = not all(note.marked for note in notes.values())
        words = f"{'mark' if on else 'unmark'} {formats.count_of(len(notes), 'message')}"
        self._push_step(words, {message: Note(on, note.comment) for message, note in notes.items()})

    def comment(self, target: Target | None = None) -> None:
        """Opens the comment editor for a target; by default the current one."""
        named = self._named(target)
        if named is None or self._panes is None:
            return
        widget, rect = _target_rect(self._panes, named.target)
        near = QRect(widget.mapTo(self._parent, rect.topLeft()), rect.size())
        self.editor.open(named.target, f"Comment on {named.name}", named.note.comment, near)

    def remove(self, target: Target) -> None:
        """Removes mark and comment."""
        named = self._named(target)
        if named is not None:
            words = "comment on" if named.note.comment else "mark"
            self._push_step(f"remove {words} {named.name}", {named.target: Note()})

    def clear(self) -> None:
        """Removes all marks and comments."""
        targets = self._answer(NotedTargets())
        if targets:
            self._push_step("clear all marks", dict.fromkeys(targets, Note()))

    def _on_comment_saved(self, target: Target, text: str) -> None:
        named = self._named(target)
        if named is not None:
            words = f"comment on {named.name}"
            notes = {named.target: Note(named.note.marked, text)}
            self._push_step(words if text else f"remove {words}", notes)

    def _named(self, target: Target | None) -> NamedTarget | None:
        """Returns the name and note of a target, by default of the current one."""
        panes = self._panes
        target = _current_target(panes) if target is None and panes is not None else target
        return None if target is None else self._answer(NameTarget(target))

    def _notes_of(self, targets: list[Target]) -> dict[Target, Note] | None:
        notes = self._answer(NotesOfTargets(tuple(targets)))
        return None if notes is None else dict(zip(targets, notes, strict=True))

    def _push_step(self, words: str, notes: dict[Target, Note]) -> None:
        before = self._notes_of(list(notes))
        if before is not None and before != notes:
            self._history.do(words, lambda: self._put(notes), lambda: self._put(before))

    def _put(self, notes: dict[Target, Note]) -> None:
        changed = self._answer(SetNotes(tuple(TargetNote(target, note) for target, note in notes.items())))
        if self._panes is not None and changed is not None:
            self._panes.show_notes(changed)
            self._changed()

    def _answer(self, request: Request[AnswerT]) -> AnswerT | None:
        """Returns an answer. Shows the reason if there is none."""
        if self._panes is None:
            return None
        try:
            return self._panes.client.answer_now(request)
        except RequestError as error:
            self._notices.show_sentence(str(error), "severity.warning")
            return None

    # Saving

    def _changed(self) -> None:
        self._dirty = True
        if not self._timer.isActive():
            self._timer.start()

    def _write_soon(self) -> None:
        if not self._dirty or self._panes is None:
            return
        # At once: a change during the writing sets it again.
        self._dirty, self._is_writing = False, True
        client = self._panes.client
        client.send_request(
            WriteMarks(), lambda _: self._on_written(client), lambda reason: self._report_not_written(client, reason)
        )

    def _shows(self, client: DocumentClient) -> bool:
        """Returns True unless the window shows another document by now, with marks of its own."""
        return self._panes is not None and self._panes.client is client

    def _on_written(self, client: DocumentClient) -> None:
        if self._shows(client):
            self._is_writing = False
            if not (self._dirty or self._closed):
                self._retry.stop()
                self._notices.dismiss(_NOT_SAVED_NOTICE)

    def _report_not_written(self, client: DocumentClient, reason: str) -> None:
        """Reports unsaved marks. They are written again later, with the next mark, and on close."""
        if self._closed:  # the last attempt was made and no window is left for a report
            return
        if self._shows(client):
            self._dirty, self._is_writing = True, False
        sentence = f"The marks could not be saved: {reason.rstrip('.')}. Saving is retried until this window closes."
        links: list[Link] = [("Try again", self._write_soon)]
        self._notices.show_notice(
            _NOT_SAVED_NOTICE, "warning", sentence, links, token="severity.warning", closable=True
        )
        self._retry.start()

    def moved_to(self, home: Path) -> None:
        """Moves the marks with a saved capture."""
        if self._panes is not None:
            self._panes.client.answer_now(MoveMarks(home))
            self._changed()

    def copied_to(self, home: Path) -> None:
        """Copies the marks beside a copy of the capture.

        Raises:
            OSError: the marks cannot be written.
        """
        if self._panes is not None:
            try:
                place = self._panes.client.answer_now(CopyMarks(home))
            except RequestError as error:
                raise OSError(str(error)) from error
            if place is not None and place.parent != home.parent:
                self._notices.show_notice(_FOUND_NOTICE, "note", _STORED_ELSEWHERE, closable=True)

    def close(self) -> None:
        """Saves the open comment and the marks while the document is still readable."""
        self._closing.emit()
        self._closed = True
        self._timer.stop()
        self._retry.stop()
        if (self._dirty or self._is_writing) and self._panes is not None:
            # The engine may not have begun a pending request, which ends with the document.
            request = WriteMarks(waits=self._dirty)
            self._dirty = self._is_writing = False
            with contextlib.suppress(RequestError):  # no window is left for a report
                self._panes.client.answer_now(request)


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
