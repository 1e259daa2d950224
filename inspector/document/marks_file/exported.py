"""Writes marks of exported messages beside the exported file."""

from __future__ import annotations

import errno
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from inspector.analysis.passes.contexts.context_tree import MAIN
from inspector.analysis.passes.user_marks import ContextTarget, Note
from inspector.document.document import CaptureDocument
from inspector.document.marks_file.marks_of_document import MarksFile
from inspector.protocol.secrets.masking import mask_text


@dataclass(frozen=True, slots=True)
class ExportedNotes:
    """Marks and comments for a writer, independent of the document.

    Attributes:
        messages: notes by index in the exported file, from 0.
        contexts: by space and path; an empty path is the main context.
        total: number of exported messages.
    """

    messages: dict[int, Note]
    contexts: dict[tuple[str, str], Note]
    total: int

    def __bool__(self) -> bool:
        return bool(self.messages or self.contexts)


def notes_of(document: CaptureDocument, messages: NDArray[np.integer[Any]], *, masked: bool = True) -> ExportedNotes:
    """Returns the notes of these messages and of all contexts.

    Args:
        document: the document.
        messages: message indices in export order, (n,) integer.
        masked: replaces secrets in comments by dots.
    """
    marks, tree = document.analysis.marks, document.analysis.contexts.tree
    found: dict[int, Note] = {}
    for place in np.flatnonzero(np.isin(messages, marks.rows)).tolist():
        note = marks.note(int(messages[place]))
        found[place] = _masked(note) if masked else note
    contexts = {
        (document.capture.strings[target.space], "" if target.node == MAIN else tree.path(target.node)): (
            _masked(note) if masked else note
        )
        for target, note in marks.contexts()
    }
    return ExportedNotes(found, contexts, len(messages))


def _masked(note: Note) -> Note:
    return Note(note.marked, mask_text(note.comment))


def write_beside(notes: ExportedNotes, target: Path) -> Path | None:
    """Writes notes for an exported file, in any thread; reads the file to check it.

    Returns:
        Path of the marks: beside the file, or in the user's data folder if another marks file is there; None without
        notes.

    Raises:
        OSError: they could not be written, or the file is not the exported one.
        ValueError: the same.
    """
    if not notes:
        return None
    document = CaptureDocument()
    try:
        document.load(target)
        analysis = document.analysis
        # Another program may have written to the file since, and notes are placed by number.
        if len(analysis) != notes.total:
            raise OSError(errno.EINVAL, f"{target.name} has other messages by now")
        for row, note in notes.messages.items():
            analysis.marks.set_note(row, note)
        for (space, path), note in notes.contexts.items():
            number = document.capture.strings.find(space) if space else 0
            if number is None or number not in analysis.contexts.spaces:
                continue
            node = analysis.contexts.tree.find_displayed(number, path) if path else MAIN
            if node != MAIN or not path:
                analysis.marks.set_note(ContextTarget(number, node), note)
        file = MarksFile(document, target)
        return file.write_copy(target)
    finally:
        document.close()
