"""A log that is opened with its file of marks, marked, and opened again."""

from __future__ import annotations

from pathlib import Path

from inspector.analysis.passes.user_marks import Note
from inspector.document.document import CaptureDocument
from inspector.document.marks_file import MarksFile
from tests.builders import closed_at_end, envelope, lines_of

MANY = [envelope("chat", {"text": f"m{number}"}) for number in range(30)]
OTHERS = [envelope("chat", {"text": f"o{number}"}) for number in range(30)]

Session = tuple[CaptureDocument, MarksFile]


def log(path: Path, lines: list[dict[str, object]] = MANY) -> Path:
    """A log with these lines."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(lines_of(*lines))
    return path


def opened(path: Path) -> CaptureDocument:
    """A document on a log, without its marks."""
    document = closed_at_end(CaptureDocument())
    document.load(path)
    return document


def session(path: Path) -> Session:
    """A log with what was marked in it."""
    document = opened(path)
    file = MarksFile(document, path)
    file.restore(complete=True)
    return document, file


def put(one: Session, **notes: Note) -> None:
    """Mark messages, `no3` the third, and write the file of marks."""
    for name, note in notes.items():
        one[0].analysis.marks.set_note(int(name.removeprefix("no")) - 1, note)
    one[1].write(one[1].snapshot())


def notes_in(one: Session) -> dict[int, Note]:
    """What is marked, by number."""
    marks = one[0].analysis.marks
    return {row + 1: marks.note(row) for row in marks.rows.tolist()}


def shown(path: Path) -> dict[int, Note]:
    """What somebody sees marked who opens a log now."""
    return notes_in(session(path))
