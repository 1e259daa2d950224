"""Which files hold the marks of a capture: beside it, among the user's data, or where it lay under an earlier name."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from inspector.marks_file.content import Content, read, replaced
from inspector.marks_file.identity import fits, may_fit
from inspector.marks_file.places import known_elsewhere

_READ_AT_MOST = 16 << 20
"""So many bytes of files that may be of an earlier name are read; some 20 ms."""


@dataclass(frozen=True, slots=True)
class Found:
    """A file of marks.

    Attributes:
        file: where it lies.
        content: what it holds.
        capture: the file it was written for under an earlier name; None where it lies where it belongs.
    """

    file: Path
    content: Content
    capture: Path | None = None

    @property
    def moved(self) -> bool:
        """Whether the capture it was written for is gone: it was renamed or moved, not copied."""
        return self.capture is not None and not self.capture.exists()


class Search:
    """Looks for the marks of one capture, until it is known of each file whose it is.

    Attributes:
        trouble: what is wrong with a file that was found, a sentence for the user; "" when nothing is.
        waiting: files of which it cannot be told yet, as too little was read; None before anything was looked for.
    """

    def __init__(self) -> None:
        self.trouble = ""
        self.waiting: list[Found] | None = None

    @property
    def done(self) -> bool:
        """Whether every file that was found was told."""
        return self.waiting == []

    def look(self, places: Iterable[Path], heads: tuple[str, ...], *, complete: bool) -> list[Found]:
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
        taken: list[Found] = []
        for found in self.waiting:
            if fits(found.content, heads):
                taken.append(found)
            elif found not in undecided or complete:
                self.trouble = f"{found.file.name} holds the marks of another file; it was left as it is."
        self.waiting = undecided
        return taken

    def _read_all(self, places: Iterable[Path]) -> list[Found]:
        """The files of marks there are, the newest first."""
        found: list[tuple[float, Found]] = []
        for file in places:
            try:
                content = read(file)
                if content is not None:
                    found.append((file.stat().st_mtime, Found(file, content)))
            except (OSError, ValueError) as error:
                reason = error.strerror if isinstance(error, OSError) else error
                self.trouble = f"The marks in {file.name} cannot be read: {reason}. It was left as it is."
        return [one for _, one in sorted(found, key=lambda pair: -pair[0])]


def elsewhere(heads: tuple[str, ...], home: Path | None, places: tuple[Path, ...]) -> list[Found]:
    """Marks of the capture under an earlier name, the latest first; those of a capture that is gone come first."""
    found: list[Found] = []
    left = _READ_AT_MOST
    for file, capture in known_elsewhere(heads[0], home, places) if heads and home is not None else []:
        try:
            left -= file.stat().st_size
            content = read(file) if left >= 0 else None
        except (OSError, ValueError):
            continue
        if content is not None and fits(content, heads) and (content.messages or content.contexts):
            found.append(Found(file, content, capture or file))
    return sorted(found, key=lambda one: not one.moved)
