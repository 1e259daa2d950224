"""The user's marks and comments on messages and contexts: lists, edits, and their file beside the capture."""

from __future__ import annotations

import time
from pathlib import Path
from typing import ClassVar

import msgspec
import numpy as np
from numpy.typing import NDArray

from inspector.analysis.passes.contexts.context_tree import MAIN
from inspector.analysis.passes.user_marks import EMPTY_NOTE as EMPTY_NOTE
from inspector.analysis.passes.user_marks import ContextTarget as ContextTarget
from inspector.analysis.passes.user_marks import Note as Note
from inspector.analysis.passes.user_marks import Target as Target
from inspector.document.document import CaptureDocument
from inspector.document.marks_file import MarksFile, search_failure
from inspector.engine.open_document import OpenDocument
from inspector.engine.request import Query, Request, RequestError, Steps, check_row_count
from inspector.engine.threads import in_thread
from inspector.filters.next_shown import are_shown
from inspector.present import formats
from inspector.present.context_labels import context_label, node_label
from inspector.present.message_row import row_content
from inspector.present.wire_text import safe_line, visible_controls

_STEP_ROWS = 50
_LONGEST_TIP = 2_000
_MAX_NAME_LENGTH = 40
_RESTORING_S = 0.008
"""Work on restoring marks before another request may be answered."""


class TargetNote(msgspec.Struct, frozen=True):
    """A note of a message or context; an empty one removes mark and comment."""

    target: Target
    note: Note


# Lists


class MarkList(msgspec.Struct, frozen=True):
    """Marked or commented messages, then contexts.

    Attributes:
        total: number of notes, listed or not.
        outside: marked messages hidden by filter and scope.
        targets: listed ones.
    """

    total: int
    outside: int
    targets: list[Target]


class ListMarks(Request[MarkList], frozen=True):
    """Marks and comments.

    Attributes:
        view: number of the view.
        view_only: omits messages hidden by filter and scope.
        comments_only: omits marks without a comment.
    """

    view: int
    view_only: bool = False
    comments_only: bool = False


class MarkLine(msgspec.Struct, frozen=True):
    """A mark or comment as texts.

    Attributes:
        target: the message or context.
        note: the note.
        text: the comment on one line; without one, the text of the message or the label of the context.
        about: "coder thought"; "context".
        context: label of the context, as in other lists.
        number: "No. 12"; "" for a context.
        comment: the whole comment with visible control characters.
        is_hidden: the view hides its message.
    """

    target: Target
    note: Note = EMPTY_NOTE
    text: str = ""
    about: str = ""
    context: str = ""
    number: str = ""
    comment: str = ""
    is_hidden: bool = False

    @property
    def copied(self) -> str:
        """The row as text separated by tabs."""
        state = "marked" if self.note.marked else ""
        return "\t".join((self.number or "context", state, self.about, self.context, self.text))


class DescribeMarks(Request[list[MarkLine]], frozen=True):
    """Some marks as texts, at most 1,000.

    Attributes:
        view: number of the view.
        targets: the messages and contexts.
    """

    is_urgent: ClassVar[bool] = True
    view: int
    targets: tuple[Target, ...]


class NotesOfTargets(Request[list[Note]], frozen=True):
    """Notes of messages and contexts, in their order."""

    targets: tuple[Target, ...]


class NotedTargets(Request[list[Target]], frozen=True):
    """All messages with a note, then all contexts."""


class NamedTarget(msgspec.Struct, frozen=True):
    """A message or context.

    Attributes:
        target: the context with its present node.
        name: "No. 12", or the label of the context.
        note: its note.
    """

    target: Target
    name: str
    note: Note


class NameTarget(Request[NamedTarget], frozen=True):
    """Name and note of a message or context."""

    target: Target


# Edits


class SetNotes(Request[NDArray[np.int64]], frozen=True):
    """Sets marks and comments; answers the changed messages, (n,) int64."""

    notes: tuple[TargetNote, ...]


