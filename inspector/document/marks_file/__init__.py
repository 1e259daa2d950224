"""Stores marks and comments: `NAME.ctxmarks.json` beside the capture, or in the user's data folder if that fails.

A marks file names its capture, and each mark its message. So marks of another capture are never applied, and entries
without a match stay in the file. It is written atomically. No Qt.
"""

from __future__ import annotations

from inspector.document.marks_file.content import Snapshot
from inspector.document.marks_file.exported import ExportedNotes, notes_of, write_beside
from inspector.document.marks_file.marks_of_document import MarksFile, restore_marks, search_failure
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
