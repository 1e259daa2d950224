"""Marks and comments on disk: `NAME.ctxmarks.json` beside the capture, or among the user's data where that cannot be.

A file of marks says which capture it is of, and each mark which message: marks of another file are never put on this
one, and what no longer fits stays in the file as it is. It is written whole or not at all. No Qt.
"""

from __future__ import annotations

from inspector.document.marks_file.content import Snapshot
from inspector.document.marks_file.exported import ExportedNotes, notes_of, write_beside
from inspector.document.marks_file.file import MarksFile, restore_marks, search_failure
from inspector.document.marks_file.places import beside_capture

__all__ = [
    "ExportedNotes",
    "MarksFile",
    "Snapshot",
    "beside_capture",
    "notes_of",
    "restore_marks",
    "search_failure",
    "write_beside",
]
