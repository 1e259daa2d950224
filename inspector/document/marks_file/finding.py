"""Finds marks files of a capture: beside it, in the user's data folder, or under an earlier name."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from inspector.document.document import CaptureDocument
from inspector.document.marks_file.content import Content, read_marks, replaced_notes
from inspector.document.marks_file.identity import Digests, matches_capture, may_match, surely_matches
from inspector.document.marks_file.places import known_elsewhere
from inspector.reading.files.source_reader import LIVE_BLOCK_BYTES, UnknownFormatError
from inspector.sources.inputs import is_stream

_READ_AT_MOST = 16 << 20
"""Limit in bytes of files read for an earlier name; about 20 ms."""


@dataclass(frozen=True, slots=True)
class FoundMarks:
    """A marks file.

    Attributes:
        file: its path.
        content: its content.
        capture: the capture's path under an earlier name; None in the expected place.
        moved: the earlier capture is gone and was certainly this one, so it was moved, not copied.
    """

    file: Path
    content: Content
    capture: Path | None = None
    moved: bool = False


class MarksSearch:
    """Searches the marks of one capture until each file is decided.

    Attributes:
        trouble: problem with a file, as a sentence for the user; "".
        waiting: undecided files, for lack of messages; None before the search.
    """

    def __init__(self) -> None:
        self.trouble = ""
        self.waiting: list[FoundMarks] | None = None

    @property
    def is_done(self) -> bool:
        """Returns True if every file is decided."""
        return self.waiting == []

    def decide_files(self, places: Iterable[Path], heads: tuple[str, ...], *, complete: bool) -> list[FoundMarks]:
        """Returns newly decided files of the capture.

        Args:
            places: possible places of its marks.
            heads: digests of its first messages.
            complete: no more messages are expected for now.
        """
        if self.waiting is None:
            self.waiting = self._read_all(places)
        undecided = [
            found
            for found in self.waiting
            if not matches_capture(found.content, heads) and may_match(found.content, heads)
        ]
        if replaced_notes([found.content for found in undecided]) and not complete:
            return []  # an undecided file may replace notes of another one
        taken: list[FoundMarks] = []
        for found in self.waiting:
            if matches_capture(found.content, heads):
                taken.append(found)
            elif found not in undecided or complete:
                self.trouble = f"{found.file.name} holds the marks of another file; it was left as it is."
        self.waiting = undecided
        return taken

    def _read_all(self, places: Iterable[Path]) -> list[FoundMarks]:
        """Returns the existing marks files, newest first."""
        found: list[tuple[float, FoundMarks]] = []
        for file in places:
            try:
                content = read_marks(file)
                if content is not None:
                    found.append((file.stat().st_mtime, FoundMarks(file, content)))
            except (OSError, ValueError) as error:
                reason = error.strerror if isinstance(error, OSError) else error
                self.trouble = f"The marks in {file.name} cannot be read: {reason}. It was left as it is."
        return [one for _, one in sorted(found, key=lambda pair: -pair[0])]


def find_moved_marks(heads: tuple[str, ...], home: Path | None, places: tuple[Path, ...]) -> list[FoundMarks]:
    """Returns marks of the capture under earlier names, latest first; marks of a moved capture precede all others."""
    found: list[FoundMarks] = []
    left = _READ_AT_MOST
    for file, capture in known_elsewhere(heads[0], home, places) if heads and home is not None else []:
        try:
            # Many small files are cheap, and the limit stops before a few huge ones.
            left -= file.stat().st_size
            content = read_marks(file) if left >= 0 else None
        except (OSError, ValueError):
            continue
        if content is not None and matches_capture(content, heads) and (content.messages or content.contexts):
            written_for = capture or file
            moved = surely_matches(content, heads) and not _is_still_there(written_for, content, heads[0])
            found.append(FoundMarks(file, content, written_for, moved))
    # The sort is stable, so the latest stays first within each part.
    return sorted(found, key=lambda one: not one.moved)


def _is_still_there(capture: Path, content: Content, first: str) -> bool:
    """Returns True if a file still is the capture of the marks, or if that is unknown.

    A rotated log leaves its name to another one.
    """
    try:
        if not capture.exists():
            return False
        return is_stream(capture) or _may_hold(capture, content, first)
    except OSError:
        return True


def _may_hold(capture: Path, content: Content, first: str) -> bool:
    """Returns True if a file begins with the messages of the marks, or is too short to decide.

    Raises:
        OSError: it cannot be read.
    """
    document = CaptureDocument()
    try:
        reading = document.open_log(capture, block_bytes=LIVE_BLOCK_BYTES)
        with contextlib.suppress(UnknownFormatError), contextlib.closing(reading) as steps:
            for step in steps:
                if step.messages >= content.of.messages:
                    break
        heads = Digests(document.capture).head_digests()
        return matches_capture(content, heads) or (may_match(content, heads) and heads[:1] == (first,))
    finally:
        document.close()
