"""Which files hold the marks of a capture: beside it, among the user's data, or where it lay under an earlier name."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from inspector.document.document import CaptureDocument
from inspector.document.marks_file.content import Content, read, replaced
from inspector.document.marks_file.identity import Digests, fits, may_fit, surely_fits
from inspector.document.marks_file.places import known_elsewhere
from inspector.reading.files.source_reader import LIVE_BLOCK_BYTES, UnknownFormatError
from inspector.sources.inputs import is_stream

_READ_AT_MOST = 16 << 20
"""So many bytes of files that may be of an earlier name are read; some 20 ms."""


@dataclass(frozen=True, slots=True)
class FoundMarks:
    """A file of marks.

    Attributes:
        file: where it lies.
        content: what it holds.
        capture: the file it was written for under an earlier name; None where it lies where it belongs.
        moved: that capture is gone, and it was surely this one: it was renamed or moved, not copied.
    """

    file: Path
    content: Content
    capture: Path | None = None
    moved: bool = False


class Search:
    """Looks for the marks of one capture, until it is known of each file whose it is.

    Attributes:
        trouble: what is wrong with a file that was found, a sentence for the user; "" when nothing is.
        waiting: files of which it cannot be told yet, as too little was read; None before anything was looked for.
    """

    def __init__(self) -> None:
        self.trouble = ""
        self.waiting: list[FoundMarks] | None = None

    @property
    def done(self) -> bool:
        """Whether every file that was found was told."""
        return self.waiting == []

    def look(self, places: Iterable[Path], heads: tuple[str, ...], *, complete: bool) -> list[FoundMarks]:
        """Files that are of the capture and were not told before.

        Args:
            places: where its marks may lie.
            heads: what its first messages are known by.
            complete: no more is to be read, for now.
        """
        if self.waiting is None:
            self.waiting = self._read_all(places)
        undecided = [
            found for found in self.waiting if not fits(found.content, heads) and may_fit(found.content, heads)
        ]
        if replaced([found.content for found in undecided]) and not complete:
            return []  # one of them may say that what another one holds does not count
        taken: list[FoundMarks] = []
        for found in self.waiting:
            if fits(found.content, heads):
                taken.append(found)
            elif found not in undecided or complete:
                self.trouble = f"{found.file.name} holds the marks of another file; it was left as it is."
        self.waiting = undecided
        return taken

    def _read_all(self, places: Iterable[Path]) -> list[FoundMarks]:
        """The files of marks there are, the newest first."""
        found: list[tuple[float, FoundMarks]] = []
        for file in places:
            try:
                content = read(file)
                if content is not None:
                    found.append((file.stat().st_mtime, FoundMarks(file, content)))
            except (OSError, ValueError) as error:
                reason = error.strerror if isinstance(error, OSError) else error
                self.trouble = f"The marks in {file.name} cannot be read: {reason}. It was left as it is."
        return [one for _, one in sorted(found, key=lambda pair: -pair[0])]


def elsewhere(heads: tuple[str, ...], home: Path | None, places: tuple[Path, ...]) -> list[FoundMarks]:
    """Marks of the capture under an earlier name, the latest first; those of a capture that is gone come first."""
    found: list[FoundMarks] = []
    left = _READ_AT_MOST
    for file, capture in known_elsewhere(heads[0], home, places) if heads and home is not None else []:
        try:
            left -= file.stat().st_size
            content = read(file) if left >= 0 else None
        except (OSError, ValueError):
            continue
        if content is not None and fits(content, heads) and (content.messages or content.contexts):
            written_for = capture or file
            moved = surely_fits(content, heads) and not _is_still_there(written_for, content, heads[0])
            found.append(FoundMarks(file, content, written_for, moved))
    return sorted(found, key=lambda one: not one.moved)


def _is_still_there(capture: Path, content: Content, first: str) -> bool:
    """Whether a file holds the capture that marks were written for; where that cannot be told it does.

    A log that is rotated leaves its name to another one.
    """
    try:
        if not capture.exists():
            return False
        return is_stream(capture) or _may_hold(capture, content, first)
    except OSError:
        return True


def _may_hold(capture: Path, content: Content, first: str) -> bool:
    """Whether a file begins with the messages that marks are of, or with too few of them to tell.

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
        heads = Digests(document.capture).heads()
        return fits(content, heads) or (may_fit(content, heads) and heads[:1] == (first,))
    finally:
        document.close()