# The file of marks


class LookForMarks(Request[None], frozen=True):
    """Prepares the file of marks of a newly opened document.

    Attributes:
        home: the capture's file; None for a temporary document.
    """

    home: Path | None


class RestoredMarks(msgspec.Struct, frozen=True):
    """Marks restored from a file.

    Attributes:
        placed: number of new notes.
        changed: messages with one, (n,) int64.
        is_settled: all entries are applied, so no further request is needed.
        problem: problem with a marks file, as a sentence; "".
        notice: sentence about marks found under an earlier name of the capture; "".
        offered: name of an equal capture that has marks; "".
        offered_messages: number of messages that both captures begin with.
    """

    placed: int
    changed: NDArray[np.int64]
    is_settled: bool
    problem: str = ""
    notice: str = ""
    offered: str = ""
    offered_messages: int = 0


class RestoreMarks(Request[RestoredMarks], frozen=True):
    """Applies saved marks to the messages read so far.

    Attributes:
        complete: reading is over for now.
    """

    complete: bool = False


class OfferedNotes(Request[list[TargetNote]], frozen=True):
    """Accepts the marks of an equal capture; answers the notes to set."""


class WriteMarks(Request[None], frozen=True):
    """Writes the marks beside the capture, in a thread.

    Attributes:
        waits: answers when they are written; otherwise at once, and the process ends after the thread.
    """

    waits: bool = True


class MoveMarks(Request[None], frozen=True):
    """Writes marks beside another file from now on, since the capture was saved there."""

    home: Path


class CopyMarks(Request[Path | None], frozen=True):
    """Writes the marks beside a copy of the capture; answers their file, if there are any."""

    home: Path


def _list(held: OpenDocument, asked: ListMarks) -> MarkList:
    marks, shown = held.document.analysis.marks, held.view(asked.view).rows
    messages = marks.rows
    among = are_shown(messages, shown)
    outside = len(messages) - int(np.count_nonzero(among))
    targets: list[Target] = (messages[among] if asked.view_only else messages).tolist()
    targets += [target for target, _ in marks.contexts()]
    if asked.comments_only:
        targets = [target for target in targets if marks.note(target).comment]
    return MarkList(len(marks), outside, targets)


def _describe(held: OpenDocument, asked: DescribeMarks) -> Steps[list[MarkLine]]:
    check_row_count(len(asked.targets))
    lines: list[MarkLine] = []
    shown = held.view(asked.view).rows
    for place, target in enumerate(asked.targets, 1):
        hidden = isinstance(target, int) and shown.row_of(target) is None
        lines.append(_mark_line(held.document, target, hidden=hidden))
        if place % _STEP_ROWS == 0:
            yield
    return lines


def _mark_line(document: CaptureDocument, target: Target, *, hidden: bool) -> MarkLine:
    note = document.analysis.marks.note(target)
    comment = safe_line(note.comment)
    # Qt lays out a tooltip at once, so its length is limited.
    whole = visible_controls(note.comment[:_LONGEST_TIP])
    if isinstance(target, ContextTarget):
        label = node_label(document, target.node)
        return MarkLine(target, note, comment or label, "context", label if comment else "", "", whole)
    content = row_content(document, target)
    about = " ".join(filter(None, (content.sender, content.word)))
    text, number = comment or safe_line(content.text), formats.message_number(target)
    return MarkLine(target, note, text, about, context_label(document, target), number, whole, hidden)


def _notes(held: OpenDocument, asked: NotesOfTargets) -> list[Note]:
    return [held.document.analysis.marks.note(target) for target in asked.targets]


def _noted(held: OpenDocument, _asked: NotedTargets) -> list[Target]:
    return held.document.analysis.marks.targets()


