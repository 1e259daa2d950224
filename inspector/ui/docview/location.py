"""Location of a window's document: the file it was opened from, and its lifetime."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from inspector.base.targets import FolderView, folder_target, session_target

if TYPE_CHECKING:
    from inspector.engine.document_state import DocumentState


class HasFile(Protocol):
    """A document or its state."""

    @property
    def path(self) -> Path | None: ...


class TemporaryFile(Protocol):
    """A temporary file, or the folder of one."""

    def cleanup(self) -> None:
        """Deletes it."""
        ...


@dataclass(slots=True)
class DocumentLocation:
    """Location of the document of one window. Features read it from `Shown`, and the features that move it write it.

    Attributes:
        opened: path to open again; empty for a live session, whose capture was never opened.
        name: title given by the caller instead of the file's name.
        follows: the log is read on as it grows.
        is_session: `opened` is an agent's session, shown with the files of its sub-agents.
        is_streamed: read from a pipe or standard input, which cannot be opened again.
        view: form of a folder with many logs; None for others.
    """

    opened: Path = Path()
    name: str | None = None
    follows: bool = False
    is_session: bool = False
    is_streamed: bool = False
    view: FolderView | None = None
    _spooled: TemporaryFile | None = field(default=None, repr=False)

    def open(self, path: Path, name: str | None, *, follows: bool, is_streamed: bool) -> None:
        """Stores the path to be opened. `is_session` was set before, with the request."""
        self.opened, self.name, self.follows, self.is_streamed = path, name, follows, is_streamed

    def move(self, path: Path) -> None:
        """Stores the file that the document was saved to, and removes the temporary file that it was read from."""
        self.open(path, None, follows=False, is_streamed=False)
        self.is_session, self.view = False, None
        self.remove_spooled()

    def kept_file(self, document: HasFile) -> Path | None:
        """Returns the file of a document; None if it is temporary and goes with the window."""
        return None if self._spooled is not None or self.is_streamed else document.path

    def user_file(self, state: DocumentState) -> Path | None:
        """Returns the file of a document; None if it is temporary, or the program's own capture."""
        return self.kept_file(state) if state.unsaved is None else None

    def target(self, path: Path) -> str:
        """Returns the text that opens a path as this document was opened (`base.targets`)."""
        if self.is_session:
            return session_target(path)
        return str(path.absolute()) if self.view is None else folder_target(path, self.view)

    def keep_spooled(self, file: TemporaryFile) -> None:
        """Keeps a temporary file until the window closes, because the document reads from it."""
        self.remove_spooled()
        self._spooled = file

    def take_spooled(self, other: DocumentLocation) -> None:
        """Takes over the temporary file of another window, if there is one."""
        self._spooled, other._spooled = other._spooled, self._spooled

    def remove_spooled(self) -> None:
        """Removes the temporary file, if there is one."""
        if self._spooled is not None:
            self._spooled.cleanup()
            self._spooled = None