def _name(held: OpenDocument, asked: NameTarget) -> NamedTarget:
    marks, target = held.document.analysis.marks, asked.target
    if isinstance(target, int):
        return NamedTarget(target, formats.message_number(target), marks.note(target))
    target = marks.current_target(target)
    name = "the main context" if target.node == MAIN else node_label(held.document, target.node)
    name = name if len(name) <= _MAX_NAME_LENGTH else f"{name[: _MAX_NAME_LENGTH - 1]}…"
    return NamedTarget(target, name, marks.note(target))


def _set(held: OpenDocument, asked: SetNotes) -> NDArray[np.int64]:
    return held.document.set_notes((one.target, one.note) for one in asked.notes)


def _look_for(held: OpenDocument, asked: LookForMarks) -> None:
    held.marks_file = MarksFile(held.document, asked.home)


def _file(held: OpenDocument) -> MarksFile:
    if held.marks_file is None:
        raise RequestError("The document has no file of marks.")
    return held.marks_file


def _restore(held: OpenDocument, asked: RestoreMarks) -> Steps[RestoredMarks]:
    file, document, placed = _file(held), held.document, list[Target]()
    is_late = True
    while is_late:
        until = time.perf_counter() + _RESTORING_S
        try:
            placed += file.restore(complete=asked.complete, until=until)
        except OSError as error:  # of the log, or of a folder searched for marks
            raise RequestError(safe_line(search_failure(error))) from None
        is_late = asked.complete and time.perf_counter() >= until
        yield
    changed = document.report_notes() if placed else np.empty(0, np.int64)
    if not asked.complete:
        return RestoredMarks(len(placed), changed, file.is_settled)
    notice, file.notice = file.notice, ""
    offered = file.offered
    return RestoredMarks(
        len(placed), changed, file.is_settled, file.problem, safe_line(notice),
        "" if offered is None else safe_line((offered.capture or offered.file).name),
        0 if offered is None else offered.content.of.messages,
    )  # fmt: skip


def _accept(held: OpenDocument, _asked: OfferedNotes) -> list[TargetNote]:
    file, marks = _file(held), held.document.analysis.marks
    # Restored first, and taken back, since the caller applies the notes as one undo step.
    before = {target: marks.note(target) for target in marks.targets()}
    file.accept_offered()
    try:
        placed = file.restore(complete=True)
    except OSError as error:
        raise RequestError(safe_line(search_failure(error))) from None
    notes = [TargetNote(target, marks.note(target)) for target in placed]
    for target in placed:
        marks.set_note(target, before.get(target, EMPTY_NOTE))
    return notes


def _write(held: OpenDocument, asked: WriteMarks) -> Steps[None]:
    file = _file(held)
    try:
        snapshot = file.snapshot()
        # A slow disk must hold up no other answer; a cancelled request still writes.
        steps = in_thread(lambda: file.write(snapshot), delays_exit=True)
        if asked.waits:
            yield from steps
        else:
            next(steps, None)
    except (OSError, ValueError) as error:
        raise RequestError(_reason(error)) from None


def _move(held: OpenDocument, asked: MoveMarks) -> None:
    _file(held).move_to(asked.home)


def _copy(held: OpenDocument, asked: CopyMarks) -> Path | None:
    try:
        return _file(held).write_copy(asked.home)
    except (OSError, ValueError) as error:
        raise RequestError(_reason(error)) from None


def _reason(error: OSError | ValueError) -> str:
    return safe_line(str((error.strerror if isinstance(error, OSError) else None) or error).rstrip("."))


QUERIES = (
    Query(ListMarks, MarkList, _list),
    Query(DescribeMarks, list[MarkLine], _describe),
    Query(NotesOfTargets, list[Note], _notes),
    Query(NotedTargets, list[Target], _noted),
    Query(NameTarget, NamedTarget, _name),
    Query(SetNotes, NDArray[np.int64], _set),
    Query(LookForMarks, None, _look_for),
    Query(RestoreMarks, RestoredMarks, _restore),
    Query(OfferedNotes, list[TargetNote], _accept),
    Query(WriteMarks, None, _write),
    Query(MoveMarks, None, _move),
    Query(CopyMarks, Path | None, _copy),
)
